//! Expands words to values: variables and their edits, tilde, braces and wildcards.

use super::syntax::{ParameterEdit, Word, WordPiece};
use std::collections::BTreeMap;

/// How many values one word may expand to; a word with more counts as unknown.
const MAX_VALUES_PER_WORD: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Known(String),
    /// Has wildcards that the shell matches against files.
    Pattern(String),
    /// Some path at or below this one; which, only the tree shows.
    Below(String),
    Unknown,
}

impl Value {
    pub(super) fn known(&self) -> Option<&str> {
        match self {
            Self::Known(text) => Some(text),
            Self::Pattern(_) | Self::Below(_) | Self::Unknown => None,
        }
    }

    /// Returns the last name of the path, with its wildcards.
    pub(super) fn base_name(&self) -> Self {
        let last = |text: &str| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        match self {
            Self::Known(text) => Self::Known(last(text)),
            Self::Pattern(text) => Self::Pattern(last(text)),
            Self::Below(_) | Self::Unknown => Self::Unknown,
        }
    }

    /// Returns the path of `name` in this directory.
    pub(super) fn join(&self, name: &Self) -> Self {
        match (self, name) {
            (Self::Known(dir), Self::Known(name)) => Self::Known(format!("{dir}/{name}")),
            (Self::Known(dir) | Self::Pattern(dir), Self::Known(name) | Self::Pattern(name)) => {
                Self::Pattern(format!("{dir}/{name}"))
            }
            _ => Self::Unknown,
        }
    }
}

/// The values of variables. A loop variable has several, and so has a list under `name[@]`. Positional parameters are `1` and
/// so on, all of them `@`.
pub(super) type Variables = BTreeMap<String, Vec<Value>>;

/// Sets the elements of a list.
pub(super) fn set_list(variables: &mut Variables, name: &str, values: Vec<Value>) {
    let prefix = format!("{name}[");
    variables.retain(|known, _| !known.starts_with(&prefix));
    for (index, value) in values.iter().enumerate() {
        variables.insert(format!("{name}[{index}]"), vec![value.clone()]);
    }
    variables.insert(name.to_owned(), values.iter().take(1).cloned().collect());
    variables.insert(format!("{name}[@]"), values);
}

/// Returns the positional parameters; `None` if they are not known.
pub(super) fn positional(variables: &Variables) -> Option<&[Value]> {
    variables.get("@").map(Vec::as_slice)
}

/// Sets the positional parameters; `None` makes them unknown.
pub(super) fn set_positional(variables: &mut Variables, values: Option<&[Value]>) {
    variables.retain(|name, _| name != "@" && !name.starts_with(|first: char| first.is_ascii_digit()));
    let Some(values) = values else { return };
    for (index, value) in values.iter().enumerate() {
        variables.insert((index + 1).to_string(), vec![value.clone()]);
    }
    variables.insert("@".into(), values.to_vec());
}

/// A word under expansion: its characters, each with whether it was quoted; `None` if it is not known.
type Draft = Option<Vec<(char, bool)>>;

/// The alternatives of a brace expansion.
type BraceParts = Vec<Vec<(char, bool)>>;

/// Expands a word of a command: several values by braces, loop variables and splitting.
pub(super) fn expand(word: &Word, variables: &Variables, home: &str) -> Vec<Value> {
    if let [WordPiece::Variable { name, quoted: false }] = word.0.as_slice()
        && let Some(values) = variables.get(name)
    {
        let values: Vec<Value> = values.iter().flat_map(split).collect();
        return if values.len() > MAX_VALUES_PER_WORD { vec![Value::Unknown] } else { values };
    }
    if let Some(values) = listed_values(word, variables) {
        return values;
    }
    let drafts = drafts(word, variables, home);
    let mut values = Vec::new();
    for draft in drafts {
        let Some(draft) = draft else {
            values.push(Value::Unknown);
            continue;
        };
        let mut expanded = Vec::new();
        expand_braces(draft, &mut expanded);
        values.extend(expanded.iter().map(|draft| finished(draft)));
    }
    if values.len() > MAX_VALUES_PER_WORD { vec![Value::Unknown] } else { values }
}

