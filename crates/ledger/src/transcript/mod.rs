//! Reads agent transcripts as turns: session files of Claude Code, Codex, Gemini CLI, Copilot CLI and Qwen Code, exported
//! sessions of `OpenCode`, and plain JSON Lines.
//!
//! Each line is recognized by its own shape, so different versions and mixed files are read alike. Words of a person or
//! an agent become a turn; tool output, thinking, and text that the program put into a message are left out and
//! counted. An unknown line is reported with its number and never guessed at.
//!
//! Ids are stable: reading a file again, or a longer version of it, gives the same ids for the same turns.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod json_lines;
mod opencode;
mod program_text;
mod qwen;

use crate::extract::Role;
use probity_core::Digest;
use serde_json::Value;
use std::collections::BTreeMap;

const MAX_LINE_BYTES: usize = 32 << 20;

/// The largest session that is read as one document.
const MAX_DOCUMENT_BYTES: usize = 256 << 20;

const MAX_REPORTED_UNKNOWN_LINES: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptTurn {
    pub id: String,
    pub role: Role,
    /// The text, without what the program added.
    pub text: String,
}

/// A part of a transcript, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum TranscriptPart {
    Said(TranscriptTurn),
    Proposed(Value),
}

/// A line that was not understood.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct UnknownLine {
    /// The line number, from 1.
    pub line: usize,
    /// The reason why the line was not understood.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Transcript {
    /// The program that wrote it, as far as the lines show, as `claude-code`.
    pub agent: Option<&'static str>,
    pub parts: Vec<TranscriptPart>,
    /// The number of lines left out, by their type.
    pub left_out: BTreeMap<String, usize>,
    /// Lines that were not understood; only the first hundred.
    pub odd: Vec<UnknownLine>,
    /// The number of lines that were not understood.
    pub n_odd: usize,
}

enum TranscriptLine {
    Said {
        agent: Option<&'static str>,
        said: TranscriptTurn,
    },
    Proposed(Value),
    /// A line that is left out, with its type.
    Other(String),
    /// The session that the following lines belong to.
    Session(String),
    Odd(String),
}

/// Reads a transcript. Any bytes are accepted.
pub fn read(bytes: &[u8]) -> Transcript {
    let mut transcript = Transcript::default();
    if bytes.starts_with(opencode::DATABASE_HEADER) {
        transcript.take(TranscriptLine::Odd(opencode::DATABASE_REASON.into()), 1);
        return transcript;
    }
    if let Some(messages) = document_messages(bytes) {
        for (number, message) in (1..).zip(&messages) {
            let line = opencode::message(message).or_else(|| gemini::message(message));
            let why = "it is not a message in a known form";
            transcript.take(line.unwrap_or_else(|| TranscriptLine::Odd(why.into())), number);
        }
        return transcript;
    }
    let mut session = None;
    for (number, line) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        match read_line(line, session.as_deref(), number) {
            TranscriptLine::Session(id) => session = Some(id),
            line => transcript.take(line, number),
        }
    }
    transcript
}

/// Returns the messages of a session that is one document: an export of `OpenCode`, or an older file of Gemini CLI.
fn document_messages(bytes: &[u8]) -> Option<Vec<Value>> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return None;
    }
    let mut document: Value = serde_json::from_slice(bytes).ok()?;
    let is_known = document.get("projectHash").is_some() || document.get("info").is_some();
    match document.get_mut("messages").filter(|_| is_known)?.take() {
        Value::Array(messages) => Some(messages),
        _ => None,
    }
}

impl Transcript {
    fn take(&mut self, line: TranscriptLine, number: usize) {
        match line {
            TranscriptLine::Said { said, .. } if said.text.trim().is_empty() => {
                self.leave_out("no words".into());
            }
            TranscriptLine::Said { agent, said } => {
                self.agent = self.agent.or(agent);
                self.parts.push(TranscriptPart::Said(said));
            }
            TranscriptLine::Proposed(delta) => self.parts.push(TranscriptPart::Proposed(delta)),
            TranscriptLine::Other(what) => self.leave_out(what),
            TranscriptLine::Session(_) => {}
            TranscriptLine::Odd(why) => {
                self.n_odd += 1;
                if self.odd.len() < MAX_REPORTED_UNKNOWN_LINES {
                    self.odd.push(UnknownLine { line: number, why });
                }
            }
        }
    }

    fn leave_out(&mut self, what: String) {
        *self.left_out.entry(what).or_default() += 1;
    }
}

fn read_line(line: &[u8], session: Option<&str>, number: usize) -> TranscriptLine {
    if line.len() > MAX_LINE_BYTES {
        return TranscriptLine::Odd(format!("it is longer than {MAX_LINE_BYTES} bytes"));
    }
    // Not the strict parser for our own documents: other programs may write numbers that we would not.
    let value: Value = match serde_json::from_slice(line) {
        Ok(value) => value,
        Err(error) => return TranscriptLine::Odd(format!("it is not JSON: {error}")),
    };
    if !value.is_object() {
        return TranscriptLine::Odd("it is not a JSON object".into());
    }
    qwen::parse_line(&value)
        .or_else(|| copilot::parse_line(&value))
        .or_else(|| gemini::parse_line(&value))
        .or_else(|| claude::parse_line(&value, number))
        .or_else(|| codex::parse_line(&value, session, number))
        .or_else(|| json_lines::parse_line(&value))
        .unwrap_or_else(|| TranscriptLine::Odd("it is neither a turn nor a candidate of a known form".into()))
}

/// Derives an id for a turn that has none: the same words by the same speaker are the same turn.
fn turn_id(role: Role, text: &str) -> String {
    let digest = Digest::of(format!("{}\n{text}", role_name(role)).as_bytes());
    format!("said-{}", &digest.to_hex()[..16])
}

pub fn parse_role(word: &str) -> Option<Role> {
    Some(match word {
        "user" | "human" => Role::User,
        "assistant" | "agent" | "model" => Role::Assistant,
        "system" | "developer" => Role::System,
        "tool" | "function" => Role::Tool,
        _ => return None,
    })
}

pub const fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::System => "system",
        Role::Tool => "tool",
    }
}

/// Joins the text of a message: a string, or those blocks of a list that have one of the given types.
fn message_text(content: &Value, types: &[&str]) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let is_text = |block: &&Value| block["type"].as_str().is_some_and(|kind| types.contains(&kind));
    let blocks = content.as_array().into_iter().flatten().filter(is_text);
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n\n")
}

/// Joins the texts of a message: a string, or the parts of a list that have one. Thoughts are left out.
fn parts_text(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let parts = content.as_array().into_iter().flatten().filter(|part| part["thought"] != true);
    parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests;
