//! Finds the programs that a command line starts: `timeout 60 uv run pytest` starts three.
//!
//! If several words could be the program, all of them are reported: one too many costs an exemption, a missed
//! one costs a wrong verdict.

use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedCommands<'a> {
    /// The whole command line and those nested in it.
    pub commands: Vec<&'a [String]>,
    /// Words of shell scripts within the command line; they may name programs and files.
    pub script_words: BTreeSet<&'a str>,
}

/// A program that starts the one named by its later words.
struct WrapperProgram {
    names: &'static [&'static str],
    /// Subcommands, one of which must come first; empty if none is needed.
    subcommands: &'static [&'static str],
    /// Options whose value is the next word.
    value_options: &'static [&'static str],
    /// Options without a value.
    flags: &'static [&'static str],
    /// Number of words before the program.
    n_operands: usize,
}

impl WrapperProgram {
    const fn new(names: &'static [&'static str], value_options: &'static [&'static str]) -> Self {
        Self { names, subcommands: &[], value_options, flags: &[], n_operands: 0 }
    }

    const fn flags(self, flags: &'static [&'static str]) -> Self {
        Self { flags, ..self }
    }

    const fn operands(self, n_operands: usize) -> Self {
        Self { n_operands, ..self }
    }

    const fn with_subcommands(self, subcommands: &'static [&'static str]) -> Self {
        Self { subcommands, ..self }
    }
}

const WRAPPERS: &[WrapperProgram] = &[
    WrapperProgram::new(&["env"], &["-u", "--unset", "-C", "--chdir"]).flags(&[
        "-i",
        "-",
        "-0",
        "-v",
        "--ignore-environment",
    ]),
    WrapperProgram::new(&["timeout", "gtimeout"], &["-k", "--kill-after", "-s", "--signal"])
        .flags(&["-v", "--foreground", "--preserve-status", "--verbose"])
        .operands(1),
    WrapperProgram::new(&["nice"], &["-n", "--adjustment"]),
    WrapperProgram::new(
        &["nohup", "setsid", "catchsegv", "tini", "dumb-init", "dbus-run-session", "command", "exec"],
        &[],
    )
    .flags(&["-c", "-f", "-w", "--ctty", "--fork", "--wait"]),
    WrapperProgram::new(&["stdbuf"], &["-i", "-o", "-e", "--input", "--output", "--error"]),
    WrapperProgram::new(&["ionice"], &["-c", "-n", "--class", "--classdata"]).flags(&["-t"]),
    WrapperProgram::new(&["chrt", "taskset", "flock"], &[]).operands(1),
    WrapperProgram::new(&["time", "gtime"], &["-f", "-o", "--format", "--output"]).flags(&["-p", "-v", "-a"]),
    WrapperProgram::new(
        &["xargs", "gxargs"],
        &[
            "-n",
            "-P",
            "-I",
            "-L",
            "-d",
            "-a",
            "-s",
            "-E",
            "--max-args",
            "--max-procs",
            "--delimiter",
            "--arg-file",
        ],
    )
    .flags(&["-0", "-r", "-t", "-x", "--null", "--no-run-if-empty", "--verbose"]),
    WrapperProgram::new(&["sudo", "doas"], &["-u", "-g", "-C", "-h", "-p", "-D"]).flags(&["-E", "-H", "-n"]),
    WrapperProgram::new(&["xvfb-run"], &["-e", "-f", "-n", "-p", "-s", "-w"])
        .flags(&["-a", "--auto-servernum"]),
    WrapperProgram::new(&["strace", "ltrace", "perf", "valgrind"], &["-o", "-e"]),
    WrapperProgram::new(
        &["busybox", "coreutils", "toybox", "unshare", "setpriv", "prlimit", "firejail"],
        &[],
    ),
    WrapperProgram::new(&["nsenter"], &["-t", "-S", "-G", "--target", "--setuid", "--setgid"]),
    WrapperProgram::new(&["numactl"], &["-C", "-N", "-m", "-p", "-i"]),
    WrapperProgram::new(&["chroot", "setarch", "gosu", "su-exec"], &["--userspec"]).operands(1),
    WrapperProgram::new(&["runuser"], &["-u", "--user", "-g", "--group"]),
    WrapperProgram::new(
        &["npx", "pnpx", "bunx", "uvx"],
        &["-p", "--package", "--from", "--with", "--python"],
    )
    .flags(&["-y", "--yes", "--no", "-q", "--quiet", "--no-install"]),
    WrapperProgram::new(
        &["npm", "pnpm", "yarn", "bun"],
        &["-C", "--dir", "--cwd", "--prefix", "--package", "-w", "--filter"],
    )
    .with_subcommands(&["exec", "x", "run", "dlx"]),
    WrapperProgram::new(
        &["uv", "poetry", "pipenv", "pdm", "hatch", "rye", "pixi"],
        &[
            "--with",
            "--python",
            "-p",
            "--extra",
            "--group",
            "--package",
            "--project",
            "--directory",
            "--env-file",
            "-C",
            "-P",
            "-e",
            "--env",
        ],
    )
    .flags(&["--frozen", "--locked", "--no-sync", "--all-extras", "--isolated", "--active", "-q", "-v"])
    .with_subcommands(&["run"]),
    WrapperProgram::new(&["conda", "mamba", "micromamba"], &["-n", "-p", "--name", "--prefix", "--cwd"])
        .flags(&["--no-capture-output", "--live-stream"])
        .with_subcommands(&["run"]),
    WrapperProgram::new(&["bundle", "bundler", "rbenv", "pyenv", "asdf", "mise", "nodenv"], &["--gemfile"])
        .flags(&["--keep-file-descriptors"])
        .with_subcommands(&["exec", "x"]),
    WrapperProgram::new(&["coverage"], &["--source", "--rcfile", "--omit", "--include", "--data-file"])
        .flags(&["--branch", "-a", "--append", "-p"])
        .with_subcommands(&["run"]),
];

