//! What a gate's program imports from build-output directories, and which changes there could change the
//! gate's result.
//!
//! A package manager adds packages but does not edit existing ones. In an imported directory, an addition where
//! packages go is therefore the work of a package manager, and anything else is a change like any other. A program
//! that starts unknown others (a shell, `make`, `npm test`) may import from every such directory.

use crate::outputs::Ecosystem;
use probity_paths::RepoPath;

/// A directory from which programs load packages, or a file that says where they are.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ImportDirectory {
    /// Its last path segments.
    pub(crate) name: &'static str,
    layout: PackageLayout,
}

/// Where a package manager adds packages within an import directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PackageLayout {
    /// Directly in it.
    Flat,
    /// The entry is a file.
    SingleFile,
    NodeModules,
    /// A Python virtual environment, or a directory of several.
    PythonEnvironment,
    PdmPackages,
    ComposerVendor,
    BundlerVendor,
    TerraformData,
    /// Dart keeps one map of all packages here, next to its own caches.
    DartTool,
    /// .NET executes the properties and targets in it, and finds packages through its lists.
    DotnetObj,
}

const fn import(name: &'static str, layout: PackageLayout) -> ImportDirectory {
    ImportDirectory { name, layout }
}

/// Everything in a tree from which programs load packages; of two overlapping names the narrower comes first.
pub(crate) const IMPORT_DIRECTORIES: &[ImportDirectory] = &[
    import("node_modules", PackageLayout::NodeModules),
    import(".yarn/unplugged", PackageLayout::Flat),
    import(".yarn/cache", PackageLayout::Flat),
    import(".yarn/releases", PackageLayout::Flat),
    import(".yarn/plugins", PackageLayout::Flat),
    import(".pnp.cjs", PackageLayout::SingleFile),
    import(".pnp.loader.mjs", PackageLayout::SingleFile),
    import(".pnp.js", PackageLayout::SingleFile),
    import(".venv", PackageLayout::PythonEnvironment),
    import(".tox", PackageLayout::PythonEnvironment),
    import(".nox", PackageLayout::PythonEnvironment),
    import("__pypackages__", PackageLayout::PdmPackages),
    import(".eggs", PackageLayout::Flat),
    import(".pdm-python", PackageLayout::SingleFile),
    import("vendor/bundle", PackageLayout::BundlerVendor),
    import("vendor", PackageLayout::ComposerVendor),
    import("deps", PackageLayout::Flat),
    import(".build/checkouts", PackageLayout::Flat),
    import("dist-newstyle/src", PackageLayout::Flat),
    import(".dart_tool", PackageLayout::DartTool),
    import(".terraform", PackageLayout::TerraformData),
    import("cmake-build-debug/_deps", PackageLayout::Flat),
    import("cmake-build-release/_deps", PackageLayout::Flat),
    import("obj", PackageLayout::DotnetObj),
];

