//! The append-only Merkle tree of RFC 6962: hashes, roots, proofs and their verification (RFC 9162, section 2.1).
//!
//! A tree over a growing list of leaves has one root for each size. An inclusion proof shows that a leaf is in the tree
//! of a root; a consistency proof shows that a tree only grew, so that no earlier leaf was changed or removed.
//!
//! Only subtrees that are complete are ever stored. They are named by their level (0 is a leaf) and their position on
//! that level; the one who stores them hands in a function that looks one up.

use crate::Digest;
use crate::digest::DigestHasher;
use serde::{Deserialize, Serialize};

/// The size of a tree and its root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeHead {
    /// The number of leaves.
    pub size: u64,
    pub root: Digest,
}

impl TreeHead {
    /// The head of a tree without leaves.
    pub fn empty() -> Self {
        Self { size: 0, root: Digest::of(&[]) }
    }
}

/// One entry of a log: the event `seq` of the log `log`, under the name that its writer gave it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogLeaf<Event = String> {
    pub log: String,
    /// Starts at 1 in every log.
    pub seq: u64,
    pub name: String,
    /// What happened; for evidence and receipts, their digest.
    pub event: Event,
}

impl<Event: AsRef<[u8]>> LogLeaf<Event> {
    /// Returns the bytes that the tree covers. Neither the log nor the name has a line break, so no two leaves share them.
    pub fn to_bytes(&self) -> Vec<u8> {
        let Self { log, seq, name, event } = self;
        [format!("probity/log-leaf/v1\n{log}\n{seq}\n{name}\n").as_bytes(), event.as_ref()].concat()
    }

    pub fn hash(&self) -> Digest {
        leaf_hash(&self.to_bytes())
    }
}

/// Names a log by the hash of its first leaf, which the one who began it made unique.
pub fn log_origin(first_leaf: &Digest) -> String {
    format!("probity.dev/log/{}", &first_leaf.to_hex()[..16])
}

pub fn leaf_hash(leaf: &[u8]) -> Digest {
    hash(&[&[0], leaf])
}

pub fn node_hash(left: &Digest, right: &Digest) -> Digest {
    hash(&[&[1], left.as_bytes(), right.as_bytes()])
}

fn hash(parts: &[&[u8]]) -> Digest {
    let mut hasher = DigestHasher::default();
    for part in parts {
        hasher.update(part);
    }
    hasher.finish()
}

/// Returns the hashes of the subtrees that the leaf `number` (from 0) completes, level 0 first.
pub fn completed_subtrees<E>(
    number: u64,
    leaf: Digest,
    mut subtree: impl FnMut(u32, u64) -> Result<Digest, E>,
) -> Result<Vec<Digest>, E> {
    let mut hashes = vec![leaf];
    let mut last = leaf;
    for level in 0..number.trailing_ones() {
        last = node_hash(&subtree(level, (number >> level) - 1)?, &last);
        hashes.push(last);
    }
    Ok(hashes)
}

/// Returns the head of the tree of the first `size` leaves.
pub fn head<E>(size: u64, mut subtree: impl FnMut(u32, u64) -> Result<Digest, E>) -> Result<TreeHead, E> {
    let root = if size == 0 { TreeHead::empty().root } else { range(0, size, &mut subtree)? };
    Ok(TreeHead { size, root })
}

/// Proves that leaf `number` is in the tree of `size` leaves; `None` if it is not.
pub fn inclusion_proof<E>(
    number: u64,
    size: u64,
    mut subtree: impl FnMut(u32, u64) -> Result<Digest, E>,
) -> Result<Option<Vec<Digest>>, E> {
    if number >= size {
        return Ok(None);
    }
    let (mut from, mut to, mut proof) = (0, size, Vec::new());
    while to - from > 1 {
        let middle = from + split(to - from);
        let (other, rest) =
            if number < middle { ((middle, to), (from, middle)) } else { ((from, middle), (middle, to)) };
        proof.push(range(other.0, other.1, &mut subtree)?);
        (from, to) = rest;
    }
    proof.reverse();
    Ok(Some(proof))
}

