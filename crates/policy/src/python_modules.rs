//! Which module a file would be for a Python program, and which modules gates import by name.

use probity_paths::RepoPath;
use std::collections::BTreeSet;

/// Endings of files that Python imports; an extension module comes before a source file.
const MODULE_ENDINGS: &[&str] = &["py", "so", "pyd", "pyc"];

/// Modules of the standard library that programs import, and those that test runners and linters consist of. `test`
/// is none of them: projects keep their tests there.
const KNOWN_MODULES: &str = "\
    _bootlocale _collections_abc _compat_pickle _markupbase _osx_support _py_abc _pydecimal _pyio _pytest \
    _sitebuiltins _strptime _threading_local _weakrefset abc argparse ast asyncio attr attrs base64 bdb \
    bisect black bz2 calendar cmd code codecs codeop collections colorama colorsys compileall concurrent \
    configparser contextlib contextvars copy copyreg coverage csv ctypes curses dataclasses datetime dbm \
    decimal difflib dis distutils doctest email encodings ensurepip enum exceptiongroup filecmp fileinput \
    flake8 fnmatch fractions ftplib functools genericpath getopt getpass gettext glob graphlib gzip hashlib \
    heapq hmac html http hypothesis imaplib importlib importlib_metadata iniconfig inspect io ipaddress \
    isort json keyword linecache locale logging lzma mailbox mccabe mimetypes mock modulefinder \
    multiprocessing mypy mypy_extensions netrc nose2 nox ntpath nturl2path numbers opcode operator optparse \
    os packaging pathlib pdb pickle pickletools pip pkg_resources pkgutil platform platformdirs plistlib \
    pluggy posixpath pprint profile pstats pty py py_compile pyclbr pycodestyle pydoc pyflakes pygments \
    pylint pytest pytest_asyncio pytest_cov pytest_mock queue quopri random re reprlib rlcompleter ruff \
    runpy sched secrets selectors setuptools shelve shlex shutil signal site smtplib socket socketserver \
    sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct subprocess \
    symtable sysconfig tabnanny tarfile tempfile textwrap threading timeit token tokenize toml tomli tomllib \
    tox trace traceback tracemalloc tty types typing typing_extensions unittest urllib uuid venv virtualenv \
    warnings wave weakref webbrowser wheel xdist xml xmlrpc yaml zipapp zipfile zipimport zoneinfo";

/// Returns whether gates import a module of this name from outside of the tree.
pub(crate) fn is_known_module(name: &[u8]) -> bool {
    KNOWN_MODULES.split(' ').any(|known| known.as_bytes() == name)
}

/// Returns where a file would be imported from, as a path without ending: `a/b` for `a/b.py`, `a/b.abi3.so` and
/// `a/b/__init__.py`. `None` for a file that is no module.
pub fn module_place(path: &RepoPath) -> Option<RepoPath> {
    let name = std::str::from_utf8(path.file_name()).ok()?;
    let (module, endings) = name.split_once('.')?;
    let ending = endings.rsplit('.').next()?;
    if !MODULE_ENDINGS.contains(&ending) {
        return None;
    }
    if module == "__init__" {
        return path.parent();
    }
    let ending = name.len() - module.len();
    RepoPath::parse(&path.as_bytes()[..path.as_bytes().len() - ending]).ok()
}

/// Returns the top-level names of the modules that a Python source imports, in any of its statements.
pub fn imported_modules(source: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for statement in source.split(['\n', ';']) {
        let statement = statement.trim_start();
        if let Some(modules) = statement.strip_prefix("import ") {
            found.extend(modules.split(',').filter_map(first_name));
        } else if let Some(module) = statement.strip_prefix("from ") {
            found.extend(first_name(module));
        }
    }
    found
}

/// Returns the first name of a dotted one; `None` for a relative import.
fn first_name(module: &str) -> Option<&str> {
    let module = module.trim_start();
    let end = module.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(module.len());
    Some(&module[..end]).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_modules_are_in_order() {
        assert!(KNOWN_MODULES.split(' ').is_sorted());
        assert!(is_known_module(b"json") && is_known_module(b"zoneinfo") && is_known_module(b"_bootlocale"));
        assert!(!is_known_module(b"test") && !is_known_module(b"shop") && !is_known_module(b""));
    }

    #[test]
    fn a_file_is_imported_from_its_place() {
        for (path, place) in [
            ("check.py", Some("check")),
            ("a/check.py", Some("a/check")),
            ("a/check/__init__.py", Some("a/check")),
            ("a/check.cpython-312-x86_64-linux-gnu.so", Some("a/check")),
            ("__init__.py", None),
            ("a/check", None),
            ("a/check.txt", None),
            ("a/check/data.json", None),
        ] {
            let path = RepoPath::parse(path.as_bytes()).expect("a path");
            assert_eq!(module_place(&path).map(|place| place.to_string()).as_deref(), place, "{path}");
        }
    }

    #[test]
    fn imports_are_found_wherever_they_stand() {
        let source = "#!/usr/bin/env python3\nimport json, os.path as p; import check\nfrom tools.rules import a\n\
                      def f():\n    from lazy import b\nfrom . import sibling\nimportant = 1\n";
        let found: Vec<_> = imported_modules(source).into_iter().collect();
        assert_eq!(found, ["check", "json", "lazy", "os", "tools"]);
    }
}
