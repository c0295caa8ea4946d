//! What a command ends with: one JSON document, and an exit code.

use api::ExitCode;
use control::{Fault, Workspace};
use serde_json::Value;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path of the system in JSON: text, or its bytes where it is none.
pub(crate) fn path_json(path: &Path) -> Value {
    canon::bytes::to_json(path.as_os_str().as_bytes())
}

/// A command's answer for programs. What people are told has been written on the way.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The exit code.
    pub(crate) exit_code: ExitCode,
    /// The document of `--json`.
    pub(crate) document: Value,
}

impl Answer {
    /// An answer whose document is `probity/<name>/v1`.
    pub(crate) fn new(name: &str, exit_code: ExitCode, mut document: Value) -> Self {
        document["schema"] = format!("probity/{name}/v1").into();
        Self { exit_code, document }
    }

    /// An answer that is a type.
    pub(crate) fn of<A: api::Answer>(exit_code: ExitCode, answer: &A) -> Self {
        Self { exit_code, document: answer.to_document() }
    }

    /// The same with the root of the tree that it is about.
    pub(crate) fn about(mut self, workspace: &Workspace) -> Self {
        self.document["root"] = path_json(&workspace.root);
        self
    }

    /// The answer of a command that gave no report.
    pub(crate) fn of_fault(fault: &Fault) -> Self {
        Self::of(fault.exit_code(), &fault.answer())
    }
}
