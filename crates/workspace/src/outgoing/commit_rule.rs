//! Which paths a set of new commits changes, as a pure function of their differences.
//!
//! A commit changes the paths where it differs from all its parents. A merge also changes a path where it holds what
//! its parents had in common although one of them has something else: it drops that side's change. Everything else in
//! a merge came from a parent, which is judged itself or was there before.
//!
//! A rewritten commit (amend, rebase, squash) repeats changes of the commits that it replaces. A change that leaves a
//! path as a replaced commit left it is not new, if the commit is reached only through references that were rewritten
//! like that.

use probity_paths::RepoPath;
use probity_snapshot::GitId;
use probity_snapshot::git::{TreeDiffEntry, TreeSide};
use std::collections::{BTreeMap, BTreeSet};

/// A new commit and its differences.
#[derive(Debug, Default)]
pub struct CommitDiffs {
    pub parents: Vec<GitId>,
    /// The differences from each parent; for a root commit, from nothing.
    pub from_parents: Vec<Vec<TreeDiffEntry>>,
    /// For a merge, the paths that differ from what its parents had in common, one set per common ancestor. `None` if
    /// the ancestors are not known: then a merge changes every path where it differs from any parent.
    pub from_bases: Option<Vec<BTreeSet<RepoPath>>>,
}

impl CommitDiffs {
    /// Returns the paths that this commit changes.
    pub fn changes(&self) -> Vec<&TreeDiffEntry> {
        if self.from_parents.len() < 2 {
            return self.from_parents.iter().flatten().collect();
        }
        let mut by_path: BTreeMap<&RepoPath, (usize, &TreeDiffEntry)> = BTreeMap::new();
        for entry in self.from_parents.iter().flatten() {
            by_path.entry(&entry.path).or_insert((0, entry)).0 += 1;
        }
        let is_dropped = |path: &RepoPath| match &self.from_bases {
            None => true,
            Some(bases) => !bases.is_empty() && !bases.iter().any(|base| base.contains(path)),
        };
        let is_changed = |(path, (n_parents, _)): &(&RepoPath, (usize, &TreeDiffEntry))| {
            *n_parents == self.from_parents.len() || is_dropped(path)
        };
        by_path.into_iter().filter(is_changed).map(|(_, (_, entry))| entry).collect()
    }
}

/// A reference that leads to new commits.
#[derive(Debug)]
pub struct MovedTip {
    pub name: String,
    pub commit: GitId,
    /// How the commits that this reference no longer leads to left their paths; `None` for a reference that was not
    /// there before.
    pub replaced: Option<BTreeSet<(RepoPath, TreeSide)>>,
}

/// A path that a new commit changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommittedChange {
    pub entry: TreeDiffEntry,
    pub commit: GitId,
    /// A reference that leads to the commit.
    pub reference: String,
}

/// Returns what each new commit changes, in the order in which the references lead to the commits.
pub fn committed_changes(commits: &BTreeMap<GitId, CommitDiffs>, tips: &[MovedTip]) -> Vec<CommittedChange> {
    let mut reached_by: BTreeMap<&GitId, Vec<&MovedTip>> = BTreeMap::new();
    let mut order: Vec<&GitId> = Vec::new();
    for tip in tips {
        for id in reachable(commits, &tip.commit) {
            let reached = reached_by.entry(id).or_default();
            if reached.is_empty() {
                order.push(id);
            }
            reached.push(tip);
        }
    }
    let mut changes = Vec::new();
    for id in order {
        let tips = &reached_by[id];
        let new = commits[id].changes().into_iter().filter(|entry| !is_replacement(entry, tips));
        changes.extend(new.map(|entry| CommittedChange {
            entry: entry.clone(),
            commit: id.clone(),
            reference: tips[0].name.clone(),
        }));
    }
    changes
}

/// Returns whether every rewritten reference held this change before.
fn is_replacement(entry: &TreeDiffEntry, tips: &[&MovedTip]) -> bool {
    let mut rewritten = tips.iter().filter_map(|tip| tip.replaced.as_ref()).peekable();
    let change = (entry.path.clone(), entry.after.clone());
    rewritten.peek().is_some() && rewritten.all(|replaced| replaced.contains(&change))
}

