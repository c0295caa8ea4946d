//! Commands of the shell itself that change its directory, its variables or its positional parameters.

use super::arguments::Arguments;
use super::expansion::{Value, positional, set_list, set_positional};
use super::interpreter::{CommandInput, Interpreter, ShellState};
use super::output::printf;

impl Interpreter<'_> {
    /// Runs a command of the shell; `false` if `name` is none that is followed.
    pub(super) fn builtin(
        &mut self,
        name: &str,
        args: &[Value],
        state: &mut ShellState,
        input: &CommandInput,
    ) -> bool {
        match name {
            "cd" | "pushd" | "popd" => self.change_directory_by(name, args, state),
            "export" | "local" | "declare" | "typeset" | "readonly" => {
                let read = Arguments::read(args, "", &[]);
                for word in &read.operands {
                    declare(word, &read, state);
                }
            }
            "alias" => {
                for (name, text) in args.iter().filter_map(|arg| arg.known()?.split_once('=')) {
                    state.aliases.insert(name.to_owned(), text.to_owned());
                }
            }
            "unalias" => args.iter().filter_map(Value::known).for_each(|name| {
                state.aliases.remove(name);
            }),
            "unset" => {
                for name in args.iter().filter_map(Value::known) {
                    state.variables.remove(name);
                }
            }
            "set" => {
                let at = args.iter().position(|arg| matches!(arg.known(), Some("--" | "-")));
                if let Some(at) = at {
                    set_positional(&mut state.variables, Some(&args[at + 1..]));
                }
            }
            "shift" => {
                let n_shifted = match args.first() {
                    None => Some(1),
                    Some(number) => number.known().and_then(|text| text.parse().ok()),
                };
                let rest = positional(&state.variables)
                    .zip(n_shifted)
                    .map(|(all, n_shifted): (_, usize)| all.get(n_shifted..).unwrap_or_default().to_vec());
                set_positional(&mut state.variables, rest.as_deref());
            }
            "read" | "mapfile" | "readarray" => read_lines(name, args, state, input),
            "printf" if args.first().and_then(Value::known) == Some("-v") => {
                let texts: Option<Vec<&str>> = args.iter().skip(2).map(Value::known).collect();
                let value = texts.and_then(|texts| printf(&texts)).map_or(Value::Unknown, Value::Known);
                match args.get(1).and_then(Value::known) {
                    Some(name) => {
                        state.variables.insert(name.to_owned(), vec![value]);
                    }
                    // Which variable it sets is not known, so none is.
                    None => state.variables.clear(),
                }
            }
            _ => return false,
        }
        true
    }

    fn change_directory_by(&self, name: &str, args: &[Value], state: &mut ShellState) {
        if name == "popd" {
            if let Some(back) = state.stack.pop() {
                state.cwd = back;
            }
            return;
        }
        let read = Arguments::read(args, "", &[]);
        if name == "pushd" {
            state.stack.push(state.cwd.clone());
        }
        let target = read.operands.first().cloned();
        let target = if target.as_ref().and_then(Value::known) == Some("-") {
            let before = state.variables.get("OLDPWD").and_then(|values| values.first());
            Some(before.cloned().unwrap_or(Value::Unknown))
        } else {
            target
        };
        self.change_directory(state, target);
    }
}

/// Sets the variable of `export NAME=value`, or makes it stand for another one (`declare -n`).
fn declare(word: &Value, options: &Arguments, state: &mut ShellState) {
    let Some((name, value)) = word.known().and_then(|text| text.split_once('=')) else { return };
    if options.has(&["n"]) {
        state.references.insert(name.to_owned(), value.to_owned());
        let values = state.variables.get(value).cloned().unwrap_or_else(|| vec![Value::Unknown]);
        state.variables.insert(name.to_owned(), values);
        return;
    }
    let value = match (options.has(&["l"]), options.has(&["u"])) {
        (true, _) => value.to_lowercase(),
        (_, true) => value.to_uppercase(),
        _ => value.to_owned(),
    };
    state.variables.insert(name.to_owned(), vec![Value::Known(value)]);
}

/// `read` and `mapfile`: every line of a known input counts as one that may be read, as in a loop.
fn read_lines(name: &str, args: &[Value], state: &mut ShellState, input: &CommandInput) {
    // The options that take a value: of `read`, and of `mapfile`.
    let read = Arguments::read(args, if name == "read" { "adinNptu" } else { "CcdnOsu" }, &[]);
    let list = read.value(&["a"]).and_then(Value::known).map(str::to_owned);
    let names: Vec<String> =
        read.operands.iter().filter_map(|value| value.known().map(str::to_owned)).collect();
    let lines: Option<Vec<&str>> = match input {
        CommandInput::Text(text) => Some(text.lines().filter(|line| !line.trim().is_empty()).collect()),
        CommandInput::Inherited | CommandInput::Paths(_) | CommandInput::Unknown => None,
    };
    let unread = match input {
        CommandInput::Paths(paths) => paths.clone(),
        _ => vec![Value::Unknown],
    };
    let known = |text: &str| Value::Known(text.to_owned());
    if name != "read" || list.is_some() {
        let list = list.or_else(|| names.first().cloned()).unwrap_or_else(|| "MAPFILE".into());
        let values = match (lines, name) {
            (None, _) => unread,
            (Some(lines), "read") => {
                lines.iter().flat_map(|line| line.split_whitespace()).map(known).collect()
            }
            (Some(lines), _) => lines.into_iter().map(known).collect(),
        };
        return set_list(&mut state.variables, &list, values);
    }
    let separators = match state.variables.get("IFS").map(Vec::as_slice) {
        Some([Value::Known(text)]) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    };
    let names = if names.is_empty() { vec!["REPLY".to_owned()] } else { names };
    for (index, name) in names.iter().enumerate() {
        // The last name takes the rest of the line.
        let field = |line: &&str| {
            let line = line.trim();
            let field = match &separators {
                Some(separators) => line.splitn(names.len(), |it| separators.contains(it)).nth(index),
                None => line.splitn(names.len(), char::is_whitespace).nth(index),
            };
            known(field.unwrap_or_default().trim())
        };
        let values = lines.as_ref().map_or_else(|| unread.clone(), |lines| lines.iter().map(field).collect());
        state.variables.insert(name.clone(), values);
    }
}
