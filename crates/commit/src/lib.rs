//! A versioned store of typed documents, and supervised reconciliation of merges. Pure: no file, clock or database.
//!
//! * [`Schema`], [`Type`]: what documents look like; [`Mutations`] records opcodes that are checked against it.
//! * [`Commit`]: a content-addressed value. [`Commits`] is the port to a store; [`MemoryCommits`] is one,
//!   [`Overlay`] adds commits on top of one without writing.
//! * [`Engine`]: states, single documents, linear order, merge bases, and why opcodes were skipped.
//! * [`MergeAnalyzer`]: which intent a merge lost ([`MergeAnalysis`]), and the survival commit that makes decisions
//!   about it stand ([`MergeResolution`]).
//! * [`reduce_heads`]: several heads into one, the same in every replica.

mod analysis;
mod ancestry;
mod apply;
mod author;
mod claims;
mod codec;
mod commit;
mod diff;
mod engine;
mod history;
mod linear;
mod loss;
mod memory;
mod op;
mod overlay;
mod path;
mod place;
mod reconcile;
mod reduce;
mod schema;
mod state;
mod types;
mod value;
pub mod vectors;
mod xarray;

pub use analysis::{AnalyzeError, MergeAnalysis, MergeAnalyzer, MergeConflict, MergeDocument, Reading, Side};
pub use ancestry::MergeBase;
pub use apply::Skip;
pub use author::{Draft, Mutations};
pub use codec::Misfit;
pub use commit::{BadCommitId, BadTime, Commit, CommitError, CommitId, Kind, Stamp};
pub use diff::diff;
pub use engine::{Engine, Traced};
pub use history::{Commits, HistoryError, Node, Seq};
pub use memory::{AppendError, MemoryCommits, SNAPSHOT_DISTANCE, check_append};
pub use op::{DocumentId, Op};
pub use overlay::Overlay;
pub use path::{Path, Step};
pub use reconcile::{Chosen, MergeResolution, ReconcileError, Reconciliation};
pub use reduce::{REDUCER, Stamped, reduce_heads};
pub use schema::{Schema, SchemaError};
pub use state::State;
pub use types::{Enumeration, Field, Integer, MAX_TYPE_DEPTH, Structure, Type};
pub use value::{Double, Text, Typed, Value};
pub use xarray::XArray;
