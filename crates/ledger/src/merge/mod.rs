//! Merging a stream into the ledger: an import, not a load (law 9).
//!
//! What was proposed to the stream is proposed again, to the ledger as it is now, by the same authors and through the
//! same reconciler: so the merged state keeps every invariant by construction, and the log says how it came about. Beside
//! it the two streams of commits are merged in the commit store, and the merge is analysed: which intent did it lose?
//! Three things go to review before anything is served:
//!
//! * **lost**: the ledger said one thing, the stream another, and only the stream's would stand;
//! * **refused**: the reconciler refuses a proposal that the stream had accepted;
//! * **contradiction**: the stream asserts what the ledger denies, or the other way round.
//!
//! Every point needs a choice. The choices become deltas like any other, and a *survival commit* makes the commit store
//! say what the ledger says.

mod handle_renames;
mod plan;
mod points;

pub use plan::{MergeError, MergePlan, plan};
pub use points::{MergePoint, PointKind};

#[cfg(test)]
mod tests;
