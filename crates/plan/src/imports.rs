//! What the program of a gate imports from directories of the tree that builds write, and which changes there could change
//! what the gate answers.
//!
//! A package manager adds packages; it does not edit the ones that are there. So in an imported directory an addition in
//! the place for packages is the work of a package manager, and anything else is a change like any other.

use paths::RepoPath;

/// Programs that load packages from `node_modules`.
const NODE_PROGRAMS: &[&str] = &[
    "node",
    "nodejs",
    "npm",
    "npx",
    "pnpm",
    "pnpx",
    "yarn",
    "yarnpkg",
    "bun",
    "bunx",
    "deno",
    "corepack",
    "jest",
    "mocha",
    "vitest",
    "ava",
    "tap",
    "c8",
    "nyc",
    "karma",
    "cypress",
    "playwright",
    "tsc",
    "tsx",
    "ts-node",
    "eslint",
    "prettier",
    "biome",
    "stylelint",
    "webpack",
    "vite",
    "rollup",
    "esbuild",
    "turbo",
    "nx",
    "lerna",
    "gulp",
    "grunt",
];

/// Programs that run others in an environment that they keep in the tree, and where that is.
const ENVIRONMENT_PROGRAMS: &[(&str, &str)] = &[
    ("uv", ".venv"),
    ("uvx", ".venv"),
    ("poetry", ".venv"),
    ("pdm", ".venv"),
    ("pipenv", ".venv"),
    ("tox", ".tox"),
    ("nox", ".nox"),
];

/// The directory of packages of Node.js.
const NODE_MODULES: &[u8] = b"node_modules";

/// Files in which package managers keep the books of `node_modules`.
const NODE_BOOKS: &[&[u8]] = &[
    b".package-lock.json",
    b".yarn-integrity",
    b".yarn-state.yml",
    b".modules.yaml",
    b".pnpm-workspace-state.json",
    b".pnpm-workspace-state-v1.json",
];

/// Caches that tools keep in `node_modules`. They are trusted by the tools themselves, as `target` is by Cargo.
const NODE_CACHES: &[&[u8]] = &[b".cache", b".vite", b".vite-temp", b".vitest"];

/// Directories of a virtual environment from which Python imports nothing.
const DATA_DIRECTORIES: &[&[u8]] = &[b"share", b"etc", b"include", b"man", b"doc"];

/// The patterns of directories from which a program of this name imports; empty for most.
pub fn program_imports(program: &[u8]) -> Vec<Vec<u8>> {
    let is = |name: &str| program == name.as_bytes();
    if NODE_PROGRAMS.iter().any(|name| is(name)) {
        return vec![[b"**/", NODE_MODULES].concat()];
    }
    let kept = ENVIRONMENT_PROGRAMS.iter().find(|(name, _)| is(name));
    kept.map(|(_, directory)| directory.as_bytes().to_vec()).into_iter().collect()
}

/// Whether a path below an imported directory can change nothing that a gate imports, or is a cache that the tools trust
/// by themselves. (Gates read no bytecode from the tree.)
pub fn is_never_imported(root: &RepoPath, path: &RepoPath) -> bool {
    let names: Vec<&[u8]> = path.segments().skip(root.segments().count()).collect();
    let is_bytecode = names.iter().rev().skip(1).any(|name| *name == b"__pycache__");
    let of_node = root.file_name() == NODE_MODULES;
    let is_book =
        || names.len() == 1 && NODE_BOOKS.contains(&names[0]) || names == [&b".pnpm"[..], b"lock.yaml"];
    let is_cache = || names.first().is_some_and(|name| NODE_CACHES.contains(name));
    is_bytecode || of_node && (is_book() || is_cache())
}

/// Whether `directory`, which is the imported directory `root` or lies below it, is one to which package managers add:
/// `node_modules`, a scope in it, its `.bin`; `site-packages` and `bin` of a virtual environment.
pub fn takes_packages(root: &RepoPath, directory: &RepoPath) -> bool {
    let below: Vec<&[u8]> = directory.segments().skip(root.segments().count()).collect();
    let parent = directory.parent();
    let is_in_modules = || parent.as_ref().is_some_and(|parent| parent.file_name() == NODE_MODULES);
    if root.file_name() == NODE_MODULES {
        return match directory.file_name() {
            NODE_MODULES => true,
            b".bin" | b".pnpm" => is_in_modules(),
            name => name.starts_with(b"@") && is_in_modules(),
        };
    }
    match below.as_slice() {
        [] | [b"bin"] => true,
        [first, ..] if DATA_DIRECTORIES.contains(first) => true,
        [.., last] => *last == b"site-packages",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name.as_bytes()).expect("a path")
    }

    #[test]
    fn programs_import_what_their_tools_install() {
        assert_eq!(program_imports(b"npm"), [b"**/node_modules".to_vec()]);
        assert_eq!(program_imports(b"uv"), [b".venv".to_vec()]);
        assert!(program_imports(b"make").is_empty() && program_imports(b"npms").is_empty());
    }

    #[test]
    fn package_managers_add_packages_and_nothing_else() {
        for (root, directory, takes) in [
            ("node_modules", "node_modules", true),
            ("node_modules", "node_modules/.bin", true),
            ("node_modules", "node_modules/@types", true),
            ("node_modules", "node_modules/a/node_modules", true),
            ("node_modules", "node_modules/.pnpm", true),
            ("node_modules", "node_modules/mocha", false),
            ("node_modules", "node_modules/mocha/bin", false),
            ("node_modules", "node_modules/mocha/@x", false),
            (".venv", ".venv/bin", true),
            (".venv", ".venv", true),
            (".venv", ".venv/lib/python3.12/site-packages", true),
            (".venv", ".venv/share/man", true),
            (".venv", ".venv/lib/python3.12/site-packages/pytest", false),
            (".venv", ".venv/lib/python3.12", false),
        ] {
            assert_eq!(takes_packages(&path(root), &path(directory)), takes, "{directory}");
        }
    }

    #[test]
    fn books_caches_and_bytecode_are_not_imported() {
        let never = |root: &str, name: &str| is_never_imported(&path(root), &path(name));
        assert!(never("node_modules", "node_modules/.package-lock.json"));
        assert!(never("web/node_modules", "web/node_modules/.cache/babel/x.json"));
        assert!(never(".venv", ".venv/lib/python3.12/site-packages/a/__pycache__/b.pyc"));
        assert!(!never("node_modules", "node_modules/a/.package-lock.json"));
        assert!(!never(".venv", ".venv/lib/python3.12/site-packages/a/b.pyc"));
        assert!(!never(".venv", ".venv/lib/python3.12/site-packages/__pycache__"), "a file of that name");
    }
}
