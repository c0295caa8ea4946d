//! Programs that rewrite the files they are given, and the package managers that run them.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
use super::interpreter::{CommandInput, Interpreter, ShellState, StepResult};

/// When a formatter rewrites files.
struct Formatter {
    program: &'static str,
    /// The subcommand that rewrites; empty if there is none.
    subcommand: &'static str,
    /// Options of which one must be given; empty if it rewrites by default.
    flags: &'static [&'static str],
    /// Whether it rewrites the working directory if no path is given.
    takes_directory: bool,
}

const fn formatter(
    program: &'static str,
    subcommand: &'static str,
    flags: &'static [&'static str],
    takes_directory: bool,
) -> Formatter {
    Formatter { program, subcommand, flags, takes_directory }
}

const FORMATTERS: [Formatter; 55] = [
    formatter("cargo", "fmt", &[], true),
    formatter("cargo", "fix", &[], true),
    formatter("cargo", "clippy", &["fix"], true),
    formatter("go", "fmt", &[], true),
    formatter("go", "fix", &[], true),
    formatter("ruff", "format", &[], true),
    formatter("ruff", "check", &["fix", "fix-only"], true),
    formatter("rustfmt", "", &[], false),
    formatter("black", "", &[], false),
    formatter("isort", "", &[], false),
    formatter("prettier", "", &["write", "w"], false),
    formatter("gofmt", "", &["w"], false),
    formatter("gofumpt", "", &["w"], false),
    formatter("goimports", "", &["w"], false),
    formatter("shfmt", "", &["w", "write"], false),
    formatter("clang-format", "", &["i"], false),
    formatter("cmake-format", "", &["i", "in-place"], false),
    formatter("eslint", "", &["fix"], true),
    formatter("stylelint", "", &["fix"], false),
    formatter("standard", "", &["fix"], true),
    formatter("xo", "", &["fix"], true),
    formatter("biome", "format", &["write", "fix"], true),
    formatter("biome", "check", &["write", "fix", "apply"], true),
    formatter("biome", "lint", &["write", "fix", "apply"], true),
    formatter("deno", "fmt", &[], true),
    formatter("dprint", "fmt", &[], true),
    formatter("zig", "fmt", &[], false),
    formatter("mix", "format", &[], true),
    formatter("dart", "format", &[], false),
    formatter("dart", "fix", &["apply"], true),
    formatter("terraform", "fmt", &[], true),
    formatter("tofu", "fmt", &[], true),
    formatter("taplo", "fmt", &[], true),
    formatter("taplo", "format", &[], true),
    formatter("buf", "format", &["w", "write"], true),
    formatter("autopep8", "", &["i", "in-place"], false),
    formatter("autoflake", "", &["i", "in-place"], false),
    formatter("yapf", "", &["i", "in-place"], false),
    formatter("pyupgrade", "", &[], false),
    formatter("rubocop", "", &["a", "A", "autocorrect", "autocorrect-all", "auto-correct"], true),
    formatter("php-cs-fixer", "fix", &[], true),
    formatter("ktlint", "", &["F", "format"], true),
    formatter("google-java-format", "", &["i", "r", "replace"], false),
    formatter("swiftformat", "", &[], false),
    formatter("stylua", "", &[], false),
    formatter("nixfmt", "", &[], false),
    formatter("ormolu", "", &["i", "inplace"], false),
    formatter("sqlfluff", "fix", &[], true),
    formatter("markdownlint", "", &["f", "fix"], false),
    formatter("jsonnetfmt", "", &["i", "in-place"], false),
    formatter("yq", "", &["i", "inplace", "in-place"], false),
    formatter("dos2unix", "", &[], false),
    formatter("unix2dos", "", &[], false),
    formatter("sd", "", &[], false),
    formatter("comby", "", &["i", "in-place"], false),
];

/// How many operands stand before the files: programs and patterns.
fn n_words_before_files(program: &str) -> usize {
    match program {
        "yq" => 1,
        "sd" | "comby" => 2,
        _ => 0,
    }
}

/// Long options of formatters that take a value as the next word, and are no switches for any of them.
const VALUE_OPTIONS: [&str; 25] = [
    "config",
    "config-path",
    "config-precedence",
    "edition",
    "exclude",
    "extend-exclude",
    "extend-select",
    "fixable",
    "ignore-path",
    "ignore-pattern",
    "line-length",
    "log-level",
    "loglevel",
    "max-line-length",
    "max-warnings",
    "parser",
    "plugin",
    "print-width",
    "profile",
    "rule",
    "select",
    "tab-width",
    "target-version",
    "trailing-comma",
    "unfixable",
];

/// Options that only report.
const CHECKING_FLAGS: [&str; 11] = [
    "check",
    "check-only",
    "diff",
    "l",
    "d",
    "list-different",
    "check-formatted",
    "dry-run",
    "dryrun",
    "verify",
    "p",
];

