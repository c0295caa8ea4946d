//! Merge bases of many merges from one listing of the history, without a process per merge.

use probity_snapshot::GitId;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

const OF_OURS: u8 = 1;
const OF_THEIRS: u8 = 2;
const BELOW_A_BASE: u8 = 4;
const IS_BASE: u8 = 8;

/// Commits in topological order: children before parents.
pub(crate) struct CommitGraph {
    pub(crate) ids: Vec<GitId>,
    parents: Vec<Vec<u32>>,
    index: BTreeMap<GitId, u32>,
    flags: Vec<u8>,
}

impl CommitGraph {
    /// Takes commits with their parents, children first. Parents that are not listed are left out.
    pub(crate) fn new(history: Vec<Vec<GitId>>) -> Self {
        let to_u32 = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let index: BTreeMap<GitId, u32> = history
            .iter()
            .enumerate()
            .filter_map(|(at, ids)| Some((ids.first()?.clone(), to_u32(at))))
            .collect();
        let parents = history
            .iter()
            .map(|ids| ids.iter().skip(1).filter_map(|id| index.get(id).copied()).collect())
            .collect();
        let flags = vec![0; history.len()];
        let ids = history.into_iter().filter_map(|ids| ids.into_iter().next()).collect();
        Self { ids, parents, index, flags }
    }

    /// Returns the best common ancestors of two commits.
    pub(crate) fn merge_bases(&mut self, ours: &GitId, theirs: &GitId) -> Vec<GitId> {
        let (Some(&ours), Some(&theirs)) = (self.index.get(ours), self.index.get(theirs)) else {
            return Vec::new();
        };
        if ours == theirs {
            return vec![self.ids[ours as usize].clone()];
        }
        let mut touched: Vec<u32> = Vec::new();
        let mut queue: BinaryHeap<Reverse<u32>> = BinaryHeap::new();
        // Commits in the queue that may still lead to a base.
        let mut n_open = 0_usize;
        for (start, flag) in [(ours, OF_OURS), (theirs, OF_THEIRS)] {
            self.flags[start as usize] |= flag;
            touched.push(start);
            queue.push(Reverse(start));
            n_open += 1;
        }
        let mut bases = Vec::new();
        while n_open > 0 {
            let Some(Reverse(at)) = queue.pop() else { break };
            let mut flags = self.flags[at as usize];
            if flags & BELOW_A_BASE == 0 {
                n_open -= 1;
                if flags & OF_OURS != 0 && flags & OF_THEIRS != 0 {
                    self.flags[at as usize] |= IS_BASE;
                    bases.push(at);
                    flags |= BELOW_A_BASE;
                }
            }
            let inherited = flags & !IS_BASE;
            for parent_at in 0..self.parents[at as usize].len() {
                let parent = self.parents[at as usize][parent_at];
                let before = self.flags[parent as usize];
                let after = before | inherited;
                if before == after {
                    continue;
                }
                self.flags[parent as usize] = after;
                if before == 0 {
                    touched.push(parent);
                    queue.push(Reverse(parent));
                    n_open += usize::from(after & BELOW_A_BASE == 0);
                } else if before & BELOW_A_BASE == 0 && after & BELOW_A_BASE != 0 {
                    // It is still in the queue, because children come before parents.
                    n_open = n_open.saturating_sub(1);
                }
            }
        }
        let found = bases.iter().filter(|&&at| self.flags[at as usize] & BELOW_A_BASE == 0);
        let found: Vec<GitId> = found.map(|&at| self.ids[at as usize].clone()).collect();
        for at in touched {
            self.flags[at as usize] = 0;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> GitId {
        GitId::from_bytes(&[number; 20]).expect("an id")
    }

    fn bases(history: &[&[u8]], ours: u8, theirs: u8) -> Vec<GitId> {
        let history = history.iter().map(|ids| ids.iter().map(|&number| id(number)).collect()).collect();
        CommitGraph::new(history).merge_bases(&id(ours), &id(theirs))
    }

    #[test]
    fn the_newest_common_ancestor_is_the_base() {
        assert_eq!(bases(&[&[5, 3], &[4, 2], &[3, 2], &[2, 1], &[1]], 5, 4), [id(2)]);
        assert_eq!(bases(&[&[2, 1], &[1]], 2, 1), [id(1)]);
    }

    #[test]
    fn crossed_merges_have_several_bases() {
        let crossed: &[&[u8]] = &[&[5, 3, 2], &[4, 2, 3], &[3, 1], &[2, 1], &[1]];
        assert_eq!(bases(crossed, 5, 4), [id(3), id(2)]);
    }

    #[test]
    fn unrelated_histories_have_none() {
        assert!(bases(&[&[2], &[1]], 2, 1).is_empty());
    }
}
