//! Generates the part of ARCHITECTURE.md that shows the crate graph and what the verifier depends on.

use super::crates::CrateGraph;
use super::{SourceFile, TidyComplaint, line_counts, sources};
use crate::{ChoreResult, root};
use std::fmt::Write;
use std::fs;

const GRAPH_PAGE: &str = "ARCHITECTURE.md";
const GRAPH_BEGIN: &str = "<!-- crate graph: made by `cargo xtask docs` -->\n";
const GRAPH_END: &str = "<!-- end of crate graph -->";

pub(crate) fn write() -> ChoreResult {
    let (graph, files) = (CrateGraph::read()?, sources()?);
    let fresh = with_graph(graph_page(&files)?, &text(&graph, &files))?;
    fs::write(root().join(GRAPH_PAGE), fresh).map_err(|error| format!("{GRAPH_PAGE}: {error}"))
}

pub(crate) fn check() -> ChoreResult {
    complaint(&CrateGraph::read()?, &sources()?)?.map_or(Ok(()), Err)
}

/// Reports a page whose graph differs from the real one.
pub(crate) fn complaint(graph: &CrateGraph, files: &[SourceFile]) -> Result<Option<TidyComplaint>, String> {
    let page = graph_page(files)?;
    let is_stale = with_graph(page, &text(graph, files))? != page;
    Ok(is_stale.then(|| format!("the crate graph in {GRAPH_PAGE} is out of date: run `cargo xtask docs`")))
}

fn graph_page(files: &[SourceFile]) -> Result<&str, String> {
    let page = files.iter().find(|file| file.path == GRAPH_PAGE);
    page.map(|file| file.text.as_str()).ok_or_else(|| format!("there is no {GRAPH_PAGE}"))
}

fn with_graph(page: &str, graph: &str) -> Result<String, String> {
    let missing = || format!("{GRAPH_PAGE} has no place for the crate graph");
    let (before, rest) = page.split_once(GRAPH_BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(GRAPH_END).ok_or_else(missing)?;
    Ok(format!("{before}{GRAPH_BEGIN}{graph}{GRAPH_END}{after}"))
}

/// Formats the graph as a table, crates with the fewest dependencies first.
fn text(graph: &CrateGraph, files: &[SourceFile]) -> String {
    let mut text = String::from("| Crate | Uses |\n|---|---|\n");
    let mut crates: Vec<_> = graph.iter().collect();
    crates.sort_by_key(|(name, _)| (graph.closure(name).len(), *name));
    for (name, uses) in crates {
        let uses: Vec<String> = uses.iter().map(|used| format!("`{used}`")).collect();
        let uses = if uses.is_empty() { "none of ours".into() } else { uses.join(", ") };
        let _ = writeln!(text, "| `{name}` | {uses} |");
    }
    let below = graph.closure(line_counts::VERIFIER_CRATE);
    let names: Vec<String> = below.iter().map(|name| format!("`{name}`")).collect();
    // Rounded, so that not every edit makes the page stale.
    let hundreds = (line_counts::of_verifier(graph, files) + 50) / 100;
    let _ = writeln!(
        text,
        "\nAn audit of the verifier reads {}: about {} lines, tests not counted; `cargo xtask tidy` fails above {}.",
        names.join(", "),
        thousands(hundreds * 100),
        thousands(line_counts::MAX_VERIFIER_LINES),
    );
    text
}

fn thousands(number: usize) -> String {
    if number < 1_000 { number.to_string() } else { format!("{},{:03}", number / 1_000, number % 1_000) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    #[test]
    fn a_page_with_another_graph_is_out_of_date() {
        let graph = CrateGraph::new(&[("evidence", &["core"]), ("core", &[])]);
        let stale = format!("# A\n{GRAPH_BEGIN}old\n{GRAPH_END}\nmore\n");
        let files = [file(GRAPH_PAGE, &stale), file("crates/core/src/lib.rs", &"x\n".repeat(1_010))];
        assert!(complaint(&graph, &files).expect("a page").is_some());
        let fresh = with_graph(&stale, &text(&graph, &files)).expect("a place");
        assert!(fresh.contains("| `evidence` | `core` |") && fresh.contains("about 1,000 lines"), "{fresh}");
        let files = [file(GRAPH_PAGE, &fresh), file("crates/core/src/lib.rs", &"x\n".repeat(1_010))];
        assert_eq!(complaint(&graph, &files), Ok(None));
    }
}
