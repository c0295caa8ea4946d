//! Builds the prompt and the JSON Schema of the answer.

use crate::export::estimate_tokens;
use crate::extract::Role;
use crate::ledger::Ledger;
use crate::transcript::role_name;
use crate::vocabulary::{ConfidenceLevel, DeltaKind, ItemKind, RevisionMode};
use serde::Serialize;
use serde_json::{Value, json};

/// The token limit for the turns of one prompt.
const WINDOW_TOKENS: usize = 6000;

/// The most items a prompt shows: those that were touched last.
const MAX_SHOWN_ITEMS: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnText {
    pub id: String,
    pub role: Role,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ExtractionPrompt {
    pub system: String,
    pub user: String,
    /// The JSON Schema of the answer.
    pub schema: Value,
}

/// Groups turns so that each group fits one prompt; a turn that is too long forms its own group.
pub fn windows(turns: &[TurnText]) -> Vec<&[TurnText]> {
    let mut windows = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (at, turn) in turns.iter().enumerate() {
        let cost = estimate_tokens(&turn.text);
        if at > start && tokens + cost > WINDOW_TOKENS {
            windows.push(&turns[start..at]);
            (start, tokens) = (at, 0);
        }
        tokens += cost;
    }
    if start < turns.len() {
        windows.push(&turns[start..]);
    }
    windows
}

/// Builds the prompt for some turns, against the current ledger.
pub fn prompt(ledger: &Ledger, turns: &[TurnText]) -> ExtractionPrompt {
    let turns =
        turns.iter().map(|turn| QuotedTurn { role: role_name(turn.role), text: &turn.text, turn: &turn.id });
    let user = UserPrompt { known: recent_items(ledger), turns: turns.collect() };
    let user = probity_core::json::to_value(&user).to_string();
    ExtractionPrompt { system: SYSTEM_PROMPT.to_owned(), user, schema: schema() }
}

#[derive(Serialize)]
struct UserPrompt<'a> {
    known: Vec<KnownItem<'a>>,
    turns: Vec<QuotedTurn<'a>>,
}

#[derive(Serialize)]
struct QuotedTurn<'a> {
    role: &'static str,
    text: &'a str,
    turn: &'a str,
}

#[derive(Serialize)]
struct KnownItem<'a> {
    handle: &'a str,
    kind: ItemKind,
    summary: &'a str,
}

/// Returns the live items that were touched last, newest first.
fn recent_items(ledger: &Ledger) -> Vec<KnownItem<'_>> {
    let recent = ledger.recent_items(MAX_SHOWN_ITEMS).into_iter().filter_map(|item| ledger.item(item));
    recent.map(|item| KnownItem { handle: item.handle, kind: item.kind, summary: item.summary }).collect()
}

const SYSTEM_PROMPT: &str = "\
You read turns of a conversation between a person and a coding agent and list what was settled in it, as JSON.
Rules:
- Only what a speaker plainly asserts. Questions, hedges (maybe, I think, could), conditions, wishes, reports of what \
others said, quotations, code and tool output settle nothing; a plain guess may be a hypothesis_introduced.
- quote: the exact words of that turn that say it, copied character by character, as short as possible: one clause.
- summary: one short sentence that keeps every negation, number, unit and name of the quote.
- target: the handle of a known item, or the handle of an item earlier in your answer. Never invent one.
- To change what is known, revise, correct, supersede or close it instead of adding it again. Do not repeat known items.
- If nothing was settled, answer {\"deltas\": []}.";

fn schema() -> Value {
    let words = |words: Vec<&str>| json!({ "type": "string", "enum": words });
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "required": ["deltas"],
        "additionalProperties": false,
        "properties": { "deltas": { "type": "array", "items": {
            "type": "object",
            "required": ["kind", "turn", "quote"],
            "additionalProperties": false,
            "properties": {
                "kind": words(DeltaKind::ALL.iter().map(|kind| kind.as_str()).collect()),
                "turn": text, "quote": text, "handle": text, "target": text, "summary": text,
                "confidence": words(ConfidenceLevel::ALL.iter().map(|tier| tier.as_str()).collect()),
                "hard": { "type": "boolean" },
                "mode": words(RevisionMode::ALL.iter().map(|mode| mode.as_str()).collect()),
                "alternatives": { "type": "array", "items": text },
                "chosen": text, "resolution": text, "reason": text, "by": text,
            },
        } } },
    })
}
