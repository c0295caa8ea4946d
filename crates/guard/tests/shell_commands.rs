//! Measures the shell analysis on the labeled command lines.

use probity_guard::shell::{self, ShellWorld, WriteKind};
use std::collections::BTreeSet;

struct LabeledWorld;

impl ShellWorld for LabeledWorld {
    fn home(&self) -> &'static str {
        "/home/u"
    }

    fn is_directory(&self, path: &str) -> bool {
        matches!(
            path,
            "/" | "/tmp"
                | "/repo"
                | "/repo/.git"
                | "/repo/.claude"
                | "/repo/src"
                | "/repo/out"
                | "/repo/bin"
                | "/home/u"
        )
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

fn labeled(text: &str) -> Vec<(Label, String)> {
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
    if path == "/repo" {
        return ".".into();
    }
    path.strip_prefix("/repo/").unwrap_or(path).into()
}

fn found(command: &str) -> Result<Label, String> {
    let effects = shell::effects(command, "/repo", &LabeledWorld)?;
    Ok(Label {
        writes: effects
            .writes
            .iter()
            .filter(|write| write.kind != WriteKind::Alias)
            .map(|write| shown(&write.path))
            .collect(),
        is_unproven: effects.is_unproven(),
    })
}

/// How well a set was read.
#[derive(Debug, Default)]
struct ShellScore {
    n_lines: usize,
    /// Lines with certain writes, and how many of them had all of those found.
    n_writes: usize,
    n_recognized: usize,
    /// Lines for which writes were reported, and how many of them had no wrong one.
    n_reported: usize,
    n_true: usize,
    /// Harmless lines for which a write was reported, or which could not be read.
    n_harmless_denied: usize,
    /// Everything that differs from its label.
    wrong: Vec<String>,
}

impl ShellScore {
    fn summary(&self) -> String {
        format!(
            "{} lines, {} with certain writes: {} recognized; {} reported: {} true; {} harmless denied",
            self.n_lines,
            self.n_writes,
            self.n_recognized,
            self.n_reported,
            self.n_true,
            self.n_harmless_denied
        )
    }
}

fn score(set: &[(Label, String)]) -> ShellScore {
    let mut score = ShellScore { n_lines: set.len(), ..ShellScore::default() };
    for (label, command) in set {
        let is_harmless = *label == Label::default();
        score.n_writes += usize::from(!label.writes.is_empty());
        let found = match found(command) {
            Ok(found) => found,
            Err(why) => {
                score.wrong.push(format!("{command:?}: {why}"));
                score.n_harmless_denied += usize::from(is_harmless);
                continue;
            }
        };
        let has_writes = !found.writes.is_empty();
        score.n_recognized += usize::from(!label.writes.is_empty() && label.writes.is_subset(&found.writes));
        score.n_reported += usize::from(has_writes);
        score.n_true += usize::from(has_writes && found.writes.is_subset(&label.writes));
        score.n_harmless_denied += usize::from(is_harmless && has_writes);
        if found != *label {
            score.wrong.push(format!("{command:?}: expected {label:?}, found {found:?}"));
        }
    }
    score
}

#[test]
fn certain_writes_are_recognized_and_no_harmless_command_is_taken_for_one() {
    let score = score(&labeled(include_str!("shell_commands.txt")));
    println!("{}", score.summary());
    assert!(score.n_lines >= 300, "{} lines", score.n_lines);
    assert!(score.n_recognized * 100 >= score.n_writes * 98, "{}", score.wrong.join("\n"));
    assert!(score.wrong.is_empty(), "{}", score.wrong.join("\n"));
}

/// Lines that the parser was not written for, to see how far its rules carry.
#[test]
fn lines_that_nobody_saw_before_are_read_nearly_as_well() {
    let score = score(&labeled(include_str!("held_out_commands.txt")));
    println!("{}\n{}", score.summary(), score.wrong.join("\n"));
    assert!(score.n_lines >= 100, "{} lines", score.n_lines);
    assert_eq!(score.n_harmless_denied, 0, "{}", score.wrong.join("\n"));
    assert!(score.n_recognized * 100 >= score.n_writes * 98, "{}", score.wrong.join("\n"));
}

/// Lines of the kind that agents write and lines that hide a write, labeled before the parser was asked.
#[test]
fn a_second_set_that_nobody_saw_before_is_read_nearly_as_well() {
    let score = score(&labeled(include_str!("second_held_out_commands.txt")));
    println!("{}\n{}", score.summary(), score.wrong.join("\n"));
    assert!(score.n_lines >= 300, "{} lines", score.n_lines);
    assert_eq!(score.n_harmless_denied, 0, "{}", score.wrong.join("\n"));
    assert!(score.n_recognized * 100 >= score.n_writes * 98, "{}", score.wrong.join("\n"));
}

/// Labeled after the parser was widened for the second set.
#[test]
fn a_third_set_shows_that_classes_were_closed_and_not_lines() {
    let score = score(&labeled(include_str!("third_held_out_commands.txt")));
    println!("{}\n{}", score.summary(), score.wrong.join("\n"));
    assert!(score.n_lines >= 100, "{} lines", score.n_lines);
    assert_eq!(score.n_harmless_denied, 0, "{}", score.wrong.join("\n"));
    assert!(score.n_recognized * 100 >= score.n_writes * 98, "{}", score.wrong.join("\n"));
}

/// Attempts to write past the guard, and the harmless lines that look like them; labeled before the parser was asked.
#[test]
fn a_fourth_set_of_attempts_to_write_past_the_guard_is_read_as_well() {
    let score = score(&labeled(include_str!("fourth_held_out_commands.txt")));
    println!("{}\n{}", score.summary(), score.wrong.join("\n"));
    assert!(score.n_lines >= 120, "{} lines", score.n_lines);
    assert_eq!(score.n_harmless_denied, 0, "{}", score.wrong.join("\n"));
    assert!(score.n_recognized * 100 >= score.n_writes * 98, "{}", score.wrong.join("\n"));
}

/// Lines in the manner of agents at work, labeled before the parser was asked.
#[test]
fn a_fifth_set_in_the_manner_of_agents_is_read_as_well() {
    let score = score(&labeled(include_str!("fifth_held_out_commands.txt")));
    println!("{}\n{}", score.summary(), score.wrong.join("\n"));
    assert!(score.n_lines >= 150, "{} lines", score.n_lines);
    assert_eq!(score.n_harmless_denied, 0, "{}", score.wrong.join("\n"));
    assert!(score.n_recognized * 100 >= score.n_writes * 98, "{}", score.wrong.join("\n"));
}

/// Labeled before the parser was asked, like the others.
#[test]
fn a_sixth_set_of_programs_that_start_programs_is_read_as_well() {
    let score = score(&labeled(include_str!("sixth_held_out_commands.txt")));
    println!("{}\n{}", score.summary(), score.wrong.join("\n"));
    assert!(score.n_lines >= 130, "{} lines", score.n_lines);
    assert_eq!(score.n_harmless_denied, 0, "{}", score.wrong.join("\n"));
    assert!(score.n_recognized * 100 >= score.n_writes * 98, "{}", score.wrong.join("\n"));
}
