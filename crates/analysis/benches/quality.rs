//! How well copies are found in real code: `cargo xtask quality TREE…`.
//!
//! Takes some hundred callables from each tree, evenly distributed. Copies each into its own file, changes it
//! in one of the ways people change copies, and analyzes the tree with that additional file. *Recall* is the
//! share of copies that a finding connects with their original. *Precision* is the share of findings about
//! the new file that connect it with the original or one of its earlier copies. Every choice comes from a
//! fixed seed, so the same tree gives the same figures. Dead code is listed for a person to judge.
#![expect(clippy::disallowed_methods, reason = "it reads the trees it measures")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is a table for a person")]

use probity_analysis::{
    AccessLevel, AnalysisInput, AnalysisRun, AnalysisSettings, CodeUnit, FileFacts, Finding, FindingFamily,
    Language, SourceInput, UnitKind, analyze,
};
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// How many callables of each language of a tree are copied.
const SAMPLES: usize = 60;
/// Larger files are skipped: they are data more often than code.
const MAX_BYTES: u64 = 200_000;

type Files = BTreeMap<RepoPath, Vec<u8>>;
type Known = BTreeMap<RepoPath, SourceInput<'static>>;

/// A way in which a copy differs from its original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Layout,
    Rename,
    RenameAndLiterals,
    Insert,
    Remove,
    Swap,
    RenameAndInsert,
    RenameAndRemove,
}

impl Change {
    const ALL: [Self; 8] = [
        Self::Layout,
        Self::Rename,
        Self::RenameAndLiterals,
        Self::Insert,
        Self::Remove,
        Self::Swap,
        Self::RenameAndInsert,
        Self::RenameAndRemove,
    ];

    const fn clone_type(self) -> &'static str {
        match self {
            Self::Layout => "1",
            Self::Rename | Self::RenameAndLiterals => "2",
            _ => "3",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Layout => "other layout",
            Self::Rename => "variables renamed",
            Self::RenameAndLiterals => "variables renamed, other numbers",
            Self::Insert => "a line inserted",
            Self::Remove => "a line removed",
            Self::Swap => "two lines swapped",
            Self::RenameAndInsert => "renamed, a line inserted",
            Self::RenameAndRemove => "renamed, a line removed",
        }
    }
}

/// A callable to copy: its location and lines.
struct Sample {
    path: RepoPath,
    language: Language,
    unit: CodeUnit,
    lines: Vec<String>,
    /// Names local to it, as far as its facts show.
    locals: Vec<String>,
}

#[derive(Default)]
struct Score {
    copies: usize,
    found: usize,
    told: usize,
    right: usize,
}

fn main() {
    let trees: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if trees.is_empty() {
        eprintln!("usage: cargo xtask quality TREE…");
        return;
    }
    let mut scores: BTreeMap<(&str, Change), Score> = BTreeMap::new();
    for tree in &trees {
        let mut files = Files::new();
        collect(Path::new(tree), Path::new(tree), &mut files);
        measure(&files, &mut scores);
    }
    show(&scores);
}

fn collect(root: &Path, directory: &Path, files: &mut Files) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let (path, kind) = (entry.path(), entry.file_type());
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        match kind {
            Ok(kind) if kind.is_dir() && !is_hidden => collect(root, &path, files),
            Ok(kind) if kind.is_file() && entry.metadata().is_ok_and(|facts| facts.len() <= MAX_BYTES) => {
                let below = path.strip_prefix(root).ok().map(|below| below.to_string_lossy().into_owned());
                let below = below.and_then(|below| RepoPath::parse(below.as_bytes()).ok());
                if let (Some(below), Ok(bytes)) = (below, std::fs::read(&path)) {
                    files.insert(below, bytes);
                }
            }
            _ => {}
        }
    }
}

