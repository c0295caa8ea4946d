//! Parses lines of Gemini CLI session files (`~/.gemini/tmp/*/chats/session-*.jsonl`), and the messages of the one-document
//! form that older versions wrote.

use super::program_text::unwrap;
use super::{TranscriptLine, TranscriptTurn, parts_text};
use crate::extract::Role;
use serde_json::Value;

/// Types of messages that the program itself writes.
const PROGRAM_TYPES: &[&str] = &["info", "error", "warning", "system"];

/// Classifies a line; `None` if Gemini CLI did not write it.
pub(super) fn parse_line(value: &Value) -> Option<TranscriptLine> {
    if value.get("projectHash").is_some() {
        let session = value["sessionId"].as_str()?;
        return Some(TranscriptLine::Session(session.to_owned()));
    }
    // Updates of the file itself: `$set`, `$rewindTo`. The messages in them are context that the program wrote.
    let first = value.as_object()?.keys().next()?;
    if first.starts_with('$') {
        return Some(TranscriptLine::Other(format!("gemini-cli {first}")));
    }
    message(value)
}

/// Classifies a message.
pub(super) fn message(value: &Value) -> Option<TranscriptLine> {
    let (kind, id) = (value["type"].as_str()?, value["id"].as_str()?);
    let is_ours = value.get("timestamp").is_some()
        && ["uuid", "message", "data", "payload", "role"].iter().all(|name| value.get(*name).is_none());
    if !is_ours {
        return None;
    }
    let role = match kind {
        "user" => Role::User,
        "gemini" => Role::Assistant,
        kind if PROGRAM_TYPES.contains(&kind) => {
            return Some(TranscriptLine::Other(format!("gemini-cli {kind}")));
        }
        _ => return None,
    };
    let text = unwrap(&parts_text(value.get("content")?));
    if text.is_empty() {
        let what = if value["content"].is_array() { "tool result" } else { "tool call" };
        return Some(TranscriptLine::Other(format!("gemini-cli {what}")));
    }
    let said = TranscriptTurn { id: id.to_owned(), role, text };
    Some(TranscriptLine::Said { agent: Some("gemini-cli"), said })
}
