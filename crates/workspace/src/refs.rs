//! Git references at one moment and their movements: of the repository and of every repository inside its tree
//! (submodules, nested repositories, linked worktrees). Reads git's files and starts no process, unless the references
//! are kept in a format that only git reads.

use crate::Workspace;
use crate::git_index::IndexContent;
use crate::git_refs::ToldRefs;
use probity_api::govern::run::RefMovement;
use probity_core::{Digest, json};
use probity_evidence::RefChange;
use probity_paths::RepoPath;
use probity_snapshot::git::{self, GitLayout, RefListing, RefStorage};
use probity_snapshot::{ChangeKind, EntryState, Snapshot, SnapshotEntryKind, TreeChange};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub const HEAD: &str = "HEAD";

/// What the next commit gets as further parents, one id a line: a merge that was begun.
const MERGE_HEAD: &str = "MERGE_HEAD";
const MAX_MERGE_HEAD_BYTES: u64 = 64 * 1024;

/// The prefix of the value of a symbolic reference.
pub const SYMBOLIC_REF_PREFIX: &str = "ref: ";

/// What the file `HEAD` holds where the references are kept in another format than files.
const HEAD_OF_OTHER_STORAGE: &str = "ref: refs/heads/.invalid";

/// How the path of another worktree's `HEAD` begins.
pub const WORKTREE_PREFIX: &str = "worktrees/";

/// Git follows no more symbolic references than this.
const MAX_SYMBOLIC_STEPS: usize = 5;

const SHOWN_ID_DIGITS: usize = 10;

/// Describes a movement: `new branch topic at 5fa51cf0e1`, `dep: HEAD moved 1f2e… → 5fa5…`.
pub fn describe_movement(movement: &RefMovement) -> String {
    let place = movement.repository.as_ref().map_or_else(String::new, |path| format!("{path}: "));
    let name = shown_name(&movement.name);
    let what = match (movement.before.as_deref(), movement.after.as_deref()) {
        // Unreadable references are reported under a name that no reference has.
        (None, Some(why)) if movement.name == UNREADABLE_REFS_NAME => why.to_owned(),
        (None, after) => format!("new {name} at {}", shown_value(after.unwrap_or("nothing"))),
        (Some(before), None) => format!("{name} deleted (was at {})", shown_value(before)),
        (Some(before), Some(after)) => {
            format!("{name} moved {} → {}", shown_value(before), shown_value(after))
        }
    };
    format!("{place}{what}")
}

/// The name under which unreadable references are reported.
const UNREADABLE_REFS_NAME: &str = "refs";

/// Returns `branch main` for `refs/heads/main`.
pub fn shown_name(name: &str) -> String {
    let kinds = [("refs/heads/", "branch"), ("refs/tags/", "tag"), ("refs/remotes/", "remote branch")];
    kinds
        .iter()
        .find_map(|(prefix, kind)| Some(format!("{kind} {}", name.strip_prefix(prefix)?)))
        .unwrap_or_else(|| name.to_owned())
}

/// Returns the first digits of an id, or the target of a symbolic reference.
pub fn shown_value(value: &str) -> String {
    if let Some(name) = value.strip_prefix(SYMBOLIC_REF_PREFIX) {
        return shown_name(name);
    }
    let is_id = value.len() >= 40 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_id { value[..SHOWN_ID_DIGITS].to_owned() } else { value.to_owned() }
}

/// The references of one repository at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefFacts {
    refs: BTreeMap<String, String>,
    /// The commits of all stashes: the reference leads to the newest one alone.
    stashes: BTreeSet<String>,
    /// By name of another worktree, the branch that is checked out there.
    elsewhere: BTreeMap<String, Option<String>>,
    /// By name of another worktree, the commit that is checked out there without a branch.
    #[serde(default)]
    detached: BTreeMap<String, String>,
    /// Why the references are not known.
    unreadable: Option<String>,
}