/// Shells, whose scripts may start anything.
const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "tcsh", "csh", "rbash"];

pub fn is_shell(program: &[u8]) -> bool {
    SHELLS.iter().any(|shell| shell.as_bytes() == program)
}

pub fn started_commands(argv: &[String]) -> StartedCommands<'_> {
    let mut starts = vec![0];
    let mut script_words = BTreeSet::new();
    let mut next = 0;
    while let Some(&start) = starts.get(next) {
        next += 1;
        let Some(program) = argv.get(start) else { continue };
        let words = &argv[start + 1..];
        let name = program.rsplit('/').next().unwrap_or(program);
        let takes_script =
            SHELLS.contains(&name) || matches!(name, "env" | "xargs" | "flock" | "watch" | "su");
        if takes_script {
            // The script of `sh -c`, and what `env -S` splits. Treating other words as scripts does no harm.
            script_words.extend(words.iter().flat_map(|word| words_of_script(word)));
        }
        for wrapper in WRAPPERS.iter().filter(|wrapper| wrapper.names.contains(&name)) {
            for inner in wrapper.programs(words) {
                let inner = start + 1 + inner;
                if !starts.contains(&inner) {
                    starts.push(inner);
                }
            }
        }
    }
    let commands = starts.into_iter().map(|start| &argv[start..]).filter(|command| !command.is_empty());
    StartedCommands { commands: commands.collect(), script_words }
}

/// Programs that execute the file that their first operand names.
const INTERPRETERS: &[&str] = &[
    "python", "pypy", "node", "nodejs", "deno", "bun", "tsx", "ts-node", "ruby", "perl", "php", "lua",
    "Rscript", "pwsh", "tclsh", "awk", "source", ".",
];

/// Words of a shell script that come before a command.
const COMMAND_PREFIXES: &[&str] =
    &["if", "then", "elif", "else", "while", "until", "do", "!", "time", "exec", "builtin"];

/// Shell scripts in shell scripts are read to this depth.
const MAX_SCRIPT_DEPTH: usize = 3;

/// Returns the words of a command line that name what it executes: programs, and the scripts that interpreters are given.
/// Files that a program only reads are not among them.
pub fn executed_words(argv: &[String]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    add_executed_words(argv, MAX_SCRIPT_DEPTH, &mut found);
    found
}

/// Options that name a program, or settings that decide what it says, with the tools that take them.
const PROGRAM_OPTIONS: &[(&str, &[&str])] = &[
    (
        "-f",
        &[
            "make", "gmake", "bmake", "sed", "gsed", "jq", "ninja", "just", "rake", "ant", "mvn", "nox",
            "psql", "yq",
        ],
    ),
    (
        "-c",
        &[
            "tox",
            "pytest",
            "eslint",
            "jest",
            "golangci-lint",
            "bandit",
            "hadolint",
            "yamllint",
            "markdownlint",
        ],
    ),
    ("-r", &["node", "nodejs", "ruby", "ts-node", "tsx"]),
    ("-p", &["tsc"]),
    ("-P", &["cmake"]),
    ("-S", &["ctest", "vim", "nvim"]),
    ("-x", &["gdb"]),
    ("-b", &["gradle", "gradlew"]),
    ("-I", &["gradle", "gradlew"]),
    ("-l", &["emacs"]),
    ("-t", &["task", "go-task"]),
];

