//! Merges a stream into the ledger: an import, not a load (law 9).
//!
//! The proposals of the stream are proposed again, to the ledger as it is now, by the same authors and through the same
//! reconciler. The merged state therefore keeps every invariant by construction, and the log shows how it came about.
//! In parallel the two streams of commits are merged in the commit store, and the merge is analyzed for lost changes.
//! Three kinds of points need review before anything is served:
//!
//! * **lost**: the ledger and the stream say different things, and only the stream's version would survive;
//! * **refused**: the reconciler refuses a proposal that the stream had accepted;
//! * **contradiction**: the stream asserts what the ledger denies, or vice versa.
//!
//! Every point needs a choice. The choices become ordinary deltas, and a *survival commit* makes the commit store agree
//! with the ledger.

mod handle_renames;
mod plan;
mod points;

pub use plan::{MergeError, MergePlan, plan};
pub use points::{MergePoint, PointKind};

#[cfg(test)]
mod tests;