impl RefFacts {
    pub fn gather(layout: &GitLayout) -> Self {
        if layout.ref_storage != RefStorage::Files {
            return Self::ask_git(layout);
        }
        match git::refs(layout) {
            RefListing::Read { head: Some(head), .. } if head == HEAD_OF_OTHER_STORAGE => {
                let why = "the references are no longer kept in files".to_owned();
                Self { unreadable: Some(why), ..Self::default() }
            }
            RefListing::Read { head, mut refs } => {
                refs.extend(head.map(|head| (HEAD.to_owned(), head)));
                refs.extend(merge_heads(layout));
                let OtherWorktrees { branches: elsewhere, detached } = OtherWorktrees::find(layout);
                Self { refs, stashes: stashes(layout), elsewhere, detached, unreadable: None }
            }
            RefListing::NotReadable { why } => Self { unreadable: Some(why), ..Self::default() },
        }
    }

    fn ask_git(layout: &GitLayout) -> Self {
        match ToldRefs::ask(layout) {
            Ok(ToldRefs { head, mut refs, stashes, elsewhere, detached }) => {
                refs.extend(head.map(|head| (HEAD.to_owned(), head)));
                refs.extend(merge_heads(layout));
                Self { refs, stashes, elsewhere, detached, unreadable: None }
            }
            Err(failure) => {
                let why = format!("the references could not be read: {failure}");
                Self { unreadable: Some(why), ..Self::default() }
            }
        }
    }

    /// Returns the facts as a document to keep.
    pub fn to_bytes(&self) -> Vec<u8> {
        json::canonical_of(self)
    }

    /// Parses what [`Self::to_bytes`] wrote; `None` for anything else.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_value(json::parse(bytes).ok()?).ok()
    }

    /// Why the references are not known, if they are not.
    pub fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// All references and `HEAD`, with their values.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        self.refs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    pub fn stashes(&self) -> &BTreeSet<String> {
        &self.stashes
    }

    /// Returns the branches that other worktrees have checked out now, if these were there before.
    pub fn branches_elsewhere<'a>(&'a self, before: &Self) -> BTreeSet<&'a str> {
        let was_there = |name: &String| before.elsewhere.contains_key(name);
        let worktrees = self.elsewhere.iter().filter(|(name, _)| was_there(name));
        let mut branches: BTreeSet<&str> = worktrees.filter_map(|(_, branch)| branch.as_deref()).collect();
        branches.retain(|branch| self.branch() != Some(branch));
        branches
    }

    /// Returns the branches that other worktrees have checked out now.
    pub fn all_branches_elsewhere(&self) -> BTreeSet<&str> {
        self.branches_elsewhere(self)
    }

    /// Returns the commits that worktrees made since `before` have checked out without a branch, by the path of their
    /// `HEAD` in the git directory.
    pub fn detached_elsewhere<'a>(
        &'a self,
        before: &'a Self,
    ) -> impl Iterator<Item = (String, &'a str)> + use<'a> {
        let new = self.detached.iter().filter(|(name, _)| !before.elsewhere.contains_key(*name));
        new.map(|(name, id)| (format!("{WORKTREE_PREFIX}{name}/{HEAD}"), id.as_str()))
    }

    /// Follows a symbolic reference to the last name that it leads to, and its value, if that is none itself.
    pub fn resolve<'a>(&'a self, name: &'a str) -> Option<(&'a str, &'a str)> {
        let mut name = name;
        for _ in 0..MAX_SYMBOLIC_STEPS {
            let value = self.get(name)?;
            match value.strip_prefix(SYMBOLIC_REF_PREFIX) {
                Some(target) => name = target,
                None => return Some((name, value)),
            }
        }
        None
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.refs.get(name).map(String::as_str)
    }

    /// The checked-out branch; `None` if HEAD is detached.
    pub fn branch(&self) -> Option<&str> {
        self.get(HEAD)?.strip_prefix(SYMBOLIC_REF_PREFIX)
    }

    /// The checked-out commit.
    pub fn commit(&self) -> Option<&str> {
        let head = self.get(HEAD)?;
        let id = match head.strip_prefix(SYMBOLIC_REF_PREFIX) {
            Some(name) => self.get(name)?,
            None => head,
        };
        (!id.starts_with(SYMBOLIC_REF_PREFIX)).then_some(id)
    }

    /// Returns the movements from here to `later`.
    pub fn movements(&self, later: &Self, repository: Option<&RepoPath>) -> Vec<RefMovement> {
        let names: BTreeSet<&String> = self.refs.keys().chain(later.refs.keys()).collect();
        let movement = |name: &str, before: Option<&str>, after: Option<&str>| {
            let (before, after) = (before.map(ToOwned::to_owned), after.map(ToOwned::to_owned));
            RefMovement::new(repository.cloned(), name, before, after)
        };
        let mut movements: Vec<RefMovement> = names
            .into_iter()
            .map(|name| movement(name, self.get(name), later.get(name)))
            .filter(|movement| movement.before != movement.after)
            .collect();
        // A submodule's parent records its checked-out commit, whatever branch leads there.
        if repository.is_some() && self.commit() != later.commit() {
            movements.retain(|movement| movement.name != HEAD);
            movements.push(movement(HEAD, self.commit(), later.commit()));
        }
        // Unreadable references do not count as unmoved: they are recorded, and are a violation if refs are protected
        // (law 13).
        if let Some(why) = &later.unreadable {
            movements.push(movement(UNREADABLE_REFS_NAME, None, Some(why)));
        }
        movements
    }
}

