//! Programs that run other commands: shells, `sudo`, `xargs`, `find -exec`, `eval`.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
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

/// Wrappers with the options that take a value, and how many operands stand before the command.
const WRAPPERS: [(&str, &str, &[&str], usize); 20] = [
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
    ("watch", "n", &["interval"], 0),
    ("busybox", "", &[], 0),
    ("toybox", "", &[], 0),
    ("time", "fo", &["format", "output"], 0),
    ("unbuffer", "", &[], 0),
    ("npx", "p", &["package"], 0),
    ("bunx", "", &[], 0),
    ("pnpx", "", &[], 0),
    ("uvx", "", &["from", "with"], 0),
];

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
            "source" | "." => self.effects.is_unproven = true,
            "xargs" | "parallel" => self.xargs(args, state)?,
            "find" => self.find(args, state)?,
            "ssh" => {}
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
        if read.has(&["help", "version"]) {
            return Ok(());
        }
        if read.has(&["c"]) {
            let script = read.operands.first().cloned().unwrap_or(Value::Unknown);
            return self.evaluate(&script, &mut inner);
        }
        if !read.operands.is_empty() && !read.has(&["s"]) {
            self.effects.is_unproven = true;
            return Ok(());
        }
        match input {
            CommandInput::Text(text) => self.evaluate(&Value::Known(text.clone()), &mut inner),
            CommandInput::Unknown => {
                self.effects.is_unproven = true;
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
            self.effects.is_unproven = true;
        }
    }

    fn xargs(&mut self, args: &[Value], state: &mut ShellState) -> StepResult {
        let read = Arguments::read_prefix(
            args,
            "EILnPsdaJ",
            &["max-args", "max-procs", "delimiter", "arg-file", "replace"],
        );
        let replaced = read.value(&["I", "J", "replace"]).and_then(Value::known).map(str::to_owned);
        let mut command = read.operands;
        match &replaced {
            Some(mark) => {
                for word in &mut command {
                    if word.known().is_some_and(|text| text.contains(mark.as_str())) {
                        *word = Value::Unknown;
                    }
                }
            }
            None => command.push(Value::Unknown),
        }
        self.call(&command, state, &CommandInput::Unknown)
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

fn is_program_option(text: &str) -> bool {
    matches!(text, "-c" | "-m" | "-e" | "-p" | "-r" | "-E" | "--eval" | "--print")
}

fn is_versioned_python(program: &str) -> bool {
    program.strip_prefix("python3.").is_some_and(|minor| minor.bytes().all(|byte| byte.is_ascii_digit()))
}
