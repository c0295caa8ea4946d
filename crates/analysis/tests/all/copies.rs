//! Recall of clones: each language's sample is copied, the copy is changed in every way a person would, and the clone
//! must be found. Lines marked `~` are statements that can be removed, repeated or followed by another.

use crate::common::{findings, run};
use probity_analysis::{CloneType, FindingFamily};

macro_rules! samples {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../fixtures/copies/", $name)))),*]
    };
}

const SAMPLES: [(&str, &str); 13] = samples![
    "Base.cs",
    "Base.java",
    "base.c",
    "base.cpp",
    "base.go",
    "base.js",
    "base.kt",
    "base.php",
    "base.py",
    "base.rb",
    "base.rs",
    "base.sh",
    "base.ts",
];

/// Replaces whole words.
fn rename(text: &str, from: &str, to: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let is_whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        out.push_str(before);
        out.push_str(if is_whole { to } else { from });
        rest = after;
    }
    out + rest
}

fn rename_locals(text: &str) -> String {
    let names = [
        ("summarise", "condense"),
        ("Summarise", "Condense"),
        ("kept", "accepted"),
        ("total", "acc"),
        ("share", "part"),
        ("record", "row"),
        ("average", "mean"),
    ];
    names.iter().fold(text.to_owned(), |text, (from, to)| rename(&text, from, to))
}

/// Replaces the marked line `number` with the result of `change`, and removes the marks.
fn change_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let mut marked = 0;
    let lines = text.lines().map(|line| {
        let Some(code) = line.split_once("//~").or_else(|| line.split_once("#~")).map(|(code, _)| code)
        else {
            return format!("{line}\n");
        };
        marked += 1;
        if marked - 1 == number { change(code.trim_end()) } else { format!("{code}\n") }
    });
    lines.collect::<Vec<_>>().concat()
}

fn plain(text: &str) -> String {
    change_line(text, usize::MAX, str::to_owned)
}

/// Returns the kind of clone between a sample and a changed copy of it, if it is found.
fn found(name: &str, original: &str, copy: &str) -> Option<CloneType> {
    let other = format!("other/{name}");
    let run = run(&[(name, &plain(original)), (&other, copy)]);
    let mut clones = findings(&run, FindingFamily::Clone);
    clones.extend(findings(&run, FindingFamily::CloneBlock));
    clones.first().and_then(|finding| finding.clone_type)
}

#[test]
fn type_1_and_type_2_are_always_found() {
    for (name, text) in SAMPLES {
        assert_eq!(found(name, text, &plain(text)), Some(CloneType::Exact), "{name}");
        let spaced = plain(text).replace('\n', "\n\n");
        assert_eq!(found(name, text, &spaced), Some(CloneType::Exact), "{name}, spaced");
        let renamed = rename_locals(&plain(text));
        assert_eq!(found(name, text, &renamed), Some(CloneType::Renamed), "{name}, renamed");
        let literals = rename(&renamed, "3", "17").replace("nothing above", "none over");
        assert_eq!(
            found(name, text, &literals),
            Some(CloneType::Renamed),
            "{name}, renamed with other literals"
        );
    }
}

#[test]
fn type_3_is_found_whichever_statement_changes() {
    let mut missed = Vec::new();
    let mut n_copies = 0;
    for (name, text) in SAMPLES {
        for number in 0..4 {
            let removed = change_line(text, number, |_| String::new());
            let doubled = change_line(text, number, |line| format!("{line}\n{line}\n"));
            let changed = change_line(text, number, |line| {
                rename(&line.replace('(', "(extra, "), "record", "other") + "\n"
            });
            for (kind, copy) in [("removed", removed), ("doubled", doubled), ("changed", changed)] {
                for copy in [rename_locals(&copy), copy] {
                    n_copies += 1;
                    if found(name, text, &copy).is_none() {
                        missed.push(format!("{name}: statement {number} {kind}\n{copy}"));
                    }
                }
            }
        }
    }
    assert!(missed.len() * 100 <= n_copies, "missed {} of {n_copies}:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn samples_of_different_languages_are_no_clones_of_each_other() {
    let samples: Vec<(&str, String)> = SAMPLES.iter().map(|(name, text)| (*name, plain(text))).collect();
    let files: Vec<(&str, &str)> = samples.iter().map(|(name, text)| (*name, text.as_str())).collect();
    assert!(findings(&run(&files), FindingFamily::Clone).is_empty());
}
