//! Programs that run other commands: shells, `sudo`, `xargs`, `find -exec`, `eval`.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::{Value, set_positional};
use super::interpreter::{CommandInput, Interpreter, ShellState, StepResult};

/// Interpreters whose programs are not shell scripts.
const INTERPRETERS: [&str; 15] = [
    "python",
    "python2",
    "python3",
    "node",
    "nodejs",
    "php",
    "lua",
    "deno",
    "bun",
    "Rscript",
    "julia",
    "osascript",
    "tclsh",
    "ts-node",
    "tsx",
];

const SETPRIV_OPTIONS: &[&str] = &[
    "reuid",
    "ruid",
    "euid",
    "regid",
    "rgid",
    "egid",
    "groups",
    "inh-caps",
    "ambient-caps",
    "bounding-set",
    "securebits",
    "pdeathsig",
    "ptracer",
    "landlock-access",
    "landlock-rule",
];

/// Shells whose `-c` is followed wherever it stands behind a program that is not known: it is likely to run them.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];

/// Programs that print or search words, or run commands on another machine or in a container.
const NO_LOCAL_RUNNERS: [&str; 34] = [
    "echo",
    "printf",
    "grep",
    "egrep",
    "fgrep",
    "zgrep",
    "rg",
    "ag",
    "ack",
    "man",
    "which",
    "type",
    "whereis",
    "cat",
    "ls",
    "test",
    "[",
    "expr",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "lxc",
    "incus",
    "vagrant",
    "multipass",
    "wsl",
    "pgrep",
    "pkill",
    "ps",
    "apropos",
    "logger",
    "notify-send",
];

/// Wrappers with the options that take a value, and how many operands stand before the command.
const WRAPPERS: [(&str, &str, &[&str], usize); 59] = [
    ("sudo", "ugCDhprRtT", &["user", "group", "chdir", "host", "prompt"], 0),
    ("doas", "uC", &[], 0),
    ("nohup", "", &[], 0),
    ("nice", "n", &["adjustment"], 0),
    ("ionice", "cnp", &["class", "classdata"], 0),
    ("timeout", "ks", &["kill-after", "signal"], 1),
    ("command", "", &[], 0),
    ("builtin", "", &[], 0),
    ("exec", "a", &[], 0),
    ("setsid", "", &[], 0),
    ("stdbuf", "ioe", &["input", "output", "error"], 0),
    ("chrt", "pT", &["pid"], 1),
    ("taskset", "", &[], 1),
    ("fakeroot", "", &[], 0),
    ("xvfb-run", "nespw", &[], 0),
    ("systemd-run", "puEt", &["unit", "property", "uid", "setenv"], 0),
    ("unshare", "RwSG", &["root", "wd", "setuid", "setgid", "map-user", "map-group", "propagation"], 0),
    ("strace", "oepsPEuabIX", &["output", "trace"], 0),
    ("ltrace", "oepsuna", &["output"], 0),
    ("catchsegv", "", &[], 0),
    ("busybox", "", &[], 0),
    ("toybox", "", &[], 0),
    ("time", "fo", &["format", "output"], 0),
    ("unbuffer", "", &[], 0),
    ("chronic", "", &[], 0),
    ("caffeinate", "tw", &[], 0),
    ("eatmydata", "", &[], 0),
    ("nocache", "", &[], 0),
    ("faketime", "f", &[], 1),
    ("gosu", "", &[], 1),
    ("setarch", "p", &[], 1),
    ("rlwrap", "fHDz", &[], 0),
    ("dbus-run-session", "", &[], 0),
    ("entr", "", &[], 0),
    ("setpriv", "", SETPRIV_OPTIONS, 0),
    ("prlimit", "po", &["pid", "output"], 0),
    ("nsenter", "tSG", &["target", "setuid", "setgid"], 0),
    ("chroot", "", &["userspec", "groups"], 1),
    ("numactl", "CNmpi", &["cpunodebind", "physcpubind", "membind", "preferred", "interleave"], 0),
    ("choom", "n", &["adjust"], 0),
    ("cgexec", "g", &[], 0),
    ("pkexec", "u", &["user"], 0),
    ("run0", "u", &["user", "unit", "property"], 0),
    ("su-exec", "", &[], 1),
    ("setuidgid", "", &[], 1),
    ("chpst", "uUbeoplfmtc", &[], 0),
    ("valgrind", "", &[], 0),
    ("proxychains", "f", &[], 0),
    ("proxychains4", "f", &[], 0),
    ("torsocks", "", &[], 0),
    ("dumb-init", "r", &["rewrite"], 0),
    ("tini", "pev", &[], 0),
    ("linux32", "", &[], 0),
    ("linux64", "", &[], 0),
    ("firejail", "", &[], 0),
    ("npx", "p", &["package"], 0),
    ("bunx", "", &[], 0),
    ("pnpx", "", &[], 0),
    ("uvx", "", &["from", "with"], 0),
];

