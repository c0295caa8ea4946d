//! Folds several heads into one.
//!
//! The result, including its merge commits, depends on the heads alone. Replicas that reduce the same heads get the
//! same commits, so reducing never makes them diverge.

use crate::commit::{Commit, CommitId, CommitStamp};

/// The author of automatic merges.
pub const REDUCER_AUTHOR: &str = "probity";

/// Returns the merges that reduce heads to one; empty for fewer than two heads.
///
/// Starts with the head that has the greatest time and id, and merges the others into it in ascending order of ids.
pub fn reduce_heads(heads: &[TimestampedHead]) -> Vec<Commit> {
    let Some(first) = heads.iter().max_by_key(|head| (head.timestamp_ms, head.id)) else {
        return Vec::new();
    };
    let mut others: Vec<CommitId> = heads.iter().map(|head| head.id).filter(|id| *id != first.id).collect();
    others.sort_unstable();
    let stamp = CommitStamp::new(REDUCER_AUTHOR, "reduce heads", first.timestamp_ms)
        .expect("the time was taken from a commit, whose time is in range");
    let mut running = first.id;
    let mut merges = Vec::new();
    for head in others {
        let merge = Commit::merge(running, head, stamp.clone());
        running = merge.id();
        merges.push(merge);
    }
    merges
}

/// A head and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimestampedHead {
    id: CommitId,
    timestamp_ms: i64,
}

impl From<&Commit> for TimestampedHead {
    fn from(commit: &Commit) -> Self {
        Self { id: commit.id(), timestamp_ms: commit.stamp().timestamp_ms() }
    }
}
