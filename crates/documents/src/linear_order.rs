//! The linear order of a commit, and which commits in it are enabled.
//!
//! A commit's order starts with its parent's order, so everything that an ancestor along the parents reaches comes
//! first. The end of an order can therefore be computed without its beginning, from the commits above such an ancestor.
//! Nothing here recurses, because histories are as deep as they are long.

use crate::ancestry;
use crate::commit::CommitKind;
use crate::history::{CommitNode, CommitReader, CommitSeq, HistoryError, SeqSet};
use std::collections::{BTreeMap, BTreeSet};

/// A commit at its position in the linear order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OrderedCommit {
    pub(crate) seq: CommitSeq,
    pub(crate) node: CommitNode,
    /// True when the commit is enabled.
    pub(crate) on: bool,
    /// The innermost merge through whose target the commit was reached.
    via: Option<CommitSeq>,
}

/// The end of a linear order: what follows the order of an ancestor.
pub(crate) struct LinearOrderTail {
    /// The commits, oldest first.
    pub(crate) listed: Vec<OrderedCommit>,
    /// Commits not listed here that a listed commit enables or disables.
    pub(crate) decided_below: BTreeSet<CommitSeq>,
}

/// Lists what follows `below` in the order of `top`; `below` is an ancestor of `top` along the parents.
pub(crate) fn tail<C: CommitReader + ?Sized>(
    commits: &C,
    top: CommitSeq,
    below: Option<CommitSeq>,
) -> Result<LinearOrderTail, HistoryError> {
    let region: SeqSet = ancestry::commits_above(commits, top, below)?.into_iter().collect();
    let mut listed = list(commits, top, &region)?;
    let decided_below = mask(&mut listed);
    Ok(LinearOrderTail { listed, decided_below })
}

enum TraversalStep {
    Enter { seq: CommitSeq, via: Option<CommitSeq> },
    Leave { seq: CommitSeq, node: CommitNode, via: Option<CommitSeq> },
}

/// Returns the commits of the region in post-order: parent, then merge target, then the commit itself.
fn list<C: CommitReader + ?Sized>(
    commits: &C,
    top: CommitSeq,
    region: &SeqSet,
) -> Result<Vec<OrderedCommit>, HistoryError> {
    let mut listed = Vec::new();
    let mut entered = SeqSet::default();
    let mut visits = vec![TraversalStep::Enter { seq: top, via: None }];
    while let Some(visit) = visits.pop() {
        match visit {
            TraversalStep::Leave { seq, node, via } => {
                listed.push(OrderedCommit { seq, node, on: true, via });
            }
            TraversalStep::Enter { seq, via } if region.contains(seq) && entered.insert(seq) => {
                let node = commits.node(seq)?;
                visits.push(TraversalStep::Leave { seq, node, via });
                if let Some(merged) = node.merged() {
                    visits.push(TraversalStep::Enter { seq: merged, via: Some(seq) });
                }
                visits.extend(node.parent.map(|parent| TraversalStep::Enter { seq: parent, via }));
            }
            TraversalStep::Enter { .. } => {}
        }
    }
    Ok(listed)
}

