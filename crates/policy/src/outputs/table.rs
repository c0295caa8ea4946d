//! The table of what the tools of each ecosystem write into a tree, and what programs load from there.
//!
//! It lists only names that a tool uses by default. A name that people also use for sources (`dist`, `build`,
//! `coverage`) is an output only beside the file that makes the tool write there.

/// The tools of one language or platform, and what they leave behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ecosystem {
    pub(crate) name: &'static str,
    /// Files that show that a tree uses it, the most obvious first. A `*` matches any letters.
    pub(crate) markers: &'static [&'static str],
    /// Directories that its tools write wherever they run.
    pub(crate) directories: &'static [BuildOutput],
    /// Files that its tools write wherever they run.
    pub(crate) files: &'static [BuildOutput],
    /// Directories with ambiguous names, recognized only beside certain files.
    pub(crate) beside: &'static [AdjacentOutputs],
}

/// Directories that a tool writes beside one of its files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AdjacentOutputs {
    /// The files that make the tool write there.
    pub(crate) markers: &'static [&'static str],
    pub(crate) place: OutputPlacement,
    pub(crate) directories: &'static [BuildOutput],
}

/// A directory or file that a tool writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BuildOutput {
    /// Its last path segments.
    pub(crate) name: &'static str,
    /// Required for every row: an output that programs load from must not be exempt as a whole.
    pub(crate) loaded: LoadedContent,
}

/// What programs load from an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadedContent {
    /// Nothing: reports, logs and records, which no program takes for code or for a result.
    Nothing,
    /// Only what the tool itself derived from the sources: compiled code, results of checks. The tool decides
    /// whether it is up to date, and trusts it.
    OwnResults,
    /// Installed packages, or a record of where they are: these entries of
    /// [`crate::imports::IMPORT_DIRECTORIES`], at the output or below it.
    Packages(&'static [&'static str]),
    /// Only the entry points of packages, which name code that other programs load.
    EntryPoints,
}

const fn reports(name: &'static str) -> BuildOutput {
    BuildOutput { name, loaded: LoadedContent::Nothing }
}

const fn results(name: &'static str) -> BuildOutput {
    BuildOutput { name, loaded: LoadedContent::OwnResults }
}