fn measure(files: &Files, scores: &mut BTreeMap<(&'static str, Change), Score>) {
    let settings = AnalysisSettings::default();
    let sources = files.iter().map(|(path, bytes)| (path.clone(), SourceInput::Bytes(bytes)));
    let before =
        analyze(&AnalysisInput { sources: sources.collect(), ..AnalysisInput::default() }, &settings);
    show_dead(&before.run);
    let samples = samples(files, &before.facts.iter().map(|(path, (_, facts))| (path, facts)).collect());
    let known: Known = before
        .facts
        .into_iter()
        .map(|(path, (key, facts))| (path, SourceInput::Known { content: key.content, facts }))
        .collect();
    let siblings = copies(&before.run);
    for (index, sample) in samples.iter().enumerate() {
        for change in Change::ALL {
            let Some(copy) = changed(sample, change, index) else { continue };
            let place = copy_path(&sample.path);
            let mut input = AnalysisInput { sources: known.clone(), ..AnalysisInput::default() };
            input.sources.insert(place.clone(), SourceInput::Bytes(copy.as_bytes()));
            let run = analyze(&input, &settings).run;
            let score = scores.entry((sample.language.name(), change)).or_default();
            judge(&run, sample, &place, &siblings, score);
        }
    }
}

fn copy_path(path: &RepoPath) -> RepoPath {
    let name = String::from_utf8_lossy(path.file_name()).into_owned();
    RepoPath::parse(format!("zz copied/{name}").as_bytes()).expect("a name below a directory")
}

/// Returns callables large enough to be compared, evenly distributed over the tree.
fn samples(files: &Files, facts: &BTreeMap<&RepoPath, &Arc<FileFacts>>) -> Vec<Sample> {
    let mut by_language: BTreeMap<&str, Vec<Sample>> = BTreeMap::new();
    for (path, facts) in facts {
        let Some(language) = Language::of_file_name(path.file_name()) else { continue };
        let text = String::from_utf8_lossy(&files[*path]).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        for unit in &facts.units {
            let is_fit = matches!(unit.kind, UnitKind::Function | UnitKind::Method)
                && unit.n_tokens >= 80
                && (6..=60).contains(&unit.range.n_lines())
                && unit.statements.len() >= 4
                && facts.n_errors == 0;
            if is_fit {
                let first = unit.range.start_line as usize - 1;
                let own = &lines[first..first + unit.range.n_lines() as usize];
                by_language.entry(language.name()).or_default().push(Sample {
                    path: (*path).clone(),
                    language,
                    unit: unit.clone(),
                    lines: own.iter().map(|line| (*line).to_owned()).collect(),
                    locals: locals(facts, unit),
                });
            }
        }
    }
    by_language.into_values().flat_map(|all| spread(all, SAMPLES)).collect()
}

fn spread(all: Vec<Sample>, n: usize) -> Vec<Sample> {
    let step = all.len().div_ceil(n).max(1);
    all.into_iter().step_by(step).collect()
}

/// Returns the variables that only this unit uses.
fn locals(facts: &FileFacts, unit: &CodeUnit) -> Vec<String> {
    let inside = &facts.names[unit.names.start as usize..unit.names.end as usize];
    let outside =
        facts.names[..unit.names.start as usize].iter().chain(&facts.names[unit.names.end as usize..]);
    let other: BTreeSet<u32> =
        outside.chain(inside.iter().filter(|name| name.is_member())).map(|name| name.symbol()).collect();
    let own: BTreeSet<u32> = inside
        .iter()
        .filter(|name| !name.is_definition() && !other.contains(&name.symbol()))
        .map(|name| name.symbol())
        .collect();
    own.into_iter().map(|symbol| facts.symbols.get(symbol).to_owned()).collect()
}

/// Returns the text of a changed copy, or `None` if the change does not apply to this callable.
fn changed(sample: &Sample, change: Change, seed: usize) -> Option<String> {
    let mut lines = sample.lines.clone();
    let renames = matches!(
        change,
        Change::Rename | Change::RenameAndLiterals | Change::RenameAndInsert | Change::RenameAndRemove
    );
    if renames {
        if sample.locals.len() < 2 {
            return None;
        }
        for line in &mut lines {
            for (number, name) in sample.locals.iter().enumerate() {
                *line = replaced(line, name, &format!("renamed{number}"));
            }
        }
    }
    let fit = simple_lines(sample);
    let at = |turn: usize| fit.get((seed * 7 + turn * 13) % fit.len().max(1)).copied();
    match change {
        Change::Layout => lines = lines.iter().flat_map(|line| [line.clone(), String::new()]).collect(),
        Change::Rename => {}
        Change::RenameAndLiterals => {
            for line in &mut lines {
                *line = other_numbers(line);
            }
        }
        Change::Insert | Change::RenameAndInsert => {
            let at = at(1)?;
            let line = lines[at].clone();
            lines.insert(at, replaced_word(&line));
        }
        Change::Remove | Change::RenameAndRemove => drop(lines.remove(at(2)?)),
        Change::Swap => {
            let pair =
                fit.windows(2).find(|pair| pair[1] == pair[0] + 1 && lines[pair[0]] != lines[pair[1]])?;
            lines.swap(pair[0], pair[1]);
        }
    }
    Some(wrapped(sample, &lines))
}

/// Returns the lines of the body that are whole statements: removing or doubling one leaves code that parses.
fn simple_lines(sample: &Sample) -> Vec<usize> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let last = sample.lines.len().saturating_sub(1);
    (2..last)
        .filter(|&at| {
            let line = sample.lines[at].trim();
            let same = |other: usize| indent(&sample.lines[other]) == indent(&sample.lines[at]);
            let ends = |line: &str| match sample.language {
                Language::Python | Language::Ruby | Language::Go | Language::Kotlin => {
                    line.ends_with(')') || line.chars().last().is_some_and(char::is_alphanumeric)
                }
                _ => line.ends_with(';'),
            };
            let opens = [
                "if ", "for ", "while ", "else", "return", "end", "try", "with ", "def ", "case ", "}", ")",
                "#", "//",
            ];
            let balanced = line.matches('(').count() == line.matches(')').count()
                && line.matches('{').count() == line.matches('}').count()
                && line.matches('[').count() == line.matches(']').count();
            ends(line)
                && balanced
                && same(at - 1)
                && same(at + 1)
                && !opens.iter().any(|word| line.starts_with(word))
                && ends(sample.lines[at - 1].trim())
        })
        .collect()
}