/// Decides, newest first, which commits are enabled; returns the commits outside the list that were decided.
fn mask(listed: &mut [OrderedCommit]) -> BTreeSet<CommitSeq> {
    let mut decided: BTreeMap<CommitSeq, bool> = BTreeMap::new();
    let mut reached = SeqSet::default();
    // Merges that are disabled, or were brought in by a disabled merge: what came in through them is off.
    let mut shut: BTreeSet<CommitSeq> = BTreeSet::new();
    for commit in listed.iter_mut().rev() {
        reached.insert(commit.seq);
        let is_behind_shut = commit.via.is_some_and(|merge| shut.contains(&merge));
        commit.on = decided.remove(&commit.seq).unwrap_or(!is_behind_shut);
        if commit.node.kind == CommitKind::Merge && (is_behind_shut || !commit.on) {
            shut.insert(commit.seq);
        }
        if let (CommitKind::Enable | CommitKind::Disable, true, Some(target)) =
            (commit.node.kind, commit.on, commit.node.target)
            && !reached.contains(target)
        {
            decided.entry(target).or_insert(commit.node.kind == CommitKind::Enable);
        }
    }
    decided.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{Commit, CommitId};
    use crate::op::DocumentId;
    use crate::state::CommitState;
    use std::sync::Arc;

    /// A history defined by a rule for its nodes.
    struct ComputedHistory(fn(u32) -> CommitNode);

    impl CommitReader for ComputedHistory {
        fn find(&self, _: &CommitId) -> Result<Option<CommitSeq>, HistoryError> {
            Ok(None)
        }
        fn end(&self) -> CommitSeq {
            CommitSeq(u32::MAX)
        }
        fn node(&self, seq: CommitSeq) -> Result<CommitNode, HistoryError> {
            Ok((self.0)(seq.0))
        }
        fn commit(&self, _: CommitSeq) -> Result<Arc<Commit>, HistoryError> {
            unreachable!("orders are made of nodes")
        }
        fn writers(&self, _: &DocumentId, _: CommitSeq) -> Result<Vec<CommitSeq>, HistoryError> {
            Ok(Vec::new())
        }
        fn snapshot(&self, _: CommitSeq) -> Result<Option<CommitState>, HistoryError> {
            Ok(None)
        }
    }

    fn numbers(rule: fn(u32) -> CommitNode, top: u32, below: Option<u32>) -> Vec<(u32, bool)> {
        let tail = tail(&ComputedHistory(rule), CommitSeq(top), below.map(CommitSeq)).unwrap();
        tail.listed.iter().map(|entry| (entry.seq.0, entry.on)).collect()
    }

    #[test]
    fn a_chain_of_a_million_commits_does_not_exhaust_the_stack() {
        let chain = |seq: u32| CommitNode {
            kind: CommitKind::Mutations,
            parent: seq.checked_sub(1).map(CommitSeq),
            target: None,
        };
        let listed = numbers(chain, 999_999, None);
        assert_eq!(listed.len(), 1_000_000);
        assert!(listed.is_sorted());
        assert_eq!(numbers(chain, 999_999, Some(999_990)).len(), 9);
    }

    #[test]
    fn neither_does_a_tower_of_merges() {
        // 0, then pairs: 2k+1 is a root of its own, 2k+2 merges the previous merge into that root.
        let tower = |seq: u32| match seq {
            0 => CommitNode { kind: CommitKind::Mutations, parent: None, target: None },
            seq if seq % 2 == 1 => CommitNode { kind: CommitKind::Mutations, parent: None, target: None },
            seq => CommitNode {
                kind: CommitKind::Merge,
                parent: Some(CommitSeq(seq - 1)),
                target: Some(CommitSeq(seq - 2)),
            },
        };
        let listed = numbers(tower, 200_000, None);
        assert_eq!(listed.len(), 200_001);
        assert_eq!(listed[0], (199_999, true));
    }

    #[test]
    fn a_merge_that_is_off_shuts_what_came_in_through_it() {
        // 0 ← 1, 0 ← 2; 3 merges 2 into 1; 4 disables 3; 5 enables 2.
        let rule = |seq: u32| match seq {
            0 => CommitNode { kind: CommitKind::Mutations, parent: None, target: None },
            1 | 2 => CommitNode { kind: CommitKind::Mutations, parent: Some(CommitSeq(0)), target: None },
            3 => {
                CommitNode { kind: CommitKind::Merge, parent: Some(CommitSeq(1)), target: Some(CommitSeq(2)) }
            }
            4 => CommitNode {
                kind: CommitKind::Disable,
                parent: Some(CommitSeq(3)),
                target: Some(CommitSeq(3)),
            },
            _ => CommitNode {
                kind: CommitKind::Enable,
                parent: Some(CommitSeq(4)),
                target: Some(CommitSeq(2)),
            },
        };
        assert_eq!(numbers(rule, 4, None), [(0, true), (1, true), (2, false), (3, false), (4, true)]);
        assert!(numbers(rule, 5, None).contains(&(2, true)));
    }
}
