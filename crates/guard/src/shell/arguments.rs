//! Reads the options and operands of a program.

use super::expansion::Value;

pub(super) struct Arguments {
    flags: Vec<(String, Option<Value>)>,
    pub(super) operands: Vec<Value>,
    /// How many operands stand before `--`; all if there is none.
    pub(super) before_separator: Option<usize>,
}

impl Arguments {
    /// Reads options until `--`. Options named in `short` (letters) and `long` (words) take a value.
    pub(super) fn read(args: &[Value], short: &str, long: &[&str]) -> Self {
        Self::read_until(args, short, long, false)
    }

    /// Like [`Self::read`], but stops at the first operand: what follows is another command.
    pub(super) fn read_prefix(args: &[Value], short: &str, long: &[&str]) -> Self {
        Self::read_until(args, short, long, true)
    }

    fn read_until(args: &[Value], short: &str, long: &[&str], stops_at_operand: bool) -> Self {
        let mut read = Self { flags: Vec::new(), operands: Vec::new(), before_separator: None };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let Some(text) = arg.known() else {
                read.operands.push(arg.clone());
                if stops_at_operand {
                    break;
                }
                continue;
            };
            if text == "--" {
                read.before_separator = Some(read.operands.len());
                break;
            }
            if let Some(option) = text.strip_prefix("--") {
                let (name, value) = match option.split_once('=') {
                    Some((name, value)) => (name, Some(Value::Known(value.to_owned()))),
                    None if long.contains(&option) => (option, rest.next().cloned()),
                    None => (option, None),
                };
                read.flags.push((name.to_owned(), value));
            } else if text.len() > 1 && text.starts_with('-') {
                // Some programs have words behind one dash: `-check`.
                if text.len() > 2 {
                    read.flags.push((text[1..].to_owned(), None));
                }
                read.read_bundle(&text[1..], short, &mut rest);
            } else {
                read.operands.push(arg.clone());
                if stops_at_operand {
                    break;
                }
            }
        }
        read.operands.extend(rest.cloned());
        read
    }

    fn read_bundle(&mut self, bundle: &str, short: &str, rest: &mut std::slice::Iter<'_, Value>) {
        for (at, letter) in bundle.char_indices() {
            if !short.contains(letter) {
                self.flags.push((letter.to_string(), None));
                continue;
            }
            let inline = &bundle[at + letter.len_utf8()..];
            let value =
                if inline.is_empty() { rest.next().cloned() } else { Some(Value::Known(inline.to_owned())) };
            self.flags.push((letter.to_string(), value));
            return;
        }
    }

    pub(super) fn has(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|(name, _)| names.contains(&name.as_str()))
    }

    /// Returns the value of the last option with one of these names.
    pub(super) fn value(&self, names: &[&str]) -> Option<&Value> {
        self.flags
            .iter()
            .rev()
            .find(|(name, _)| names.contains(&name.as_str()))
            .and_then(|(_, value)| value.as_ref())
    }

    /// Returns the values of all options with one of these names.
    pub(super) fn values(&self, names: &[&str]) -> impl Iterator<Item = &Value> {
        self.flags
            .iter()
            .filter(|(name, _)| names.contains(&name.as_str()))
            .filter_map(|(_, value)| value.as_ref())
    }

    /// Returns whether an option begins with `prefix`, for options with an attached value.
    pub(super) fn has_long_prefix(&self, prefix: &str) -> bool {
        self.flags.iter().any(|(name, _)| name.starts_with(prefix))
    }

    /// Returns the operands behind `--`; none without a separator.
    pub(super) fn behind_separator(&self) -> &[Value] {
        self.before_separator.map_or(&[], |at| &self.operands[at..])
    }
}
