//! Answers of `probity conformance`, `probity completions`, `probity man` and `probity mcp`.

use crate::document::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// The answer of `probity conformance`: every case of the vectors.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConformanceReport {
    /// Cases with the expected answer.
    pub passed: usize,
    /// Cases with another answer or none.
    pub failed: usize,
    /// Cases of an unknown kind.
    pub unsupported: usize,
    /// One entry per case, in the order of files and cases.
    pub results: Vec<ConformanceCase>,
}

impl Answer for ConformanceReport {
    const SCHEMA: &'static str = "probity/conformance/v1";
}

/// The result of one case.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConformanceCase {
    /// `file/case`, or the file's id if it contains a single case.
    pub id: String,
    pub kind: String,
    pub ok: bool,
    /// The answer given instead, or why there was none; empty if `ok`.
    pub detail: String,
}

/// The answer of `probity completions`: completions for a shell.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ShellCompletions {
    pub text: String,
}

impl Answer for ShellCompletions {
    const SCHEMA: &'static str = "probity/completions/v1";
}

/// The answer of `probity man`: the manual page.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ManualPage {
    pub text: String,
}

impl Answer for ManualPage {
    const SCHEMA: &'static str = "probity/man/v1";
}

/// The answer of `probity mcp --tools`: the tools of the server.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct McpToolList {
    /// The tools as listed by the server (`tools/list`), in the format of the Model Context Protocol.
    pub tools: Vec<Value>,
}

impl Answer for McpToolList {
    const SCHEMA: &'static str = "probity/mcp-tools/v1";
}

/// The answer of `probity mcp` after its client has disconnected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct McpServerEnd {
    pub status: McpServerStatus,
}

impl Answer for McpServerEnd {
    const SCHEMA: &'static str = "probity/mcp/v1";
}

/// The answer of `probity lsp` after its editor has disconnected.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LspServerEnd {
    pub status: McpServerStatus,
}

impl Answer for LspServerEnd {
    const SCHEMA: &'static str = "probity/lsp/v1";
}

probity_core::word_enum! {
    /// How a server ended.
    pub enum McpServerStatus {
        /// The client closed the connection.
        Closed = "closed",
    }
}
