//! Parses lines of Copilot CLI session files (`~/.copilot/session-state/*/events.jsonl`): events with a dotted type.

use super::program_text::unwrap;
use super::{TranscriptLine, TranscriptTurn};
use crate::extract::Role;
use serde_json::Value;

/// Classifies a line; `None` if Copilot CLI did not write it.
pub(super) fn parse_line(value: &Value) -> Option<TranscriptLine> {
    let kind = value["type"].as_str().filter(|kind| kind.contains('.'))?;
    let data = value.get("data").filter(|data| data.is_object())?;
    let id = value["id"].as_str()?;
    let role = match kind {
        "session.start" => {
            return Some(TranscriptLine::Session(data["sessionId"].as_str().unwrap_or_default().to_owned()));
        }
        // A sub-agent's "user" is the agent that started it.
        "user.message" if data.get("parentToolCallId").is_some() => Role::Assistant,
        "user.message" => Role::User,
        "assistant.message" => Role::Assistant,
        kind => return Some(TranscriptLine::Other(format!("copilot-cli {kind}"))),
    };
    let text = unwrap(data["content"].as_str().unwrap_or_default());
    if text.is_empty() {
        return Some(TranscriptLine::Other("copilot-cli tool call".into()));
    }
    let said = TranscriptTurn { id: id.to_owned(), role, text };
    Some(TranscriptLine::Said { agent: Some("copilot-cli"), said })
}
