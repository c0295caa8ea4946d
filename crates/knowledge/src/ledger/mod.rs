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
//! Inside: [`Shell`] is the one loop that reads the log, lets the rules decide and appends; `cache` keeps snapshots.

mod answers;
mod cache;
mod fault;
mod guard;
mod ingest;
mod links;
mod merge;
mod model;
mod propose;
mod questions;
mod replay;
mod shell;
mod state_files;
mod suggest;

pub use answers::{ItemList, Notices, OutcomeView};
pub use guard::{Guarded, guard};
pub use ingest::{IngestRequest, Ingested, ingest};
pub use links::{Touching, check_items, cite, cited_by, constraints_touching};
pub use merge::{MergeRequest, Merged, StreamView, merge, streams};
pub use model::{ModelAt, ModelRequest, ModelUse};
pub use propose::{ProposeRequest, Proposed, TurnInput, add_said, propose};
pub use questions::{
    Changed, ExportRequest, Exported, Filter, History, Scores, Why, as_of, changed, explain, export, history,
    scores, show,
};
pub use replay::{Replayed, replay};
pub use shell::Shell;
pub use state_files::LedgerFiles;
pub use suggest::{Suggested, Suggestions, suggest};
