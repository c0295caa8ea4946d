//! Disjoint sets (union-find).

use crate::facts::count;

/// Disjoint sets; the root of a set is its smallest member.
#[derive(Debug, Default)]
pub(super) struct Forest(Vec<u32>);

impl Forest {
    pub(super) fn add(&mut self) -> u32 {
        let node = count(self.0.len());
        self.0.push(node);
        node
    }

    pub(super) fn root(&self, mut node: u32) -> u32 {
        while self.0[node as usize] != node {
            node = self.0[node as usize];
        }
        node
    }

    /// Joins two sets. Returns false if they already were one.
    pub(super) fn join(&mut self, one: u32, other: u32) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other) as usize] = one.min(other);
        one != other
    }
}
