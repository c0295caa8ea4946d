//! Transcripts with gold labels, and the comparison of texts by content.
//!
//! Format: `%% name` begins a transcript, `@ id role` a turn, `= kind: text` states a delta of the turn above. A
//! revision is `old => new`; a delta that closes or withdraws an item gives the text of the item; alternatives are
//! separated by bars.

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
    for line in text.lines().skip_while(|line| !line.starts_with("%% ")) {
        if let Some(name) = line.strip_prefix("%% ") {
            transcripts.push(Transcript { name: name.to_owned(), turns: Vec::new() });
            continue;
        }
        let turns = &mut transcripts.last_mut().expect("a line belongs to a transcript").turns;
        if let Some((id, role)) = line.strip_prefix("@ ").and_then(|rest| rest.split_once(' ')) {
            let role = if role == "user" { Role::User } else { Role::Assistant };
            turns.push(Spoken { id: id.to_owned(), role, text: String::new(), gold: Vec::new() });
        } else if let Some((kind, text)) = line.strip_prefix("= ").and_then(|rest| rest.split_once(": ")) {
            turns.last_mut().expect("a label belongs to a turn").gold.push(label(kind, text));
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

/// Returns whether two texts share most of the words of the shorter one.
pub(crate) fn is_alike(one: &str, other: &str) -> bool {
    let (one, other) = (words_of(one), words_of(other));
    let shared = one.intersection(&other).count();
    shared > 0 && shared * 10 >= one.len().min(other.len()) * 6
}