/// Replaces whole words, except members after a dot.
fn replaced(line: &str, from: &str, to: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '@';
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(from) {
        let (before, after) = (&rest[..at], &rest[at + from.len()..]);
        let whole = format!("{out}{before}");
        let is_free = !whole.ends_with(is_word) && !whole.ends_with('.') && !after.starts_with(is_word);
        out.push_str(before);
        // The `$` of a PHP variable is not part of its name in the replacement.
        out.push_str(if is_free { to } else { from });
        rest = after;
    }
    out + rest
}

/// Returns the line with another word in it, like an inserted statement.
fn replaced_word(line: &str) -> String {
    line.replacen('(', "(extra_", 1)
}

fn other_numbers(line: &str) -> String {
    let mut is_word = false;
    let other = |c: char| {
        let is_number = !is_word && ('1'..='8').contains(&c);
        is_word = c.is_alphabetic() || c == '_' || (is_word && c.is_numeric());
        if is_number { '9' } else { c }
    };
    line.chars().map(other).collect()
}

/// Turns the lines into a file, inside the class and language syntax they need.
fn wrapped(sample: &Sample, lines: &[String]) -> String {
    let text = lines.join("\n") + "\n";
    let is_method = sample.unit.kind == UnitKind::Method;
    match sample.language {
        Language::Php if is_method => format!("<?php\nclass Copied {{\n{text}}}\n"),
        Language::Php => format!("<?php\n{text}"),
        Language::Python if is_method => format!("class Copied:\n{text}"),
        Language::Ruby if is_method => format!("class Copied\n{text}end\n"),
        Language::Rust if is_method => format!("impl Copied {{\n{text}}}\n"),
        Language::Go => format!("package copied\n\n{text}"),
        _ if is_method => format!("class Copied {{\n{text}}}\n"),
        _ => text,
    }
}

