//! Programs that edit files in place by a program or a patch: sed, perl, awk, `patch`, `apply_patch`.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
use super::filters::{FilterEffects, FilterVariables, awk_effects, sed_effects};
use super::interpreter::{CommandInput, Interpreter, ShellState, StepResult};
use crate::patch::patch_paths;

impl Interpreter<'_> {
    pub(super) fn sed(&mut self, args: &[Value], state: &ShellState) -> StepResult {
        let mut in_place = None;
        let mut has_script = false;
        let mut scripts = Vec::new();
        let mut operands = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(text) = arg.known() else {
                operands.push(arg.clone());
                continue;
            };
            match text {
                "--" => break,
                "-e" | "--expression" => {
                    has_script = true;
                    scripts.extend(rest.next().cloned());
                }
                "-f" | "--file" => {
                    has_script = true;
                    rest.next();
                    self.note_unproven();
                }
                "-l" | "--line-length" => {
                    rest.next();
                }
                _ if text.starts_with("--") => {
                    if let Some(suffix) = text.strip_prefix("--in-place") {
                        in_place = Some(suffix.trim_start_matches('=').to_owned());
                    }
                    if let Some(script) = text.strip_prefix("--expression=") {
                        scripts.push(Value::Known(script.to_owned()));
                    }
                    if text.starts_with("--file=") {
                        self.note_unproven();
                    }
                    has_script |= text.starts_with("--expression=") || text.starts_with("--file=");
                }
                _ if text.len() > 1 && text.starts_with('-') => {
                    // `-i` takes the rest of its word as a suffix.
                    for (at, letter) in text.char_indices().skip(1) {
                        match letter {
                            'i' => {
                                in_place = Some(text[at + 1..].to_owned());
                                break;
                            }
                            'e' | 'f' => {
                                has_script = true;
                                let script = if at + 1 == text.len() {
                                    rest.next().cloned()
                                } else {
                                    Some(Value::Known(text[at + 1..].to_owned()))
                                };
                                if letter == 'f' {
                                    self.note_unproven();
                                }
                                scripts.extend(script.filter(|_| letter == 'e'));
                                break;
                            }
                            _ => {}
                        }
                    }
                }
                _ => operands.push(arg.clone()),
            }
        }
        operands.extend(rest.cloned());
        if let Some(suffix) = &in_place {
            self.write_in_place(&operands[usize::from(!has_script).min(operands.len())..], suffix, state);
        }
        scripts.extend(operands.into_iter().take(usize::from(!has_script)));
        let known: Vec<&str> = scripts.iter().filter_map(Value::known).collect();
        let effects = sed_effects(&known.join("\n"));
        self.filter_effects(effects, state)
    }

    /// Records what the program of `sed` or `awk` writes and runs.
    fn filter_effects(&mut self, effects: FilterEffects, state: &ShellState) -> StepResult {
        if effects.is_unproven {
            self.note_unproven();
        }
        effects.targets.into_iter().for_each(|it| self.write(state, &Value::Known(it), WriteKind::Entry));
        effects.commands.iter().try_for_each(|it| self.run_text(it, &mut state.clone()))
    }

    /// Records files that are edited in place, with the copies that a suffix asks for.
    fn write_in_place(&mut self, files: &[Value], suffix: &str, state: &ShellState) {
        for file in files {
            self.write(state, file, WriteKind::Entry);
            let copy = match file {
                _ if suffix.is_empty() => continue,
                Value::Known(path) => Value::Known(backup_path(path, suffix)),
                Value::Pattern(path) => Value::Pattern(backup_path(path, suffix)),
                Value::Below(_) => continue,
                Value::Unknown => Value::Unknown,
            };
            if file.known() != Some("") {
                self.write(state, &copy, WriteKind::Entry);
            }
        }
    }

    /// `perl` and `ruby`, which edit in place with `-i`.
    pub(super) fn perl(&mut self, program: &str, args: &[Value], state: &ShellState, input: &CommandInput) {
        let (mut in_place, mut is_filter, mut has_script) = (None, false, false);
        let mut operands = Vec::new();
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            match arg.known() {
                Some("--") => break,
                Some(text) if text.len() > 1 && text.starts_with('-') && operands.is_empty() => {
                    let mut letters = text.char_indices().skip(1).peekable();
                    while let Some((at, letter)) = letters.next() {
                        match letter {
                            // The separator of records, in digits.
                            '0' => while letters.next_if(|(_, next)| next.is_ascii_digit()).is_some() {},
                            'i' => {
                                let suffix = &text[at + 1..];
                                // A suffix may follow, as in `-i.bak`.
                                if suffix.starts_with(['.', '~', '_']) {
                                    in_place = Some(suffix.to_owned());
                                    break;
                                }
                                in_place = Some(String::new());
                            }
                            'p' | 'n' => is_filter = true,
                            'e' | 'E' => {
                                has_script = true;
                                if at + 1 == text.len() {
                                    rest.next();
                                }
                                break;
                            }
                            'M' | 'm' | 'I' | 'x' | 'F' => break,
                            _ => {}
                        }
                    }
                }
                _ => operands.push(arg.clone()),
            }
        }
        operands.extend(rest.cloned());
        if let Some(suffix) = &in_place {
            self.write_in_place(&operands[usize::from(!has_script).min(operands.len())..], suffix, state);
        }
        if args.is_empty() && *input == CommandInput::Inherited {
            self.effects.bare_interpreters.push(program.to_owned());
        } else if in_place.is_none() || !is_filter || !has_script {
            // A one-line filter over named files is the usual way to edit in place.
            self.note_unproven();
        }
    }

    pub(super) fn awk(&mut self, args: &[Value], state: &ShellState) -> StepResult {
        let read = Arguments::read(args, "Fvfi", &["field-separator", "assign", "file", "include"]);
        let is_in_place = read.value(&["i", "include"]).and_then(Value::known) == Some("inplace");
        let has_file = read.has(&["f", "file"]);
        if is_in_place {
            let files = read.operands.iter().skip(usize::from(!has_file));
            files.for_each(|file| self.write(state, file, WriteKind::Entry));
        }
        let program = read.operands.first().filter(|_| !has_file);
        if has_file || program.is_some_and(|program| program.known().is_none()) {
            self.note_unproven();
        }
        match program.and_then(Value::known) {
            Some(program) => {
                // `-v NAME=VALUE`, and `NAME=VALUE` among the files.
                let set = read.values(&["v", "assign"]).chain(read.operands.iter().skip(1));
                let variables: FilterVariables = set
                    .filter_map(|value| value.known()?.split_once('='))
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect();
                self.filter_effects(awk_effects(program, &variables), state)
            }
            None => Ok(()),
        }
    }

    /// `apply_patch PATCH` and `apply_patch << PATCH`, which Codex understands as a command.
    pub(super) fn apply_patch(&mut self, args: &[Value], state: &ShellState, input: &CommandInput) {
        let text = match (args, input) {
            ([patch], _) => patch.known(),
            ([], CommandInput::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        match text.map(patch_paths) {
            Some(Ok(paths)) => {
                for path in paths {
                    self.write(state, &Value::Known(path), WriteKind::Entry);
                }
            }
            Some(Err(_)) | None => self.note_unproven(),
        }
    }

    pub(super) fn patch(&mut self, args: &[Value], state: &ShellState) {
        let read =
            Arguments::read(args, "pidorBzFYDgV", &["strip", "input", "directory", "output", "reject-file"]);
        if read.has(&["dry-run"]) {
            return;
        }
        if read.has(&["o", "output"]) {
            return self.write_option(state, &read, &["o", "output"]);
        }
        if let Some(file) = read.operands.first() {
            return self.write(state, &file.clone(), WriteKind::Entry);
        }
        let dir = read.value(&["d", "directory"]).cloned().unwrap_or_else(|| Value::Known(".".into()));
        self.write(state, &dir, WriteKind::Subtree);
    }
}

/// Returns the name of the copy that an edit in place leaves: a suffix, or a name with `*` for the old one.
fn backup_path(path: &str, suffix: &str) -> String {
    if !suffix.contains('*') {
        return format!("{path}{suffix}");
    }
    let (dir, name) = path.rsplit_once('/').map_or(("", path), |(dir, name)| (dir, name));
    let copy = suffix.replace('*', name);
    if suffix.contains('/') || dir.is_empty() { copy } else { format!("{dir}/{copy}") }
}
