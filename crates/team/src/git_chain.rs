//! The commits of a log on a git remote: one for every event, each with its predecessor as parent and without files.
//!
//! The message is a line of JSON about the event, an empty line, and the event itself. A commit without an event keeps a
//! late write from arriving: it moves the end of the log and takes no number.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use probity_core::json;
use probity_storage::ports::EventRecord;
use probity_workspace::git_transport::ChainCommit;
use serde::{Deserialize, Serialize};

const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChainHeader {
    probity: u32,
    /// The number of this commit in the chain, from 1.
    index: u64,
    /// The number of the event, or of the last one before a commit without.
    seq: u64,
    command: String,
    form: BodyForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BodyForm {
    Text,
    Base64,
    /// There is no event: the command will never be carried out.
    Void,
}

/// A commit of a log, as far as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainEntry {
    pub(crate) index: u64,
    pub(crate) seq: u64,
    /// `None` for a commit that only voids a command.
    pub(crate) record: Option<EventRecord>,
}

/// Returns the message of the commit that appends an event, or voids a command without one.
pub(crate) fn message(index: u64, seq: u64, command: &str, event: Option<&[u8]>) -> String {
    let (form, body) = match event {
        None => (BodyForm::Void, String::new()),
        Some(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) if is_one_line(text) => (BodyForm::Text, text.to_owned()),
            _ => (BodyForm::Base64, STANDARD.encode(bytes)),
        },
    };
    let header = ChainHeader { probity: FORMAT, index, seq, command: command.to_owned(), form };
    let header = String::from_utf8_lossy(&json::canonical_of(&header)).into_owned();
    format!("{header}\n\n{body}")
}

/// Returns whether git shows a text exactly as it was written.
fn is_one_line(text: &str) -> bool {
    !text.is_empty() && text.trim() == text && !text.chars().any(char::is_control)
}

pub(crate) fn parse(commit: &ChainCommit) -> Result<ChainEntry, String> {
    let wrong = |why: &str| format!("commit {}: {why}", commit.id);
    let (header, body) = commit.message.split_once('\n').unwrap_or((&commit.message, ""));
    let value = json::parse(header.as_bytes()).map_err(|error| wrong(&error.to_string()))?;
    let header: ChainHeader = serde_json::from_value(value).map_err(|error| wrong(&error.to_string()))?;
    if header.probity != FORMAT {
        return Err(wrong("a newer version of Probity wrote it"));
    }
    let body = body.strip_prefix('\n').unwrap_or(body);
    let event = match header.form {
        BodyForm::Void => None,
        BodyForm::Text => Some(body.as_bytes().to_vec()),
        BodyForm::Base64 => Some(STANDARD.decode(body).map_err(|error| wrong(&error.to_string()))?),
    };
    let record = event.map(|event| EventRecord { seq: header.seq, command: header.command, event });
    Ok(ChainEntry { index: header.index, seq: header.seq, record })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_survives_the_message() {
        for event in [&b"{\"a\":1}"[..], b"", b"\xff\0three", b" padded ", b"two\nlines", "ä".as_bytes()] {
            let message = message(7, 5, "c 1\n", Some(event));
            let read = parse(&ChainCommit { id: "i".into(), message }).expect("is read");
            let record = EventRecord { seq: 5, command: "c 1\n".into(), event: event.to_vec() };
            assert_eq!(read, ChainEntry { index: 7, seq: 5, record: Some(record) });
        }
        let void =
            parse(&ChainCommit { id: "i".into(), message: message(2, 1, "c", None).trim_end().into() });
        assert_eq!(void, Ok(ChainEntry { index: 2, seq: 1, record: None }));
        assert!(parse(&ChainCommit { id: "i".into(), message: "a plain commit".into() }).is_err());
    }
}