impl Interpreter<'_> {
    /// Runs a formatter or a package manager; `false` if `program` is none.
    pub(super) fn formatter(
        &mut self,
        program: &str,
        args: &[Value],
        state: &mut ShellState,
        input: &CommandInput,
    ) -> Result<bool, String> {
        self.manifest_edit(program, args, state);
        if matches!(
            program,
            "npm"
                | "pnpm"
                | "yarn"
                | "uv"
                | "poetry"
                | "pipenv"
                | "bundle"
                | "pdm"
                | "rye"
                | "hatch"
                | "pixi"
        ) {
            self.package_manager(program, args, state, input)?;
            return Ok(true);
        }
        let here = Value::Known(".".into());
        let read = Arguments::read(args, "lo", &VALUE_OPTIONS);
        let first = read.operands.first().and_then(Value::known).unwrap_or_default().to_owned();
        let mut known = FORMATTERS.iter().filter(|it| it.program == program).peekable();
        if program == "gh" {
            let words: Vec<Option<&str>> = read.operands.iter().map(Value::known).collect();
            if words.starts_with(&[Some("pr"), Some("checkout")]) {
                self.write(state, &here, WriteKind::Subtree);
            }
            return Ok(true);
        }
        if program == "go" && first == "build" {
            let read = Arguments::read(args, "o", &[]);
            self.write_option(state, &read, &["o"]);
        }
        if known.peek().is_none() {
            return Ok(false);
        }
        // `-p` names a package for some and asks for a check for one.
        let only_checks = read.has(&CHECKING_FLAGS[..CHECKING_FLAGS.len() - 1])
            || program == "sd" && read.has(&CHECKING_FLAGS[CHECKING_FLAGS.len() - 1..])
            || program == "isort" && read.has(&["c"])
            || read.has(&["write=false"]);
        let Some(rule) = known.find(|it| it.subcommand.is_empty() || it.subcommand == first) else {
            return Ok(true);
        };
        if only_checks || !rule.flags.is_empty() && !read.has(rule.flags) {
            return Ok(true);
        }
        let n_before = usize::from(!rule.subcommand.is_empty()) + n_words_before_files(program);
        // Arguments of these are packages and patterns, not paths.
        let files = match program {
            "cargo" | "go" => &[],
            _ => read.operands.get(n_before..).unwrap_or_default(),
        };
        if files.is_empty() && rule.takes_directory {
            self.write(state, &here, WriteKind::Subtree);
        }
        for file in files.iter().filter(|file| file.known() != Some("-")) {
            self.write(state, file, WriteKind::Subtree);
        }
        Ok(true)
    }

    /// Records the manifest that a package manager certainly edits: `npm pkg set`, `cargo add`, `poetry remove`.
    fn manifest_edit(&mut self, program: &str, args: &[Value], state: &ShellState) {
        let read = Arguments::read(args, "", &["prefix", "manifest-path", "package", "directory"]);
        let word = |at: usize| read.operands.get(at).and_then(Value::known).unwrap_or_default();
        let elsewhere =
            ["g", "global", "no-save", "dry-run", "prefix", "manifest-path", "directory", "cwd", "C"];
        if read.has(&elsewhere) {
            return;
        }
        let names_package = read.operands.len() > 1;
        let manifest = match (program, word(0)) {
            ("npm", "pkg") if matches!(word(1), "set" | "delete" | "fix") => "package.json",
            ("npm" | "pnpm" | "yarn", "init") => "package.json",
            ("go", "mod") if matches!(word(1), "init" | "edit") => "go.mod",
            _ if !names_package => return,
            ("npm" | "yarn", "version")
            | ("npm", "install" | "i" | "add" | "uninstall" | "remove" | "rm" | "un")
            | ("pnpm" | "yarn" | "bun", "add" | "remove") => "package.json",
            ("cargo", "add" | "remove" | "rm") => "Cargo.toml",
            ("uv" | "poetry" | "pdm" | "rye", "add" | "remove") | ("poetry", "version") => "pyproject.toml",
            ("go", "get") => "go.mod",
            ("composer", "require" | "remove") => "composer.json",
            ("bundle", "add" | "remove") => "Gemfile",
            _ => return,
        };
        self.write(state, &Value::Known(manifest.to_owned()), WriteKind::Entry);
    }

    /// `npm exec`, `uv run` and the like run another program.
    fn package_manager(
        &mut self,
        program: &str,
        args: &[Value],
        state: &mut ShellState,
        input: &CommandInput,
    ) -> StepResult {
        let read = Arguments::read_prefix(args, "", &[]);
        let first = read.operands.first().and_then(Value::known).unwrap_or_default();
        let runs = match program {
            "npm" => matches!(first, "exec" | "x"),
            _ => matches!(first, "exec" | "x" | "dlx" | "run"),
        };
        if !runs {
            return Ok(());
        }
        let inner = Arguments::read_prefix(&read.operands[1..], "", &[]);
        self.call(&inner.operands, state, input)
    }
}