/// Import directories with the programs known to load only from them. A program that runs what a file or a
/// string says (`npm`, `make`, `tox`, a shell) must not be listed.
const KNOWN_PROGRAMS: &[(&[&str], &[&str])] = &[
    (
        &[
            "node_modules",
            ".yarn/unplugged",
            ".yarn/cache",
            ".yarn/releases",
            ".yarn/plugins",
            ".pnp.cjs",
            ".pnp.loader.mjs",
            ".pnp.js",
        ],
        &[
            "node",
            "nodejs",
            "npx",
            "pnpx",
            "bunx",
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
        ],
    ),
    (
        &["__pypackages__", ".eggs"],
        &[
            "python", "python2", "python3", "pypy", "pypy3", "pytest", "py.test", "coverage", "mypy", "ruff",
            "black", "flake8", "pylint", "isort",
        ],
    ),
    (&[".venv", "__pypackages__", ".eggs"], &["uv", "uvx", "poetry", "pipenv"]),
    (&["vendor"], &["php", "phpunit", "pest", "paratest", "phpstan", "psalm", "php-cs-fixer", "phpcs"]),
    (&["vendor/bundle"], &["ruby", "bundle", "bundler", "rspec", "rubocop"]),
    (&["deps"], &["elixir"]),
    (&[".build/checkouts"], &["swift"]),
    (&["dist-newstyle/src"], &["cabal"]),
    (&[".dart_tool"], &["dart", "flutter"]),
    (&[".terraform"], &["terraform", "tofu", "tflint"]),
    (&["obj"], &["dotnet"]),
    // Load nothing from import directories.
    (
        &[],
        &[
            "true",
            "false",
            "test",
            "[",
            "echo",
            "printf",
            "cat",
            "ls",
            "cmp",
            "diff",
            "grep",
            "rg",
            "head",
            "tail",
            "sleep",
            "git",
            "cargo",
            "rustc",
            "rustfmt",
            "go",
            "gofmt",
            "javac",
            "mvn",
            "gradle",
            "zig",
            "clang-format",
            "shellcheck",
        ],
    ),
    // Start another program, which is examined separately (`started_commands`).
    (
        &[],
        &[
            "env",
            "timeout",
            "nice",
            "nohup",
            "stdbuf",
            "setsid",
            "ionice",
            "chrt",
            "taskset",
            "time",
            "xargs",
            "sudo",
            "doas",
            "flock",
            "coreutils",
            "busybox",
        ],
    ),
];

/// Metadata files of package managers in `node_modules`.
const NODE_METADATA_FILES: &[&[u8]] = &[
    b".package-lock.json",
    b".yarn-integrity",
    b".yarn-state.yml",
    b".modules.yaml",
    b".pnpm-workspace-state.json",
    b".pnpm-workspace-state-v1.json",
];

/// Caches that tools keep in `node_modules`. The tools trust them, as Cargo trusts `target`.
const NODE_CACHES: &[&[u8]] = &[b".cache", b".vite", b".vite-temp", b".vitest"];

/// Directories of a virtual environment from which Python imports nothing.
const DATA_DIRECTORIES: &[&[u8]] = &[b"share", b"etc", b"include", b"man", b"doc"];

/// What tox and nox write into each environment on every run, without loading anything from it.
const TEST_RUNNER_RECORDS: &[&[u8]] = &[b"log", b"tmp", b".tox-info.json"];

/// Directories in which Bundler keeps something for each gem.
const GEM_DIRECTORIES: &[&[u8]] =
    &[b"gems", b"specifications", b"bin", b"cache", b"doc", b"build_info", b"plugins"];

/// Returns the patterns of everything from which programs load packages.
pub fn any_imports() -> Vec<Vec<u8>> {
    IMPORT_DIRECTORIES.iter().map(|directory| pattern(directory.name)).collect()
}

/// Returns the patterns of directories from which a program imports, possibly none; `None` if the program is unknown.
pub fn program_imports(program: &[u8]) -> Option<Vec<Vec<u8>>> {
    let name = without_version(program);
    let mut known = KNOWN_PROGRAMS.iter().filter(|(_, programs)| {
        programs.iter().any(|known| known.as_bytes() == program || known.as_bytes() == name)
    });
    known.next().map(|(directories, _)| directories.iter().map(|name| pattern(name)).collect())
}

/// Strips the version from an interpreter's name: `python` for `python3.12`, `php` for `php8.3`.
fn without_version(program: &[u8]) -> &[u8] {
    let end = program.iter().rposition(|byte| !byte.is_ascii_digit() && *byte != b'.');
    end.map_or(program, |end| &program[..=end])
}

fn pattern(name: &str) -> Vec<u8> {
    [b"**/", name.as_bytes()].concat()
}

/// Returns the layout of the imported directory `root`. One that is not in the table is a virtual environment.
fn layout(root: &RepoPath) -> PackageLayout {
    let known = IMPORT_DIRECTORIES.iter().find(|known| Ecosystem::is_named(root.as_bytes(), known.name));
    known.map_or(PackageLayout::PythonEnvironment, |known| known.layout)
}

