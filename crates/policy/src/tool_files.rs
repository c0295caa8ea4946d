//! How the result of a gate depends on a changed file: its command names the file, its tool reads the file without
//! being told (`make` the Makefile), or its program would import the file in place of another module.
//!
//! Files that tools read by themselves are often part of an honest change, so a change of one is told and fails nothing.

use crate::python_modules::{is_known_module, module_place};
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
    ToolFiles { tools: &["prove", "perl"], files: &[".proverc", "sitecustomize.pl"] },
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
            // A package that git tracks, or one nearer to the script than the real one.
            "node_modules/",
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

/// How the result of a gate depends on a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputUse<'a> {
    /// The gate executes it, or its command names it.
    Named,
    /// It belongs to a module that the command names.
    Module,
    /// It is new and takes the place of a module that a Python program of the gate imports.
    Shadow,
    /// A tool reads it by itself.
    Read { tool: &'a str },
}

impl InputUse<'_> {
    /// Returns whether the path decides what the gate runs. What a tool only reads is often part of an honest change.
    pub fn decides(self) -> bool {
        !matches!(self, Self::Read { .. })
    }

    /// Says what the gate does with the path, after the name of the gate.
    pub fn describe(self) -> String {
        match self {
            Self::Named => "executes it, or its command names it".to_owned(),
            Self::Module => "runs `python -m`, which reads it".to_owned(),
            Self::Shadow => "would import it in place of another module of that name".to_owned(),
            Self::Read { tool } => format!("runs `{tool}`, which reads it"),
        }
    }
}

/// The tools that one command line starts, and the Python modules and scripts that it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedTools {
    words: Vec<String>,
    tools: BTreeSet<String>,
    /// Python modules after `-m`, as paths without their ending.
    modules: BTreeSet<String>,
    /// Directories in which a Python program looks for modules before it looks elsewhere; empty for the root.
    module_directories: BTreeSet<String>,
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
        let is_python = tools.contains("python") || tools.contains("pypy");
        if is_python {
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
        let module_directories = module_directories(&words, &tools, is_python);
        Self { words: argv.to_vec(), tools, modules, module_directories }
    }

    /// Returns how the gate depends on a changed path. `inputs` are the files and places that were looked up.
    pub fn use_of(
        &self,
        inputs: Option<&BTreeSet<RepoPath>>,
        path: &RepoPath,
        is_added: bool,
    ) -> Option<InputUse<'_>> {
        let is_input = |path: &RepoPath| inputs.is_some_and(|inputs| inputs.contains(path));
        // A file that the change added did not exist when the inputs were looked up.
        if is_input(path) || self.words.iter().any(|word| is_path_word(word, path)) {
            Some(InputUse::Named)
        } else if self.modules.iter().any(|module| is_of_module(module, path)) {
            Some(InputUse::Module)
        } else if is_added
            && module_place(path).is_some_and(|place| is_input(&place) || self.is_module_taken(&place))
        {
            Some(InputUse::Shadow)
        } else {
            self.reader_of(path).map(|tool| InputUse::Read { tool })
        }
    }

    /// Returns the Python modules after `-m`, as paths without their ending.
    pub fn modules(&self) -> impl Iterator<Item = &str> {
        self.modules.iter().map(String::as_str)
    }

    /// Returns the tool that reads this path by itself, if one does.
    fn reader_of(&self, path: &RepoPath) -> Option<&str> {
        let files =
            TOOL_FILES.iter().filter(|entry| entry.files.iter().any(|file| is_file(file, path.as_bytes())));
        let mut readers = files.flat_map(|entry| entry.tools).filter_map(|tool| self.tools.get(*tool));
        readers.next().map(String::as_str)
    }

    /// Returns whether a module at this place would be imported instead of one of the standard library or of a test tool.
    fn is_module_taken(&self, place: &RepoPath) -> bool {
        let directory = place.parent().map_or_else(Vec::new, |parent| parent.as_bytes().to_vec());
        is_known_module(place.file_name())
            && self.module_directories.iter().any(|known| known.as_bytes() == directory)
    }
}

/// Tools that put directories of tests before all others.
const TEST_RUNNERS: &[&str] = &["pytest", "py.test", "nose2", "unittest", "tox", "nox", "coverage"];

