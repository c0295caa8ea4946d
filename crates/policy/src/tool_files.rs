//! The files of a tree that tools read without being told: a gate that runs `make` also runs the Makefile.
//!
//! Such files are often part of an honest change, so a change of one is told and fails nothing.

use crate::wrappers::started_commands;
use probity_paths::RepoPath;
use std::collections::BTreeSet;

/// Tools, and the files that decide what they do.
struct ToolFiles {
    /// Program names without a version, or Python modules.
    tools: &'static [&'static str],
    /// The last segments of a path; `*.x` for every file with that ending, `x/` for everything below a directory.
    files: &'static [&'static str],
}

const TOOL_FILES: &[ToolFiles] = &[
    ToolFiles {
        tools: &[
            "python", "pypy", "pytest", "py.test", "unittest", "coverage", "nose2", "tox", "nox", "mypy",
            "ruff", "flake8", "pylint", "black", "isort", "poetry", "uv", "uvx", "pdm", "hatch", "pipenv",
            "rye", "pixi",
        ],
        files: &[
            "conftest.py",
            "pytest.ini",
            ".pytest.ini",
            "pytest.toml",
            "tox.ini",
            "setup.cfg",
            "setup.py",
            "pyproject.toml",
            "sitecustomize.py",
            "usercustomize.py",
            "noxfile.py",
            ".coveragerc",
            "mypy.ini",
            ".mypy.ini",
            "ruff.toml",
            ".ruff.toml",
            ".flake8",
            ".pylintrc",
            "*.pth",
        ],
    },
    ToolFiles {
        tools: &["make", "gmake", "bmake"],
        files: &["Makefile", "GNUmakefile", "makefile", "BSDmakefile", "*.mk"],
    },
    ToolFiles {
        tools: &[
            "npm",
            "npx",
            "yarn",
            "pnpm",
            "pnpx",
            "bun",
            "bunx",
            "node",
            "nodejs",
            "jest",
            "mocha",
            "vitest",
            "ava",
            "eslint",
            "tsc",
            "tsx",
            "prettier",
            "biome",
            "playwright",
            "cypress",
            "karma",
        ],
        files: &[
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            "pnpm-workspace.yaml",
            ".pnpmfile.cjs",
            "bunfig.toml",
            "tsconfig.json",
            "biome.json",
            ".mocharc.json",
            ".mocharc.js",
            ".mocharc.cjs",
            ".mocharc.yml",
            "jest.config.js",
            "jest.config.ts",
            "jest.config.cjs",
            "jest.config.mjs",
            "jest.config.json",
            "vitest.config.js",
            "vitest.config.ts",
            "vitest.config.mts",
            "vite.config.js",
            "vite.config.ts",
            "playwright.config.js",
            "playwright.config.ts",
            "cypress.config.js",
            "cypress.config.ts",
            "eslint.config.js",
            "eslint.config.mjs",
            "eslint.config.cjs",
            ".eslintrc",
            ".eslintrc.js",
            ".eslintrc.cjs",
            ".eslintrc.json",
            ".eslintrc.yml",
            ".babelrc",
            "babel.config.js",
        ],
    },
    ToolFiles {
        tools: &["cargo", "cross", "cargo-nextest", "rustc", "clippy-driver"],
        files: &[
            ".cargo/config",
            ".cargo/config.toml",
            "build.rs",
            "rust-toolchain",
            "rust-toolchain.toml",
            "Cargo.toml",
            "clippy.toml",
            ".clippy.toml",
            "nextest.toml",
            "rustfmt.toml",
            ".rustfmt.toml",
        ],
    },
    ToolFiles {
        tools: &["go", "gotestsum", "golangci-lint"],
        files: &["go.mod", "go.work", ".golangci.yml", "vendor/"],
    },
    ToolFiles { tools: &["just"], files: &["justfile", "Justfile", ".justfile", "*.just"] },
    ToolFiles {
        tools: &["task", "go-task"],
        files: &["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "Taskfile.dist.yml"],
    },
    ToolFiles {
        tools: &["pre-commit", "prek"],
        files: &[".pre-commit-config.yaml", ".pre-commit-hooks.yaml"],
    },
    ToolFiles {
        tools: &["gradle", "gradlew"],
        files: &[
            "gradlew",
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle/wrapper/",
            "gradle/libs.versions.toml",
            "buildSrc/",
            "*.gradle",
        ],
    },
    ToolFiles { tools: &["mvn", "mvnw", "mvnd"], files: &["mvnw", "pom.xml", ".mvn/"] },
    ToolFiles {
        tools: &["rake", "bundle", "rspec", "ruby"],
        files: &["Rakefile", "rakefile", "*.rake", "Gemfile", ".rspec", "spec_helper.rb"],
    },
    ToolFiles {
        tools: &["composer", "phpunit", "php", "pest"],
        files: &["composer.json", "phpunit.xml", "phpunit.xml.dist"],
    },
    ToolFiles {
        tools: &["cmake", "ctest", "ninja"],
        files: &["CMakeLists.txt", "CMakePresets.json", "*.cmake", "build.ninja"],
    },
    ToolFiles {
        tools: &["dotnet"],
        files: &[
            "*.csproj",
            "*.sln",
            "Directory.Build.props",
            "Directory.Build.targets",
            "global.json",
            "nuget.config",
        ],
    },
    ToolFiles { tools: &["mix"], files: &["mix.exs", "test_helper.exs"] },
    ToolFiles { tools: &["deno"], files: &["deno.json", "deno.jsonc"] },
    ToolFiles {
        tools: &["bazel", "bazelisk"],
        files: &[".bazelrc", "BUILD", "BUILD.bazel", "WORKSPACE", "MODULE.bazel", "*.bzl"],
    },
];

/// The tools that one command line starts, and the modules that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedTools {
    tools: BTreeSet<String>,
    /// Python modules after `-m`, as paths without their ending.
    modules: BTreeSet<String>,
}

