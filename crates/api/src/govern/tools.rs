//! Answers of `probity conformance`, `probity completions` and `probity man`.

use crate::document::Answer;
use schemars::JsonSchema;
use serde::Serialize;

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