/// Returns for each location those that already were its copies, by path and symbol.
fn copies(run: &AnalysisRun) -> BTreeMap<(String, String), BTreeSet<(String, String)>> {
    let mut copies: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for finding in run.findings.iter().filter(|finding| is_clone(finding)) {
        let places: Vec<_> =
            finding.locations.iter().map(|place| (place.path.to_string(), place.symbol.clone())).collect();
        for place in &places {
            copies.entry(place.clone()).or_default().extend(places.iter().cloned());
        }
    }
    copies
}

fn is_clone(finding: &Finding) -> bool {
    matches!(finding.family, FindingFamily::Clone | FindingFamily::CloneBlock)
}

fn judge(
    run: &AnalysisRun,
    sample: &Sample,
    place: &RepoPath,
    siblings: &BTreeMap<(String, String), BTreeSet<(String, String)>>,
    score: &mut Score,
) {
    let original = (sample.path.to_string(), sample.unit.name.clone());
    let family = siblings.get(&original);
    let is_right = |finding: &Finding| {
        finding.locations.iter().any(|other| {
            let other = (other.path.to_string(), other.symbol.clone());
            let around = other.0 == original.0 && original.1.starts_with(&other.1);
            other == original || around || family.is_some_and(|family| family.contains(&other))
        })
    };
    let told: Vec<&Finding> = run
        .findings
        .iter()
        .filter(|finding| is_clone(finding) && finding.locations.iter().any(|other| other.path == *place))
        .collect();
    let n_right = told.iter().filter(|finding| is_right(finding)).count();
    score.copies += 1;
    score.found += usize::from(n_right > 0);
    score.told += told.len();
    score.right += n_right;
}

fn show_dead(run: &AnalysisRun) {
    let n_hidden = run
        .units
        .iter()
        .filter(|unit| unit.access != AccessLevel::Public && unit.kind != UnitKind::Lambda)
        .count();
    let dead: Vec<&Finding> =
        run.findings.iter().filter(|finding| finding.family == FindingFamily::DeadCode).collect();
    println!("{} units, {n_hidden} hidden, {} called dead:", run.units.len(), dead.len());
    for finding in dead.iter().take(40) {
        let place = &finding.locations[0];
        println!("  {:?} {}:{} {}", finding.confidence, place.path, place.range.start_line, place.symbol);
    }
    println!();
}

fn show(scores: &BTreeMap<(&str, Change), Score>) {
    println!("| Language | Type | Change | Copies | Recall | Precision |\n|---|---|---|---:|---:|---:|");
    let percent = |part: usize, whole: usize| {
        (part * 1000).checked_div(whole * 10).map_or("–".to_owned(), |share| format!("{share} %"))
    };
    let row = |language: &str, clone_type: &str, words: &str, score: &Score| {
        println!(
            "| {language} | {clone_type} | {words} | {} | {} | {} |",
            score.copies,
            percent(score.found, score.copies),
            percent(score.right, score.told)
        );
    };
    let mut by_type: BTreeMap<&str, Score> = BTreeMap::new();
    for ((language, change), score) in scores {
        row(language, change.clone_type(), change.words(), score);
        let all = by_type.entry(change.clone_type()).or_default();
        all.copies += score.copies;
        all.found += score.found;
        all.told += score.told;
        all.right += score.right;
    }
    for (clone_type, score) in &by_type {
        row("all", clone_type, "", score);
    }
}
