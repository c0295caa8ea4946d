//! What commands print whose output the line itself shows: `echo`, `printf`, `cat` of a here-document and the like. Such
//! text can be a target (`rm $(echo a.txt)`), the arguments of `xargs`, or a script for a shell.

use super::arguments::Arguments;
use super::expansion::Value;
use super::interpreter::{CommandInput, Interpreter, ShellState};
use super::syntax::{Command, Redirect, Script, escaped_char};
use base64::Engine as _;

/// The longest output that is followed, in bytes.
const MAX_OUTPUT_BYTES: usize = 64 * 1024;

impl Interpreter<'_> {
    /// Returns what a substitution prints: its text, the paths that it lists, or `Unknown`.
    pub(super) fn script_output(
        &mut self,
        script: &Script,
        state: &ShellState,
    ) -> Result<CommandInput, String> {
        let mut state = state.clone();
        let Some((last, before)) = script.0.split_last() else { return Ok(CommandInput::Unknown) };
        // `cd DIR && pwd` is the only list that is followed: which command of another one prints is not certain.
        for pipeline in before {
            let [command @ Command::Simple { words, .. }] = pipeline.as_slice() else {
                return Ok(CommandInput::Unknown);
            };
            if words.first().and_then(|word| word.literal()) != Some("cd") {
                return Ok(CommandInput::Unknown);
            }
            self.command(command, &mut state, &CommandInput::Inherited)?;
        }
        let mut input = CommandInput::Inherited;
        for stage in last {
            input = self.stage_output(stage, &state, &input)?;
        }
        Ok(if input == CommandInput::Inherited { CommandInput::Unknown } else { input })
    }

    /// Returns what a command prints: its text, the paths that it lists, or `Unknown`.
    pub(super) fn stage_output(
        &mut self,
        command: &Command,
        state: &ShellState,
        input: &CommandInput,
    ) -> Result<CommandInput, String> {
        self.step()?;
        let Command::Simple { words, redirects, .. } = command else { return Ok(CommandInput::Unknown) };
        if redirects.iter().any(|redirect| matches!(redirect, Redirect::Write(_))) {
            return Ok(CommandInput::Unknown);
        }
        let input = self.redirects(redirects, state, input)?;
        let mut argv = Vec::new();
        for word in words {
            argv.extend(self.expand(word, state)?);
        }
        if let Some(top) = self.git_top_level(&argv, state) {
            return Ok(CommandInput::Text(top + "\n"));
        }
        let text = printed(&argv, state, &input).filter(|text| text.len() <= MAX_OUTPUT_BYTES);
        Ok(text.map_or_else(
            || listed_paths(&argv, &input).map_or(CommandInput::Unknown, CommandInput::Paths),
            CommandInput::Text,
        ))
    }
}

/// Returns the paths at or below which a command lists files.
fn listed_paths(argv: &[Value], input: &CommandInput) -> Option<Vec<Value>> {
    let (program, words) = argv.split_first()?;
    let program = program.known()?;
    let list = |paths: &[Value]| -> Vec<Value> {
        if paths.is_empty() {
            return vec![Value::Below(".".into())];
        }
        paths
            .iter()
            .map(|path| path.known().map_or_else(|| path.clone(), |text| Value::Below(text.into())))
            .collect()
    };
    let search = |args: &[Value], short: &str, long: &[&str]| {
        let read = Arguments::read(args, short, long);
        let has_pattern = read.has(&["e", "f", "regexp", "file", "files"]);
        let is_list =
            read.has(&["l", "files-with-matches", "L", "files-without-match", "files", "name-only"]);
        is_list.then(|| list(read.operands.get(usize::from(!has_pattern)..).unwrap_or_default()))
    };
    match program {
        "find" | "gfind" => {
            let is_option = |arg: &Value| matches!(arg.known(), Some("-L" | "-H" | "-P"));
            let is_expression =
                |arg: &Value| arg.known().is_some_and(|text| text.starts_with(['-', '(', '!']));
            let starts: Vec<Value> = words
                .iter()
                .skip_while(|arg| is_option(arg))
                .take_while(|arg| !is_expression(arg))
                .cloned()
                .collect();
            let acts =
                words.iter().filter_map(Value::known).any(|arg| arg.starts_with("-exec") || arg == "-printf");
            (!acts).then(|| list(&starts))
        }
        "grep" | "egrep" | "fgrep" | "zgrep" => {
            search(words, "efmABCdD", &["regexp", "file", "include", "exclude", "exclude-dir"])
        }
        "rg" | "ag" | "ack" => {
            search(words, "efgtTmABCj", &["regexp", "file", "glob", "iglob", "type", "type-not", "sort"])
        }
        "fd" | "fdfind" => {
            let read = Arguments::read(words, "edtEjSo", &["extension", "max-depth", "type", "exclude"]);
            Some(list(read.operands.get(1..).unwrap_or_default()))
        }
        "git" => {
            let (command, rest) = words.split_first()?;
            match command.known()? {
                "ls-files" => {
                    let pathspecs = Arguments::read(rest, "xX", &["exclude"]).operands;
                    Some(list(&pathspecs.iter().filter_map(pathspec_place).collect::<Vec<_>>()))
                }
                "grep" => search(rest, "efmABC", &["max-depth"]),
                _ => None,
            }
        }
        "ls" => {
            let operands = Arguments::read(words, "IwT", &[]).operands;
            let are_files = !operands.is_empty() && operands.iter().all(|it| matches!(it, Value::Pattern(_)));
            are_files.then_some(operands)
        }
        // Filters that drop lines or order them.
        "sort" | "uniq" | "head" | "tail" | "tac" | "shuf" | "cat" | "tee" => match input {
            CommandInput::Paths(paths) => Some(paths.clone()),
            _ => None,
        },
        _ => None,
    }
    .or_else(|| match (program, input) {
        // `grep -v x` on a listing.
        ("grep" | "egrep" | "fgrep" | "rg", CommandInput::Paths(paths)) => {
            let read = Arguments::read(words, "efm", &["regexp"]);
            let has_file = read.operands.len() > usize::from(!read.has(&["e", "regexp"]));
            (!has_file && !read.has(&["c", "count", "o"])).then(|| paths.clone())
        }
        _ => None,
    })
}

