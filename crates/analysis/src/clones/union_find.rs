//! Sets that only ever join.

use crate::facts::count;

/// Disjoint sets of nodes; the root of a set is its smallest member. Without ranks, so that the root is that member;
/// halving paths on the way keeps look-ups short all the same.
#[derive(Debug, Default)]
pub(super) struct UnionFind(Vec<u32>);

impl UnionFind {
    /// Adds a set of one new node.
    pub(super) fn add(&mut self) -> u32 {
        let node = count(self.0.len());
        self.0.push(node);
        node
    }

    /// The root of the set that holds `node`.
    pub(super) fn find(&mut self, mut node: u32) -> u32 {
        while self.0[node as usize] != node {
            let above = self.0[node as usize] as usize;
            self.0[node as usize] = self.0[above];
            node = self.0[above];
        }
        node
    }

    /// Joins two sets, and answers whether they were apart.
    pub(super) fn union(&mut self, one: u32, other: u32) -> bool {
        let (one, other) = (self.find(one), self.find(other));
        self.0[one.max(other) as usize] = one.min(other);
        one != other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_chain_joins_once_and_its_root_is_the_smallest() {
        let mut sets = UnionFind::default();
        let nodes: Vec<u32> = (0..1_000).map(|_| sets.add()).collect();
        // From the back, so that every link lengthens the chain.
        for pair in nodes.windows(2).rev() {
            assert!(sets.union(pair[0], pair[1]));
        }
        assert!(nodes.iter().all(|node| sets.find(*node) == 0));
        assert!(!sets.union(3, 997));
        assert!(sets.0.iter().all(|above| *above == 0), "looking up shortened every path");
    }
}
