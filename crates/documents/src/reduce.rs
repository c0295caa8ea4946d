//! Folding several heads into one.
//!
//! The fold depends on the heads alone, its merge commits included: whoever reduces the same heads gets the same
//! commits, so replicas do not drift apart by reducing.

use crate::commit::{Commit, CommitId, Stamp};

/// Who is named as the author of merges that nobody wrote by hand.
pub const REDUCER: &str = "probity";

/// The merges that reduce heads, given with their times, to one; none for fewer than two heads.
///
/// It begins with the head of the greatest time and id, and merges the others into it in ascending order of ids.
pub fn reduce_heads(heads: &[Stamped]) -> Vec<Commit> {
    let Some(first) = heads.iter().max_by_key(|head| (head.timestamp_ms, head.id)) else {
        return Vec::new();
    };
    let mut others: Vec<CommitId> = heads.iter().map(|head| head.id).filter(|id| *id != first.id).collect();
    others.sort_unstable();
    let stamp = Stamp::new(REDUCER, "reduce heads", first.timestamp_ms)
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
pub struct Stamped {
    id: CommitId,
    timestamp_ms: i64,
}

impl From<&Commit> for Stamped {
    fn from(commit: &Commit) -> Self {
        Self { id: commit.id(), timestamp_ms: commit.stamp().timestamp_ms() }
    }
}
