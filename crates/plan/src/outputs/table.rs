//! What the tools of each ecosystem write into a tree, as one table.
//!
//! Only names that a tool uses by itself stand here. A name that people use for sources too (`dist`, `build`, `coverage`)
//! is an output only beside the file that makes the tool write there.

/// The tools of one language or platform, and what they leave behind.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ecosystem {
    /// Its name, for people.
    pub(crate) name: &'static str,
    /// Files that show that a tree uses it, the plainest first. A `*` stands for any letters.
    pub(crate) markers: &'static [&'static str],
    /// Directories that its tools write wherever they run.
    pub(crate) directories: &'static [&'static str],
    /// Files that its tools write wherever they run.
    pub(crate) files: &'static [&'static str],
    /// Directories whose names alone say too little.
    pub(crate) beside: &'static [Beside],
}

/// Directories that a tool writes beside one of its files.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Beside {
    /// The files that make the tool write there.
    pub(crate) markers: &'static [&'static str],
    /// Beside which of them.
    pub(crate) place: Place,
    /// The directories.
    pub(crate) directories: &'static [&'static str],
}

/// Where a tool writes: beside each of its files, or beside the topmost only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Each,
    /// A Cargo workspace: the topmost `Cargo.toml`, and every one below that declares a workspace of its own.
    CargoWorkspace,
}

const fn each(markers: &'static [&'static str], directories: &'static [&'static str]) -> Beside {
    Beside { markers, place: Place::Each, directories }
}

/// The names of virtual environments that guides and tools use. A directory is one only with its `pyvenv.cfg`.
pub(crate) const VIRTUAL_ENVIRONMENTS: &[&str] = &[".venv", "venv", "env", "ENV"];