/// Parts of the names of long options that do the same for any tool: `--config`, `--makefile`, `--rcfile`, `--require`.
const PROGRAM_OPTION_PARTS: &[&str] =
    &["file", "config", "require", "import", "plugin", "script", "project", "loader", "baseline", "ignore"];

/// Endings of files that a program in a command line (`python -c`) runs if it names them.
const PROGRAM_ENDINGS: &[&str] = &[
    ".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".pm", ".php", ".lua", ".mk", ".awk",
];

/// Adds the files behind options that name programs or settings.
fn add_option_files(command: &[String], plain: &str, found: &mut BTreeSet<String>) {
    let short = PROGRAM_OPTIONS.iter().filter(|(_, tools)| tools.contains(&plain));
    let short: Vec<&str> = short.map(|(option, _)| *option).collect();
    let mut words = command[1..].iter().peekable();
    while let Some(word) = words.next() {
        if let Some(option) = word.strip_prefix("--") {
            let (name, value) = option.split_once('=').map_or((option, None), |(name, it)| (name, Some(it)));
            if !PROGRAM_OPTION_PARTS.iter().any(|part| name.contains(part)) {
                continue;
            }
            let value = value.or_else(|| words.peek().map(|next| next.as_str()));
            found.extend(value.map(str::to_owned));
        } else if let Some(option) = short.iter().find(|option| word.starts_with(**option)) {
            let value = Some(&word[option.len()..]).filter(|it| !it.is_empty());
            let value = value.or_else(|| words.peek().map(|next| next.as_str()));
            found.extend(value.map(str::to_owned));
        }
    }
    let values = |letter: &str| {
        let all = command.iter().filter_map(|word| word.strip_prefix(letter));
        all.filter(|value| !value.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    match plain {
        // `perl -Ici -MCheck` runs `ci/Check.pm`.
        "perl" => {
            for module in values("-M") {
                let file = format!("{}.pm", module.split('=').next().unwrap_or_default().replace("::", "/"));
                found.extend(values("-I").iter().map(|dir| format!("{dir}/{file}")));
            }
        }
        "find" => {
            let runs =
                command.iter().any(|word| matches!(word.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"));
            let names = command.windows(2).filter(|pair| matches!(pair[0].as_str(), "-name" | "-path"));
            found.extend(names.filter(|_| runs).map(|pair| pair[1].clone()));
        }
        _ => {}
    }
}

/// Adds the files that the text of a program names, if they are programs.
fn add_named_programs(text: &str, found: &mut BTreeSet<String>) {
    let is_between = |letter: char| !(letter.is_alphanumeric() || "_-./+".contains(letter));
    let words = text.split(is_between);
    let programs = words.filter(|word| PROGRAM_ENDINGS.iter().any(|ending| word.ends_with(ending)));
    found.extend(programs.map(str::to_owned));
}

fn add_executed_words(argv: &[String], depth: usize, found: &mut BTreeSet<String>) {
    for command in started_commands(argv).commands {
        found.insert(command[0].clone());
        let name = command[0].rsplit('/').next().unwrap_or(&command[0]);
        let plain = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let plain = if plain.is_empty() { name } else { plain };
        let is_shell = SHELLS.contains(&name);
        add_option_files(command, plain, found);
        if plain == "env" && depth > 0 {
            // `env -S 'sh check.sh'`
            let texts = command[1..].iter().map(|word| word.trim_start_matches("-S"));
            for text in texts.filter(|text| text.contains(char::is_whitespace)) {
                let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
                add_executed_words(&words, depth - 1, found);
            }
        }
        if !is_shell && !INTERPRETERS.contains(&plain) {
            continue;
        }
        let mut is_behind_option = false;
        for word in &command[1..] {
            if is_shell
                && is_behind_option
                && word.contains(|letter: char| letter.is_whitespace() || letter == ';')
            {
                if pipes_into_shell(word) {
                    found.extend(words_of_script(word).map(str::to_owned));
                }
                for part in word.split(['\n', ';', '|', '&', '(', ')', '{', '}', '`']).filter(|_| depth > 0) {
                    let quotes = |letter| matches!(letter, '"' | '\'' | '$');
                    let words = part.split_whitespace().map(|word| word.trim_matches(quotes).to_owned());
                    let is_prefix =
                        |word: &String| COMMAND_PREFIXES.contains(&word.as_str()) || is_assignment(word);
                    add_executed_words(&words.skip_while(is_prefix).collect::<Vec<_>>(), depth - 1, found);
                }
                break;
            }
            if word.starts_with('-') {
                is_behind_option = true;
                continue;
            }
            // A script on standard input is run, too.
            let word = word.trim_start_matches('<');
            if word.is_empty() {
                continue;
            }
            found.insert(word.to_owned());
            if is_behind_option && !is_shell {
                add_named_programs(word, found);
            }
            // A directory with a program of Python.
            let has_ending = word.rsplit('/').next().is_some_and(|name| name.contains('.'));
            if matches!(plain, "python" | "pypy") && !is_behind_option && !has_ending {
                found.insert(format!("{}/__main__.py", word.trim_end_matches('/')));
            }
            // A word behind an option may be its value.
            if !std::mem::take(&mut is_behind_option) {
                break;
            }
        }
    }
}

/// Returns whether a shell script pipes into a shell without a script of its own, as in `cat check.sh | sh`.
fn pipes_into_shell(script: &str) -> bool {
    script.split('|').skip(1).any(|stage| {
        let command = stage.split([';', '&', '\n']).next().unwrap_or_default();
        let mut words = command.split_whitespace();
        let is_shell =
            words.next().is_some_and(|word| SHELLS.contains(&word.rsplit('/').next().unwrap_or(word)));
        is_shell && words.all(|word| word.starts_with('-'))
    })
}

/// Returns the words of a shell script, whatever they mean, except options.
fn words_of_script(script: &str) -> impl Iterator<Item = &str> {
    let ends_word = |letter: char| letter.is_whitespace() || ";|&()<>{}`\"'$=".contains(letter);
    script.split(ends_word).filter(|word| !word.is_empty() && !word.starts_with('-'))
}

impl WrapperProgram {
    /// Returns the possible positions of the program among the words after the wrapper.
    fn programs(&self, words: &[String]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![CommandLineCursor {
            at: 0,
            is_behind: self.subcommands.is_empty(),
            n_operands: self.n_operands,
        }];
        while let Some(state) = open.pop() {
            let Some(word) = words.get(state.at).filter(|_| seen.insert(state)) else { continue };
            let after = |n: usize| CommandLineCursor { at: state.at + n, ..state };
            if word == "--" {
                if state.is_behind {
                    found.insert(state.at + 1 + state.n_operands);
                } else {
                    open.push(after(1));
                }
            } else if self.value_options.contains(&word.as_str()) {
                open.push(after(2));
            } else if self.flags.contains(&word.as_str()) || has_value(self.value_options, word) {
                open.push(after(1));
            } else if word.starts_with('-') {
                // An unknown option: the next word may or may not be its value.
                open.extend([after(1), after(2)]);
            } else if !state.is_behind {
                let is_behind = self.subcommands.contains(&word.as_str());
                if is_behind {
                    open.push(CommandLineCursor { is_behind, ..after(1) });
                }
            } else if is_assignment(word) {
                open.push(after(1));
            } else if let Some(n_operands) = state.n_operands.checked_sub(1) {
                open.push(CommandLineCursor { n_operands, ..after(1) });
            } else {
                found.insert(state.at);
            }
        }
        found.retain(|&at| at < words.len());
        found
    }
}

/// A position in a command line, with what is still expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CommandLineCursor {
    at: usize,
    is_behind: bool,
    n_operands: usize,
}

/// Returns true if an option includes its value: `--signal=9`, `-n10`.
fn has_value(value_options: &[&str], word: &str) -> bool {
    let is_long = word.starts_with("--");
    if is_long {
        word.contains('=')
    } else {
        value_options.iter().any(|it| it.len() == 2 && word.starts_with(it))
    }
}

fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(ToOwned::to_owned).collect()
    }

    /// Returns the first words of the commands within a command line.
    fn programs(line: &str) -> Vec<String> {
        let argv = words(line);
        started_commands(&argv).commands[1..].iter().map(|command| command[0].clone()).collect()
    }

    #[test]
    fn a_wrapper_starts_what_its_words_name() {
        for (line, inner) in [
            ("env npm test", &["npm"][..]),
            ("/usr/bin/env -u HOME A=1 B= npm test", &["npm"]),
            ("timeout 60 npm test", &["npm"]),
            ("timeout -k 5 --signal=9 60s mocha", &["mocha"]),
            ("nice -n 19 php vendor/bin/phpunit", &["php"]),
            ("nice -n19 php x", &["php"]),
            ("nohup setsid stdbuf -oL mocha", &["setsid", "stdbuf", "mocha"]),
            ("timeout 9 env A=1 uv run --with x pytest -q", &["env", "uv", "pytest"]),
            ("poetry run pytest", &["pytest"]),
            ("poetry check", &[]),
            ("pnpm exec mocha", &["mocha"]),
            ("npm exec -- mocha", &["mocha"]),
            ("npm test", &[]),
            ("npx -y mocha", &["mocha"]),
            ("bundle exec rspec", &["rspec"]),
            ("xargs -0 -n 1 php -l", &["php"]),
            ("cargo test", &[]),
            ("env", &[]),
            ("timeout 5", &[]),
        ] {
            assert_eq!(programs(line), inner, "{line}");
        }
    }

    #[test]
    fn an_option_that_is_not_known_leaves_both_readings() {
        let mut found = programs("uv run --odd one pytest");
        found.sort();
        assert_eq!(found, ["one", "pytest"]);
    }

    #[test]
    fn what_is_executed_is_told_from_what_is_read() {
        for (run, executed) in [
            (&["sh", "tools/check.sh", "src/a.py"][..], &["sh", "tools/check.sh"][..]),
            (&["python3", "-m", "py_compile", "app.py"], &["app.py", "py_compile", "python3"]),
            (&["node", "tools/check.js", "index.js"], &["node", "tools/check.js"]),
            (&["./tools/check", "src/a.py"], &["./tools/check"]),
            (&["timeout", "60", "bash", "-e", "check.sh"], &["bash", "check.sh", "timeout"]),
            (&["sh", "-c", "! grep -q broken note.txt"], &["grep", "sh"]),
            (
                &["sh", "-ec", "cd . && A=1 ./check.sh x;python3 tools/a.py b.py"],
                &["./check.sh", "cd", "python3", "sh", "tools/a.py"],
            ),
            (&["bash", "-c", "if true; then . ./lib.sh; fi"], &[".", "./lib.sh", "bash", "fi", "true"]),
            (&["ruff", "check", "src/a.py"], &["ruff"]),
        ] {
            let argv: Vec<String> = run.iter().map(ToString::to_string).collect();
            let found: Vec<_> = executed_words(&argv).into_iter().collect();
            assert_eq!(found, executed, "{run:?}");
        }
    }

    #[test]
    fn the_words_of_a_shell_script_are_told() {
        let argv = ["sh", "-ec", "cd web && A=1 ./check.sh;php \"x.php\"|tee log"].map(ToOwned::to_owned);
        let found: Vec<_> = started_commands(&argv).script_words.into_iter().collect();
        assert_eq!(found, ["./check.sh", "1", "A", "cd", "log", "php", "tee", "web", "x.php"]);
    }

    const FORMS: &[&str] = &[
        "env",
        "env A=1",
        "env -i",
        "timeout 60",
        "timeout -s KILL 5",
        "nice",
        "nice -n 5",
        "nohup",
        "stdbuf -o L",
        "setsid",
        "xargs -n 1",
        "npx",
        "uv run",
        "poetry run",
        "pipenv run",
        "hatch run",
        "bundle exec",
        "pnpm exec",
        "sudo -u x",
        "time -p",
        "uv run --frozen",
        "npx -q --",
        "conda run -n base",
    ];

    proptest! {
        #[test]
        fn whatever_is_wrapped_is_found(
            forms in prop::collection::vec(prop::sample::select(FORMS), 0..5),
            tail in prop::collection::vec("[a-z.=/-]{0,6}", 0..4),
        ) {
            let mut argv: Vec<String> = forms.iter().flat_map(|form| words(form)).collect();
            let inner = argv.len();
            argv.push("./program".into());
            argv.extend(tail);
            let found = started_commands(&argv);
            prop_assert!(found.commands.contains(&&argv[inner..]), "{found:?}");
        }

        #[test]
        fn every_command_is_an_end_of_the_whole_one_and_told_once(
            argv in prop::collection::vec(prop::sample::select(
                &["env", "timeout", "uv", "run", "-k", "--", "-", "--x", "A=1", "sh", "-c", "a b", "", "npx", "exec", "bundle"][..]), 0..12),
        ) {
            let argv: Vec<String> = argv.into_iter().map(ToOwned::to_owned).collect();
            let found = started_commands(&argv);
            let lengths: BTreeSet<usize> = found.commands.iter().map(|command| command.len()).collect();
            prop_assert_eq!(lengths.len(), found.commands.len());
            prop_assert!(found.commands.iter().all(|command| argv.ends_with(command)));
        }
    }
}
