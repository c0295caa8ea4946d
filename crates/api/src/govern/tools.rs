//! Answers of `probity conformance`, `probity completions`, `probity man` and `probity mcp`.

use crate::document::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// What `probity conformance` answers: every case of the vectors.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConformanceReport {
    /// Cases with the expected answer.
    pub passed: usize,
    /// Cases with another answer, or none.
    pub failed: usize,
    /// Cases of a kind that this program does not know.
    pub unsupported: usize,
    /// One entry per case, in the order of files and cases.
    pub results: Vec<ConformanceCase>,
}

impl Answer for ConformanceReport {
    const SCHEMA: &'static str = "probity/conformance/v1";
}

/// What became of one case.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConformanceCase {
    /// `file/case`, or the file's id when it holds a single case.
    pub id: String,
    /// The kind of the vector.
    pub kind: String,
    /// Whether the answer was the expected one.
    pub ok: bool,
    /// What was answered instead, or why nothing was answered; empty when `ok`.
    pub detail: String,
}

/// What `probity completions` answers: completions for a shell.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShellCompletions {
    /// The script.
    pub text: String,
}

impl Answer for ShellCompletions {
    const SCHEMA: &'static str = "probity/completions/v1";
}

/// What `probity man` answers: the manual page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ManualPage {
    /// The page.
    pub text: String,
}

impl Answer for ManualPage {
    const SCHEMA: &'static str = "probity/man/v1";
}

/// What `probity mcp --tools` answers: the tools of the server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct McpToolList {
    /// The tools as the server lists them (`tools/list`). Their form is that of the Model Context Protocol.
    pub tools: Vec<Value>,
}

impl Answer for McpToolList {
    const SCHEMA: &'static str = "probity/mcp-tools/v1";
}

/// What `probity mcp` answers when its client is gone.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct McpServerEnd {
    /// How it ended.
    pub status: McpServerStatus,
}

impl Answer for McpServerEnd {
    const SCHEMA: &'static str = "probity/mcp/v1";
}

probity_core::word_enum! {
    /// How a server ended.
    pub enum McpServerStatus {
        /// The client closed the connection.
        Closed = "closed",
    }
}