impl StartedTools {
    pub fn of(argv: &[String]) -> Self {
        let started = started_commands(argv);
        let mut tools: BTreeSet<String> =
            started.commands.iter().map(|command| tool_name(&command[0])).collect();
        tools.extend(started.script_words.iter().map(|word| tool_name(word)));
        let mut words: Vec<&str> = argv.iter().map(String::as_str).collect();
        // In a shell script, too, a module follows its `-m`.
        words.extend(argv.iter().flat_map(|word| word.split_ascii_whitespace()));
        let mut modules = BTreeSet::new();
        if tools.contains("python") || tools.contains("pypy") {
            for (at, word) in words.iter().enumerate() {
                let module = match word.strip_prefix("-m") {
                    Some("") => words.get(at + 1).copied().unwrap_or_default(),
                    Some(module) => module,
                    None => continue,
                };
                tools.extend(module.split('.').next().map(str::to_owned));
                modules.insert(module.replace('.', "/"));
            }
        }
        modules.remove("");
        Self { tools, modules }
    }

    /// Returns the tool that reads this path by itself, if one does.
    pub fn reader_of(&self, path: &RepoPath) -> Option<&str> {
        let files =
            TOOL_FILES.iter().filter(|entry| entry.files.iter().any(|file| is_file(file, path.as_bytes())));
        let mut readers = files.flat_map(|entry| entry.tools).filter_map(|tool| self.tools.get(*tool));
        let is_module = || self.modules.iter().any(|module| is_of_module(module, path.as_bytes()));
        readers.next().map(String::as_str).or_else(|| is_module().then_some("python -m"))
    }
}

/// Returns the name of a program without its directory, ending and version: `python3.11` is `python`.
fn tool_name(program: &str) -> String {
    let name = program.rsplit('/').next().unwrap_or(program);
    let name = name.strip_suffix(".exe").or_else(|| name.strip_suffix(".bat")).unwrap_or(name);
    name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.').to_owned()
}

