//! The review page: a web server on the loopback interface, for a person who looks at changes and decides.
//!
//! Owns: the pages, their addresses, sessions, and what keeps strangers out.
//! May use: analysis, api, core, documents, evidence, knowledge, ledger, line-diff, merges, paths, quality, review, runner, workspace.
//! Must not know: any rule: what is shown is an answer of a service, and what is decided is carried out by one.
//!
//! * [`serve`]: serves until the process ends. [`export`]: one change as one file.
//!
//! Text becomes markup by its type alone, in `untrusted_text`: names, texts and lines come from agents.

mod assets;
mod change_handlers;
mod decision_handlers;
mod diff_rows;
mod document_merge_handlers;
mod events;
mod export;
mod git_merge_handlers;
mod knowledge_handlers;
mod line_colors;
mod page_event;
mod page_request;
mod pages;
mod place_form;
mod request_guard;
mod review_context;
mod router;
mod server;
mod session;
mod ui_state;
mod untrusted_text;
mod url_text;

pub use export::{ExportedEvidence, export, read_export};
pub use server::{UiEndpoint, serve};
pub use ui_state::UiOptions;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{what}: {source}")]
    System { what: &'static str, source: std::io::Error },
    #[error(transparent)]
    Service(#[from] probity_workspace::ServiceError),
}
