//! The first page of help, with commands grouped by task.
//!
//! It is generated from the command-line definition. Tests check that every command is in exactly one group and has
//! examples that the definition accepts.

use clap::builder::styling::Style;
use std::fmt::Write;

const COMMAND_GROUPS: &[(&str, &[&str])] = &[
    ("Govern a run", &["run", "plan", "amend", "revert", "explain", "evidence", "keys"]),
    ("Decide about held changes", &["diff", "land", "discard", "enter"]),
    ("Share a tree", &["start", "finish", "status", "intent", "log", "team"]),
    ("Review and CI", &["ui", "review", "why", "ci", "analyze", "runs", "contract", "claims", "receipt"]),
    ("Knowledge and merges", &["ledger", "merge"]),
    ("Setup", &["init", "uninstall", "doctor", "mcp", "hook", "lsp", "completions", "man", "help"]),
    ("Engine", &["commits", "conformance"]),
];

/// Heading of the options that every command has, so that a command's own options are listed first.
pub(crate) const GLOBAL_OPTIONS: &str = "Global options";

/// clap adds this command only after the definition is complete.
const HELP_COMMAND: (&str, &str) = ("help", "Print this page, or the help of a command");

/// Width of the column of command names, including the gap.
const NAME_COLUMN_WIDTH: usize = 13;

/// Returns the clap template of the first page.
pub(crate) fn template(commands: &clap::Command) -> String {
    let styles = clap::builder::Styles::styled();
    let (heading, literal) = (styles.get_header(), styles.get_literal());
    let mut page = String::from("{before-help}{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, names) in COMMAND_GROUPS {
        let _ = write!(page, "\n{}\n", styled(*heading, &format!("{title}:")));
        for name in *names {
            let about = command_summary(commands, name);
            let gap = " ".repeat(NAME_COLUMN_WIDTH.saturating_sub(name.len()));
            let _ = writeln!(page, "  {}{gap}{about}", styled(*literal, name));
        }
    }
    let _ = write!(page, "\n{}\n{{options}}{{after-help}}", styled(*heading, "Options:"));
    page
}

fn command_summary(commands: &clap::Command, name: &str) -> String {
    if name == HELP_COMMAND.0 {
        return HELP_COMMAND.1.to_owned();
    }
    let about = commands.find_subcommand(name).and_then(clap::Command::get_about);
    about.map(ToString::to_string).unwrap_or_default()
}

fn styled(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::{CommandFactory, Parser};

    /// The terminal width that the help must fit.
    const COLUMNS: usize = 80;

    #[test]
    fn every_command_stands_in_exactly_one_group_and_every_group_has_real_commands() {
        let command = Cli::command();
        let grouped: Vec<&str> = COMMAND_GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for name in command.get_subcommands().filter(|it| !it.is_hide_set()).map(clap::Command::get_name) {
            assert_eq!(grouped.iter().filter(|it| **it == name).count(), 1, "`{name}` is not in one group");
        }
        for name in grouped {
            assert!(name == HELP_COMMAND.0 || command.find_subcommand(name).is_some(), "no command `{name}`");
        }
    }

    #[test]
    fn the_first_page_fits_a_terminal_and_shows_every_group() {
        let mut command = Cli::command().term_width(COLUMNS);
        for page in [command.render_help().to_string(), command.render_long_help().to_string()] {
            for line in page.lines() {
                assert!(line.chars().count() <= COLUMNS, "too wide: {line}");
            }
            for (title, names) in COMMAND_GROUPS {
                assert!(page.contains(&format!("\n{title}:\n  {} ", names[0])), "{page}");
            }
            assert!(page.contains("\nOptions:\n") && page.contains("Exit codes:"), "{page}");
        }
    }

    #[test]
    fn every_command_has_examples_that_fit_a_terminal_and_parse() {
        let command = Cli::command();
        let mut faults = Vec::new();
        for sub in command.get_subcommands() {
            check(sub, &mut vec![sub.get_name().to_owned()], &mut faults);
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    fn check(command: &clap::Command, path: &mut Vec<String>, faults: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples = help.split_once("Examples:\n").map(|(_, rest)| rest).unwrap_or_default();
        let calls: Vec<Vec<String>> = examples.lines().filter_map(call).collect();
        if !calls.iter().any(|call| call[1..].starts_with(path)) {
            faults.push(format!("`{}` has no example of itself", path.join(" ")));
        }
        let too_wide = examples.lines().filter(|line| line.chars().count() > COLUMNS);
        faults.extend(too_wide.map(|line| format!("too wide for a terminal: {line}")));
        for call in calls {
            if let Err(error) = Cli::try_parse_from(&call) {
                faults.push(format!(
                    "an example of `{}` is no command line: {call:?}\n{error}",
                    path.join(" ")
                ));
            }
        }
        for sub in command.get_subcommands() {
            path.push(sub.get_name().to_owned());
            check(sub, path, faults);
            path.pop();
        }
    }

    /// Extracts the Probity call from an example line, without pipes, redirections and comments.
    fn call(line: &str) -> Option<Vec<String>> {
        let words = words(line);
        let begin = words.iter().position(|word| word == "probity")?;
        let ends = |word: &String| matches!(word.as_str(), "|" | ">" | "#") || word.starts_with("<<");
        Some(words.into_iter().skip(begin).take_while(|word| !ends(word)).collect())
    }

    /// Splits a line into shell words: single and double quotes, no expansion.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
        for character in line.chars() {
            match (quote, character) {
                (Some(open), _) if open == character => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(character);
                    word.get_or_insert_default();
                }
                (None, ' ') => words.extend(word.take()),
                _ => word.get_or_insert_default().push(character),
            }
        }
        words.extend(word);
        words
    }
}
