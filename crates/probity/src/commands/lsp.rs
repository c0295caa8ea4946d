//! `probity lsp`: the server for editors.

use crate::answer::CommandAnswer;
use probity_api::ExitCode;
use probity_api::govern::tools::{LspServerEnd, McpServerStatus};
use probity_core::ReasonCode;
use probity_workspace::ServiceError;
use std::io::ErrorKind;

/// Serve editors: mark files outside the change or held by others
///
/// A language server on standard input and output, beside those of the languages. It reads the claims that hooks read,
/// so a person is told what an agent would be told.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  probity lsp      # started by the editor; docs/editors.md has its settings"
)]
pub(crate) struct LspArgs {
    /// Some editors add this; standard input and output are the only transport
    #[arg(long, hide = true)]
    stdio: bool,
}

/// Serves until the editor disconnects.
pub(crate) fn lsp() -> Result<CommandAnswer, ServiceError> {
    let home = std::env::var("HOME").unwrap_or_default();
    probity_lsp::serve_stdio(&home).map_err(|source| match source.kind() {
        // What the editor sent is no message.
        ErrorKind::InvalidData | ErrorKind::Other => {
            ServiceError::refused(ReasonCode::InputInvalid, format!("the language server stopped: {source}"))
        }
        _ => ServiceError::System { what: "the language server stopped".into(), source },
    })?;
    Ok(CommandAnswer::of(ExitCode::Ok, &LspServerEnd { status: McpServerStatus::Closed }))
}
