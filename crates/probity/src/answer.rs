//! What a command ends with: one JSON document, and an exit code.

use probity_api::ExitCode;
use probity_workspace::ServiceError;
use serde_json::Value;

/// A command's answer for programs. What people are told has been written on the way.
#[derive(Debug)]
pub(crate) struct CommandAnswer {
    /// The exit code.
    pub(crate) exit_code: ExitCode,
    /// The document of `--json`.
    pub(crate) document: Value,
}

impl CommandAnswer {
    /// An answer that is a type.
    pub(crate) fn of<A: probity_api::Answer>(exit_code: ExitCode, answer: &A) -> Self {
        Self { exit_code, document: answer.to_document() }
    }

    /// The answer of a command that gave no report.
    pub(crate) fn of_fault(fault: &ServiceError) -> Self {
        Self::of(fault.exit_code(), &fault.answer())
    }
}
