//! Judges build outputs by path names alone. [`output_root`] and [`OutputLook`] only serve hints and
//! suggestions; [`code_in_output`] and its neighbors keep code that programs load out of every exemption.

use super::table::{ECOSYSTEMS, Ecosystem, LoadedContent};
use probity_evidence::DirectoryMarker;
use probity_paths::RepoPath;
use std::collections::BTreeSet;

/// Returns the topmost directory above `path` whose name is that of a build output, or the file itself if
/// tools write single files of that name.
pub fn output_root(path: &RepoPath) -> Option<RepoPath> {
    let bytes = path.as_bytes();
    let mut above = path.ancestors_and_self().filter(|above| above.len() < bytes.len());
    let directory = above.find(|above| ECOSYSTEMS.iter().any(|it| it.writes_directory(above)));
    let root = directory.or_else(|| ECOSYSTEMS.iter().any(|it| it.writes_file(bytes)).then_some(bytes))?;
    RepoPath::parse(root).ok()
}

/// Finds build outputs among changed paths: by name, and by marker files among them.
#[derive(Debug, Default)]
pub struct OutputLook {
    marked: BTreeSet<RepoPath>,
}

impl OutputLook {
    /// Takes all changed paths at once: a `CACHEDIR.TAG` among them marks its whole directory.
    pub fn of<'a>(changed: impl IntoIterator<Item = &'a RepoPath>) -> Self {
        let is_mark = |path: &&RepoPath| DirectoryMarker::of_file_name(path.file_name()).is_some();
        Self { marked: changed.into_iter().filter(is_mark).filter_map(RepoPath::parent).collect() }
    }

    /// Returns the output that `path` seems to belong to, as [`output_root`] does.
    pub fn root_of(&self, path: &RepoPath) -> Option<RepoPath> {
        let by_mark = || {
            path.ancestors_and_self().find_map(|above| self.marked.iter().find(|it| it.as_bytes() == above))
        };
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

    pub fn is_output(&self, path: &RepoPath) -> bool {
        self.root_of(path).is_some()
    }
}

/// Caches and reports of tools. No tool writes source code there, but interpreters would run it.
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

/// Endings of files that interpreters load as code.
const SOURCE_ENDINGS: [&[u8]; 5] = [b".py", b".pth", b".so", b".pyd", b".pyw"];

/// Returns true for source code in a cache that normally contains none: such a file is never exempt.
fn is_source_in_cache(path: &RepoPath) -> bool {
    let is_cache = |name: &[u8]| CACHES_WITHOUT_SOURCE.contains(&name) || name.ends_with(b".egg-info");
    SOURCE_ENDINGS.iter().any(|ending| path.file_name().ends_with(ending))
        && path.parent().is_some_and(|parent| parent.segments().any(is_cache))
        && !path.segments().any(|name| name == b"site-packages")
}

/// Directories that Python tools fill with subdirectories but not with modules. A module directly in one
/// would replace the package of that name (`import build`).
const DIRECTORIES_WITHOUT_MODULES: [&[u8]; 2] = [b"build", b"dist"];

/// Modules that Python runs at every start. No package manager installs them.
const STARTUP_MODULES: [&[u8]; 2] = [b"sitecustomize", b"usercustomize"];

/// Returns why a path in a build output is judged nevertheless: programs load it by name, and no tool writes it there.
pub fn code_in_output(path: &RepoPath) -> Option<&'static str> {
    if is_source_in_cache(path) || is_module_of_build(path) {
        Some("source code in a cache, where no tool writes any")
    } else if is_startup_module(path) {
        Some("a module that Python runs whenever it starts")
    } else if is_system_program(path) {
        Some("a program that stands in for one of the system")
    } else if is_test_among_reports(path) {
        Some("code that test runners load, among reports")
    } else {
        None
    }
}

fn is_module_of_build(path: &RepoPath) -> bool {
    let name = path.file_name();
    [&b".py"[..], b".pyw", b".pth"].iter().any(|ending| name.ends_with(ending))
        && path.parent().is_some_and(|parent| DIRECTORIES_WITHOUT_MODULES.contains(&parent.file_name()))
        && !is_in_packages(path)
}

