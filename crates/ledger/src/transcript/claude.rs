//! Parses lines of Claude Code session files (`~/.claude/projects/*/*.jsonl`).

use super::program_text::unwrap;
use super::{TranscriptLine, TranscriptTurn, message_text, turn_id};
use crate::extract::Role;
use serde_json::Value;

/// Line types without anything said.
const SKIPPED_LINE_TYPES: &[&str] = &[
    "summary",
    "system",
    "file-history-snapshot",
    "queue-operation",
    "attachment",
    "progress",
    "last-prompt",
    "custom-title",
    "agent-name",
    "permission-mode",
];

/// Classifies a line; `None` if Claude Code did not write it.
pub(super) fn parse_line(value: &Value, number: usize) -> Option<TranscriptLine> {
    let kind = value["type"].as_str()?;
    let is_ours =
        value.get("sessionId").is_some() || value.get("uuid").is_some() || value.get("leafUuid").is_some();
    if SKIPPED_LINE_TYPES.contains(&kind)
        && (is_ours || value.get("payload").is_none() && value.get("role").is_none())
    {
        return Some(TranscriptLine::Other(format!("claude-code {kind}")));
    }
    let role = match kind {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        // Every version adds new line types; only messages contain words.
        _ if value.get("sessionId").is_some() && value.get("message").is_none() => {
            return Some(TranscriptLine::Other(format!("claude-code {kind}")));
        }
        _ => return None,
    };
    let message = value.get("message").filter(|message| message.is_object())?;
    let is = |name: &str| value[name].as_bool() == Some(true);
    if let Some(what) = ["isMeta", "isCompactSummary", "isApiErrorMessage"].into_iter().find(|name| is(name))
    {
        return Some(TranscriptLine::Other(format!("claude-code {what}")));
    }
    // In a side chain the "user" is the agent itself, talking to its own helper.
    let role = if is("isSidechain") { Role::Assistant } else { role };
    let text = unwrap(&message_text(&message["content"], &["text"]));
    if text.is_empty() {
        return Some(TranscriptLine::Other(format!("claude-code {}", blocks_of(&message["content"]))));
    }
    let id = match (value["uuid"].as_str(), value["sessionId"].as_str()) {
        (Some(uuid), _) => uuid.to_owned(),
        (None, Some(session)) => format!("{session}:{number}"),
        (None, None) => turn_id(role, &text),
    };
    Some(TranscriptLine::Said { agent: Some("claude-code"), said: TranscriptTurn { id, role, text } })
}

/// Describes the content of a message without words.
fn blocks_of(content: &Value) -> String {
    let first = content.as_array().and_then(|blocks| blocks.first());
    first.and_then(|block| block["type"].as_str()).unwrap_or("no words").to_owned()
}
