//! Measures the shell analysis on the labeled command lines.

use probity_guard::shell::{self, ShellWorld};
use std::collections::BTreeSet;

struct LabeledWorld;

impl ShellWorld for LabeledWorld {
    fn home(&self) -> &'static str {
        "/home/u"
    }

    fn is_directory(&self, path: &str) -> bool {
        matches!(path, "/" | "/tmp" | "/repo" | "/repo/src" | "/repo/out" | "/repo/bin" | "/home/u")
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Label {
    writes: BTreeSet<String>,
    is_unproven: bool,
}

/// Splits the paths of a label; quotes hold a path with blanks together.
fn paths(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (path, after) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').expect("a closed quote"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        found.insert(path.to_owned());
        rest = after.trim_start();
    }
    found
}

fn labeled() -> Vec<(Label, String)> {
    let text = include_str!("shell_commands.txt");
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let parse = |line: &str| {
        let (label, command) = line.split_once(" :: ").expect("a label and a command");
        let (mark, written) = label.split_once(' ').unwrap_or((label, ""));
        let label = Label { writes: paths(written), is_unproven: mark.contains('?') };
        (label, command.replace('⏎', "\n"))
    };
    lines.map(parse).collect()
}

fn shown(path: &str) -> String {
    match path.strip_prefix("/repo") {
        Some("") => ".".into(),
        Some(below) => below.trim_start_matches('/').into(),
        None => path.into(),
    }
}

fn found(command: &str) -> Result<Label, String> {
    let effects = shell::effects(command, "/repo", &LabeledWorld)?;
    Ok(Label {
        writes: effects.writes.iter().map(|write| shown(&write.path)).collect(),
        is_unproven: effects.is_unproven,
    })
}

#[test]
fn certain_writes_are_recognized_and_no_harmless_command_is_taken_for_one() {
    let set = labeled();
    assert!(set.len() >= 300, "{} lines", set.len());
    let (mut n_writes, mut n_recognized, mut n_reported, mut n_true, mut wrong) = (0, 0, 0, 0, Vec::new());
    for (label, command) in &set {
        let found = match found(command) {
            Ok(found) => found,
            Err(why) => {
                wrong.push(format!("{command:?}: {why}"));
                n_writes += usize::from(!label.writes.is_empty());
                continue;
            }
        };
        n_writes += usize::from(!label.writes.is_empty());
        n_recognized += usize::from(!label.writes.is_empty() && label.writes.is_subset(&found.writes));
        n_reported += usize::from(!found.writes.is_empty());
        n_true += usize::from(!found.writes.is_empty() && found.writes.is_subset(&label.writes));
        if found != *label {
            wrong.push(format!("{command:?}: expected {label:?}, found {found:?}"));
        }
    }
    println!(
        "{} lines, {n_writes} with certain writes: {n_recognized} recognized; {n_reported} reported: {n_true} true",
        set.len()
    );
    assert!(n_recognized * 100 >= n_writes * 98, "{n_recognized} of {n_writes}\n{}", wrong.join("\n"));
    assert_eq!(n_true, n_reported, "{}", wrong.join("\n"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
