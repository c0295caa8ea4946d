//! The result of a command: one JSON document and an exit code.

use probity_api::ExitCode;
use probity_workspace::ServiceError;
use serde_json::Value;

/// A command's answer for programs. Text for people has already been printed by then.
#[derive(Debug)]
pub(crate) struct CommandAnswer {
    pub(crate) exit_code: ExitCode,
    /// The document that `--json` prints.
    pub(crate) document: Value,
}

impl CommandAnswer {
    pub(crate) fn of<A: probity_api::Answer>(exit_code: ExitCode, answer: &A) -> Self {
        Self { exit_code, document: answer.to_document() }
    }

    pub(crate) fn of_fault(fault: &ServiceError) -> Self {
        Self::of(fault.exit_code(), &fault.answer())
    }
}