/// The options of `su` and `runuser` that take a value.
const RUNUSER_OPTIONS: [&str; 7] =
    ["command", "session-command", "shell", "group", "supp-group", "user", "whitelist-environment"];

impl Interpreter<'_> {
    /// Runs a program that runs another one; `false` if `program` is none.
    pub(super) fn wrapper(
        &mut self,
        program: &str,
        args: &[Value],
        state: &mut ShellState,
        input: &CommandInput,
    ) -> Result<bool, String> {
        if let Some((_, short, long, n_before)) = WRAPPERS.iter().find(|(name, ..)| *name == program) {
            let read = Arguments::read_prefix(args, short, long);
            // `command -v` and `command -V` only describe.
            if program == "command" && read.has(&["v", "V"]) {
                return Ok(true);
            }
            if matches!(program, "strace" | "ltrace" | "time") {
                self.write_option(state, &read, &["o", "output"]);
            }
            self.call(read.operands.get(*n_before..).unwrap_or_default(), state, input)?;
            return Ok(true);
        }
        match program {
            "env" => self.env(args, state, input)?,
            "sh" | "bash" | "dash" | "zsh" | "ksh" | "ash" | "fish" => {
                self.shell(program, args, state, input)?;
            }
            "eval" => {
                let texts: Option<Vec<&str>> = args.iter().map(Value::known).collect();
                let text = texts.map_or(Value::Unknown, |texts| Value::Known(texts.join(" ")));
                self.evaluate(&text, state)?;
            }
            "trap" => {
                if let Some(text) = args.iter().find(|arg| arg.known() != Some("--"))
                    && text.known().is_none_or(|text| !text.starts_with('-'))
                {
                    self.evaluate(&text.clone(), &mut state.clone())?;
                }
            }
            "source" | "." => match (args.first().and_then(Value::known), input) {
                (Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"), CommandInput::Text(text)) => {
                    self.run_text(text, state)?;
                }
                _ => self.note_unproven(),
            },
            "xargs" => self.xargs(args, state, input)?,
            "parallel" => self.parallel(args, state, input)?,
            "flock" => self.flock(args, state, input)?,
            "watch" => {
                let read = Arguments::read_prefix(args, "nq", &["interval"]);
                let texts: Option<Vec<&str>> = read.operands.iter().map(Value::known).collect();
                let text = texts.map_or(Value::Unknown, |texts| Value::Known(texts.join(" ")));
                self.evaluate(&text, &mut state.clone())?;
            }
            "runuser" if Arguments::read_prefix(args, "ugG", &RUNUSER_OPTIONS).has(&["u", "user"]) => {
                let read = Arguments::read_prefix(args, "ugG", &RUNUSER_OPTIONS);
                self.call(&read.operands, state, input)?;
            }
            // A group, and a text behind it, with `-c` or without.
            "sg" => {
                if let [_, .., text] = Arguments::read(args, "", &[]).operands.as_slice() {
                    self.evaluate(text, &mut state.clone())?;
                }
            }
            "at" | "batch" => match input {
                CommandInput::Text(text) => self.run_text(text, &mut state.clone())?,
                _ => self.note_unproven(),
            },
            "tmux" | "screen" => self.note_unproven(),
            "su" | "runuser" | "script" => {
                let read = Arguments::read(args, "cgGsuTEImOBo", &RUNUSER_OPTIONS);
                if read.has(&["help", "version", "V", "h"]) {
                    return Ok(true);
                }
                if let Some(text) = read.value(&["c", "command", "session-command"]) {
                    self.evaluate(&text.clone(), &mut state.clone())?;
                }
                if program == "script" {
                    let named = read.operands.first().cloned();
                    let file = named.unwrap_or_else(|| Value::Known("typescript".into()));
                    self.write(state, &file, WriteKind::Entry);
                }
            }
            "find" | "gfind" => self.find(args, state)?,
            "fd" | "fdfind" => self.fd(args, state)?,
            "ssh" => {}
            // The formatter of the interpreter.
            "deno" if args.first().and_then(Value::known) == Some("fmt") => return Ok(false),
            _ if INTERPRETERS.contains(&program) || is_versioned_python(program) => {
                self.interpreter(program, args, input);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn env(&mut self, args: &[Value], state: &mut ShellState, input: &CommandInput) -> StepResult {
        let read = Arguments::read_prefix(args, "uCS", &["unset", "chdir", "split-string"]);
        let is_assignment =
            |value: &&Value| value.known().is_some_and(|text| text.contains('=') && !text.starts_with('='));
        let command: Vec<Value> = read.operands.iter().skip_while(is_assignment).cloned().collect();
        let mut inner = state.clone();
        if let Some(dir) = read.value(&["C", "chdir"]) {
            self.change_directory(&mut inner, Some(dir.clone()));
        }
        if let Some(text) = read.value(&["S", "split-string"]) {
            self.evaluate(&text.clone(), &mut inner)?;
        }
        self.call(&command, &mut inner, input)
    }

    fn shell(
        &mut self,
        program: &str,
        args: &[Value],
        state: &ShellState,
        input: &CommandInput,
    ) -> StepResult {
        let read = Arguments::read_prefix(args, "oO", &["rcfile", "init-file"]);
        let mut inner = state.clone();
        // With `-n` a shell only reads its script.
        if read.has(&["help", "version", "n"]) {
            return Ok(());
        }
        if read.has(&["c"]) {
            let script = read.operands.first().cloned().unwrap_or(Value::Unknown);
            // The first word behind the script is its name, the others are its parameters.
            set_positional(&mut inner.variables, Some(read.operands.get(2..).unwrap_or_default()));
            return self.evaluate(&script, &mut inner);
        }
        if read.has(&["s"]) {
            set_positional(&mut inner.variables, Some(&read.operands));
        } else if !read.operands.is_empty() && !reads_input(&read.operands) {
            self.note_unproven();
            return Ok(());
        }
        match input {
            CommandInput::Text(text) => self.evaluate(&Value::Known(text.clone()), &mut inner),
            CommandInput::Paths(_) | CommandInput::Unknown => {
                self.note_unproven();
                Ok(())
            }
            CommandInput::Inherited => {
                self.effects.bare_interpreters.push(program.to_owned());
                Ok(())
            }
        }
    }

    fn interpreter(&mut self, program: &str, args: &[Value], input: &CommandInput) {
        let is_information =
            |arg: &Value| matches!(arg.known(), Some("--version" | "-V" | "-v" | "--help" | "-h"));
        if args.len() == 1 && is_information(&args[0]) {
            return;
        }
        let has_program = args.iter().any(|arg| match arg.known() {
            Some("-" | "-i") => false,
            Some(text) => !text.starts_with('-') || is_program_option(text),
            None => true,
        });
        if !has_program && *input == CommandInput::Inherited {
            self.effects.bare_interpreters.push(program.to_owned());
        } else {
            self.note_unproven();
        }
    }

    /// Runs the script of a shell that stands among the arguments of a program that is not known, as in `WRAPPER sh -c TEXT`;
    /// `false` if there is none.
    pub(super) fn shell_among_arguments(
        &mut self,
        program: &str,
        args: &[Value],
        state: &ShellState,
    ) -> Result<bool, String> {
        if NO_LOCAL_RUNNERS.contains(&program) {
            return Ok(false);
        }
        let is_shell = |value: &Value| {
            value.known().is_some_and(|text| SHELLS.contains(&text.rsplit('/').next().unwrap_or(text)))
        };
        let is_script = |value: &Value| {
            value
                .known()
                .is_some_and(|text| text.starts_with('-') && !text.starts_with("--") && text.contains('c'))
        };
        let Some(at) = args.windows(3).position(|words| is_shell(&words[0]) && is_script(&words[1])) else {
            return Ok(false);
        };
        self.shell(program, &args[at + 1..], state, &CommandInput::Unknown)?;
        Ok(true)
    }

    /// Runs the command of `xargs` with the words of its input, if the line shows them.
    fn xargs(&mut self, args: &[Value], state: &mut ShellState, input: &CommandInput) -> StepResult {
        let read = Arguments::read_prefix(
            args,
            "EILnPsdaJ",
            &["max-args", "max-procs", "delimiter", "arg-file", "replace"],
        );
        let mark = read.value(&["I", "J", "replace"]).and_then(Value::known).map(str::to_owned);
        let is_split_otherwise = read.has(&["a", "arg-file", "d", "delimiter"]);
        let words: Vec<Value> = match input {
            CommandInput::Text(text) if read.has(&["0", "null"]) => {
                let words = text.split('\0').filter(|word| !word.is_empty());
                words.map(|word| Value::Known(word.to_owned())).collect()
            }
            CommandInput::Paths(paths) if !read.has(&["a", "arg-file"]) => paths.clone(),
            CommandInput::Text(text) if !is_split_otherwise => {
                let known = |word: &str| Value::Known(word.to_owned());
                if mark.is_some() {
                    text.lines().map(known).collect()
                } else {
                    text.split_whitespace().map(known).collect()
                }
            }
            _ => vec![Value::Unknown],
        };
        self.call_with(&read.operands, mark.as_deref(), &words, state)
    }

    /// `parallel COMMAND ::: WORDS`, in which `{}` stands for a word.
    fn parallel(&mut self, args: &[Value], state: &mut ShellState, input: &CommandInput) -> StepResult {
        let Some(at) = args.iter().position(|arg| arg.known() == Some(":::")) else {
            return self.xargs(args, state, input);
        };
        let read = Arguments::read_prefix(&args[..at], "jNnSaC", &["jobs", "colsep", "max-args"]);
        let command = read.operands;
        // The command is the text of a shell, in one word or in several.
        let texts: Option<Vec<&str>> = command.iter().map(Value::known).collect();
        if let Some(text) = texts.map(|texts| texts.join(" "))
            && (command.len() == 1 || text.contains(['>', '|', ';', '&']))
        {
            for word in &args[at + 1..] {
                let Some(word) = word.known() else {
                    self.note_unproven();
                    continue;
                };
                let quoted = format!("'{}'", word.replace('\'', "'\\''"));
                let line = if text.contains("{}") {
                    text.replace("{}", &quoted)
                } else {
                    format!("{text} {quoted}")
                };
                self.run_text(&line, &mut state.clone())?;
            }
            return Ok(());
        }
        let has_mark = command.iter().filter_map(Value::known).any(|word| word.contains("{}"));
        self.call_with(&command, has_mark.then_some("{}"), &args[at + 1..], state)
    }

    /// Runs a command with `words` behind it, or once for each of them in place of `mark`.
    fn call_with(
        &mut self,
        command: &[Value],
        mark: Option<&str>,
        words: &[Value],
        state: &mut ShellState,
    ) -> StepResult {
        let Some(mark) = mark else {
            let all: Vec<Value> = command.iter().chain(words).cloned().collect();
            return self.call(&all, state, &CommandInput::Unknown);
        };
        for word in words {
            let replaced = |it: &Value| match (it, word) {
                (Value::Known(text), Value::Known(word)) => Value::Known(text.replace(mark, word)),
                (Value::Known(text), _) if text.contains(mark) => Value::Unknown,
                _ => it.clone(),
            };
            let all: Vec<Value> = command.iter().map(replaced).collect();
            self.call(&all, state, &CommandInput::Unknown)?;
        }
        Ok(())
    }

    /// `flock FILE COMMAND` and `flock FILE -c TEXT`, which create the file.
    fn flock(&mut self, args: &[Value], state: &mut ShellState, input: &CommandInput) -> StepResult {
        let read = Arguments::read_prefix(args, "wE", &["wait", "timeout", "conflict-exit-code"]);
        let Some((file, command)) = read.operands.split_first() else { return Ok(()) };
        let is_descriptor = file.known().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        if !is_descriptor && !self.is_directory(state, file) {
            self.write(state, file, WriteKind::Entry);
        }
        match command {
            [option, text] if matches!(option.known(), Some("-c" | "--command")) => {
                self.evaluate(text, &mut state.clone())
            }
            _ => self.call(command, state, input),
        }
    }

    fn find(&mut self, args: &[Value], state: &mut ShellState) -> StepResult {
        let is_expression = |value: &Value| {
            value.known().is_some_and(|text| text.starts_with('-') || matches!(text, "(" | "!" | ")"))
        };
        let args: Vec<Value> =
            args.iter().skip_while(|arg| matches!(arg.known(), Some("-L" | "-H" | "-P"))).cloned().collect();
        let n_starts = args.iter().position(is_expression).unwrap_or(args.len());
        let mut starts = args[..n_starts].to_vec();
        if starts.is_empty() {
            starts.push(Value::Known(".".into()));
        }
        let mut at = n_starts;
        while at < args.len() {
            match args[at].known() {
                Some("-delete") => {
                    for start in &starts {
                        self.write(state, start, WriteKind::Subtree);
                    }
                }
                Some("-fprint" | "-fprintf" | "-fls" | "-fprint0") => {
                    if let Some(target) = args.get(at + 1) {
                        self.write(state, target, WriteKind::Entry);
                    }
                }
                Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                    let body = &args[at + 1..];
                    let end = body
                        .iter()
                        .position(|arg| matches!(arg.known(), Some(";" | "+")))
                        .unwrap_or(body.len());
                    self.find_command(&body[..end], &starts, state)?;
                    at += end;
                }
                _ => {}
            }
            at += 1;
        }
        Ok(())
    }

    /// `fd PATTERN PATHS -x COMMAND`.
    fn fd(&mut self, args: &[Value], state: &mut ShellState) -> StepResult {
        let is_command = |arg: &Value| matches!(arg.known(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
        let Some(at) = args.iter().position(is_command) else { return Ok(()) };
        let read = Arguments::read(&args[..at], "edtEjSo", &["extension", "max-depth", "type", "exclude"]);
        let mut starts = read.operands.get(1..).unwrap_or_default().to_vec();
        if starts.is_empty() {
            starts.push(Value::Known(".".into()));
        }
        let end = args[at + 1..]
            .iter()
            .position(|arg| arg.known() == Some(";"))
            .map_or(args.len(), |end| at + 1 + end);
        let mut body = args[at + 1..end].to_vec();
        if !body.iter().filter_map(Value::known).any(|word| word.contains("{}")) {
            body.push(Value::Known("{}".into()));
        }
        self.find_command(&body, &starts, state)
    }

    /// Runs the command of `-exec` once for each start: what it writes there may be anything below.
    fn find_command(&mut self, body: &[Value], starts: &[Value], state: &mut ShellState) -> StepResult {
        for start in starts {
            let with_start: Vec<Value> = body
                .iter()
                .map(|word| match word.known() {
                    Some("{}") => start.clone(),
                    Some(text) if text.contains("{}") => Value::Unknown,
                    _ => word.clone(),
                })
                .collect();
            let before = self.effects.writes.len();
            self.call(&with_start, state, &CommandInput::Unknown)?;
            let start = Self::path(state, start);
            for write in &mut self.effects.writes[before..] {
                if Some(&write.path) == start.as_ref() {
                    write.kind = WriteKind::Subtree;
                }
            }
        }
        Ok(())
    }
}

/// Returns whether the script of a shell is its standard input.
fn reads_input(operands: &[Value]) -> bool {
    matches!(operands.first().and_then(Value::known), Some("/dev/stdin" | "/dev/fd/0" | "-"))
}

fn is_program_option(text: &str) -> bool {
    matches!(text, "-c" | "-m" | "-e" | "-p" | "-r" | "-E" | "--eval" | "--print")
}

fn is_versioned_python(program: &str) -> bool {
    program.strip_prefix("python3.").is_some_and(|minor| minor.bytes().all(|byte| byte.is_ascii_digit()))
}
