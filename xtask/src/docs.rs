//! Generates parts of the docs: the list of codes, the crate graph in ARCHITECTURE.md, the schemas of typed answers,
//! the tour in the README, and the recording of it.
//!
//! `write` generates them; `check` fails if they are stale. Parts of the tour that differ from run to run (ids,
//! digests, times) are masked before the comparison.

use crate::{ChoreResult, book_links, build, demo, recording, root, target, tidy};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const TOUR_BEGIN: &str = "<!-- tour: made by `cargo xtask docs` -->\n```console\n";
const TOUR_END: &str = "```\n<!-- end of tour -->";
const RECORDING: &str = "docs/pictures/demo.svg";

pub fn write() -> ChoreResult {
    tidy::graph::write()?;
    let binary = build("dev")?;
    for (name, text) in generated_pages()? {
        write_page(&name, &text)?;
    }
    write_page(COMMANDS_PAGE, &commands(&binary)?)?;
    let readme = get("README.md")?;
    let tour = demo::transcript(&binary)?;
    write_page("README.md", &with_tour(&readme, tour.trim_start())?)?;
    write_page(RECORDING, &recording::svg(tour.trim_start()))
}

pub fn check() -> ChoreResult {
    eprintln!("── docs: comparing the generated parts");
    let stale = |name: &str| format!("{name} is out of date: run `cargo xtask docs`");
    tidy::graph::check()?;
    let binary = build("dev")?;
    for (name, text) in generated_pages()? {
        if get(&name)? != text {
            return Err(stale(&name));
        }
    }
    if get(COMMANDS_PAGE)? != commands(&binary)? {
        return Err(stale(COMMANDS_PAGE));
    }
    book_links::check()?;
    let readme = get("README.md")?;
    if get(RECORDING)? != recording::svg(tour_of(&readme)?) {
        return Err(stale(RECORDING));
    }
    let tour = demo::transcript(&binary)?;
    let fresh = with_tour(&readme, tour.trim_start())?;
    if masked_text(&fresh) == masked_text(&readme) {
        return Ok(());
    }
    let (old, new) = (masked_text(&readme), masked_text(&fresh));
    let differing = old.lines().zip(new.lines()).find(|(old, new)| old != new);
    Err(format!("{}; first difference: {differing:?}", stale("the tour in README.md")))
}

/// The reference of commands, which the program prints.
const COMMANDS_PAGE: &str = "docs/reference/commands.md";

fn commands(binary: &Path) -> Result<String, String> {
    let mut command = Command::new(binary);
    command.args(["man", "--markdown"]).env("NO_COLOR", "1");
    stdout_of(command)
}

fn stdout_of(mut command: Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed with {}", output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn get(name: &str) -> Result<String, String> {
    fs::read_to_string(root().join(name)).map_err(|error| format!("{name}: {error}"))
}

fn write_page(name: &str, text: &str) -> ChoreResult {
    let path = root().join(name);
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|error| format!("{name}: {error}"))?;
    }
    fs::write(path, text).map_err(|error| format!("{name}: {error}"))
}

/// Returns the pages that follow from the types of the answers, by path below the root.
fn generated_pages() -> Result<BTreeMap<String, String>, String> {
    let program = target().join("debug/examples/generated_pages");
    let printed = stdout_of(Command::new(&program))?;
    serde_json::from_str(&printed).map_err(|error| format!("{}: {error}", program.display()))
}

/// Splits a README at its tour: the text before, the tour, the text after.
fn split_at_tour(readme: &str) -> Result<(&str, &str, &str), String> {
    let parts = readme.split_once(TOUR_BEGIN).and_then(|(before, rest)| {
        let (tour, after) = rest.split_once(TOUR_END)?;
        Some((before, tour, after))
    });
    parts.ok_or_else(|| "README.md has no place for the tour".to_owned())
}

fn tour_of(readme: &str) -> Result<&str, String> {
    split_at_tour(readme).map(|(_, tour, _)| tour)
}

fn with_tour(readme: &str, tour: &str) -> Result<String, String> {
    let (before, _, after) = split_at_tour(readme)?;
    Ok(format!("{before}{TOUR_BEGIN}{tour}{TOUR_END}{after}"))
}

/// Replaces every id, digest, number and time by a placeholder.
fn masked_text(text: &str) -> String {
    let is_token = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '…';
    let mut formed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_token(c) != is_token(first)).unwrap_or(rest.len());
        let (token, tail) = rest.split_at(end);
        formed.push_str(if is_variable_token(token) { "#" } else { token });
        rest = tail;
    }
    // How many sockets there are to mask depends on the machine.
    formed.replace("# socket masked", "# sockets masked")
}

/// Recognizes numbers, ids and digests: hex digits with at least one decimal digit among them.
fn is_variable_token(token: &str) -> bool {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    digits > 0 && token.chars().all(|c| c.is_ascii_hexdigit() || c == '-' || c == '…')
}

#[cfg(test)]
mod tests {
    use super::masked_text;

    #[test]
    fn a_tour_is_the_same_on_machines_with_other_sockets() {
        let line = |sockets: &str| masked_text(&format!("network on; {sockets} masked"));
        assert_eq!(line("1 socket"), line("0 sockets"));
        assert_ne!(line("1 socket"), masked_text("network off; 1 socket masked"));
    }
}