/// Matches a startup module, or a file in a package of that name, where Python looks for it.
fn is_startup_module(path: &RepoPath) -> bool {
    let names: Vec<&[u8]> = path.segments().collect();
    let is_place = |above: &[&[u8]]| {
        matches!(above, [.., b"site-packages" | b"dist-packages"] | [.., b"__pypackages__", _, b"lib"])
    };
    let stem =
        |name: &[u8]| name.split(|&byte| byte == b'.').next().is_some_and(|it| STARTUP_MODULES.contains(&it));
    (1..names.len()).any(|at| is_place(&names[..at]) && stem(names[at]))
}

/// System programs that scripts start and that no package provides. `npm` searches `node_modules/.bin` first,
/// an activated environment its `bin`.
const SYSTEM_PROGRAMS: [&[u8]; 22] = [
    b"[", b"awk", b"bash", b"cat", b"cp", b"dash", b"diff", b"echo", b"env", b"false", b"find", b"git",
    b"grep", b"ls", b"make", b"mkdir", b"mv", b"rm", b"sed", b"sh", b"test", b"true",
];

fn is_system_program(path: &RepoPath) -> bool {
    let names: Vec<&[u8]> = path.segments().collect();
    let is_node = |name: &[u8]| name == b"node" || name == b"nodejs";
    match names.as_slice() {
        [.., b"node_modules", b".bin", name] => is_node(name) || SYSTEM_PROGRAMS.contains(name),
        [.., b"bin", name] => SYSTEM_PROGRAMS.contains(name),
        _ => false,
    }
}

/// The directories of a virtual environment.
const ENVIRONMENT_DIRECTORIES: [&[u8]; 9] =
    [b"bin", b"Scripts", b"lib", b"lib64", b"Lib", b"include", b"share", b"etc", b"src"];

/// Returns true for source code in the virtual environment `root` that no tool puts there. An environment
/// called `env` is also an importable package of that name.
pub fn is_module_of_environment(root: &RepoPath, path: &RepoPath) -> bool {
    let mut below = path.segments().skip(root.segments().count());
    SOURCE_ENDINGS.iter().any(|ending| path.file_name().ends_with(ending))
        && below.next().is_some_and(|first| !ENVIRONMENT_DIRECTORIES.contains(&first))
}

/// Returns true for the name of a link to the interpreter of a virtual environment, such as `.venv/bin/python3`. Every
/// environment has some, and they lead out of the tree by design.
pub fn is_interpreter_link(path: &RepoPath) -> bool {
    let is_in_programs = path.parent().is_some_and(|above| matches!(above.file_name(), b"bin" | b"Scripts"));
    is_in_programs && is_interpreter_name(path.file_name())
}

/// Returns true for the file name of a Python interpreter, such as `python3.12`.
pub fn is_interpreter_name(name: &[u8]) -> bool {
    [&b"python"[..], b"pypy"].iter().any(|prefix| name.starts_with(prefix))
}

/// Returns true for a test, a test fixture or a mock in a directory of reports: pytest and Jest load such
/// files anywhere in a tree.
fn is_test_among_reports(path: &RepoPath) -> bool {
    let name = path.file_name();
    let is_python = name == b"conftest.py"
        || name.ends_with(b".py") && (name.starts_with(b"test_") || name.ends_with(b"_test.py"));
    (is_python || path.segments().any(|name| name == b"__mocks__"))
        && !is_in_packages(path)
        && is_report(path)
}

/// Returns true if the topmost directory of a path that is in the table contains reports.
fn is_report(path: &RepoPath) -> bool {
    let bytes = path.as_bytes();
    let above = path.ancestors_and_self().filter(|above| above.len() < bytes.len());
    let rows = |above: &[u8]| {
        let rows = ECOSYSTEMS.iter().flat_map(Ecosystem::outputs);
        let loaded: Vec<LoadedContent> =
            rows.filter(|row| Ecosystem::is_named(above, row.name)).map(|row| row.loaded).collect();
        (!loaded.is_empty()).then_some(loaded)
    };
    above.into_iter().find_map(rows).is_some_and(|rows| rows.contains(&LoadedContent::Nothing))
}

/// Returns true if a path is among installed packages, which contain files of any name.
fn is_in_packages(path: &RepoPath) -> bool {
    path.segments().any(|name| matches!(name, b"site-packages" | b"node_modules" | b"__pypackages__"))
}