/// Returns true if a path below an imported directory cannot affect what a gate imports, or is a cache that
/// its tools trust anyway. (Gates read no bytecode from the tree.)
pub fn is_never_imported(root: &RepoPath, path: &RepoPath) -> bool {
    let names: Vec<&[u8]> = path.segments().skip(root.segments().count()).collect();
    let is_bytecode = names.iter().rev().skip(1).any(|name| *name == b"__pycache__");
    is_bytecode
        || match layout(root) {
            PackageLayout::NodeModules => {
                let is_book = names.len() == 1 && NODE_METADATA_FILES.contains(&names[0]);
                let is_cache = names.first().is_some_and(|name| NODE_CACHES.contains(name));
                is_book || is_cache || names == [&b".pnpm"[..], b"lock.yaml"]
            }
            PackageLayout::PythonEnvironment if matches!(root.file_name(), b".tox" | b".nox") => {
                names.first() == Some(&&b".tmp"[..])
                    || names.get(1).is_some_and(|name| TEST_RUNNER_RECORDS.contains(name))
            }
            PackageLayout::DartTool => {
                !matches!(names.as_slice(), [] | [b"package_config.json" | b"package_graph.json"])
            }
            PackageLayout::DotnetObj => names.last().is_some_and(|name| {
                let is_executed = name.ends_with(b".props") || name.ends_with(b".targets");
                !is_executed && *name != b"project.assets.json"
            }),
            _ => false,
        }
}

/// Returns true if package managers add to `directory`, which is the imported directory `root` or below it:
/// `node_modules`, a scope in it, its `.bin`; `site-packages` and `bin` of a virtual environment.
pub fn takes_packages(root: &RepoPath, directory: &RepoPath) -> bool {
    let below: Vec<&[u8]> = directory.segments().skip(root.segments().count()).collect();
    match layout(root) {
        PackageLayout::Flat | PackageLayout::DartTool => below.is_empty(),
        PackageLayout::SingleFile | PackageLayout::DotnetObj => false,
        PackageLayout::NodeModules => node_takes_packages(&below),
        PackageLayout::PythonEnvironment => match below.as_slice() {
            [] | [.., b"bin" | b"site-packages"] => true,
            [_] if matches!(root.file_name(), b".tox" | b".nox") => true,
            [first, ..] => DATA_DIRECTORIES.contains(first),
        },
        PackageLayout::PdmPackages => {
            matches!(below.as_slice(), [] | [_] | [_, b"lib" | b"bin" | b"include"])
        }
        PackageLayout::ComposerVendor => match below.as_slice() {
            // Ruby keeps its gems in a directory of the same name.
            [b"bundle", gems @ ..] => bundler_takes_packages(gems),
            // One directory per author, with one per package in it.
            names => names.len() <= 1,
        },
        PackageLayout::BundlerVendor => bundler_takes_packages(&below),
        PackageLayout::TerraformData => match below.as_slice() {
            [] | [b"modules"] => true,
            // Host, author, provider; below that the versions.
            [b"providers", names @ ..] => names.len() <= 3,
            _ => false,
        },
    }
}

fn node_takes_packages(below: &[&[u8]]) -> bool {
    let Some((name, above)) = below.split_last() else { return true };
    let is_in_modules = above.last().is_none_or(|parent| *parent == b"node_modules");
    let is_place = matches!(*name, b".bin" | b".pnpm") || name.starts_with(b"@");
    *name == b"node_modules" || is_place && is_in_modules
}