/// Returns the commits that the next commit will have as further parents: `MERGE_HEAD`, and `MERGE_HEAD 2` for the second.
fn merge_heads(layout: &GitLayout) -> Vec<(String, String)> {
    let path = layout.git_dir.join(MERGE_HEAD);
    let is_file = |facts: &std::fs::Metadata| facts.is_file() && facts.len() <= MAX_MERGE_HEAD_BYTES;
    if !path.symlink_metadata().is_ok_and(|facts| is_file(&facts)) {
        return Vec::new();
    }
    let text = read_file(&path);
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let name = |at: usize| if at == 0 { MERGE_HEAD.to_owned() } else { format!("{MERGE_HEAD} {}", at + 1) };
    lines.enumerate().map(|(at, id)| (name(at), probity_core::bytes::escape(id))).collect()
}

/// Returns the ids in the list of stashes: lines of `<old id> <new id> …`.
fn stashes(layout: &GitLayout) -> BTreeSet<String> {
    let log = probity_storage::durable::read(&layout.common_dir.join("logs/refs/stash")).ok().flatten();
    let log = log.unwrap_or_default();
    let ids = log.split(|&byte| byte == b'\n').filter_map(|line| line.split(|&byte| byte == b' ').nth(1));
    ids.map(probity_core::bytes::escape).collect()
}

/// What the other worktrees of a repository that lie outside of this tree have checked out. The main worktree has an empty
/// name.
#[derive(Default)]
struct OtherWorktrees {
    branches: BTreeMap<String, Option<String>>,
    detached: BTreeMap<String, String>,
}

impl OtherWorktrees {
    fn find(layout: &GitLayout) -> Self {
        let mut found = Self::default();
        let linked = std::fs::read_dir(layout.common_dir.join("worktrees")).into_iter().flatten().flatten();
        for (name, git_dir) in linked.map(|entry| (entry.file_name(), entry.path())) {
            let tree = read_file(&git_dir.join("gitdir"));
            let tree = Path::new(OsStr::from_bytes(tree.trim_ascii()));
            if git_dir != layout.git_dir && tree.is_absolute() && !tree.starts_with(&layout.root) {
                found.add(probity_core::bytes::escape(name.as_bytes()), &git_dir);
            }
        }
        if layout.is_linked() {
            found.add(String::new(), &layout.common_dir);
        }
        found
    }

    fn add(&mut self, name: String, git_dir: &Path) {
        let head = read_file(&git_dir.join(HEAD));
        let branch = head.strip_prefix(SYMBOLIC_REF_PREFIX.as_bytes());
        let branch = branch.map(|branch| probity_core::bytes::escape(branch.trim_ascii()));
        if branch.is_none() {
            self.detached.insert(name.clone(), probity_core::bytes::escape(head.trim_ascii()));
        }
        self.branches.insert(name, branch);
    }
}

fn read_file(path: &Path) -> Vec<u8> {
    probity_storage::durable::read(path).ok().flatten().unwrap_or_default()
}

/// Returns the reference movements that a manifest records.
pub fn recorded_movements(refs: &[RefChange]) -> Vec<RefMovement> {
    let movement = |change: &RefChange| {
        let repository = match &change.repository {
            Some(path) => Some(RepoPath::parse(path.as_bytes()).ok()?),
            None => None,
        };
        let name = String::from_utf8_lossy(change.name.as_bytes());
        Some(RefMovement::new(repository, name, change.before.clone(), change.after.clone()))
    };
    refs.iter().filter_map(movement).collect()
}