const fn packages(name: &'static str, below: &'static [&'static str]) -> BuildOutput {
    BuildOutput { name, loaded: LoadedContent::Packages(below) }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputPlacement {
    Each,
    /// Beside the topmost `Cargo.toml`, and each one below that declares its own workspace.
    CargoWorkspace,
}

const fn beside_each(
    markers: &'static [&'static str],
    directories: &'static [BuildOutput],
) -> AdjacentOutputs {
    AdjacentOutputs { markers, place: OutputPlacement::Each, directories }
}

/// Usual names of virtual environments. A directory is one only if it contains a `pyvenv.cfg`.
pub(crate) const VIRTUAL_ENVIRONMENTS: &[&str] = &[".venv", "venv", "env", "ENV"];

pub(crate) const CARGO_MANIFEST: &str = "Cargo.toml";
pub(crate) const GO_MODULE_FILE: &str = "go.mod";
pub(crate) const NPM_MANIFEST: &str = "package.json";

pub(crate) const ECOSYSTEMS: &[Ecosystem] = &[
    Ecosystem {
        name: "Python",
        markers: &[
            "pyproject.toml",
            "setup.py",
            "setup.cfg",
            "requirements*.txt",
            "tox.ini",
            "Pipfile",
            "*.py",
        ],
        directories: &[
            results("__pycache__"),
            packages("__pypackages__", &["__pypackages__"]),
            packages(".venv", &[".venv"]),
            BuildOutput { name: "*.egg-info", loaded: LoadedContent::EntryPoints },
            packages(".eggs", &[".eggs"]),
            results(".pytest_cache"),
            results(".mypy_cache"),
            results(".ruff_cache"),
            results(".pytype"),
            results(".hypothesis"),
            packages(".tox", &[".tox"]),
            packages(".nox", &[".nox"]),
            reports(".benchmarks"),
            reports(".ipynb_checkpoints"),
            results(".pdm-build"),
            reports("htmlcov"),
            reports("pip-wheel-metadata"),
        ],
        files: &[
            results(".coverage"),
            results(".coverage.*"),
            results("coverage.xml"),
            results("coverage.lcov"),
            results(".dmypy.json"),
            packages(".pdm-python", &[".pdm-python"]),
        ],
        beside: &[
            beside_each(&["pyproject.toml", "setup.py"], &[results("dist"), results("build")]),
            beside_each(&["mkdocs.yml", "mkdocs.yaml"], &[reports("site")]),
            // Sphinx, as its own Makefile and guides name it.
            beside_each(&["conf.py"], &[reports("_build")]),
        ],
    },
    Ecosystem {
        name: "JavaScript",
        markers: &[NPM_MANIFEST],
        directories: &[
            packages("node_modules", &["node_modules"]),
            results(".nyc_output"),
            results(".turbo"),
            results(".parcel-cache"),
            results(".next"),
            results(".nuxt"),
            results(".svelte-kit"),
            results(".angular/cache"),
            results(".docusaurus"),
            results(".expo"),
            results(".swc"),
            results(".pnpm-store"),
            packages(".yarn/unplugged", &[".yarn/unplugged"]),
        ],
        files: &[
            results(".eslintcache"),
            results(".stylelintcache"),
            results("*.tsbuildinfo"),
            results(".yarn/install-state.gz"),
            reports("npm-debug.log*"),
            reports("yarn-error.log"),
        ],
        beside: &[
            // Reports of nyc, c8, Jest and Vitest.
            beside_each(&[NPM_MANIFEST], &[reports("coverage")]),
            beside_each(
                &["vite.config.*", "webpack.config.*", "angular.json", "tsup.config.*"],
                &[results("dist")],
            ),
            beside_each(&["nuxt.config.*"], &[results(".output")]),
            beside_each(&["playwright.config.*"], &[reports("playwright-report"), reports("test-results")]),
            beside_each(&["cypress.config.*"], &[reports("cypress/screenshots"), reports("cypress/videos")]),
        ],
    },
    Ecosystem {
        name: "Rust",
        markers: &[CARGO_MANIFEST],
        directories: &[reports("mutants.out")],
        files: &[results("*.profraw"), reports("cargo-timing*.html")],
        beside: &[AdjacentOutputs {
            markers: &[CARGO_MANIFEST],
            place: OutputPlacement::CargoWorkspace,
            directories: &[results("target")],
        }],
    },
    Ecosystem {
        name: "Go",
        markers: &[GO_MODULE_FILE],
        directories: &[],
        // `go test -c`, profiles as named in the documentation of `go test`, and the debugger.
        files: &[
            results("*.test"),
            results("coverage.out"),
            results("cover.out"),
            reports("cpu.out"),
            reports("mem.out"),
            results("__debug_bin*"),
        ],
        beside: &[],
    },
    Ecosystem {
        name: "Java",
        markers: &["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
        directories: &[results(".gradle")],
        files: &[],
        beside: &[
            beside_each(&["pom.xml"], &[results("target")]),
            beside_each(&["build.gradle", "build.gradle.kts"], &[results("build"), results(".kotlin")]),
        ],
    },
    Ecosystem {
        name: ".NET",
        markers: &["*.csproj", "*.fsproj", "*.vbproj"],
        directories: &[],
        files: &[],
        beside: &[beside_each(
            &["*.csproj", "*.fsproj", "*.vbproj"],
            &[results("bin"), packages("obj", &["obj"]), reports("TestResults")],
        )],
    },
    Ecosystem {
        name: "Ruby",
        markers: &["Gemfile", "*.gemspec"],
        directories: &[reports(".yardoc")],
        files: &[results(".rspec_status")],
        beside: &[
            beside_each(&["Gemfile"], &[packages("vendor/bundle", &["vendor/bundle"]), reports("coverage")]),
            beside_each(&["*.gemspec"], &[reports("pkg")]),
        ],
    },
    Ecosystem {
        name: "PHP",
        markers: &["composer.json"],
        directories: &[results(".phpunit.cache")],
        files: &[results(".phpunit.result.cache"), results(".php-cs-fixer.cache")],
        beside: &[beside_each(&["composer.json"], &[packages("vendor", &["vendor"])])],
    },
    Ecosystem {
        name: "Elixir",
        markers: &["mix.exs"],
        directories: &[results(".elixir_ls")],
        files: &[reports("erl_crash.dump")],
        beside: &[beside_each(
            &["mix.exs"],
            &[results("_build"), packages("deps", &["deps"]), reports("cover")],
        )],
    },
    Ecosystem {
        name: "Swift",
        markers: &["Package.swift"],
        directories: &[],
        files: &[],
        beside: &[beside_each(&["Package.swift"], &[packages(".build", &[".build/checkouts"])])],
    },
    Ecosystem {
        name: "Zig",
        markers: &["build.zig"],
        directories: &[results(".zig-cache")],
        files: &[],
        beside: &[beside_each(&["build.zig"], &[results("zig-out"), results("zig-cache")])],
    },
    Ecosystem {
        name: "Haskell",
        markers: &["*.cabal", "stack.yaml", "cabal.project"],
        directories: &[packages("dist-newstyle", &["dist-newstyle/src"]), results(".stack-work")],
        files: &[],
        beside: &[],
    },
    Ecosystem {
        name: "Dart",
        markers: &["pubspec.yaml"],
        directories: &[packages(".dart_tool", &[".dart_tool"])],
        files: &[],
        beside: &[beside_each(&["pubspec.yaml"], &[results("build")])],
    },
    Ecosystem {
        name: "Terraform",
        markers: &["*.tf"],
        directories: &[packages(".terraform", &[".terraform"])],
        files: &[],
        beside: &[],
    },
    Ecosystem {
        name: "C and C++",
        markers: &["CMakeLists.txt"],
        directories: &[
            packages("cmake-build-debug", &["cmake-build-debug/_deps"]),
            packages("cmake-build-release", &["cmake-build-release/_deps"]),
        ],
        files: &[],
        beside: &[],
    },
];

impl Ecosystem {
    /// Returns true for a directory that its tools write wherever they run.
    pub(crate) fn writes_directory(&self, directory: &[u8]) -> bool {
        self.directories.iter().any(|output| Self::is_named(directory, output.name))
    }

    /// Returns true for a file that its tools write wherever they run.
    pub(crate) fn writes_file(&self, path: &[u8]) -> bool {
        self.files.iter().any(|output| Self::is_named(path, output.name))
    }

    pub(crate) fn outputs(&self) -> impl Iterator<Item = &BuildOutput> {
        let beside = self.beside.iter().flat_map(|beside| beside.directories);
        self.directories.iter().chain(self.files).chain(beside)
    }

    /// Returns true if a path ends with the segments of a row, such as `.yarn/unplugged` or `*.egg-info`.
    pub(crate) fn is_named(path: &[u8], row: &str) -> bool {
        let mut names = path.rsplit(|&byte| byte == b'/');
        row.rsplit('/').all(|wanted| names.next().is_some_and(|name| name_matches(wanted, name)))
    }
}

/// Matches a name against `pattern`, in which one `*` matches any letters.
pub(crate) fn name_matches(pattern: &str, name: &[u8]) -> bool {
    match pattern.split_once('*') {
        None => name == pattern.as_bytes(),
        Some((start, end)) => {
            name.len() >= start.len() + end.len()
                && name.starts_with(start.as_bytes())
                && name.ends_with(end.as_bytes())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_letters_of_one_name() {
        assert!(
            name_matches("*.egg-info", b"flask.egg-info") && name_matches("vite.config.*", b"vite.config.ts")
        );
        assert!(!name_matches("a*a", b"a") && !name_matches("*.py", b"a.pyc"));
        assert!(Ecosystem::is_named(b"web/.yarn/unplugged", ".yarn/unplugged"));
        assert!(!Ecosystem::is_named(b"unplugged", ".yarn/unplugged"));
    }

    /// Packages are protected by name: a `Packages` row must name directories known to the imports, and each
    /// of them must be the row or below it.
    #[test]
    fn every_row_that_holds_packages_is_known_to_the_imports() {
        use crate::imports::{IMPORT_DIRECTORIES, any_imports};
        for output in ECOSYSTEMS.iter().flat_map(Ecosystem::outputs) {
            let LoadedContent::Packages(places) = output.loaded else { continue };
            assert!(!places.is_empty(), "{}", output.name);
            for place in places {
                let rest = place.strip_prefix(output.name);
                assert!(rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')), "{place}");
                assert!(IMPORT_DIRECTORIES.iter().any(|known| known.name == *place), "{place}");
                assert!(any_imports().contains(&format!("**/{place}").into_bytes()), "{place}");
            }
        }
    }

    #[test]
    fn every_import_directory_is_a_row_or_below_one_or_is_never_proposed() {
        const NEVER_PROPOSED: [&str; 6] =
            [".yarn/cache", ".yarn/releases", ".yarn/plugins", ".pnp.cjs", ".pnp.loader.mjs", ".pnp.js"];
        for known in crate::imports::IMPORT_DIRECTORIES {
            let is_row = ECOSYSTEMS.iter().flat_map(Ecosystem::outputs).any(
                |output| matches!(output.loaded, LoadedContent::Packages(places) if places.contains(&known.name)),
            );
            assert!(is_row != NEVER_PROPOSED.contains(&known.name), "{}", known.name);
        }
    }

    #[test]
    fn no_name_of_the_table_stands_there_twice_in_an_ecosystem() {
        for ecosystem in ECOSYSTEMS {
            let anywhere = ecosystem.directories.iter().chain(ecosystem.files);
            let mut names: Vec<&str> = anywhere.map(|output| output.name).collect();
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all, "{}", ecosystem.name);
        }
    }
}