/// Proves that the tree of `new` leaves begins with the tree of `old` leaves; `None` if `old` is larger.
pub fn consistency_proof<E>(
    old: u64,
    new: u64,
    mut subtree: impl FnMut(u32, u64) -> Result<Digest, E>,
) -> Result<Option<Vec<Digest>>, E> {
    if old > new {
        return Ok(None);
    }
    if old == 0 || old == new {
        return Ok(Some(Vec::new()));
    }
    let (mut from, mut to, mut proof) = (0, new, Vec::new());
    // The verifier knows the old root, so a part that is the whole old tree is not sent.
    let mut is_old_tree = true;
    while to != old {
        let middle = from + split(to - from);
        if old <= middle {
            proof.push(range(middle, to, &mut subtree)?);
            to = middle;
        } else {
            proof.push(range(from, middle, &mut subtree)?);
            (from, is_old_tree) = (middle, false);
        }
    }
    if !is_old_tree {
        proof.push(range(from, to, &mut subtree)?);
    }
    proof.reverse();
    Ok(Some(proof))
}

/// Verifies an inclusion proof.
pub fn verify_inclusion(leaf: &Digest, number: u64, head: &TreeHead, proof: &[Digest]) -> bool {
    if number >= head.size {
        return false;
    }
    let (mut index, mut last, mut computed) = (number, head.size - 1, *leaf);
    for hash in proof {
        if last == 0 {
            return false;
        }
        if index & 1 == 1 || index == last {
            computed = node_hash(hash, &computed);
            (index, last) = skip_complete(index, last);
        } else {
            computed = node_hash(&computed, hash);
        }
        (index, last) = (index >> 1, last >> 1);
    }
    last == 0 && computed == head.root
}

/// Verifies a consistency proof.
pub fn verify_consistency(old: &TreeHead, new: &TreeHead, proof: &[Digest]) -> bool {
    if old.size == 0 || old.size >= new.size {
        return proof.is_empty() && (*old == TreeHead::empty() || old == new);
    }
    let first = old.size.is_power_of_two().then_some(old.root);
    let mut hashes = first.iter().chain(proof);
    let shift = (old.size - 1).trailing_ones();
    let (mut index, mut last) = ((old.size - 1) >> shift, (new.size - 1) >> shift);
    let Some(start) = hashes.next() else { return false };
    let (mut old_root, mut new_root) = (*start, *start);
    for hash in hashes {
        if last == 0 {
            return false;
        }
        if index & 1 == 1 || index == last {
            (old_root, new_root) = (node_hash(hash, &old_root), node_hash(hash, &new_root));
            (index, last) = skip_complete(index, last);
        } else {
            new_root = node_hash(&new_root, hash);
        }
        (index, last) = (index >> 1, last >> 1);
    }
    last == 0 && (old_root, new_root) == (old.root, new.root)
}

/// Skips the levels on which the node at `index` has no right sibling and is no right sibling itself.
const fn skip_complete(index: u64, last: u64) -> (u64, u64) {
    if index & 1 == 1 || index == 0 {
        return (index, last);
    }
    let shift = index.trailing_zeros();
    (index >> shift, last >> shift)
}

/// Returns the largest power of two below `size`, which is at least 2.
const fn split(size: u64) -> u64 {
    1 << (size - 1).ilog2()
}