/// Returns the new commits that a commit leads to, itself included.
fn reachable<'a>(commits: &'a BTreeMap<GitId, CommitDiffs>, from: &GitId) -> Vec<&'a GitId> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let mut todo: Vec<&GitId> = commits.get_key_value(from).map(|(id, _)| id).into_iter().collect();
    while let Some(id) = todo.pop() {
        if seen.insert(id) {
            found.push(id);
            let parents = commits[id].parents.iter();
            todo.extend(parents.filter_map(|parent| commits.get_key_value(parent).map(|(id, _)| id)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(n: u8) -> GitId {
        GitId::from_bytes(&[n; 20]).expect("an id")
    }

    fn path(name: &str) -> RepoPath {
        RepoPath::parse(name.as_bytes()).expect("a path")
    }

    fn side(n: u8) -> TreeSide {
        (n > 0).then(|| (0o100_644, id(n)))
    }

    /// What a commit holds: the content of each path, 0 for nothing.
    type Files = BTreeMap<&'static str, u8>;

    fn diff(before: &Files, after: &Files) -> Vec<TreeDiffEntry> {
        let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
        let get = |files: &Files, name: &str| files.get(name).copied().unwrap_or(0);
        let differs = |name: &&str| get(before, name) != get(after, name);
        let entry = |name: &str| TreeDiffEntry {
            path: path(name),
            before: side(get(before, name)),
            after: side(get(after, name)),
        };
        names.into_iter().filter(differs).map(entry).collect()
    }

    /// A commit of `files` on top of parents that hold `parents`, with one common ancestor.
    fn commit(files: &Files, parents: &[(u8, &Files)], base: Option<&Files>) -> CommitDiffs {
        CommitDiffs {
            parents: parents.iter().map(|(n, _)| id(*n)).collect(),
            from_parents: match parents {
                [] => vec![diff(&Files::new(), files)],
                parents => parents.iter().map(|(_, parent)| diff(parent, files)).collect(),
            },
            from_bases: Some(
                base.iter().map(|base| diff(base, files).into_iter().map(|it| it.path).collect()).collect(),
            ),
        }
    }

    fn names(diffs: &CommitDiffs) -> Vec<String> {
        diffs.changes().iter().map(|entry| entry.path.to_string()).collect()
    }

    fn tip(name: &str, n: u8, replaced: Option<&[(&str, u8)]>) -> MovedTip {
        let replaced =
            replaced.map(|held| held.iter().map(|(name, content)| (path(name), side(*content))).collect());
        MovedTip { name: name.into(), commit: id(n), replaced }
    }

    #[test]
    fn a_merge_changes_what_no_parent_holds_and_what_it_drops() {
        let base = Files::from([("a", 1), ("b", 1), ("c", 1), ("d", 1)]);
        let ours = Files::from([("a", 2), ("b", 1), ("c", 2), ("d", 1)]);
        let theirs = Files::from([("a", 1), ("b", 2), ("c", 3), ("d", 1)]);
        let parents = [(1, &ours), (2, &theirs)];
        let merged = |c| Files::from([("a", 2), ("b", 2), ("c", c), ("d", 1)]);
        // A conflict may be resolved to either side.
        assert_eq!(names(&commit(&merged(2), &parents, Some(&base))), [""; 0]);
        assert_eq!(names(&commit(&merged(3), &parents, Some(&base))), [""; 0]);
        assert_eq!(names(&commit(&merged(9), &parents, Some(&base))), ["c"]);
        let evil = Files::from([("a", 1), ("b", 2), ("c", 2), ("d", 9)]);
        assert_eq!(names(&commit(&evil, &parents, Some(&base))), ["a", "d"]);
        // Without a common ancestor nothing is dropped; with an unknown one everything is judged.
        assert_eq!(names(&commit(&merged(2), &parents, None)), [""; 0]);
        let unknown = CommitDiffs { from_bases: None, ..commit(&merged(2), &parents, None) };
        assert_eq!(names(&unknown), ["a", "b", "c"]);
    }

    #[test]
    fn a_rewritten_commit_repeats_what_it_replaces() {
        let (base, own) = (Files::new(), Files::from([("old", 1), ("new", 1)]));
        let commits = BTreeMap::from([(id(9), commit(&own, &[(1, &base)], None))]);
        let changed = |tips: &[MovedTip]| -> Vec<String> {
            committed_changes(&commits, tips).iter().map(|it| it.entry.path.to_string()).collect()
        };
        assert_eq!(changed(&[tip("main", 9, Some(&[("old", 1)]))]), ["new"]);
        assert_eq!(changed(&[tip("main", 9, Some(&[("old", 2)]))]), ["new", "old"]);
        assert_eq!(changed(&[tip("main", 9, None)]), ["new", "old"]);
        // Another reference that never held it does not take it over.
        let both = [tip("main", 9, Some(&[])), tip("topic", 9, Some(&[("old", 1)]))];
        assert_eq!(changed(&both), ["new", "old"]);
        let created = [tip("tag", 9, None), tip("topic", 9, Some(&[("old", 1)]))];
        assert_eq!(changed(&created), ["new"]);
    }

    #[test]
    fn only_what_a_reference_leads_to_counts() {
        let (one, two) = (Files::from([("a", 1)]), Files::from([("a", 1), ("b", 1)]));
        let commits = BTreeMap::from([
            (id(1), commit(&one, &[], None)),
            (id(2), commit(&two, &[(1, &one)], None)),
            (id(3), commit(&Files::from([("c", 1)]), &[], None)),
        ]);
        let changes = committed_changes(&commits, &[tip("main", 2, None)]);
        let shown: Vec<String> =
            changes.iter().map(|it| format!("{} {}", it.entry.path, it.reference)).collect();
        assert_eq!(shown, ["b main", "a main"]);
        assert!(committed_changes(&commits, &[tip("main", 7, None)]).is_empty());
    }

    proptest! {
        /// Whatever a line of commits did to a path, the path is found, also if the last commit undoes it.
        #[test]
        fn every_step_of_a_line_is_judged(steps in proptest::collection::vec((0..4_usize, 0..4_u8), 1..12)) {
            const NAMES: [&str; 4] = ["a", "b", "c", "d"];
            let (mut files, mut commits) = (Files::new(), BTreeMap::new());
            let mut expected = BTreeSet::new();
            for (n, (name, content)) in (1..).zip(&steps) {
                let before = files.clone();
                if files.insert(NAMES[*name], *content).unwrap_or(0) != *content {
                    expected.insert(path(NAMES[*name]));
                }
                let parents: &[(u8, &Files)] = if n == 1 { &[] } else { &[(n - 1, &before)] };
                commits.insert(id(n), commit(&files, parents, None));
            }
            let last = u8::try_from(steps.len()).expect("few");
            let found = committed_changes(&commits, &[tip("main", last, None)]);
            prop_assert_eq!(found.into_iter().map(|it| it.entry.path).collect::<BTreeSet<_>>(), expected);
        }

        /// A merge hides nothing: a path is either as some parent holds it and not dropped, or it is judged.
        #[test]
        fn a_merge_is_explained_by_its_parents(contents in proptest::collection::vec([0..3_u8, 0..3, 0..3, 0..3], 1..4)) {
            const NAMES: [&str; 4] = ["a", "b", "c", "d"];
            let files = |at: usize| -> Files {
                NAMES.iter().zip(&contents).map(|(name, row)| (*name, row[at])).collect()
            };
            let merge = commit(&files(3), &[(1, &files(1)), (2, &files(2))], Some(&files(0)));
            let judged = names(&merge);
            for (name, [base, ours, theirs, merged]) in NAMES.iter().zip(&contents) {
                let expected = merged != ours && merged != theirs
                    || (merged != ours || merged != theirs) && merged == base;
                prop_assert_eq!(judged.contains(&(*name).to_owned()), expected, "{}", name);
            }
        }
    }
}
