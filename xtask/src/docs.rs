//! Generates parts of the docs: the list of codes, the crate graph in ARCHITECTURE.md, the schemas of typed answers,
//! and the tour in the README.
//!
//! `write` generates them; `check` fails if they are stale. Parts of the tour that differ from run to run (ids,
//! digests, times) are masked before the comparison.

use crate::{ChoreResult, book_links, build, demo, root, tidy};
use probity_api::SchemaEntry;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

const TOUR_BEGIN: &str = "<!-- tour: made by `cargo xtask docs` -->\n```console\n";
const TOUR_END: &str = "```\n<!-- end of tour -->";

pub fn write() -> ChoreResult {
    write_page("docs/reasons.md", &reasons())?;
    for (name, text) in schemas() {
        write_page(&name, &text)?;
    }
    tidy::graph::write()?;
    let binary = build("dev")?;
    write_page(COMMANDS_PAGE, &commands(&binary)?)?;
    let readme = get("README.md")?;
    let tour = demo::transcript(&binary)?;
    write_page("README.md", &with_tour(&readme, tour.trim_start())?)
}

pub fn check() -> ChoreResult {
    eprintln!("── docs: comparing the generated parts");
    let stale = |name: &str| format!("{name} is out of date: run `cargo xtask docs`");
    if get("docs/reasons.md")? != reasons() {
        return Err(stale("docs/reasons.md"));
    }
    for (name, text) in schemas() {
        if get(&name)? != text {
            return Err(stale(&name));
        }
    }
    tidy::graph::check()?;
    let binary = build("dev")?;
    if get(COMMANDS_PAGE)? != commands(&binary)? {
        return Err(stale(COMMANDS_PAGE));
    }
    book_links::check()?;
    let readme = get("README.md")?;
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
    let output = Command::new(binary)
        .args(["man", "--markdown"])
        .env("NO_COLOR", "1")
        .output()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(text) } else { Err("`probity man --markdown` failed".into()) }
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

fn reasons() -> String {
    let mut text = String::from(
        "# Codes\n\nMade by `cargo xtask docs` from the registry in `crates/api/src/codes.rs`; `probity explain CODE` \
         says the same.\nA code never changes its meaning and is never reused.\n",
    );
    for family in probity_api::codes::FAMILIES {
        let _ = writeln!(
            text,
            "\n## {}\n\n{}\n\n| Code | What happened | What to do |\n|---|---|---|",
            family.title, family.about
        );
        for entry in family.entries {
            let _ = writeln!(text, "| `{}` | {} | {} |", entry.code, entry.meaning, entry.next_step);
        }
    }
    text
}

/// Returns the generated schemas, each with its path below the root.
fn schemas() -> Vec<(String, String)> {
    let text = |entry: &SchemaEntry| format!("{:#}\n", entry.schema());
    probity_api::SCHEMAS
        .iter()
        .map(|entry| (format!("docs/schemas/{}", entry.file_name()), text(entry)))
        .collect()
}

fn with_tour(readme: &str, tour: &str) -> Result<String, String> {
    let missing = || "README.md has no place for the tour".to_owned();
    let (before, rest) = readme.split_once(TOUR_BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(TOUR_END).ok_or_else(missing)?;
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
    formed
}

/// Recognizes numbers, ids and digests: hex digits with at least one decimal digit among them.
fn is_variable_token(token: &str) -> bool {
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    digits > 0 && token.chars().all(|c| c.is_ascii_hexdigit() || c == '-' || c == '…')
}
