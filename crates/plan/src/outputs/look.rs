//! Whether changed paths look like build outputs, judged by their names alone: for hints and suggestions, never for a
//! verdict.

use super::table::ECOSYSTEMS;
use evidence::Mark;
use paths::RepoPath;
use std::collections::BTreeSet;

/// The directory that a build tool wrote (or the file itself, where a tool writes single files), if the name of one above
/// `path` says so: the topmost one.
pub fn output_root(path: &RepoPath) -> Option<RepoPath> {
    let bytes = path.as_bytes();
    let mut above = path.lineage().filter(|above| above.len() < bytes.len());
    let directory = above.find(|above| ECOSYSTEMS.iter().any(|it| it.writes_directory(above)));
    let root = directory.or_else(|| ECOSYSTEMS.iter().any(|it| it.writes_file(bytes)).then_some(bytes))?;
    RepoPath::parse(root).ok()
}

/// Tells build outputs among changed paths: by their names, and by the marks that some of them put beside the others.
#[derive(Debug, Default)]
pub struct OutputLook {
    marked: BTreeSet<RepoPath>,
}

impl OutputLook {
    /// Looks at all changed paths at once: a `CACHEDIR.TAG` among them speaks for its whole directory.
    pub fn of<'a>(changed: impl IntoIterator<Item = &'a RepoPath>) -> Self {
        let is_mark = |path: &&RepoPath| Mark::of_file_name(path.file_name()).is_some();
        Self { marked: changed.into_iter().filter(is_mark).filter_map(RepoPath::parent).collect() }
    }

    /// The output that `path` seems to belong to, as in [`output_root`].
    pub fn root_of(&self, path: &RepoPath) -> Option<RepoPath> {
        let by_mark =
            || path.lineage().find_map(|above| self.marked.iter().find(|it| it.as_bytes() == above));
        if self.marked.is_empty() {
            return output_root(path);
        }
        let marked = by_mark().cloned();
        match (marked, output_root(path)) {
            (Some(one), Some(other)) => {
                Some(if one.as_bytes().len() < other.as_bytes().len() { one } else { other })
            }
            (one, other) => one.or(other),
        }
    }

    /// Whether `path` seems to be a build output.
    pub fn is_output(&self, path: &RepoPath) -> bool {
        self.root_of(path).is_some()
    }
}

/// Caches and reports of tools: none of them writes source code there, but interpreters would run it.
const CACHES_WITHOUT_SOURCE: [&[u8]; 10] = [
    b"__pycache__",
    b"htmlcov",
    b".pytest_cache",
    b".mypy_cache",
    b".ruff_cache",
    b".hypothesis",
    b".benchmarks",
    b".pytype",
    b".nyc_output",
    b".eslintcache",
];

/// Names of files that interpreters load as code.
const SOURCE_ENDINGS: [&[u8]; 5] = [b".py", b".pth", b".so", b".pyd", b".pyw"];

/// Whether a path is source code in a cache that has none by itself: such a file is never exempt.
pub fn is_source_in_cache(path: &RepoPath) -> bool {
    let is_cache = |name: &[u8]| CACHES_WITHOUT_SOURCE.contains(&name) || name.ends_with(b".egg-info");
    SOURCE_ENDINGS.iter().any(|ending| path.file_name().ends_with(ending))
        && path.parent().is_some_and(|parent| parent.segments().any(is_cache))
        && !path.segments().any(|name| name == b"site-packages")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name.as_bytes()).expect("a path")
    }

    #[test]
    fn the_topmost_name_of_a_tool_is_the_root() {
        for (name, root) in [
            ("src/a/__pycache__/b.pyc", Some("src/a/__pycache__")),
            (".venv/lib/site-packages/a/__pycache__/b.pyc", Some(".venv")),
            ("web/node_modules/a/node_modules/b/x.js", Some("web/node_modules")),
            (".coverage", Some(".coverage")),
            ("src/a.py", None),
            ("dist/a.whl", None),
            ("__pycache__", None),
        ] {
            assert_eq!(output_root(&path(name)), root.map(path), "{name}");
        }
    }

    #[test]
    fn a_mark_among_the_changes_speaks_for_its_directory() {
        let changed =
            ["target/CACHEDIR.TAG", "target/debug/x", "env/pyvenv.cfg", "env/bin/python", "src/a.rs"]
                .map(path);
        let look = OutputLook::of(&changed);
        let outputs: Vec<_> =
            changed.iter().filter(|path| look.is_output(path)).map(ToString::to_string).collect();
        assert_eq!(outputs, ["target/CACHEDIR.TAG", "target/debug/x", "env/pyvenv.cfg", "env/bin/python"]);
        assert!(
            !OutputLook::of(&[path("CACHEDIR.TAG")]).is_output(&path("src/a.rs")),
            "the root is no output"
        );
    }
}
