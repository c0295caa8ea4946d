//! The parts of the language server protocol that the server uses.

use crate::file_uri;
use serde::{Deserialize, Serialize};

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct InitializeParams {
    root_uri: Option<String>,
    workspace_folders: Option<Vec<WorkspaceFolder>>,
}

#[derive(Debug, Deserialize)]
struct WorkspaceFolder {
    uri: String,
}

impl InitializeParams {
    /// Returns the directory that the editor has open.
    pub(crate) fn root(&self) -> Option<String> {
        let first = self.workspace_folders.iter().flatten().map(|folder| &folder.uri).next();
        file_uri::to_path(first.or(self.root_uri.as_ref())?)
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerCapabilities {
    text_document_sync: TextDocumentSync,
}

/// How the editor tells of edits. The content does not matter, so it need not be sent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TextDocumentSync {
    open_close: bool,
    change: u8,
    save: bool,
}

/// `TextDocumentSyncKind.Incremental`: the least that an editor sends at an edit.
const INCREMENTAL_SYNC: u8 = 2;

impl Default for ServerCapabilities {
    fn default() -> Self {
        Self {
            text_document_sync: TextDocumentSync { open_close: true, change: INCREMENTAL_SYNC, save: true },
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DocumentParams {
    pub(crate) text_document: DocumentIdentifier,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DocumentIdentifier {
    pub(crate) uri: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct PublishParams {
    pub(crate) uri: String,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Diagnostic {
    range: DiagnosticRange,
    severity: DiagnosticSeverity,
    code: &'static str,
    source: &'static str,
    message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiagnosticSeverity {
    Warning,
    Information,
}

impl Serialize for DiagnosticSeverity {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let number: u8 = match self {
            Self::Warning => 2,
            Self::Information => 3,
        };
        serializer.serialize_u8(number)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct DiagnosticRange {
    start: DocumentPosition,
    end: DocumentPosition,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
struct DocumentPosition {
    line: u32,
    character: u32,
}

impl Diagnostic {
    /// A mark on the first line, which stands for the whole file.
    pub(crate) fn of_file(severity: DiagnosticSeverity, code: &'static str, message: String) -> Self {
        Self { range: DiagnosticRange::default(), severity, code, source: "probity", message }
    }
}
