//! Checks that every crate's header says what it owns, what it may use and what it must not know.

use super::crates::CrateGraph;
use super::{SourceFile, TidyComplaint};
use std::collections::BTreeSet;

/// The prefixes of the three lines, in order.
const HEADER_LINES: [&str; 3] = ["//! Owns: ", "//! May use: ", "//! Must not know: "];

/// The `May use` text of a crate that uses none of ours.
const NO_CRATES_PHRASE: &str = "no other crate of ours";

pub(crate) fn complaints(graph: &CrateGraph, files: &[SourceFile]) -> Vec<TidyComplaint> {
    let door = |name: &str| {
        let path = format!("crates/{name}/src/lib.rs");
        files.iter().find(|file| file.path == path)
    };
    let checked = graph.iter().filter_map(|(name, uses)| {
        let file = door(name)?;
        header_fault(&file.text, uses).map(|fault| format!("{}: {fault}", file.path))
    });
    checked.collect()
}

fn header_fault(text: &str, uses: &BTreeSet<String>) -> Option<String> {
    let docs: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    let at = |start: &str| docs.iter().position(|line| line.starts_with(start));
    let places: Option<Vec<usize>> = HEADER_LINES.iter().map(|start| at(start)).collect();
    let in_order = places.as_ref().is_some_and(|places| places.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    if !in_order {
        return Some(format!(
            "it must open with the three lines `{}`",
            HEADER_LINES.map(str::trim_end).join("`, `")
        ));
    }
    let said = docs[places?[1]].strip_prefix(HEADER_LINES[1])?.trim_end_matches('.');
    let said: BTreeSet<String> = if said == NO_CRATES_PHRASE {
        BTreeSet::new()
    } else {
        said.split(", ").map(str::to_owned).collect()
    };
    let real: Vec<&str> = uses.iter().map(String::as_str).collect();
    let real = if real.is_empty() { NO_CRATES_PHRASE.to_owned() } else { real.join(", ") };
    (said != *uses).then(|| format!("`May use` must say `{real}.`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    fn check(text: &str) -> Vec<TidyComplaint> {
        let graph = CrateGraph::new(&[("a", &["b", "c"]), ("b", &[])]);
        complaints(&graph, &[file("crates/a/src/lib.rs", text)])
    }

    #[test]
    fn a_crate_without_its_three_lines_is_named() {
        assert_eq!(check("//! What a is.\n").len(), 1);
        assert_eq!(check("//! Owns: x.\n//! Must not know: y.\n//! May use: b, c.\n").len(), 1);
        assert!(check("//! A.\n//!\n//! Owns: x.\n//! May use: b, c.\n//! Must not know: y.\n").is_empty());
    }

    #[test]
    fn what_a_crate_says_it_uses_is_what_it_uses() {
        let said = |uses: &str| check(&format!("//! Owns: x.\n//! May use: {uses}\n//! Must not know: y.\n"));
        assert_eq!(said("b."), ["crates/a/src/lib.rs: `May use` must say `b, c.`"]);
        assert_eq!(said("no other crate of ours."), ["crates/a/src/lib.rs: `May use` must say `b, c.`"]);
    }
}