/// Expands the value of an assignment or a here-document: no braces, no wildcards, no splitting.
pub(super) fn expand_text(word: &Word, variables: &Variables, home: &str) -> Vec<Value> {
    if let Some(values) = listed_values(word, variables) {
        return values;
    }
    let text = |draft: Draft| match draft {
        Some(chars) => Value::Known(chars.into_iter().map(|(found, _)| found).collect()),
        None => Value::Unknown,
    };
    drafts(word, variables, home).into_iter().map(text).collect()
}

/// Returns the values of a word that is one variable with paths of a listing.
fn listed_values(word: &Word, variables: &Variables) -> Option<Vec<Value>> {
    let is_empty = |piece: &&WordPiece| matches!(piece, WordPiece::Text { text, .. } if text.is_empty());
    let mut pieces = word.0.iter().filter(|piece| !is_empty(piece));
    let (Some(WordPiece::Variable { name, .. }), None) = (pieces.next(), pieces.next()) else { return None };
    let values = variables.get(name)?;
    values.iter().any(|value| matches!(value, Value::Below(_))).then(|| values.clone())
}

/// Splits the value of an unquoted variable at blanks.
fn split(value: &Value) -> Vec<Value> {
    let Value::Known(text) = value else { return vec![value.clone()] };
    let part = |part: &str| finished(&part.chars().map(|found| (found, false)).collect::<Vec<_>>());
    text.split_whitespace().map(part).collect()
}

fn drafts(word: &Word, variables: &Variables, home: &str) -> Vec<Draft> {
    let mut drafts: Vec<Draft> = vec![Some(Vec::new())];
    for (index, piece) in word.0.iter().enumerate() {
        let alternatives: Vec<Draft> = match piece {
            WordPiece::Text { text, quoted } => {
                let tilde = (index == 0 && !quoted).then(|| text.strip_prefix('~')).flatten();
                match tilde {
                    Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                        let home = home.chars().map(|found| (found, true));
                        vec![Some(home.chain(rest.chars().map(|found| (found, false))).collect())]
                    }
                    Some(rest) => {
                        vec![
                            home_of_user(rest, variables, home)
                                .map(|path| path.chars().map(|found| (found, true)).collect()),
                        ]
                    }
                    None => vec![Some(text.chars().map(|found| (found, *quoted)).collect())],
                }
            }
            WordPiece::Variable { name, quoted } => match variables.get(name) {
                None => vec![None],
                Some(values) => values.iter().map(|value| variable_draft(value, *quoted)).collect(),
            },
            WordPiece::EditedVariable { name, quoted, edit } => match variables.get(name) {
                // The environment may have it: then the text is not used.
                None => match edit {
                    ParameterEdit::Default { text, .. } => {
                        vec![None, variable_draft(&Value::Known(text.clone()), *quoted)]
                    }
                    _ => vec![None],
                },
                Some(values) => {
                    values.iter().map(|value| variable_draft(&edited(value, edit), *quoted)).collect()
                }
            },
            WordPiece::Substitution { .. } | WordPiece::Process(_) | WordPiece::Unknown(_) => vec![None],
        };
        drafts = drafts
            .iter()
            .flat_map(|draft| alternatives.iter().map(|added| joined(draft, added)))
            .take(MAX_VALUES_PER_WORD + 1)
            .collect();
    }
    drafts
}

/// Returns the path of `~+/rest` and of `~user/rest`, if that is the user of the home directory.
fn home_of_user(word: &str, variables: &Variables, home: &str) -> Option<String> {
    let (user, rest) = word.split_at(word.find('/').unwrap_or(word.len()));
    let base = match user {
        "+" => variables.get("PWD")?.first()?.known()?,
        "-" => variables.get("OLDPWD")?.first()?.known()?,
        _ => Some(home).filter(|home| home.rsplit('/').next() == Some(user))?,
    };
    Some(format!("{base}{rest}"))
}