/// Returns the directory that a pathspec of git certainly lies in; `None` for one that only leaves out. Its wildcards also match
/// slashes.
fn pathspec_place(pathspec: &Value) -> Option<Value> {
    let Some(text) = pathspec.known() else { return Some(pathspec.clone()) };
    if text.starts_with(":!") || text.starts_with(":^") || text.starts_with(":(exclude") {
        return None;
    }
    if text.starts_with(':') {
        return Some(Value::Known(".".into()));
    }
    let Some(at) = text.find(['*', '?', '[']) else { return Some(pathspec.clone()) };
    let directory = text[..at].rsplit_once('/').map_or(".", |(directory, _)| directory);
    Some(Value::Known(directory.to_owned()))
}

fn printed(argv: &[Value], state: &ShellState, input: &CommandInput) -> Option<String> {
    let (name, operands) = argv.split_first()?;
    let texts: Vec<&str> = operands.iter().map(Value::known).collect::<Option<_>>()?;
    let given = || match input {
        CommandInput::Text(text) => Some(text.clone()),
        CommandInput::Inherited | CommandInput::Paths(_) | CommandInput::Unknown => None,
    };
    match name.known()? {
        "echo" => Some(echo(&texts)),
        "printf" => printf(&texts),
        "cat" if texts.iter().all(|text| *text == "-") => given(),
        "tee" => given(),
        "true" | ":" => Some(String::new()),
        "pwd" => state.cwd.as_ref().map(|cwd| format!("{cwd}\n")),
        "basename" => {
            let base = operands.first()?.base_name();
            let base = base.known()?.to_owned();
            let suffix = texts.get(1).copied().unwrap_or_default();
            Some(format!("{}\n", base.strip_suffix(suffix).unwrap_or(&base)))
        }
        "dirname" => {
            let path = texts.first()?.trim_end_matches('/');
            Some(format!("{}\n", path.rsplit_once('/').map_or(".", |(dir, _)| dir)))
        }
        "base64" => {
            let read = Arguments::read(operands, "w", &["wrap"]);
            let is_followed = read.has(&["d", "D", "decode"]) && read.operands.is_empty();
            let text: String =
                given().filter(|_| is_followed)?.split_whitespace().collect::<Vec<_>>().concat();
            let bytes = base64::engine::general_purpose::STANDARD.decode(text).ok()?;
            String::from_utf8(bytes).ok()
        }
        _ => None,
    }
}

fn echo(words: &[&str]) -> String {
    let is_option = |word: &&&str| {
        word.len() > 1 && word.starts_with('-') && word[1..].bytes().all(|byte| b"neE".contains(&byte))
    };
    let n_options = words.iter().take_while(is_option).count();
    let options = words[..n_options].concat();
    let text = words[n_options..].join(" ");
    // Some shells read escapes without `-e`; only a line feed changes which commands there are.
    let text = if options.contains('e') { unescaped(&text) } else { text.replace("\\n", "\n") };
    if options.contains('n') { text } else { text + "\n" }
}

/// Returns a text with its escapes read; one that is not known stays as it is.
fn unescaped(text: &str) -> String {
    let mut read = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        read.push_str(before);
        let (found, length) = escaped_char(after).unwrap_or(('\\', 0));
        read.push(found);
        rest = &after[length..];
    }
    read + rest
}

/// Returns what `printf` prints with `%s`, `%b`, `%d` and `%%`; `None` with other directives.
pub(super) fn printf(words: &[&str]) -> Option<String> {
    let words = words.strip_prefix(&["--"]).unwrap_or(words);
    let (format, mut args) = words.split_first()?;
    if format.starts_with('-') {
        return None;
    }
    let format = unescaped(format);
    let mut text = String::new();
    loop {
        let n_before = args.len();
        let mut rest = format.as_str();
        while let Some((before, after)) = rest.split_once('%') {
            text.push_str(before);
            let directive = after.chars().next()?;
            rest = &after[directive.len_utf8()..];
            if directive == '%' {
                text.push('%');
                continue;
            }
            let (value, behind) = args.split_first().map_or(("", args), |(value, behind)| (*value, behind));
            args = behind;
            match directive {
                's' | 'd' => text.push_str(value),
                'b' => text.push_str(&unescaped(value)),
                _ => return None,
            }
        }
        text.push_str(rest);
        // The format is used again as long as it takes arguments.
        if args.is_empty() || args.len() == n_before || text.len() > MAX_OUTPUT_BYTES {
            return Some(text);
        }
    }
}