#[derive(Debug, Clone)]
pub struct NestedRepository {
    path: RepoPath,
    layout: GitLayout,
    /// Another worktree of the tree's own repository, which has only HEAD to itself.
    is_own_worktree: bool,
}

impl NestedRepository {
    /// Finds the repositories inside a tree: every directory whose `.git` leads to one.
    pub fn find_all(workspace: &Workspace, content: &Snapshot) -> Vec<Self> {
        let own = workspace.git.as_ref().map(|git| &git.common_dir);
        let nested = content.entries_named(b".git");
        nested
            .iter()
            .filter_map(|entry| {
                let path = entry.path().parent()?;
                let layout = GitLayout::find(&workspace.root.join(OsStr::from_bytes(path.as_bytes())))?;
                let is_own_worktree = own == Some(&layout.common_dir);
                Some(Self { path, layout, is_own_worktree })
            })
            .collect()
    }

    /// The path in the tree.
    pub fn path(&self) -> &RepoPath {
        &self.path
    }

    pub fn layout(&self) -> &GitLayout {
        &self.layout
    }

    /// Returns whether it is another worktree of the tree's own repository.
    pub fn is_own_worktree(&self) -> bool {
        self.is_own_worktree
    }

    pub fn refs(&self) -> RefFacts {
        let mut facts = RefFacts::gather(&self.layout);
        if self.is_own_worktree {
            facts.refs.retain(|name, _| name == HEAD);
            facts.stashes.clear();
        }
        facts
    }
}

/// What a repository holds besides its tree at one moment: references and index.
#[derive(Debug)]
pub struct RepositoryFacts {
    pub refs: RefFacts,
    pub index: Option<IndexContent>,
}

impl RepositoryFacts {
    pub fn differs(&self, later: &Self) -> bool {
        self.refs != later.refs || self.index_differs(later)
    }

    pub fn index_differs(&self, later: &Self) -> bool {
        match (&self.index, &later.index) {
            (Some(before), Some(after)) => !before.is_same(after),
            (before, after) => before.is_some() != after.is_some(),
        }
    }
}

/// The repositories inside a tree at one moment.
#[derive(Debug, Default)]
pub struct NestedRefs {
    found: Vec<(NestedRepository, RepositoryFacts)>,
}

impl NestedRefs {
    pub fn gather(workspace: &Workspace, content: &Snapshot) -> Self {
        let found = NestedRepository::find_all(workspace, content);
        let facts = |nested: NestedRepository| {
            let (refs, index) = (nested.refs(), IndexContent::read(&nested.layout, None));
            (nested, RepositoryFacts { refs, index })
        };
        Self { found: found.into_iter().map(facts).collect() }
    }

    /// Reads the same repositories again. Repositories added since are content.
    #[must_use]
    pub fn reread(&self) -> Self {
        let again = |(nested, earlier): &(NestedRepository, RepositoryFacts)| {
            let index = IndexContent::read(&nested.layout, earlier.index.as_ref());
            (nested.clone(), RepositoryFacts { refs: nested.refs(), index })
        };
        Self { found: self.found.iter().map(again).collect() }
    }

    /// Reads the references of the same repositories where a view shows them: `inside` leads there from a path. Those that
    /// only git reads count as unmoved, because no git is started with settings of a layer.
    #[must_use]
    pub fn reread_in_view(&self, inside: &dyn Fn(&Path) -> PathBuf) -> Self {
        let again = |(nested, earlier): &(NestedRepository, RepositoryFacts)| {
            if nested.layout.ref_storage != RefStorage::Files {
                return (nested.clone(), RepositoryFacts { refs: earlier.refs.clone(), index: None });
            }
            let layout = GitLayout {
                root: inside(&nested.layout.root),
                git_dir: inside(&nested.layout.git_dir),
                common_dir: inside(&nested.layout.common_dir),
                ..nested.layout.clone()
            };
            let seen = NestedRepository { layout, ..nested.clone() };
            let refs = seen.refs();
            (seen, RepositoryFacts { refs, index: None })
        };
        Self { found: self.found.iter().map(again).collect() }
    }

