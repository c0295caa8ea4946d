//! Commands of the shell itself that change its directory, its variables or its positional parameters.

use super::arguments::Arguments;
use super::expansion::{Value, positional, set_list, set_positional};
use super::interpreter::{CommandInput, Interpreter, ShellState};

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
                for word in Arguments::read(args, "", &[]).operands {
                    declare(&word, state);
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

/// Sets the variable of `export NAME=value`.
fn declare(word: &Value, state: &mut ShellState) {
    if let Some((name, value)) = word.known().and_then(|text| text.split_once('=')) {
        state.variables.insert(name.to_owned(), vec![Value::Known(value.to_owned())]);
    }
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
    let names = if names.is_empty() { vec!["REPLY".to_owned()] } else { names };
    for (index, name) in names.iter().enumerate() {
        // The last name takes the rest of the line.
        let field = |line: &&str| {
            let field = line.trim().splitn(names.len(), char::is_whitespace).nth(index);
            known(field.unwrap_or_default().trim())
        };
        let values = lines.as_ref().map_or_else(|| unread.clone(), |lines| lines.iter().map(field).collect());
        state.variables.insert(name.clone(), values);
    }
}
