//! `cargo xtask tidy`: checks project rules that no compiler enforces. Reads sources and `cargo metadata`; builds
//! nothing.
//!
//! Each check is a pure function from texts to complaints. Known violations are listed in `xtask/allowances.txt`, and
//! that list may only shrink.

mod allowances;
mod avoided_words;
mod citations;
mod crate_headers;
pub(crate) mod crates;
mod cycles;
pub mod graph;
mod line_counts;
mod rust_text;

use crate::{ChoreResult, root};
use allowances::Allowances;
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) struct SourceFile {
    /// From the root, with `/`.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A violation, with its place.
pub(crate) type TidyComplaint = String;

/// Directories without sources of ours.
const SKIPPED_DIRECTORIES: [&str; 4] = ["target", ".git", "node_modules", "corpus"];

const ALLOWANCES_FILE: &str = "xtask/allowances.txt";

/// Runs every check and reports all violations.
pub(crate) fn tidy() -> ChoreResult {
    let found = examine(&Allowances::parse(&read(ALLOWANCES_FILE)?)?)?;
    if found.complaints.is_empty() {
        eprintln!("── tidy: every check passed; {} allowances are left", found.used.total());
        return Ok(());
    }
    for complaint in &found.complaints {
        eprintln!("  {complaint}");
    }
    Err(format!("tidy: {} complaints", found.complaints.len()))
}

/// Lowers allowances to what is still needed; never raises one.
pub(crate) fn lower_allowances() -> ChoreResult {
    let allowed = Allowances::parse(&read(ALLOWANCES_FILE)?)?;
    let used = examine(&allowed)?.used;
    fs::write(root().join(ALLOWANCES_FILE), allowed.lowered_to(&used).to_text())
        .map_err(|error| format!("{ALLOWANCES_FILE}: {error}"))
}

struct TidyReport {
    complaints: Vec<TidyComplaint>,
    used: Allowances,
}

fn examine(allowed: &Allowances) -> Result<TidyReport, String> {
    let graph = crates::CrateGraph::read()?;
    let files = sources()?;
    let mut complaints = crates::complaints(&graph);
    complaints.extend(crate_headers::complaints(&graph, &files));
    complaints.extend(citations::complaints(&files));
    complaints.extend(line_counts::verifier_complaint(&graph, &files));
    complaints.extend(graph::complaint(&graph, &files)?);
    let mut used = Allowances::default();
    let mut hits = cycles::hits(&graph, &files);
    hits.extend(avoided_words::hits(&avoided_words::parse(&read("xtask/words.txt")?)?, &files));
    for hit in &hits {
        used.add(hit.rule, &hit.subject, hit.weight);
    }
    complaints.extend(allowed.complaints(&used, &hits));
    Ok(TidyReport { complaints, used })
}

fn read(name: &str) -> Result<String, String> {
    fs::read_to_string(root().join(name)).map_err(|error| format!("{name}: {error}"))
}

/// Reads every text that a check looks at, sorted by path.
fn sources() -> Result<Vec<SourceFile>, String> {
    let root = root();
    let mut paths = Vec::new();
    gather(&root, &mut paths).map_err(|error| format!("{}: {error}", root.display()))?;
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let path = path.strip_prefix(&root).unwrap_or(path).to_string_lossy().into_owned();
        Ok(SourceFile { path, text })
    };
    paths.iter().map(read).collect()
}

fn gather(directory: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if kind.is_dir() && !SKIPPED_DIRECTORIES.contains(&name.as_ref()) {
            gather(&path, found)?;
        } else if kind.is_file() && is_looked_at(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// Selects sources, pages and vectors, but not the data of tests, whose wording is not ours.
fn is_looked_at(path: &Path) -> bool {
    let is_data =
        path.components().any(|part| matches!(part.as_os_str().to_str(), Some("data" | "fixtures")));
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is_vector =
        extension == Some("json") && path.components().any(|part| part.as_os_str() == "conformance");
    !is_data && (matches!(extension, Some("rs" | "md")) || is_vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: path.into(), text: text.into() }
    }
}
