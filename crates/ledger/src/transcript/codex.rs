//! Parses lines of Codex session files (`~/.codex/sessions/**/rollout-*.jsonl`), in the current format and the one
//! before.

use super::program_text::unwrap;
use super::{TranscriptLine, TranscriptTurn, message_text, parse_role, turn_id};
use crate::extract::Role;
use serde_json::Value;

/// Types of envelope lines without new content: events repeat the messages.
const SKIPPED_LINE_TYPES: &[&str] = &["event_msg", "turn_context", "compacted", "ghost_snapshot"];

/// Classifies a line; `None` if Codex did not write it.
pub(super) fn parse_line(value: &Value, session: Option<&str>, number: usize) -> Option<TranscriptLine> {
    match (value["type"].as_str(), value.get("payload")) {
        (Some("session_meta"), Some(payload)) => session_line(payload),
        (Some("response_item"), Some(payload)) => Some(item(payload, session, number)),
        (Some(kind), Some(_)) if SKIPPED_LINE_TYPES.contains(&kind) => {
            Some(TranscriptLine::Other(format!("codex {kind}")))
        }
        // Every version adds new line types; only items contain words.
        (Some(kind), Some(_)) if value.get("timestamp").is_some() => {
            Some(TranscriptLine::Other(format!("codex {kind}")))
        }
        (Some("message"), None) if value["content"].is_array() => Some(item(value, session, number)),
        (Some(kind), None) if is_item(kind) => Some(TranscriptLine::Other(format!("codex {kind}"))),
        (None, None) if value.get("record_type").is_some() => {
            Some(TranscriptLine::Other("codex state".into()))
        }
        (None, None) if value.get("timestamp").is_some() && value.get("instructions").is_some() => {
            session_line(value)
        }
        _ => None,
    }
}

fn session_line(payload: &Value) -> Option<TranscriptLine> {
    payload["id"].as_str().map(|id| TranscriptLine::Session(id.to_owned()))
}

fn is_item(kind: &str) -> bool {
    const ITEM_TYPES: &[&str] =
        &["reasoning", "function_call", "function_call_output", "local_shell_call", "web_search_call"];
    ITEM_TYPES.contains(&kind) || kind.starts_with("custom_tool_call")
}

fn item(payload: &Value, session: Option<&str>, number: usize) -> TranscriptLine {
    let kind = payload["type"].as_str().unwrap_or("item");
    if kind != "message" {
        return TranscriptLine::Other(format!("codex {kind}"));
    }
    let role = match payload["role"].as_str().and_then(parse_role) {
        Some(role @ (Role::User | Role::Assistant)) => role,
        Some(_) => return TranscriptLine::Other("codex setup".into()),
        None => return TranscriptLine::Odd("it is a message of nobody".into()),
    };
    let text = unwrap(&message_text(&payload["content"], &["input_text", "output_text", "text"]));
    let id = match (payload["id"].as_str(), session) {
        (Some(id), _) => id.to_owned(),
        (None, Some(session)) => format!("{session}:{number}"),
        (None, None) => turn_id(role, &text),
    };
    TranscriptLine::Said { agent: Some("codex"), said: TranscriptTurn { id, role, text } }
}