fn is_file(pattern: &str, path: &[u8]) -> bool {
    let ends_in =
        |end: &[u8]| path.strip_suffix(end).is_some_and(|above| above.is_empty() || above.ends_with(b"/"));
    if let Some(ending) = pattern.strip_prefix('*') {
        path.ends_with(ending.as_bytes())
    } else if pattern.ends_with('/') {
        let name = pattern.as_bytes();
        path.starts_with(name)
            || path.windows(name.len() + 1).any(|part| part[0] == b'/' && &part[1..] == name)
    } else {
        ends_in(pattern.as_bytes())
    }
}

/// Returns whether a path is a module, its package or a package above it, at the root or below `src`.
fn is_of_module(module: &str, path: &[u8]) -> bool {
    let path = path.strip_prefix(b"src/").unwrap_or(path);
    let Some(rest) = path.strip_suffix(b".py") else { return false };
    let package = rest.strip_suffix(b"/__init__").or_else(|| rest.strip_suffix(b"/__main__"));
    rest == module.as_bytes()
        || package.is_some_and(|package| {
            module.as_bytes().strip_prefix(package).is_some_and(|below| below.is_empty() || below[0] == b'/')
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(run: &[&str], path: &str) -> Option<String> {
        let argv: Vec<String> = run.iter().map(ToString::to_string).collect();
        let path = RepoPath::parse(path.as_bytes()).expect("a path");
        StartedTools::of(&argv).reader_of(&path).map(str::to_owned)
    }

    #[test]
    fn the_files_that_a_tool_reads_by_itself_are_known() {
        for (run, path) in [
            (&["pytest"][..], "tests/unit/conftest.py"),
            (&["python3.11", "-m", "pytest"], "pytest.ini"),
            (&["/usr/bin/python3", "tools/check.py"], "sitecustomize.py"),
            (&["make", "test"], "Makefile"),
            (&["sh", "-c", "cd sub && make -s test"], "sub/GNUmakefile"),
            (&["make"], "build/rules.mk"),
            (&["npm", "test"], "package.json"),
            (&["timeout", "60", "pnpm", "run", "lint"], ".npmrc"),
            (&["cargo", "test"], "crates/a/build.rs"),
            (&["cargo", "test"], ".cargo/config.toml"),
            (&["go", "test", "./..."], "vendor/a/b.go"),
            (&["go", "test", "./..."], "sub/vendor/a/b.go"),
            (&["just", "check"], "justfile"),
            (&["./gradlew", "check"], "gradlew"),
            (&["./gradlew", "check"], "gradle/wrapper/gradle-wrapper.jar"),
            (&["./mvnw", "verify"], ".mvn/jvm.config"),
            (&["pre-commit", "run"], ".pre-commit-config.yaml"),
            (&["tox", "-e", "py"], "tox.ini"),
        ] {
            assert!(reader(run, path).is_some(), "{run:?} {path}");
        }
        for (run, path) in [
            (&["true"][..], "Makefile"),
            (&["pytest"], "package.json"),
            (&["pytest"], "tests/test_conftest.py"),
            (&["make"], "docs/Makefile.md"),
            (&["go", "vet"], "my-vendor/x.go"),
        ] {
            assert_eq!(reader(run, path), None, "{run:?} {path}");
        }
    }

    #[test]
    fn a_module_is_the_files_it_is_made_of() {
        for path in ["tools/check.py", "src/tools/check.py", "tools/__init__.py", "tools/check/__main__.py"] {
            assert_eq!(
                reader(&["python3", "-m", "tools.check"], path).as_deref(),
                Some("python -m"),
                "{path}"
            );
            assert!(reader(&["sh", "-c", "python3 -m tools.check --fast"], path).is_some(), "{path}");
        }
        assert_eq!(reader(&["python3", "-m", "tools.check"], "tools/other.py"), None);
        assert_eq!(reader(&["grep", "-m", "tools.check"], "tools/check.py"), None);
    }
}