pub(crate) const CARGO: &str = "Cargo.toml";
pub(crate) const GO_MODULE: &str = "go.mod";

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
            "__pycache__",
            "__pypackages__",
            ".venv",
            "*.egg-info",
            ".eggs",
            ".pytest_cache",
            ".mypy_cache",
            ".ruff_cache",
            ".pytype",
            ".hypothesis",
            ".tox",
            ".nox",
            ".benchmarks",
            ".ipynb_checkpoints",
            ".pdm-build",
            "htmlcov",
            "pip-wheel-metadata",
        ],
        files: &[".coverage", ".coverage.*", "coverage.xml", "coverage.lcov", ".dmypy.json", ".pdm-python"],
        beside: &[
            each(&["pyproject.toml", "setup.py"], &["dist", "build"]),
            each(&["mkdocs.yml", "mkdocs.yaml"], &["site"]),
            // Sphinx, as its own Makefile and guides call it.
            each(&["conf.py"], &["_build"]),
        ],
    },
    Ecosystem {
        name: "JavaScript",
        markers: &["package.json"],
        directories: &[
            "node_modules",
            ".nyc_output",
            ".turbo",
            ".parcel-cache",
            ".next",
            ".nuxt",
            ".svelte-kit",
            ".angular/cache",
            ".docusaurus",
            ".expo",
            ".swc",
            ".pnpm-store",
            ".yarn/unplugged",
        ],
        files: &[
            ".eslintcache",
            ".stylelintcache",
            "*.tsbuildinfo",
            ".yarn/install-state.gz",
            "npm-debug.log*",
            "yarn-error.log",
        ],
        beside: &[
            // Where nyc, c8, Jest and Vitest put their reports.
            each(&["package.json"], &["coverage"]),
            each(&["vite.config.*", "webpack.config.*", "angular.json", "tsup.config.*"], &["dist"]),
            each(&["nuxt.config.*"], &[".output"]),
            each(&["playwright.config.*"], &["playwright-report", "test-results"]),
            each(&["cypress.config.*"], &["cypress/screenshots", "cypress/videos"]),
        ],
    },
    Ecosystem {
        name: "Rust",
        markers: &[CARGO],
        directories: &["mutants.out"],
        files: &["*.profraw", "cargo-timing*.html"],
        beside: &[Beside { markers: &[CARGO], place: Place::CargoWorkspace, directories: &["target"] }],
    },
    Ecosystem {
        name: "Go",
        markers: &[GO_MODULE],
        directories: &[],
        // `go test -c`, the profiles of `go test` as its own documentation names them, and the debugger.
        files: &["*.test", "coverage.out", "cover.out", "cpu.out", "mem.out", "__debug_bin*"],
        beside: &[],
    },
    Ecosystem {
        name: "Java",
        markers: &["pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"],
        directories: &[".gradle"],
        files: &[],
        beside: &[
            each(&["pom.xml"], &["target"]),
            each(&["build.gradle", "build.gradle.kts"], &["build", ".kotlin"]),
        ],
    },
    Ecosystem {
        name: ".NET",
        markers: &["*.csproj", "*.fsproj", "*.vbproj"],
        directories: &[],
        files: &[],
        beside: &[each(&["*.csproj", "*.fsproj", "*.vbproj"], &["bin", "obj", "TestResults"])],
    },
    Ecosystem {
        name: "Ruby",
        markers: &["Gemfile", "*.gemspec"],
        directories: &[".yardoc"],
        files: &[".rspec_status"],
        beside: &[each(&["Gemfile"], &["vendor/bundle", "coverage"]), each(&["*.gemspec"], &["pkg"])],
    },
    Ecosystem {
        name: "PHP",
        markers: &["composer.json"],
        directories: &[".phpunit.cache"],
        files: &[".phpunit.result.cache", ".php-cs-fixer.cache"],
        beside: &[each(&["composer.json"], &["vendor"])],
    },
    Ecosystem {
        name: "Elixir",
        markers: &["mix.exs"],
        directories: &[".elixir_ls"],
        files: &["erl_crash.dump"],
        beside: &[each(&["mix.exs"], &["_build", "deps", "cover"])],
    },
    Ecosystem {
        name: "Swift",
        markers: &["Package.swift"],
        directories: &[],
        files: &[],
        beside: &[each(&["Package.swift"], &[".build"])],
    },
    Ecosystem {
        name: "Zig",
        markers: &["build.zig"],
        directories: &[".zig-cache"],
        files: &[],
        beside: &[each(&["build.zig"], &["zig-out", "zig-cache"])],
    },
    Ecosystem {
        name: "Haskell",
        markers: &["*.cabal", "stack.yaml", "cabal.project"],
        directories: &["dist-newstyle", ".stack-work"],
        files: &[],
        beside: &[],
    },
    Ecosystem {
        name: "Dart",
        markers: &["pubspec.yaml"],
        directories: &[".dart_tool"],
        files: &[],
        beside: &[each(&["pubspec.yaml"], &["build"])],
    },
    Ecosystem {
        name: "Terraform",
        markers: &["*.tf"],
        directories: &[".terraform"],
        files: &[],
        beside: &[],
    },
    Ecosystem {
        name: "C and C++",
        markers: &["CMakeLists.txt"],
        directories: &["cmake-build-debug", "cmake-build-release"],
        files: &[],
        beside: &[],
    },
];

impl Ecosystem {
    /// Whether a directory is one that its tools write wherever they run.
    pub(crate) fn writes_directory(&self, directory: &[u8]) -> bool {
        self.directories.iter().any(|name| Self::is_named(directory, name))
    }

    /// Whether a file is one that its tools write wherever they run.
    pub(crate) fn writes_file(&self, path: &[u8]) -> bool {
        self.files.iter().any(|name| Self::is_named(path, name))
    }

    /// Whether the last names of a path are those of a row, as `.yarn/unplugged` or `*.egg-info`.
    pub(crate) fn is_named(path: &[u8], row: &str) -> bool {
        let mut names = path.rsplit(|&byte| byte == b'/');
        row.rsplit('/').all(|wanted| names.next().is_some_and(|name| name_matches(wanted, name)))
    }
}

/// Whether a name is `pattern`, in which one `*` stands for any letters.
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

    #[test]
    fn no_name_of_the_table_stands_there_twice_in_an_ecosystem() {
        for ecosystem in ECOSYSTEMS {
            let mut names: Vec<&str> = ecosystem.directories.iter().chain(ecosystem.files).copied().collect();
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all, "{}", ecosystem.name);
        }
    }
}
