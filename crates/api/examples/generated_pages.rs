//! Prints the pages of the docs that follow from the types of this crate, as a JSON object from path to text.
//!
//! `cargo xtask docs` runs it. It is no part of `xtask`, which would otherwise have to compile most crates of the
//! project a second time, with other features than the tests have.
#![allow(clippy::print_stdout, reason = "printing is what this program does")]

use probity_api::codes::FAMILIES;
use std::collections::BTreeMap;
use std::fmt::Write as _;

fn main() {
    let schemas = probity_api::SCHEMAS
        .iter()
        .map(|entry| (format!("docs/schemas/{}", entry.file_name()), format!("{:#}\n", entry.schema())));
    let pages: BTreeMap<String, String> =
        schemas.chain([("docs/reasons.md".to_owned(), reasons())]).collect();
    println!("{}", serde_json::to_string(&pages).expect("texts have a JSON form"));
}

fn reasons() -> String {
    let mut text = String::from(
        "# Codes\n\nMade by `cargo xtask docs` from the registry in `crates/api/src/codes.rs`; `probity explain CODE` \
         says the same.\nA code never changes its meaning and is never reused.\n",
    );
    for family in FAMILIES {
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