/// Returns the directories in which the Python programs of a command line look for modules first: that of a script,
/// the root for `-m` and `-c`, and where test runners find tests.
fn module_directories(words: &[&str], tools: &BTreeSet<String>, is_python: bool) -> BTreeSet<String> {
    let runs_tests = TEST_RUNNERS.iter().any(|tool| tools.contains(*tool));
    let mut directories = BTreeSet::new();
    if is_python && words.iter().any(|word| word.starts_with("-m") || *word == "-c") {
        directories.insert(String::new());
    }
    if runs_tests {
        directories.extend(["", "src", "tests", "test"].map(str::to_owned));
    }
    for word in words.iter().filter(|word| word.strip_suffix(".py").is_some()) {
        let word = word.strip_prefix("./").unwrap_or(word);
        directories.insert(word.rsplit_once('/').map_or_else(String::new, |(above, _)| above.to_owned()));
    }
    directories
}

/// Returns whether a word of a command line names this path.
fn is_path_word(word: &str, path: &RepoPath) -> bool {
    word.strip_prefix("./").unwrap_or(word).as_bytes() == path.as_bytes()
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
fn is_of_module(module: &str, path: &RepoPath) -> bool {
    let main = path.file_name().starts_with(b"__main__.").then(|| path.parent()).flatten();
    let Some(place) = main.or_else(|| module_place(path)) else { return false };
    let place = place.as_bytes();
    let place = place.strip_prefix(b"src/").unwrap_or(place);
    let is_package = path.file_name().starts_with(b"__");
    module
        .as_bytes()
        .strip_prefix(place)
        .is_some_and(|below| below.is_empty() || is_package && below[0] == b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(run: &[&str], path: &str) -> Option<String> {
        let argv: Vec<String> = run.iter().map(ToString::to_string).collect();
        let path = RepoPath::parse(path.as_bytes()).expect("a path");
        StartedTools::of(&argv).use_of(None, &path, true).map(InputUse::describe)
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
        for path in [
            "tools/check.py",
            "src/tools/check.py",
            "tools/__init__.py",
            "tools/check/__main__.py",
            "tools/check.abi3.so",
            "tools/check.cpython-312-x86_64-linux-gnu.so",
        ] {
            let told = reader(&["python3", "-m", "tools.check"], path);
            assert_eq!(told.as_deref(), Some("runs `python -m`, which reads it"), "{path}");
            assert!(reader(&["sh", "-c", "python3 -m tools.check --fast"], path).is_some(), "{path}");
        }
        assert_eq!(reader(&["python3", "-m", "tools.check"], "tools/other.py"), None);
        assert_eq!(reader(&["grep", "-m", "tools.check"], "tools/check.py"), None);
    }

    #[test]
    fn a_new_module_that_takes_the_place_of_another_is_known() {
        let shadow = Some("would import it in place of another module of that name".to_owned());
        for (run, path) in [
            (&["python3", "-m", "pytest"][..], "pytest/__init__.py"),
            (&["python3", "-m", "pytest", "-q"], "json.py"),
            (&["python3", "-m", "pytest"], "_pytest/__init__.py"),
            (&["pytest"], "tests/pluggy.py"),
            (&["pytest", "-q"], "tests/random.cpython-312-x86_64-linux-gnu.so"),
            (&["python3", "tools/check.py"], "tools/re.py"),
            (&["sh", "-c", "python3 ./tools/check.py"], "tools/subprocess/__init__.py"),
            (&["python3", "-c", "import unittest"], "unittest.py"),
        ] {
            let told = reader(run, path);
            assert!(
                told == shadow || told.as_deref().is_some_and(|it| it.contains("python -m")),
                "{run:?} {path}"
            );
        }
        for (run, path) in [
            (&["python3", "-m", "pytest"][..], "shop/json.py"),
            (&["python3", "-m", "pytest"], "shop.py"),
            (&["python3", "tools/check.py"], "json.py"),
            (&["python3", "tools/check.py"], "tools/json.txt"),
            (&["python3", "tools/check.py"], "tools/json/data.py"),
            (&["cargo", "test"], "json.py"),
        ] {
            assert_eq!(reader(run, path), None, "{run:?} {path}");
        }
        let argv = ["pytest".to_owned()];
        let path = RepoPath::parse(b"json.py").expect("a path");
        assert_eq!(StartedTools::of(&argv).use_of(None, &path, false), None, "it was there before");
    }

    #[test]
    fn places_that_were_looked_up_are_taken_by_new_modules() {
        let [place, package, module] = ["tools/check", "tools/check/__init__.py", "tools/check.py"]
            .map(|path| RepoPath::parse(path.as_bytes()).expect("a path"));
        let argv = ["./run".to_owned()];
        let tools = StartedTools::of(&argv);
        let inputs = BTreeSet::from([place]);
        assert_eq!(tools.use_of(Some(&inputs), &package, true), Some(InputUse::Shadow));
        assert_eq!(tools.use_of(Some(&inputs), &module, false), None, "an edit of the module itself");
    }
}
