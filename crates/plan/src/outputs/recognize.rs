//! Recognition of build outputs by what a directory is: a cache that says so, or a virtual environment.
//!
//! A mark is a claim of whoever wrote it, so it counts only where somebody else agrees: git keeps nothing there, and the
//! directory was marked before the run, or the project's ignore rules of the start name it, or its name is one that the
//! tool uses by itself. A mark that a command drops into a source directory hides nothing.

use super::table::{ECOSYSTEMS, VIRTUAL_ENVIRONMENTS};
use paths::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The first line of every cache directory tag (<https://bford.info/cachedir/>).
const CACHEDIR_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// The file that says what its directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Mark {
    /// A cache directory.
    #[serde(rename = "CACHEDIR.TAG")]
    CacheDirectory,
    /// A virtual environment of Python.
    #[serde(rename = "pyvenv.cfg")]
    VirtualEnvironment,
}

/// A directory with a valid mark, not yet judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MarkedDirectory {
    /// The directory.
    pub path: RepoPath,
    /// Its mark.
    pub mark: Mark,
}

/// Why a mark was believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecognizedBecause {
    /// The directory had its mark before the run.
    MarkedAtStart,
    /// The ignore rules of the start name the directory.
    Ignored,
    /// The directory has the name that the tool uses by itself.
    ToolName,
}

/// A directory that was recognized as a build output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecognizedOutput {
    /// The directory.
    pub path: RepoPath,
    /// Its mark.
    pub mark: Mark,
    /// Why the mark was believed.
    pub because: RecognizedBecause,
}

impl Mark {
    /// The mark that a file of this name would be.
    pub fn of_file_name(name: &[u8]) -> Option<Self> {
        match name {
            b"CACHEDIR.TAG" => Some(Self::CacheDirectory),
            b"pyvenv.cfg" => Some(Self::VirtualEnvironment),
            _ => None,
        }
    }

    /// The name of the file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::CacheDirectory => "CACHEDIR.TAG",
            Self::VirtualEnvironment => "pyvenv.cfg",
        }
    }

    /// Whether a file with this content is the mark and no file that happens to have its name.
    pub fn is_valid(self, content: &[u8]) -> bool {
        match self {
            Self::CacheDirectory => content.starts_with(CACHEDIR_SIGNATURE),
            Self::VirtualEnvironment => content.split(|&byte| byte == b'\n').any(is_home_line),
        }
    }

    /// Whether the tools that write this mark use the directory's name by themselves.
    fn is_tool_name(self, directory: &RepoPath) -> bool {
        let is = |name: &&str| name.as_bytes() == directory.file_name();
        match self {
            Self::CacheDirectory => {
                is(&"target") || ECOSYSTEMS.iter().any(|it| it.writes_directory(directory.as_bytes()))
            }
            Self::VirtualEnvironment => VIRTUAL_ENVIRONMENTS.iter().any(is),
        }
    }
}

/// `home = /usr/bin`: where the interpreter of a virtual environment comes from.
fn is_home_line(line: &[u8]) -> bool {
    let Some(at) = line.iter().position(|&byte| byte == b'=') else { return false };
    let (key, value) = (line[..at].trim_ascii(), line[at + 1..].trim_ascii());
    key.eq_ignore_ascii_case(b"home") && !value.is_empty()
}

/// Recognizes build outputs among the marked directories of the start and of the end of a run. `is_kept` says whether
/// git tracks anything in a directory, `is_project` whether a tool may have made the directory there by itself,
/// `is_ignored` whether the ignore rules of the start name it.
pub fn recognize(
    at_start: &[MarkedDirectory],
    at_end: &[MarkedDirectory],
    is_kept: &dyn Fn(&RepoPath) -> bool,
    is_project: &dyn Fn(&RepoPath) -> bool,
    is_ignored: &mut dyn FnMut(&RepoPath) -> bool,
) -> Vec<RecognizedOutput> {
    let mut found: BTreeMap<RepoPath, RecognizedOutput> = BTreeMap::new();
    let mut add = |marked: &MarkedDirectory, because| {
        let MarkedDirectory { path, mark } = marked.clone();
        found.entry(path.clone()).or_insert(RecognizedOutput { path, mark, because });
    };
    for marked in at_start.iter().filter(|marked| !is_kept(&marked.path)) {
        add(marked, RecognizedBecause::MarkedAtStart);
    }
    for marked in at_end.iter().filter(|marked| !is_kept(&marked.path)) {
        if marked.mark.is_tool_name(&marked.path) && is_project(&marked.path) {
            add(marked, RecognizedBecause::ToolName);
        } else if is_ignored(&marked.path) {
            add(marked, RecognizedBecause::Ignored);
        }
    }
    // What lies in a recognized directory needs no recognition of its own.
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
        MarkedDirectory { path: path(name), mark: Mark::CacheDirectory }
    }

    fn recognized(
        at_start: &[&str],
        at_end: &[&str],
        kept: &str,
        ignored: &str,
    ) -> Vec<(String, RecognizedBecause)> {
        let marked = |names: &[&str]| names.iter().map(|name| cache(name)).collect::<Vec<_>>();
        let found = recognize(
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
        assert!(Mark::CacheDirectory.is_valid(b"Signature: 8a477f597d28d172789f06886806bc55\n# by cargo\n"));
        assert!(
            !Mark::CacheDirectory.is_valid(b"") && !Mark::CacheDirectory.is_valid(b"Signature: 8a477f59\n")
        );
        assert!(Mark::VirtualEnvironment.is_valid(b"version = 3.12\nHome = /usr/bin\n"));
        for bad in ["", "home\n", "home = \n", "homes = /usr\n", "# home\nversion = 3\n"] {
            assert!(!Mark::VirtualEnvironment.is_valid(bad.as_bytes()), "{bad:?}");
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
        let found = |mark| recognize(&[], &[env(mark)], &|_| false, &|_| true, &mut |_| false).len();
        assert_eq!((found(Mark::VirtualEnvironment), found(Mark::CacheDirectory)), (1, 0));
    }
}