/// Entry-point groups that name commands: nothing loads them until someone starts the command.
const COMMAND_GROUPS: [&[u8]; 2] = [b"console_scripts", b"gui_scripts"];

/// The name of the list in which a package declares its entry points.
pub const ENTRY_POINTS_FILE: &[u8] = b"entry_points.txt";

/// Returns true if a path is the entry-point list of a package in the tree itself. (That of an installed
/// package belongs to the package, like its code.)
pub fn is_entry_points_file(path: &RepoPath) -> bool {
    let holder = path.parent();
    path.file_name() == ENTRY_POINTS_FILE
        && !is_in_packages(path)
        && holder.is_some_and(|holder| {
            let name = holder.file_name();
            name.ends_with(b".egg-info") || name.ends_with(b".dist-info") || name == b"EGG-INFO"
        })
}

/// Returns true if entry points name code that other programs load: plugins of pytest, setuptools or anything else.
pub fn declares_plugins(entry_points: &[u8]) -> bool {
    let lines = entry_points.split(|byte| matches!(byte, b'\n' | b'\r')).map(<[u8]>::trim_ascii);
    let groups = lines.filter_map(|line| line.strip_prefix(b"["));
    groups
        .map(|group| group.split(|&byte| byte == b']').next().unwrap_or(group).trim_ascii())
        .any(|group| !COMMAND_GROUPS.contains(&group))
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

    #[test]
    fn code_that_is_loaded_by_its_name_is_told_from_what_tools_write() {
        for (name, is_code) in [
            ("build/__init__.py", true),
            ("build/lib/shop/pay.py", false),
            ("build/libx.so", false),
            ("dist/a.pth", true),
            ("node_modules/a/build/x.py", false),
            (".venv/lib/python3.12/site-packages/sitecustomize.py", true),
            (".venv/lib/python3.12/site-packages/usercustomize/__init__.py", true),
            (".venv/lib/python3.12/site-packages/ddtrace/sitecustomize.py", false),
            ("__pypackages__/3.12/lib/sitecustomize.py", true),
            ("node_modules/.bin/node", true),
            ("node_modules/.bin/mocha", false),
            (".venv/bin/git", true),
            (".venv/bin/python", false),
            ("docs/_build/conftest.py", true),
            ("site/test_a.py", true),
            ("coverage/__mocks__/fs.js", true),
            ("coverage/lcov-report/sorter.js", false),
            ("docs/_build/html/_downloads/plot.py", false),
            (".venv/lib/python3.12/site-packages/coverage/test_a.py", false),
            ("node_modules/a/coverage/__mocks__/fs.js", false),
            ("build/lib/site/test_a.py", false),
        ] {
            assert_eq!(code_in_output(&path(name)).is_some(), is_code, "{name}");
        }
    }

    #[test]
    fn an_environment_holds_modules_only_where_tools_put_them() {
        let is_module = |name: &str| is_module_of_environment(&path("env"), &path(name));
        assert!(is_module("env/__init__.py") && is_module("env/pay/evil.py"));
        assert!(
            !is_module("env/lib/python3.12/site-packages/a.py") && !is_module("env/bin/activate_this.py")
        );
        assert!(!is_module("env/pyvenv.cfg"));
    }

    #[test]
    fn entry_points_of_commands_are_no_plugins() {
        assert!(!declares_plugins(b"[console_scripts]\nflask = flask.cli:main\n\n[gui_scripts]\na = b:c\n"));
        assert!(!declares_plugins(b"") && !declares_plugins(b"# a comment\n"));
        for plugins in [
            "[pytest11]\na = b\n",
            "[console_scripts]\na = b:c\n[pytest11]\na = b",
            " [ pytest11 ] \r\na = b",
            "[x\na=b",
        ] {
            assert!(declares_plugins(plugins.as_bytes()), "{plugins:?}");
        }
        assert!(is_entry_points_file(&path("src/shop.egg-info/entry_points.txt")));
        assert!(!is_entry_points_file(&path(
            ".venv/lib/python3.12/site-packages/a.dist-info/entry_points.txt"
        )));
        assert!(!is_entry_points_file(&path("entry_points.txt")));
    }
}
