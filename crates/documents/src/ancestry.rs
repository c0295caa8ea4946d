//! Reachability between commits: set differences and merge bases.
//!
//! Commits are visited in descending number, so every descendant comes before its ancestors and one visit per commit is
//! enough. A walk stops as soon as everything left is shared: it costs the distance between the two commits, not the
//! length of the history.

use crate::commit::CommitId;
use crate::history::{CommitReader, CommitSeq, HistoryError};
use std::collections::{BTreeMap, BTreeSet};

/// The maximal common ancestors of two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeBase {
    One(CommitId),
    None,
    /// Several, none of which is an ancestor of another, in ascending order.
    Several(Vec<CommitId>),
}

/// The commits that only one of two commits reaches, and where they meet.
pub(crate) struct CommitDivergence {
    /// Reachable from the first only.
    pub(crate) left: Vec<CommitSeq>,
    /// Reachable from the second only.
    pub(crate) right: Vec<CommitSeq>,
    /// The maximal commits that both reach; complete only under `WalkLimit::Bases`.
    pub(crate) bases: Vec<CommitSeq>,
}

const LEFT: u8 = 1;
const RIGHT: u8 = 2;
const BOTH: u8 = LEFT | RIGHT;
/// Marks the ancestors of a common ancestor already found.
const STALE: u8 = 4;

/// The condition that ends a walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WalkLimit {
    /// Nothing is left that only one side reaches.
    Shared,
    /// Nothing is left that could be a maximal common ancestor.
    Bases,
}

/// The commits left to visit, and how many of them still matter.
struct CommitQueue {
    flags: BTreeMap<CommitSeq, u8>,
    n_open: usize,
    until: WalkLimit,
}

impl CommitQueue {
    fn is_pending(&self, flags: u8) -> bool {
        match self.until {
            WalkLimit::Shared => flags & BOTH != BOTH,
            WalkLimit::Bases => flags & STALE == 0,
        }
    }

    fn add(&mut self, seq: CommitSeq, flags: u8) {
        let before = self.flags.get(&seq).copied();
        let after = before.unwrap_or(0) | flags;
        self.flags.insert(seq, after);
        self.n_open -= usize::from(before.is_some_and(|before| self.is_pending(before)));
        self.n_open += usize::from(self.is_pending(after));
    }

    fn pop(&mut self) -> Option<(CommitSeq, u8)> {
        if self.n_open == 0 {
            return None;
        }
        let (seq, flags) = self.flags.pop_last()?;
        self.n_open -= usize::from(self.is_pending(flags));
        Some((seq, flags))
    }
}

fn walk<C: CommitReader + ?Sized>(
    commits: &C,
    left: CommitSeq,
    right: Option<CommitSeq>,
    until: WalkLimit,
) -> Result<CommitDivergence, HistoryError> {
    let mut queue = CommitQueue { flags: BTreeMap::new(), n_open: 0, until };
    queue.add(left, LEFT);
    if let Some(right) = right {
        queue.add(right, RIGHT);
    }
    let mut apart = CommitDivergence { left: Vec::new(), right: Vec::new(), bases: Vec::new() };
    while let Some((seq, flags)) = queue.pop() {
        let mut below = flags;
        match flags {
            LEFT => apart.left.push(seq),
            RIGHT => apart.right.push(seq),
            BOTH => {
                apart.bases.push(seq);
                below |= STALE;
            }
            _ => {}
        }
        for edge in commits.node(seq)?.edges() {
            queue.add(edge, below);
        }
    }
    Ok(apart)
}

/// Returns what each of two commits reaches and the other does not, with their maximal common ancestors.
pub(crate) fn divergence<C: CommitReader + ?Sized>(
    commits: &C,
    left: CommitSeq,
    right: CommitSeq,
) -> Result<CommitDivergence, HistoryError> {
    walk(commits, left, Some(right), WalkLimit::Bases)
}

/// Returns the commits that `top` reaches and `below` does not.
pub(crate) fn commits_above<C: CommitReader + ?Sized>(
    commits: &C,
    top: CommitSeq,
    below: Option<CommitSeq>,
) -> Result<Vec<CommitSeq>, HistoryError> {
    Ok(walk(commits, top, below, WalkLimit::Shared)?.left)
}

pub(crate) fn reaches<C: CommitReader + ?Sized>(
    commits: &C,
    top: CommitSeq,
    seq: CommitSeq,
) -> Result<bool, HistoryError> {
    let mut queue = BTreeSet::from([top]);
    // Ancestors have smaller numbers, so nothing below `seq` can lead to it.
    while let Some(next) = queue.pop_last().filter(|next| *next >= seq) {
        if next == seq {
            return Ok(true);
        }
        queue.extend(commits.node(next)?.edges());
    }
    Ok(false)
}

pub(crate) fn merge_base<C: CommitReader + ?Sized>(
    commits: &C,
    left: CommitSeq,
    right: CommitSeq,
) -> Result<MergeBase, HistoryError> {
    to_merge_base(commits, &divergence(commits, left, right)?.bases)
}

pub(crate) fn to_merge_base<C: CommitReader + ?Sized>(
    commits: &C,
    bases: &[CommitSeq],
) -> Result<MergeBase, HistoryError> {
    let ids: Result<Vec<CommitId>, _> = bases.iter().map(|seq| commits.id(*seq)).collect();
    let mut ids = ids?;
    ids.sort_unstable();
    Ok(match ids.as_slice() {
        [] => MergeBase::None,
        [one] => MergeBase::One(*one),
        _ => MergeBase::Several(ids),
    })
}
