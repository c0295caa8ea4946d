//! The linear order of a commit, and which commits in it are enabled.
//!
//! A commit's order starts with its parent's order, so everything that an ancestor along the parents reaches comes
//! first. The end of an order can therefore be computed without its beginning, from the commits above such an ancestor.
//! Nothing here recurses, because histories are as deep as they are long.

use crate::ancestry;
use crate::commit::Kind;
use crate::history::{Commits, HistoryError, Node, Seq, SeqSet};
use std::collections::{BTreeMap, BTreeSet};

/// A commit at its position in the linear order.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed {
    pub(crate) seq: Seq,
    pub(crate) node: Node,
    /// True when the commit is enabled.
    pub(crate) on: bool,
    /// The innermost merge through whose target the commit was reached.
    via: Option<Seq>,
}

/// The end of a linear order: what follows the order of an ancestor.
pub(crate) struct Tail {
    /// The commits, oldest first.
    pub(crate) listed: Vec<Listed>,
    /// Commits not listed here that a listed commit enables or disables.
    pub(crate) decided_below: BTreeSet<Seq>,
}

/// Lists what follows `below` in the order of `top`; `below` is an ancestor of `top` along the parents.
pub(crate) fn tail<C: Commits + ?Sized>(
    commits: &C,
    top: Seq,
    below: Option<Seq>,
) -> Result<Tail, HistoryError> {
    let region: SeqSet = ancestry::above(commits, top, below)?.into_iter().collect();
    let mut listed = list(commits, top, &region)?;
    let decided_below = mask(&mut listed);
    Ok(Tail { listed, decided_below })
}

enum Visit {
    Enter { seq: Seq, via: Option<Seq> },
    Leave { seq: Seq, node: Node, via: Option<Seq> },
}

/// Returns the commits of the region in post-order: parent, then merge target, then the commit itself.
fn list<C: Commits + ?Sized>(commits: &C, top: Seq, region: &SeqSet) -> Result<Vec<Listed>, HistoryError> {
    let mut listed = Vec::new();
    let mut entered = SeqSet::default();
    let mut visits = vec![Visit::Enter { seq: top, via: None }];
    while let Some(visit) = visits.pop() {
        match visit {
            Visit::Leave { seq, node, via } => listed.push(Listed { seq, node, on: true, via }),
            Visit::Enter { seq, via } if region.contains(seq) && entered.insert(seq) => {
                let node = commits.node(seq)?;
                visits.push(Visit::Leave { seq, node, via });
                if let Some(merged) = node.merged() {
                    visits.push(Visit::Enter { seq: merged, via: Some(seq) });
                }
                visits.extend(node.parent.map(|parent| Visit::Enter { seq: parent, via }));
            }
            Visit::Enter { .. } => {}
        }
    }
    Ok(listed)
}

/// Decides, newest first, which commits are enabled; returns the commits outside the list that were decided.
fn mask(listed: &mut [Listed]) -> BTreeSet<Seq> {
    let mut decided: BTreeMap<Seq, bool> = BTreeMap::new();
    let mut reached = SeqSet::default();
    // Merges that are disabled, or were brought in by a disabled merge: what came in through them is off.
    let mut shut: BTreeSet<Seq> = BTreeSet::new();
    for commit in listed.iter_mut().rev() {
        reached.insert(commit.seq);
        let is_behind_shut = commit.via.is_some_and(|merge| shut.contains(&merge));
        commit.on = decided.remove(&commit.seq).unwrap_or(!is_behind_shut);
        if commit.node.kind == Kind::Merge && (is_behind_shut || !commit.on) {
            shut.insert(commit.seq);
        }
        if let (Kind::Enable | Kind::Disable, true, Some(target)) =
            (commit.node.kind, commit.on, commit.node.target)
            && !reached.contains(target)
        {
            decided.entry(target).or_insert(commit.node.kind == Kind::Enable);
        }
    }
    decided.into_keys().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::{Commit, CommitId};
    use crate::op::DocumentId;
    use crate::state::State;
    use std::sync::Arc;

    /// A history defined by a rule for its nodes.
    struct Rule(fn(u32) -> Node);

    impl Commits for Rule {
        fn find(&self, _: &CommitId) -> Result<Option<Seq>, HistoryError> {
            Ok(None)
        }
        fn end(&self) -> Seq {
            Seq(u32::MAX)
        }
        fn node(&self, seq: Seq) -> Result<Node, HistoryError> {
            Ok((self.0)(seq.0))
        }
        fn commit(&self, _: Seq) -> Result<Arc<Commit>, HistoryError> {
            unreachable!("orders are made of nodes")
        }
        fn writers(&self, _: &DocumentId, _: Seq) -> Result<Vec<Seq>, HistoryError> {
            Ok(Vec::new())
        }
        fn snapshot(&self, _: Seq) -> Result<Option<State>, HistoryError> {
            Ok(None)
        }
    }

    fn numbers(rule: fn(u32) -> Node, top: u32, below: Option<u32>) -> Vec<(u32, bool)> {
        let tail = tail(&Rule(rule), Seq(top), below.map(Seq)).unwrap();
        tail.listed.iter().map(|entry| (entry.seq.0, entry.on)).collect()
    }

    #[test]
    fn a_chain_of_a_million_commits_does_not_exhaust_the_stack() {
        let chain =
            |seq: u32| Node { kind: Kind::Mutations, parent: seq.checked_sub(1).map(Seq), target: None };
        let listed = numbers(chain, 999_999, None);
        assert_eq!(listed.len(), 1_000_000);
        assert!(listed.is_sorted());
        assert_eq!(numbers(chain, 999_999, Some(999_990)).len(), 9);
    }

    #[test]
    fn neither_does_a_tower_of_merges() {
        // 0, then pairs: 2k+1 is a root of its own, 2k+2 merges the previous merge into that root.
        let tower = |seq: u32| match seq {
            0 => Node { kind: Kind::Mutations, parent: None, target: None },
            seq if seq % 2 == 1 => Node { kind: Kind::Mutations, parent: None, target: None },
            seq => Node { kind: Kind::Merge, parent: Some(Seq(seq - 1)), target: Some(Seq(seq - 2)) },
        };
        let listed = numbers(tower, 200_000, None);
        assert_eq!(listed.len(), 200_001);
        assert_eq!(listed[0], (199_999, true));
    }

    #[test]
    fn a_merge_that_is_off_shuts_what_came_in_through_it() {
        // 0 ← 1, 0 ← 2; 3 merges 2 into 1; 4 disables 3; 5 enables 2.
        let rule = |seq: u32| match seq {
            0 => Node { kind: Kind::Mutations, parent: None, target: None },
            1 | 2 => Node { kind: Kind::Mutations, parent: Some(Seq(0)), target: None },
            3 => Node { kind: Kind::Merge, parent: Some(Seq(1)), target: Some(Seq(2)) },
            4 => Node { kind: Kind::Disable, parent: Some(Seq(3)), target: Some(Seq(3)) },
            _ => Node { kind: Kind::Enable, parent: Some(Seq(4)), target: Some(Seq(2)) },
        };
        assert_eq!(numbers(rule, 4, None), [(0, true), (1, true), (2, false), (3, false), (4, true)]);
        assert!(numbers(rule, 5, None).contains(&(2, true)));
    }
}
