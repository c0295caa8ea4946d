//! The ledger of a repository: what agents know and decided, shared by all of its worktrees.
//!
//! Plain functions from a request to an answer; the command line, MCP and pages call these and nothing else.
//!
//! * [`propose`]: candidate deltas and the turns they come from. [`ingest`]: whole transcripts.
//! * [`show`], [`changed`], [`as_of`], [`explain`], [`history`], [`scores`], [`replay`]: questions.
//! * [`export`] and [`suggest`]: what leaves the ledger. [`merge`]: streams into the ledger.
//! * [`guard`]: who may change hard constraints.
//! * [`cite`] and [`constraints_touching`]: how changes and the ledger know of each other.
//!
//! Inside: [`LedgerService`] is the one loop that reads the log, lets the rules decide and appends; `cache` keeps snapshots.

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

pub use answers::LedgerNotices;
pub use change_links::{ConstraintView, check_items, cite, cited_by, constraints_touching};
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
