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

    pub(crate) fn contains(&self, id: &GitId) -> bool {
        self.index.contains_key(id)
    }

    /// Returns the merges that `tip` leads to and `known` does not, each with its parents, newest first.
    pub(crate) fn merges_between(&self, tip: &GitId, known: Option<&GitId>) -> Vec<Vec<GitId>> {
        let (Some(&tip), known) = (self.index.get(tip), known.and_then(|id| self.index.get(id))) else {
            return Vec::new();
        };
        let mut flags = vec![0_u8; self.ids.len()];
        flags[tip as usize] = OF_OURS;
        if let Some(&known) = known {
            flags[known as usize] |= BELOW_A_BASE;
        }
        let mut merges = Vec::new();
        for (at, parents) in self.parents.iter().enumerate() {
            for &parent in parents {
                flags[parent as usize] |= flags[at];
            }
            if flags[at] == OF_OURS && parents.len() > 1 {
                let ids =
                    std::iter::once(&self.ids[at]).chain(parents.iter().map(|&at| &self.ids[at as usize]));
                merges.push(ids.cloned().collect());
            }
        }
        merges
    }

    /// Returns the newest commits that `tip` leads to and `known` do not, without merges, each with its parent, newest first.
    /// At most `limit` of them.
    pub(crate) fn commits_between(&self, tip: &GitId, known: &[GitId], limit: usize) -> Vec<Vec<GitId>> {
        let mut flags: BTreeMap<u32, u8> = BTreeMap::new();
        let starts = known.iter().map(|id| (id, BELOW_A_BASE)).chain([(tip, OF_OURS)]);
        for (id, flag) in starts {
            if let Some(&at) = self.index.get(id) {
                *flags.entry(at).or_default() |= flag;
            }
        }
        let mut found = Vec::new();
        // Children come before parents, so that a commit has all its flags when its turn comes.
        let mut n_open = flags.values().filter(|&&flag| flag & BELOW_A_BASE == 0).count();
        while n_open > 0 && found.len() < limit {
            let Some((at, flag)) = flags.pop_first() else { break };
            let parents = &self.parents[at as usize];
            if flag & BELOW_A_BASE == 0 {
                n_open -= 1;
                if parents.len() < 2 {
                    let ids = std::iter::once(at).chain(parents.iter().copied());
                    found.push(ids.map(|at| self.ids[at as usize].clone()).collect());
                }
            }
            for &parent in parents {
                let before = flags.get(&parent).copied();
                let after = before.unwrap_or_default() | flag;
                flags.insert(parent, after);
                match before {
                    None => n_open += usize::from(after & BELOW_A_BASE == 0),
                    Some(before) if before & BELOW_A_BASE == 0 && after & BELOW_A_BASE != 0 => n_open -= 1,
                    Some(_) => {}
                }
            }
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
    fn commits_of_a_side_are_those_below_its_tip_and_not_below_the_base() {
        let history: &[&[u8]] = &[&[6, 5, 4], &[5, 3], &[4, 2], &[3, 2], &[2, 1], &[1]];
        let history = history.iter().map(|ids| ids.iter().map(|&number| id(number)).collect()).collect();
        let graph = CommitGraph::new(history);
        assert_eq!(graph.commits_between(&id(5), &[id(2)], 9), [[id(5), id(3)], [id(3), id(2)]]);
        // A merge is left out, its sides are not.
        assert_eq!(graph.commits_between(&id(6), &[id(3)], 9), [[id(5), id(3)], [id(4), id(2)]]);
        assert_eq!(graph.commits_between(&id(6), &[], 1).len(), 1);
        assert_eq!(graph.commits_between(&id(1), &[], 9), [[id(1)]]);
    }

    #[test]
    fn unrelated_histories_have_none() {
        assert!(bases(&[&[2], &[1]], 2, 1).is_empty());
    }
}