fn range<E>(
    from: u64,
    to: u64,
    subtree: &mut impl FnMut(u32, u64) -> Result<Digest, E>,
) -> Result<Digest, E> {
    let size = to - from;
    if size.is_power_of_two() && from.is_multiple_of(size) {
        return subtree(size.ilog2(), from / size);
    }
    let middle = from + split(size);
    Ok(node_hash(&range(from, middle, subtree)?, &range(middle, to, subtree)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    /// The leaves of the reference implementation of RFC 6962.
    const LEAVES: [&str; 8] =
        ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
    /// The roots that the reference implementation has for the first 1 to 8 of these leaves.
    const ROOTS: [&str; 8] = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];

    #[derive(Default)]
    struct Tree {
        leaves: Vec<Digest>,
        subtrees: BTreeMap<(u32, u64), Digest>,
    }

    impl Tree {
        fn of(leaves: impl IntoIterator<Item = Vec<u8>>) -> Self {
            let mut tree = Self::default();
            for leaf in leaves {
                let number = tree.leaves.len() as u64;
                let hash = leaf_hash(&leaf);
                let hashes = completed_subtrees(number, hash, tree.lookup()).expect("is there");
                for (level, hash) in (0_u32..).zip(hashes) {
                    tree.subtrees.insert((level, number >> level), hash);
                }
                tree.leaves.push(hash);
            }
            tree
        }

        fn lookup(&self) -> impl FnMut(u32, u64) -> Result<Digest, Infallible> {
            |level, position| Ok(self.subtrees[&(level, position)])
        }

        fn head(&self, size: u64) -> TreeHead {
            let Ok(head) = head(size, self.lookup());
            head
        }
    }

    #[test]
    fn roots_are_those_of_the_reference_implementation() {
        let tree = Tree::of(LEAVES.map(|leaf| hex::decode(leaf).expect("hex")));
        assert_eq!(tree.head(0).root, Digest::of(b""));
        for (size, root) in (1..).zip(ROOTS) {
            assert_eq!(tree.head(size).root.to_hex(), root, "{size} leaves");
        }
    }

    #[test]
    fn proofs_are_those_of_the_reference_implementation() {
        let tree = Tree::of(LEAVES.map(|leaf| hex::decode(leaf).expect("hex")));
        let Ok(path) = inclusion_proof(5, 8, tree.lookup());
        let path: Vec<String> = path.expect("is in it").iter().map(Digest::to_hex).collect();
        assert_eq!(
            path,
            [
                "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ]
        );
        let Ok(proof) = consistency_proof(6, 8, tree.lookup());
        let proof: Vec<String> = proof.expect("grew").iter().map(Digest::to_hex).collect();
        assert_eq!(
            proof,
            [
                "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
                "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
                "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            ]
        );
    }

    #[test]
    fn every_proof_verifies_and_nothing_else_does() {
        let tree = Tree::of((0..40_u8).map(|n| vec![n]));
        let other = Digest::of(b"other");
        for new in 0..=40 {
            let head = tree.head(new);
            for old in 0..=new {
                let Ok(Some(proof)) = consistency_proof(old, new, tree.lookup()) else { panic!("grew") };
                let before = tree.head(old);
                assert!(verify_consistency(&before, &head, &proof), "{old} to {new}");
                assert!(!verify_consistency(&TreeHead { root: other, ..before }, &head, &proof));
                assert!(!verify_consistency(&before, &TreeHead { root: other, ..head }, &proof) || old == 0);
                assert!(!verify_consistency(&before, &head, &[proof.clone(), vec![other]].concat()));
                for n in 0..proof.len() {
                    let mut changed = proof.clone();
                    changed[n] = other;
                    assert!(!verify_consistency(&before, &head, &changed), "{old} to {new}, hash {n}");
                    assert!(!verify_consistency(&before, &head, &proof[..n]));
                }
            }
            for number in 0..new {
                let Ok(Some(proof)) = inclusion_proof(number, new, tree.lookup()) else { panic!("is in") };
                let leaf = tree.leaves[usize::try_from(number).expect("small")];
                assert!(verify_inclusion(&leaf, number, &head, &proof), "{number} in {new}");
                assert!(!verify_inclusion(&other, number, &head, &proof));
                assert!(!verify_inclusion(&leaf, number + 1, &head, &proof));
                assert!(!verify_inclusion(&leaf, number, &head, &[proof.clone(), vec![other]].concat()));
                for n in 0..proof.len() {
                    assert!(!verify_inclusion(&leaf, number, &head, &proof[..n]));
                }
            }
        }
        assert!(!verify_consistency(&tree.head(9), &tree.head(8), &[]));
    }

    #[test]
    fn what_is_not_there_has_no_proof() {
        let tree = Tree::of([vec![1]]);
        assert_eq!(inclusion_proof(1, 1, tree.lookup()), Ok(None));
        assert_eq!(consistency_proof(2, 1, tree.lookup()), Ok(None));
    }

    #[test]
    fn a_leaf_is_told_from_every_other() {
        let leaf =
            LogLeaf { log: "bundles".into(), seq: 3, name: "r1".into(), event: "sha256:00".to_owned() };
        assert_eq!(leaf.to_bytes(), b"probity/log-leaf/v1\nbundles\n3\nr1\nsha256:00");
        assert_ne!(leaf.hash(), LogLeaf { seq: 4, ..leaf.clone() }.hash());
    }
}
