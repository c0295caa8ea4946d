//! Counts the lines of a crate: every line of `src`, comments included, tests excluded.

use super::crates::CrateGraph;
use super::{SourceFile, TidyComplaint};

/// The crate that verifies evidence, receipts and seals.
pub(crate) const VERIFIER_CRATE: &str = "evidence";

/// Maximum number of lines that an audit of the verifier has to read.
pub(crate) const MAX_VERIFIER_LINES: usize = 7_000;

/// Returns whether a file is part of the crate as shipped.
fn is_shipped(path: &str, name: &str) -> bool {
    let inside = path.strip_prefix("crates/").and_then(|path| path.strip_prefix(name));
    inside.and_then(|path| path.strip_prefix("/src/")).is_some_and(|path| {
        path.ends_with(".rs") && !path.split('/').any(|part| part == "tests" || part == "tests.rs")
    })
}

pub(crate) fn shipped_files<'a>(
    name: &'a str,
    files: &'a [SourceFile],
) -> impl Iterator<Item = &'a SourceFile> {
    files.iter().filter(move |file| is_shipped(&file.path, name))
}

/// Returns the lines outside `#[cfg(test)]` modules, with their original numbers.
pub(crate) fn without_tests(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut end: Option<String> = None;
    let mut was_marked = false;
    let mut kept: Vec<(usize, &str)> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(closing) = &end {
            if line == closing {
                end = None;
            }
            continue;
        }
        let trimmed = line.trim_start();
        let opens = trimmed.split(' ').any(|word| word == "mod") && trimmed.ends_with('{');
        if was_marked && opens {
            kept.pop();
            end = Some(format!("{}}}", &line[..line.len() - trimmed.len()]));
        } else {
            kept.push((index + 1, line));
        }
        was_marked = trimmed == "#[cfg(test)]";
    }
    kept.into_iter()
}

fn of_crate(name: &str, files: &[SourceFile]) -> usize {
    shipped_files(name, files).map(|file| without_tests(&file.text).count()).sum()
}

/// Counts the lines of the verifier and of every crate that it depends on.
pub(crate) fn of_verifier(graph: &CrateGraph, files: &[SourceFile]) -> usize {
    graph.closure(VERIFIER_CRATE).iter().map(|name| of_crate(name, files)).sum()
}

pub(crate) fn verifier_complaint(graph: &CrateGraph, files: &[SourceFile]) -> Option<TidyComplaint> {
    let lines = of_verifier(graph, files);
    (lines > MAX_VERIFIER_LINES).then(|| {
        format!(
            "the verifier stands on {lines} lines, and more than {MAX_VERIFIER_LINES} are too many to audit"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    #[test]
    fn tests_do_not_count() {
        let text = "//! a\nfn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let kept: Vec<usize> = without_tests(text).map(|(number, _)| number).collect();
        assert_eq!(kept, [1, 2, 3, 8]);
        let files = [
            file("crates/a/src/lib.rs", text),
            file("crates/a/src/b/tests.rs", text),
            file("crates/a/tests/all.rs", text),
            file("crates/ab/src/lib.rs", text),
        ];
        assert_eq!(of_crate("a", &files), 4);
    }

    #[test]
    fn a_verifier_that_stands_on_too_much_is_a_complaint() {
        let graph = CrateGraph::new(&[("evidence", &["big"]), ("big", &[])]);
        let big = |lines| [file("crates/big/src/lib.rs", &"x\n".repeat(lines))];
        assert_eq!(verifier_complaint(&graph, &big(MAX_VERIFIER_LINES)), None);
        assert!(verifier_complaint(&graph, &big(MAX_VERIFIER_LINES + 1)).is_some());
    }
}