/// Applies the edit of `${…}` to a value.
fn edited(value: &Value, edit: &ParameterEdit) -> Value {
    let Value::Known(value) = value else { return Value::Unknown };
    let edited = match edit {
        ParameterEdit::Default { text, .. } if value.is_empty() => text.clone(),
        ParameterEdit::Keep if value.is_empty() => return Value::Unknown,
        ParameterEdit::Default { .. } | ParameterEdit::Keep => value.clone(),
        ParameterEdit::LowerCase => value.to_lowercase(),
        ParameterEdit::UpperCase => value.to_uppercase(),
        ParameterEdit::Replace { from, to, is_all: true } => value.replace(from, to),
        ParameterEdit::Replace { from, to, is_all: false } => value.replacen(from, to, 1),
        ParameterEdit::Cut { start, length } => {
            value.chars().skip(*start).take(length.unwrap_or(usize::MAX)).collect()
        }
        ParameterEdit::RemovePrefix { text, has_wildcard, is_longest } => {
            let found = match (has_wildcard, is_longest) {
                (false, _) => value.starts_with(text.as_str()).then_some(0),
                (true, false) => value.find(text.as_str()),
                (true, true) => value.rfind(text.as_str()),
            };
            found.map_or_else(|| value.clone(), |at| value[at + text.len()..].to_owned())
        }
        ParameterEdit::RemoveSuffix { text, has_wildcard, is_longest } => {
            let found = match (has_wildcard, is_longest) {
                (false, _) => value.ends_with(text.as_str()).then(|| value.len() - text.len()),
                (true, false) => value.rfind(text.as_str()),
                (true, true) => value.find(text.as_str()),
            };
            found.map_or_else(|| value.clone(), |at| value[..at].to_owned())
        }
    };
    Value::Known(edited)
}

fn variable_draft(value: &Value, quoted: bool) -> Draft {
    match value {
        // An unquoted value with blanks splits the word: too rare inside a longer word to follow.
        Value::Known(text) if !quoted && text.contains(char::is_whitespace) => None,
        Value::Known(text) => {
            Some(text.chars().map(|found| (found, quoted || !"*?[".contains(found))).collect())
        }
        Value::Pattern(text) => Some(text.chars().map(|found| (found, !"*?[".contains(found))).collect()),
        Value::Below(_) | Value::Unknown => None,
    }
}

fn joined(draft: &Draft, added: &Draft) -> Draft {
    let (draft, added) = (draft.as_ref()?, added.as_ref()?);
    Some([draft.as_slice(), added].concat())
}

/// Expands the first `{a,b}` or `{1..3}` and then the rest.
fn expand_braces(draft: Vec<(char, bool)>, out: &mut Vec<Vec<(char, bool)>>) {
    if out.len() > MAX_VALUES_PER_WORD {
        return;
    }
    for (open, _) in draft.iter().enumerate().filter(|(_, it)| **it == ('{', false)) {
        let Some((close, parts)) = brace_parts(&draft, open) else { continue };
        for part in parts {
            let whole = [&draft[..open], &part, &draft[close + 1..]].concat();
            expand_braces(whole, out);
        }
        return;
    }
    out.push(draft);
}

/// Returns the end and the alternatives of the brace at `open`; `None` if it is not an expansion.
fn brace_parts(draft: &[(char, bool)], open: usize) -> Option<(usize, BraceParts)> {
    let (mut level, mut parts, mut start) = (0_usize, Vec::new(), open + 1);
    for (at, found) in draft.iter().enumerate().skip(open + 1) {
        match found {
            ('{', false) => level += 1,
            ('}', false) if level > 0 => level -= 1,
            ('}', false) => {
                parts.push(draft[start..at].to_vec());
                return if parts.len() > 1 {
                    Some((at, parts))
                } else {
                    number_range(&parts[0]).map(|it| (at, it))
                };
            }
            (',', false) if level == 0 => {
                parts.push(draft[start..at].to_vec());
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

fn number_range(inner: &[(char, bool)]) -> Option<BraceParts> {
    let text: String = inner.iter().map(|(found, _)| *found).collect();
    let (first, last) = text.split_once("..")?;
    let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
    let range = first.min(last)..=first.max(last);
    let one = |number: i64| number.to_string().chars().map(|found| (found, true)).collect();
    Some(range.take(MAX_VALUES_PER_WORD + 1).map(one).collect())
}

fn finished(draft: &[(char, bool)]) -> Value {
    let text: String = draft.iter().map(|(found, _)| *found).collect();
    let open_class = draft.iter().position(|it| *it == ('[', false));
    let has_class = open_class.is_some_and(|at| draft[at..].contains(&(']', false)));
    let is_pattern = has_class || draft.iter().any(|&(found, quoted)| !quoted && "*?".contains(found));
    if is_pattern { Value::Pattern(text) } else { Value::Known(text) }
}
