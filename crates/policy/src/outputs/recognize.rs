//! Recognizes build outputs by marker files: cache directory tags and virtual environments.
//!
//! Anyone can create a marker, so it counts only with independent support: git tracks nothing in the
//! directory, and it was marked before the run, or the ignore rules at the start cover it, or it has the
//! tool's default name. A marker that a command drops into a source directory therefore hides nothing.

use super::table::{ECOSYSTEMS, VIRTUAL_ENVIRONMENTS};
use probity_evidence::{DirectoryMarker, RecognizedBecause, RecognizedOutput};
use probity_paths::RepoPath;
use std::collections::BTreeMap;

/// The first line of every cache directory tag (<https://bford.info/cachedir/>).
const CACHEDIR_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// A directory with a valid marker, before recognition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarkedDirectory {
    pub path: RepoPath,
    pub mark: DirectoryMarker,
}

/// Returns true if the content is that of a marker, not of a file that happens to have its name.
pub fn is_valid_mark(mark: DirectoryMarker, content: &[u8]) -> bool {
    match mark {
        DirectoryMarker::CacheDirectory => content.starts_with(CACHEDIR_SIGNATURE),
        DirectoryMarker::VirtualEnvironment => content.split(|&byte| byte == b'\n').any(is_home_line),
    }
}

/// Returns true if the directory has a default name of the tools that write this marker.
fn is_tool_name(mark: DirectoryMarker, directory: &RepoPath) -> bool {
    let is = |name: &&str| name.as_bytes() == directory.file_name();
    match mark {
        DirectoryMarker::CacheDirectory => {
            is(&"target") || ECOSYSTEMS.iter().any(|it| it.writes_directory(directory.as_bytes()))
        }
        DirectoryMarker::VirtualEnvironment => VIRTUAL_ENVIRONMENTS.iter().any(is),
    }
}

/// Matches `home = /usr/bin`, the location of a virtual environment's interpreter.
fn is_home_line(line: &[u8]) -> bool {
    let Some(at) = line.iter().position(|&byte| byte == b'=') else { return false };
    let (key, value) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
    key.eq_ignore_ascii_case(b"home") && !value.is_empty()
}

/// Recognizes build outputs among the directories marked at the start and at the end of a run. `has_tracked_files`: git
/// tracks something in the directory. `may_be_made_by_tool`: a tool may have created the directory there on its own.
/// `is_ignored`: the ignore rules at the start cover it.
pub fn recognize_outputs(
    at_start: &[MarkedDirectory],
    at_end: &[MarkedDirectory],
    has_tracked_files: &dyn Fn(&RepoPath) -> bool,
    may_be_made_by_tool: &dyn Fn(&RepoPath) -> bool,
    is_ignored: &mut dyn FnMut(&RepoPath) -> bool,
) -> Vec<RecognizedOutput> {
    let mut found: BTreeMap<RepoPath, RecognizedOutput> = BTreeMap::new();
    let mut add = |marked: &MarkedDirectory, because| {
        let MarkedDirectory { path, mark } = marked.clone();
        found.entry(path.clone()).or_insert(RecognizedOutput { path, mark, because });
    };
    for marked in at_start.iter().filter(|marked| !has_tracked_files(&marked.path)) {
        add(marked, RecognizedBecause::MarkedAtStart);
    }
    for marked in at_end.iter().filter(|marked| !has_tracked_files(&marked.path)) {
        if is_tool_name(marked.mark, &marked.path) && may_be_made_by_tool(&marked.path) {
            add(marked, RecognizedBecause::ToolName);
        } else if is_ignored(&marked.path) {
            add(marked, RecognizedBecause::Ignored);
        }
    }
    // Directories inside a recognized one are already covered.
    let all: Vec<RecognizedOutput> = found.into_values().collect();
    let is_inner = |it: &RecognizedOutput| {
        all.iter().any(|other| other.path != it.path && it.path.is_covered_by(other.path.as_bytes()))
    };
    all.iter().filter(|it| !is_inner(it)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name.as_bytes()).expect("a path")
    }

    fn cache(name: &str) -> MarkedDirectory {
        MarkedDirectory { path: path(name), mark: DirectoryMarker::CacheDirectory }
    }

    fn recognized(
        at_start: &[&str],
        at_end: &[&str],
        kept: &str,
        ignored: &str,
    ) -> Vec<(String, RecognizedBecause)> {
        let marked = |names: &[&str]| names.iter().map(|name| cache(name)).collect::<Vec<_>>();
        let found = recognize_outputs(
            &marked(at_start),
            &marked(at_end),
            &|directory| directory.as_bytes() == kept.as_bytes(),
            &|_| true,
            &mut |directory| directory.as_bytes() == ignored.as_bytes(),
        );
        found.into_iter().map(|it| (it.path.to_string(), it.because)).collect()
    }

    #[test]
    fn a_mark_must_be_one() {
        assert!(is_valid_mark(
            DirectoryMarker::CacheDirectory,
            b"Signature: 8a477f597d28d172789f06886806bc55\n# by cargo\n"
        ));
        assert!(
            !is_valid_mark(DirectoryMarker::CacheDirectory, b"")
                && !is_valid_mark(DirectoryMarker::CacheDirectory, b"Signature: 8a477f59\n")
        );
        assert!(is_valid_mark(DirectoryMarker::VirtualEnvironment, b"version = 3.12\nHome = /usr/bin\n"));
        for bad in ["", "home\n", "home = \n", "homes = /usr\n", "# home\nversion = 3\n"] {
            assert!(!is_valid_mark(DirectoryMarker::VirtualEnvironment, bad.as_bytes()), "{bad:?}");
        }
    }

    #[test]
    fn a_mark_dropped_into_a_source_directory_hides_nothing() {
        assert_eq!(recognized(&[], &["src/evil", "lib"], "", ""), []);
    }

    #[test]
    fn a_mark_counts_at_the_start_where_it_is_ignored_and_under_the_name_of_a_tool() {
        use RecognizedBecause::{Ignored, MarkedAtStart, ToolName};
        assert_eq!(recognized(&["odd"], &["odd"], "", ""), [("odd".into(), MarkedAtStart)]);
        assert_eq!(recognized(&["odd"], &[], "", ""), [("odd".into(), MarkedAtStart)], "it was removed");
        assert_eq!(recognized(&[], &["odd"], "", "odd"), [("odd".into(), Ignored)]);
        assert_eq!(recognized(&[], &["fuzz/target"], "", ""), [("fuzz/target".into(), ToolName)]);
        assert_eq!(recognized(&[], &["a/.mypy_cache"], "", ""), [("a/.mypy_cache".into(), ToolName)]);
    }

    #[test]
    fn a_directory_in_which_git_keeps_files_is_never_recognized() {
        assert_eq!(recognized(&["target"], &["target"], "target", "target"), []);
    }

    #[test]
    fn only_the_outermost_of_nested_outputs_is_named() {
        assert_eq!(recognized(&[], &["target", "target/debug/target"], "", "").len(), 1);
    }

    #[test]
    fn the_names_of_virtual_environments_are_no_names_of_caches() {
        let env = |mark| MarkedDirectory { path: path("env"), mark };
        let found = |mark| recognize_outputs(&[], &[env(mark)], &|_| false, &|_| true, &mut |_| false).len();
        assert_eq!(
            (found(DirectoryMarker::VirtualEnvironment), found(DirectoryMarker::CacheDirectory)),
            (1, 0)
        );
    }
}