    /// Returns each repository with what it held here and in `later`.
    pub fn pairs<'a>(
        &'a self,
        later: &'a Self,
    ) -> impl Iterator<Item = (&'a NestedRepository, [&'a RepositoryFacts; 2])> {
        self.found.iter().zip(&later.found).map(|((nested, before), (_, after))| (nested, [before, after]))
    }

    fn ref_pairs<'a>(
        &'a self,
        later: &'a Self,
    ) -> impl Iterator<Item = (&'a NestedRepository, &'a RefFacts, &'a RefFacts)> {
        self.pairs(later).map(|(nested, [before, after])| (nested, &before.refs, &after.refs))
    }

    /// Returns the movements from here to `later`.
    pub fn movements(&self, later: &Self) -> Vec<RefMovement> {
        self.ref_pairs(later)
            .flat_map(|(nested, before, after)| before.movements(after, Some(&nested.path)))
            .collect()
    }

    /// Returns the repositories whose checked-out commit changed, as tree changes: a commit of the outer tree would
    /// record that commit at their path.
    pub fn changes(&self, later: &Self, content: [&Snapshot; 2]) -> Vec<TreeChange> {
        let moved = self
            .ref_pairs(later)
            .filter(|(nested, before, after)| !nested.is_own_worktree && before.commit() != after.commit());
        moved
            .filter_map(|(nested, before, after)| {
                let side = |content: &Snapshot, facts: &RefFacts| {
                    let entry = content
                        .get(&nested.path)
                        .filter(|entry| entry.kind() == SnapshotEntryKind::Directory)?;
                    let digest = facts.commit().map(|id| Digest::of(format!("commit {id}").as_bytes()));
                    Some(EntryState {
                        kind: SnapshotEntryKind::Directory,
                        mode: entry.mode(),
                        size: 0,
                        digest,
                    })
                };
                Some(TreeChange {
                    path: nested.path.clone(),
                    change: ChangeKind::Modified,
                    before: Some(side(content[0], before)?),
                    after: Some(side(content[1], after)?),
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(refs: &[(&str, &str)]) -> RefFacts {
        let refs = refs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        RefFacts { refs, ..RefFacts::default() }
    }

    fn described(before: &[(&str, &str)], after: &[(&str, &str)], repository: Option<&str>) -> Vec<String> {
        let repository = repository.map(|path| RepoPath::parse(path.as_bytes()).expect("a path"));
        let movements = facts(before).movements(&facts(after), repository.as_ref());
        movements.iter().map(describe_movement).collect()
    }

    #[test]
    fn a_reference_is_created_moved_or_deleted() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let before =
            [("refs/heads/main", a.as_str()), ("refs/heads/old", &a), ("HEAD", "ref: refs/heads/main")];
        let after =
            [("refs/heads/main", b.as_str()), ("refs/heads/new", &b), ("HEAD", "ref: refs/heads/new")];
        assert_eq!(
            described(&before, &after, None),
            [
                "HEAD moved branch main → branch new",
                "branch main moved aaaaaaaaaa → bbbbbbbbbb",
                "new branch new at bbbbbbbbbb",
                "branch old deleted (was at aaaaaaaaaa)",
            ]
        );
    }

    #[test]
    fn the_head_of_a_submodule_is_the_commit_that_it_leads_to() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let head = ("HEAD", "ref: refs/heads/main");
        assert_eq!(
            described(&[("refs/heads/main", &a), head], &[("refs/heads/main", &b), head], Some("dep")),
            ["dep: branch main moved aaaaaaaaaa → bbbbbbbbbb", "dep: HEAD moved aaaaaaaaaa → bbbbbbbbbb"]
        );
        assert_eq!(described(&[("HEAD", &a)], &[("HEAD", &a)], Some("dep")), [""; 0]);
    }

    #[test]
    fn what_cannot_be_read_is_told_as_it_is() {
        let unreadable =
            RefFacts { unreadable: Some("refs are kept as `reftable`".into()), ..RefFacts::default() };
        let movements = facts(&[]).movements(&unreadable, None);
        assert_eq!(describe_movement(&movements[0]), "refs are kept as `reftable`");
    }
}
