//! What was staged between two observations, as a pure function of both indexes, the commit and the tree.
//!
//! An entry counts if it changed, and holds neither what the checked-out commit holds nor what the working tree holds:
//! the tree and the commits are judged by themselves. A flag that hides edits from git counts too.

use probity_snapshot::GitId;
use probity_snapshot::git::{IndexEntry, IndexListing, TreeSide};
use std::collections::BTreeSet;

/// An entry of the index that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StagedChange {
    /// From the top of the working tree.
    pub path: Vec<u8>,
    pub before: TreeSide,
    pub after: TreeSide,
    pub kind: StagedKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StagedKind {
    /// It holds what the working tree holds.
    AsInTree,
    /// It holds something else than the working tree, or lies in conflict. Whether it counts depends on the commit.
    Differs,
    /// It holds the same, and git is not to look at the file any more.
    HidesEdits,
}

/// The entry of the working tree at a path of the index.
pub trait TreeLookup {
    /// Returns mode and blob id as git would store them without filters; `None` if there is no file.
    fn entry(&self, path: &[u8]) -> TreeSide;
}

/// Returns the changed entries, sorted by path.
pub fn staged_changes(
    before: &IndexListing,
    after: &IndexListing,
    tree: &dyn TreeLookup,
) -> Vec<StagedChange> {
    let names = before.entries.keys().chain(after.entries.keys());
    let in_conflict = before.unmerged.keys().chain(after.unmerged.keys());
    let names: BTreeSet<&Vec<u8>> = names.chain(in_conflict).collect();
    let change = |path: &Vec<u8>| {
        let (old, new) = (before.entries.get(path), after.entries.get(path));
        let (before_side, after_side) = (side(old), side(new));
        let is_hidden = |entry: Option<&IndexEntry>| entry.is_some_and(IndexEntry::hides_edits);
        let kind =
            if before.unmerged.get(path) != after.unmerged.get(path) && after.unmerged.contains_key(path) {
                StagedKind::Differs
            } else if before_side != after_side {
                if same_content(&after_side, &tree.entry(path)) {
                    StagedKind::AsInTree
                } else {
                    StagedKind::Differs
                }
            } else if is_hidden(new) && !is_hidden(old) && tree.entry(path).is_some() {
                StagedKind::HidesEdits
            } else {
                return None;
            };
        Some(StagedChange { path: path.clone(), before: before_side, after: after_side, kind })
    };
    names.into_iter().filter_map(change).collect()
}

fn side(entry: Option<&IndexEntry>) -> TreeSide {
    entry.map(|entry| (entry.mode, entry.id.clone()))
}

/// Compares two sides; old repositories know files with the mode 664.
pub fn same_content(one: &TreeSide, other: &TreeSide) -> bool {
    let plain = |side: &TreeSide| -> Option<(u32, GitId)> {
        side.clone().map(|(mode, id)| (if mode == 0o100_664 { 0o100_644 } else { mode }, id))
    };
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    struct Tree(BTreeMap<&'static [u8], u8>);

    impl TreeLookup for Tree {
        fn entry(&self, path: &[u8]) -> TreeSide {
            self.0.get(path).map(|n| (0o100_644, id(*n)))
        }
    }

    fn id(n: u8) -> GitId {
        GitId::from_bytes(&[n; 20]).expect("an id")
    }

    fn listing(entries: &[(&str, u8)]) -> IndexListing {
        let entry = |(name, n): &(&str, u8)| (name.as_bytes().to_vec(), IndexEntry::new(0o100_644, id(*n)));
        IndexListing { entries: entries.iter().map(entry).collect(), ..IndexListing::default() }
    }

    fn kinds(
        before: &IndexListing,
        after: &IndexListing,
        tree: &[(&'static str, u8)],
    ) -> Vec<(String, StagedKind)> {
        let tree = Tree(tree.iter().map(|(name, n)| (name.as_bytes(), *n)).collect());
        let shown = |it: StagedChange| (String::from_utf8(it.path).expect("text"), it.kind);
        staged_changes(before, after, &tree).into_iter().map(shown).collect()
    }

    #[test]
    fn what_is_staged_is_told_from_what_the_tree_holds() {
        let before = listing(&[("a", 1), ("b", 1), ("c", 1), ("d", 1)]);
        let after = listing(&[("a", 1), ("b", 2), ("c", 2), ("e", 1)]);
        let found = kinds(&before, &after, &[("a", 9), ("b", 2), ("c", 1), ("d", 1)]);
        let differs = |name: &str| (name.to_owned(), StagedKind::Differs);
        assert_eq!(found, [("b".to_owned(), StagedKind::AsInTree), differs("c"), differs("d"), differs("e")]);
        let removed = kinds(&listing(&[("a", 1)]), &listing(&[]), &[]);
        assert_eq!(removed, [("a".to_owned(), StagedKind::AsInTree)], "`git rm`");
    }

    #[test]
    fn flags_and_conflicts_count() {
        let plain = listing(&[("a", 1), ("gone", 1)]);
        let mut flagged = plain.clone();
        for entry in flagged.entries.values_mut() {
            entry.skip_worktree = true;
        }
        let hides = [("a".to_owned(), StagedKind::HidesEdits)];
        assert_eq!(kinds(&plain, &flagged, &[("a", 1)]), hides, "a sparse checkout has no such file");
        assert_eq!(kinds(&flagged, &plain, &[("a", 1)]), []);
        let mut conflict = listing(&[("gone", 1)]);
        conflict.unmerged.insert(b"a".to_vec(), vec![(0o100_644, id(1)), (0o100_644, id(2))]);
        assert_eq!(kinds(&plain, &conflict, &[("a", 1)]), [("a".to_owned(), StagedKind::Differs)]);
        assert_eq!(kinds(&conflict, &conflict, &[("a", 1)]), []);
    }
}
