//! The ledger of a repository: what agents know and have decided, shared by all of its worktrees.
//!
//! Plain functions from a request to an answer; the command line, MCP and pages call nothing else.
//!
//! * [`propose`]: candidate deltas and the turns they come from. [`ingest`]: whole transcripts.
//! * [`show`], [`changed`], [`as_of`], [`explain`], [`history`], [`scores`], [`replay`]: queries.
//! * [`export`] and [`suggest`]: output for prompts and people. [`merge`]: streams into the ledger.
//! * [`guard`]: the authors who may change hard constraints.
//! * [`cite`] and [`constraints_touching`]: links between changes and the ledger.
//!
//! [`LedgerService`] is the one loop that reads the log, lets the rules decide and appends; `cache` saves snapshots.

mod agent_sessions;
mod answers;
mod cache;
mod change_links;
mod fault;
mod guardians;
mod ingest;
mod merge;
mod model;
mod propose;
mod queries;
mod replay;
mod service;
mod state_files;
mod suggest;

pub use agent_sessions::agent_sessions;
pub use answers::LedgerNotices;
pub use change_links::{ConstraintView, check_items, citations_of_changes, cite, constraints_touching};
pub use guardians::guard;
pub use ingest::{IngestRequest, ingest};
pub use merge::{MergeRequest, merge, streams};
pub use model::{ModelAt, ModelRequest};
pub use propose::propose;
pub use queries::{ExportRequest, ItemFilter, as_of, changed, explain, export, history, scores, show};
pub use replay::replay;
pub use service::LedgerService;
pub use state_files::LedgerFiles;
pub use suggest::suggest;
