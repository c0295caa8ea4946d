//! Finds the documents that may differ between two commits, without reading a document.
//!
//! A document's value follows from the commits that write it, their order, and which of them are enabled. If two
//! replays agree on those, the document is the same in both. The cost depends on what lies between the two commits, not
//! on the number of documents in the store.

use crate::commit::CommitKind;
use crate::history::{CommitReader, CommitSeq, HistoryError};
use crate::linear_order::{self, OrderedCommit};
use crate::op::DocumentId;
use std::collections::{BTreeMap, BTreeSet};

/// Commits of a replay, each with true if it is enabled.
type ReplayedCommits = Vec<(CommitSeq, bool)>;

/// Returns the documents that may differ between `a` and `b`.
pub(crate) fn between<C: CommitReader + ?Sized>(
    commits: &C,
    a: CommitSeq,
    b: CommitSeq,
) -> Result<BTreeSet<DocumentId>, HistoryError> {
    let (a, b) = replays(commits, a, b)?;
    // A common prefix or suffix does not affect whether the rest is equal.
    let n_first = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[n_first..], &b[n_first..]);
    let n_last = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let sides = [&a[..a.len() - n_last], &b[..b.len() - n_last]];
    commits.read_ahead(&sides.concat().iter().map(|entry| entry.0).collect::<Vec<CommitSeq>>())?;
    let mut written: BTreeMap<DocumentId, [ReplayedCommits; 2]> = BTreeMap::new();
    for (side, listed) in sides.into_iter().enumerate() {
        for entry in listed {
            for document in commits.commit(entry.0)?.documents() {
                match written.get_mut(document) {
                    Some(sides) => sides[side].push(*entry),
                    None => written.entry(document.clone()).or_default()[side].push(*entry),
                }
            }
        }
    }
    Ok(written.into_iter().filter(|(_, [a, b])| a != b).map(|(document, _)| document).collect())
}

/// Returns the ends of two replays with a common beginning.
fn replays<C: CommitReader + ?Sized>(
    commits: &C,
    a: CommitSeq,
    b: CommitSeq,
) -> Result<(ReplayedCommits, ReplayedCommits), HistoryError> {
    let mut below = common_parent(commits, a, b)?;
    loop {
        let (left, right) = (linear_order::tail(commits, a, below)?, linear_order::tail(commits, b, below)?);
        let mut decided = left.decided_below.iter().chain(&right.decided_below);
        let Some(seq) = below.filter(|seq| decided.any(|decided| decided <= seq)) else {
            return Ok((mutations(&left.listed), mutations(&right.listed)));
        };
        // Something further down is masked differently: start there. Doubling the distance bounds the cost of all
        // attempts together to twice that of the last one.
        below = ancestor(commits, seq, left.listed.len().max(right.listed.len()).max(1))?;
    }
}

fn mutations(listed: &[OrderedCommit]) -> ReplayedCommits {
    let mutations = listed.iter().filter(|entry| entry.node.kind == CommitKind::Mutations);
    mutations.map(|entry| (entry.seq, entry.on)).collect()
}

/// Returns the newest commit that both reach along the parents; both orders start with its order.
fn common_parent<C: CommitReader + ?Sized>(
    commits: &C,
    a: CommitSeq,
    b: CommitSeq,
) -> Result<Option<CommitSeq>, HistoryError> {
    let (mut a, mut b) = (Some(a), Some(b));
    // Parents have smaller numbers, so the newer of the two cannot be the common one.
    while let (Some(left), Some(right)) = (a, b) {
        if left == right {
            return Ok(a);
        }
        if left > right {
            a = commits.node(left)?.parent;
        } else {
            b = commits.node(right)?.parent;
        }
    }
    Ok(None)
}

/// Returns the commit `n_steps` away along the parents.
fn ancestor<C: CommitReader + ?Sized>(
    commits: &C,
    seq: CommitSeq,
    n_steps: usize,
) -> Result<Option<CommitSeq>, HistoryError> {
    let mut at = Some(seq);
    for _ in 0..n_steps {
        let Some(seq) = at else { break };
        at = commits.node(seq)?.parent;
    }
    Ok(at)
}