/// Gems are in `ruby/3.3.0/gems`, their compiled parts in `ruby/3.3.0/extensions/PLATFORM/VERSION`.
fn bundler_takes_packages(below: &[&[u8]]) -> bool {
    match below {
        [] | [_] | [_, _] | [_, _, b"bundler" | b"extensions"] | [_, _, b"bundler", b"gems"] => true,
        [_, _, b"extensions", rest @ ..] => rest.len() <= 2,
        [_, _, name] => GEM_DIRECTORIES.contains(name),
        _ => false,
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
        let imports = |program: &str| {
            let found = program_imports(program.as_bytes())?;
            Some(
                found
                    .into_iter()
                    .map(|it| String::from_utf8(it).expect("text"))
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        assert!(imports("mocha").is_some_and(|found| found.contains("**/node_modules")));
        assert!(imports("uv").is_some_and(|found| found.contains("**/.venv")));
        assert_eq!(imports("php8.3").as_deref(), Some("**/vendor"));
        assert_eq!(imports("python3.12").as_deref(), Some("**/__pypackages__ **/.eggs"));
        assert_eq!(imports("cargo").as_deref(), Some(""));
    }

    #[test]
    fn what_runs_anything_is_not_known() {
        for program in
            ["make", "sh", "bash", "npm", "yarn", "pnpm", "tox", "nox", "rake", "mix", "npms", "3.12", ""]
        {
            assert_eq!(program_imports(program.as_bytes()), None, "{program}");
        }
    }

    #[test]
    fn every_directory_of_a_known_program_is_in_the_table() {
        for (directories, programs) in KNOWN_PROGRAMS {
            for name in *directories {
                assert!(IMPORT_DIRECTORIES.iter().any(|known| known.name == *name), "{name} of {programs:?}");
            }
        }
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
            ("env", "env/bin", true),
            (".tox", ".tox/py312", true),
            (".tox", ".tox/py312/bin", true),
            (".tox", ".tox/py312/lib/python3.12/site-packages/a", false),
            ("__pypackages__", "__pypackages__/3.12/lib", true),
            ("__pypackages__", "__pypackages__/3.12/lib/pytest", false),
            ("vendor", "vendor/symfony", true),
            ("vendor", "vendor/symfony/yaml", false),
            ("vendor", "vendor/bundle/ruby/3.3.0/gems", true),
            ("vendor", "vendor/bundle/ruby/3.3.0/gems/rake-13", false),
            ("vendor/bundle", "vendor/bundle/ruby/3.3.0/extensions/x86_64-linux/3.3.0", true),
            ("vendor/bundle", "vendor/bundle/ruby/3.3.0/specifications", true),
            ("vendor/bundle", "vendor/bundle/ruby/3.3.0/gems/rake-13/lib", false),
            ("deps", "deps", true),
            ("deps", "deps/plug", false),
            (".yarn/unplugged", ".yarn/unplugged", true),
            (".yarn/unplugged", ".yarn/unplugged/esbuild-npm-1", false),
            (".terraform", ".terraform/providers/registry.terraform.io/hashicorp/aws", true),
            (
                ".terraform",
                ".terraform/providers/registry.terraform.io/hashicorp/aws/5.0.0/linux_amd64",
                false,
            ),
            ("App/obj", "App/obj", false),
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
        assert!(
            never(".tox", ".tox/py312/log/1-commands.log") && never(".tox", ".tox/.tmp/package/1/a.tar.gz")
        );
        assert!(never(".dart_tool", ".dart_tool/test/x.dill") && never("obj", "obj/Debug/net8.0/App.dll"));
        assert!(!never("node_modules", "node_modules/a/.package-lock.json"));
        assert!(!never(".venv", ".venv/lib/python3.12/site-packages/a/b.pyc"));
        assert!(!never(".venv", ".venv/lib/python3.12/site-packages/__pycache__"), "a file of that name");
        assert!(!never(".tox", ".tox/py312/lib/python3.12/site-packages/log/a.py"));
        assert!(!never(".tox", ".tox/log/bin/python"), "an environment of that name");
        assert!(!never(".dart_tool", ".dart_tool/package_config.json"));
        assert!(!never("obj", "obj/App.csproj.evil.targets") && !never("vendor", "vendor/autoload.php"));
    }
}
