//! Transcripts with gold labels, and the comparison of texts by content.
//!
//! Format: `%% name` begins a transcript, `@ id role` a turn, `= kind: text` states a delta of the turn above. A
//! revision is `old => new`; a delta that closes or withdraws an item gives the text of the item; alternatives are
//! separated by bars. `= never: words` names a guess, a question, a quotation or something taken back: nothing firm of that turn may have all
//! of these words. Turns with the role `tool` are for the reader of the file: they are left out, as they are when a session
//! is taken in.

use probity_ledger::extract::Role;
use std::collections::BTreeSet;

/// A delta that a careful reader finds in a turn.
pub(crate) struct Label {
    pub(crate) kind: String,
    /// The text that is changed, for revisions and corrections.
    pub(crate) old: Option<String>,
    pub(crate) text: String,
}

pub(crate) struct Spoken {
    pub(crate) id: String,
    pub(crate) role: Role,
    pub(crate) text: String,
    pub(crate) gold: Vec<Label>,
    /// The words of what must not become firm.
    pub(crate) traps: Vec<String>,
}

pub(crate) struct Transcript {
    pub(crate) name: String,
    pub(crate) turns: Vec<Spoken>,
}

pub(crate) fn transcripts(files: &[&str]) -> Vec<Transcript> {
    files.iter().flat_map(|file| read(file)).collect()
}

fn read(text: &str) -> Vec<Transcript> {
    let mut transcripts: Vec<Transcript> = Vec::new();
    let mut is_tool = false;
    for line in text.lines().skip_while(|line| !line.starts_with("%% ")) {
        if let Some(name) = line.strip_prefix("%% ") {
            transcripts.push(Transcript { name: name.to_owned(), turns: Vec::new() });
            continue;
        }
        if let Some((_, role)) = line.strip_prefix("@ ").and_then(|rest| rest.split_once(' ')) {
            is_tool = role == "tool";
        }
        if is_tool {
            assert!(!line.starts_with("= "), "a tool says nothing: {line}");
            continue;
        }
        let turns = &mut transcripts.last_mut().expect("a line belongs to a transcript").turns;
        if let Some((id, role)) = line.strip_prefix("@ ").and_then(|rest| rest.split_once(' ')) {
            let role = if role == "user" { Role::User } else { Role::Assistant };
            turns.push(Spoken {
                id: id.to_owned(),
                role,
                text: String::new(),
                gold: Vec::new(),
                traps: Vec::new(),
            });
        } else if let Some((kind, text)) = line.strip_prefix("= ").and_then(|rest| rest.split_once(": ")) {
            let turn = turns.last_mut().expect("a label belongs to a turn");
            if kind == "never" {
                turn.traps.push(text.to_owned());
            } else {
                turn.gold.push(label(kind, text));
            }
        } else if let Some(turn) = turns.last_mut() {
            turn.text.push_str(line);
            turn.text.push('\n');
        }
    }
    transcripts
}

fn label(kind: &str, text: &str) -> Label {
    let (old, text) = text.split_once(" => ").map_or((None, text), |(old, new)| (Some(old.to_owned()), new));
    Label { kind: kind.to_owned(), old, text: text.to_owned() }
}

/// Words without a subject of their own.
const SKIPPED: &[&str] = &[
    "the", "a", "an", "to", "for", "we", "it", "is", "of", "in", "and", "with", "be", "will", "use", "der",
    "die", "das", "den", "wir", "und", "le", "la", "les", "de", "on", "el", "los", "y", "en",
];

pub(crate) fn words_of(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| !word.is_empty() && !SKIPPED.contains(&word.as_str())).collect()
}

fn numbers_of(text: &str) -> BTreeSet<&str> {
    let runs = text.split(|c: char| !(c.is_ascii_digit() || ".,:".contains(c)));
    runs.map(|run| run.trim_matches(['.', ',', ':'])).filter(|number| !number.is_empty()).collect()
}

/// Returns whether two texts share most of the words of the shorter one, and the numbers of one are among those of the other:
/// a limit of 100 is not one of 250.
pub(crate) fn is_alike(one: &str, other: &str) -> bool {
    let (numbers, other_numbers) = (numbers_of(one), numbers_of(other));
    let (one, other) = (words_of(one), words_of(other));
    let shared = one.intersection(&other).count();
    shared > 0
        && shared * 10 >= one.len().min(other.len()) * 6
        && (numbers.is_subset(&other_numbers) || other_numbers.is_subset(&numbers))
}
