//! Plain JSON lines: turns (`{"id", "role", "text"}`) and candidate deltas (`{"kind", …}`).

use super::{TranscriptLine, TranscriptTurn, message_text, parse_role, turn_id};
use crate::extract::Role;
use serde_json::Value;

pub(super) fn parse_line(value: &Value) -> Option<TranscriptLine> {
    if value.get("kind").is_some() {
        return Some(TranscriptLine::Proposed(value.clone()));
    }
    if let Some(turn) = value.get("turn").filter(|turn| turn.is_object()) {
        return parse_line(turn);
    }
    if let Some(delta) = value.get("delta").filter(|delta| delta.is_object()) {
        return Some(TranscriptLine::Proposed(delta.clone()));
    }
    let content = value.get("text").or_else(|| value.get("content"))?;
    let text = message_text(content, &["text"]);
    let role = match value.get("role") {
        None => Role::User,
        Some(word) => match word.as_str().and_then(parse_role) {
            Some(role) => role,
            None => return Some(TranscriptLine::Odd(format!("{word} is no role"))),
        },
    };
    let id = match value.get("id").or_else(|| value.get("turnId")) {
        None => turn_id(role, &text),
        Some(id) => match id.as_str().filter(|id| !id.trim().is_empty()) {
            Some(id) => id.to_owned(),
            None => return Some(TranscriptLine::Odd("its id is not text".into())),
        },
    };
    Some(TranscriptLine::Said { agent: None, said: TranscriptTurn { id, role, text } })
}
