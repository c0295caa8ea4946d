//! Reads sessions of `OpenCode` as `opencode export SESSION` prints them: one document with messages and their parts. The
//! sessions themselves are in a database.

use super::program_text::unwrap;
use super::{TranscriptLine, TranscriptTurn};
use crate::extract::Role;
use serde_json::Value;

/// How a file of the database begins.
pub(super) const DATABASE_HEADER: &[u8] = b"SQLite format 3\0";
pub(super) const DATABASE_REASON: &str =
    "it is a database; OpenCode's sessions are read from `opencode export SESSION`";

/// Classifies a message of an exported session; `None` if it is none.
pub(super) fn message(value: &Value) -> Option<TranscriptLine> {
    let info = value.get("info").filter(|info| info.is_object())?;
    let id = info["id"].as_str()?;
    let role = match info["role"].as_str()? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let is_said =
        |part: &&Value| part["type"] == "text" && part["synthetic"] != true && part["ignored"] != true;
    let parts = value["parts"].as_array().into_iter().flatten().filter(is_said);
    let text = parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n\n");
    let text = unwrap(&text);
    if text.is_empty() {
        return Some(TranscriptLine::Other("opencode tool call".into()));
    }
    let said = TranscriptTurn { id: id.to_owned(), role, text };
    Some(TranscriptLine::Said { agent: Some("opencode"), said })
}
