//! Parses lines of Qwen Code session files (`~/.qwen/projects/*/chats/*.jsonl`). They look like those of Claude Code, but
//! their messages have parts.

use super::program_text::unwrap;
use super::{TranscriptLine, TranscriptTurn, parts_text};
use crate::extract::Role;
use serde_json::Value;

/// Classifies a line; `None` if Qwen Code did not write it.
pub(super) fn parse_line(value: &Value) -> Option<TranscriptLine> {
    let (kind, id) = (value["type"].as_str()?, value["uuid"].as_str()?);
    value["sessionId"].as_str()?;
    let parts = value["message"].get("parts");
    if parts.is_none() && value.get("provenance").is_none() && value.get("systemPayload").is_none() {
        return None;
    }
    let role = match (kind, value["provenance"].as_str()) {
        ("user", None | Some("real_user")) => Role::User,
        ("assistant", _) => Role::Assistant,
        ("system", _) => {
            let what = value["subtype"].as_str().unwrap_or("system");
            return Some(TranscriptLine::Other(format!("qwen-code {what}")));
        }
        (kind, _) => return Some(TranscriptLine::Other(format!("qwen-code {kind}"))),
    };
    let text = unwrap(&parts_text(parts.unwrap_or(&Value::Null)));
    if text.is_empty() {
        return Some(TranscriptLine::Other("qwen-code tool call".into()));
    }
    let said = TranscriptTurn { id: id.to_owned(), role, text };
    Some(TranscriptLine::Said { agent: Some("qwen-code"), said })
}
