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
    /// Returns what a substitution prints; `None` if the line does not show it.
    pub(super) fn script_output(
        &mut self,
        script: &Script,
        state: &ShellState,
    ) -> Result<Option<String>, String> {
        let mut state = state.clone();
        let Some((last, before)) = script.0.split_last() else { return Ok(None) };
        // `cd DIR && pwd` is the only list that is followed: which command of another one prints is not certain.
        for pipeline in before {
            let [command @ Command::Simple { words, .. }] = pipeline.as_slice() else { return Ok(None) };
            if words.first().and_then(|word| word.literal()) != Some("cd") {
                return Ok(None);
            }
            self.command(command, &mut state, &CommandInput::Inherited)?;
        }
        let mut input = CommandInput::Inherited;
        for stage in last {
            match self.command_output(stage, &state, &input)? {
                Some(text) => input = CommandInput::Text(text),
                None => return Ok(None),
            }
        }
        Ok(match input {
            CommandInput::Text(text) => Some(text),
            CommandInput::Inherited | CommandInput::Unknown => None,
        })
    }

    /// Returns what a command prints; `None` if the line does not show it.
    pub(super) fn command_output(
        &mut self,
        command: &Command,
        state: &ShellState,
        input: &CommandInput,
    ) -> Result<Option<String>, String> {
        self.step()?;
        let Command::Simple { words, redirects, .. } = command else { return Ok(None) };
        if redirects.iter().any(|redirect| matches!(redirect, Redirect::Write(_))) {
            return Ok(None);
        }
        let input = self.redirects(redirects, state, input)?;
        let mut argv = Vec::new();
        for word in words {
            argv.extend(self.expand(word, state)?);
        }
        Ok(printed(&argv, state, &input).filter(|text| text.len() <= MAX_OUTPUT_BYTES))
    }
}

fn printed(argv: &[Value], state: &ShellState, input: &CommandInput) -> Option<String> {
    let (name, args) = argv.split_first()?;
    let texts: Vec<&str> = args.iter().map(Value::known).collect::<Option<_>>()?;
    let given = || match input {
        CommandInput::Text(text) => Some(text.clone()),
        CommandInput::Inherited | CommandInput::Unknown => None,
    };
    match name.known()? {
        "echo" => Some(echo(&texts)),
        "printf" => printf(&texts),
        "cat" if texts.iter().all(|text| *text == "-") => given(),
        "tee" => given(),
        "true" | ":" => Some(String::new()),
        "pwd" => state.cwd.as_ref().map(|cwd| format!("{cwd}\n")),
        "basename" => {
            let base = args.first()?.base_name();
            let base = base.known()?.to_owned();
            let suffix = texts.get(1).copied().unwrap_or_default();
            Some(format!("{}\n", base.strip_suffix(suffix).unwrap_or(&base)))
        }
        "dirname" => {
            let path = texts.first()?.trim_end_matches('/');
            Some(format!("{}\n", path.rsplit_once('/').map_or(".", |(dir, _)| dir)))
        }
        "base64" => {
            let read = Arguments::read(args, "w", &["wrap"]);
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
        match escaped_char(after) {
            Some((found, length)) => {
                read.push(found);
                rest = &after[length..];
            }
            None => {
                read.push('\\');
                rest = after;
            }
        }
    }
    read + rest
}

/// Returns what `printf` prints with `%s`, `%b`, `%d` and `%%`; `None` with other directives.
fn printf(words: &[&str]) -> Option<String> {
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
