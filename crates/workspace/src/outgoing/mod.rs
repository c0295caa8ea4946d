//! What could leave a repository although the working tree does not show it: commits that references came to lead to,
//! and the index.
//!
//! *New commits* are those that references (or a detached `HEAD`, the list of stashes, or a merge in progress) lead to now,
//! and that none of them led to before. A reference that merely moves to an older commit brings nothing new. [`commit_rule`] says which
//! paths new commits change, [`index_rule`] what was staged.
//!
//! Not judged, because they are not the content of this tree or not for pushing: remote-tracking and prefetched
//! references, notes, and what worktrees that were there before have checked out. All references are recorded as movements.
//! Tags are judged although a fetch brings them: whether a remote-tracking reference was fetched or written by hand cannot
//! be told.
//!
//! Objects are read by git without replace refs and grafts, and only if a reference moved or the index changed.

pub mod commit_rule;
pub mod index_rule;
mod since_start;

pub use since_start::{AsideChange, committed_aside};

use crate::git::{self, PeeledObject};
use crate::git_failure::GitFailure;
use crate::refs::{HEAD, RefFacts, RepositoryFacts, SYMBOLIC_REF_PREFIX, shown_name};
use commit_rule::{CommitDiffs, CommittedChange, MovedTip};
use index_rule::{StagedKind, TreeLookup};
use probity_core::{ChangeKind, ReasonCode};
use probity_evidence::ChangePlace;
use probity_paths::RepoPath;
use probity_snapshot::git::{
    GITLINK_MODE, GitLayout, HeadTree, IndexContradiction, IndexListing, SPARSE_DIR_MODE, TreeSide,
    index_is_sound,
};
use probity_snapshot::{EntryState, GitId, Snapshot, SnapshotEntryKind, TreeChange};
use std::collections::{BTreeMap, BTreeSet};

/// References that a fetch moves, and those that hold no files of the tree.
const UNJUDGED_PREFIXES: [&str; 3] = ["refs/remotes/", "refs/prefetch/", "refs/notes/"];
const STASH_REF: &str = "refs/stash";

/// The path under which an index that contradicts itself is told.
const INDEX_PATH: &[u8] = b".git/index";

/// Above this number of new merges their common ancestors are not looked up, and each path where one differs from any
/// parent is judged.
const MAX_EXAMINED_MERGES: usize = 200;

/// A change in a commit or in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedChange {
    pub before: TreeSide,
    pub after: TreeSide,
    pub place: ChangePlace,
}

impl PlacedChange {
    /// Returns the change in the form of a change of the tree. Content is known by git's id alone.
    pub fn to_tree_change(&self, path: &RepoPath) -> TreeChange {
        let change = match (&self.before, &self.after) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            _ => ChangeKind::Modified,
        };
        let side = |side: &TreeSide| side.as_ref().map(|(mode, _)| entry_state(*mode));
        TreeChange { path: path.clone(), change, before: side(&self.before), after: side(&self.after) }
    }

    /// Describes the place: `in commit 5fa51cf0e1 (branch main)`.
    pub fn describe_place(&self) -> String {
        let within = |repository: &Option<RepoPath>| {
            repository.as_ref().map_or_else(String::new, |path| format!(" of `{path}`"))
        };
        match &self.place {
            ChangePlace::Commit { commit, reference, repository } => {
                let (short, name) = (crate::refs::shown_value(commit), shown_name(reference));
                format!("in commit {short} ({name}){}", within(repository))
            }
            ChangePlace::Index { repository } => format!("in git's index{}", within(repository)),
        }
    }
}

fn entry_state(mode: u32) -> EntryState {
    let kind = match mode {
        0o120_000 => SnapshotEntryKind::Symlink,
        GITLINK_MODE => SnapshotEntryKind::Directory,
        _ => SnapshotEntryKind::File,
    };
    EntryState { kind, mode: mode & 0o7777, size: 0, digest: None }
}

/// Something that could leave and cannot be judged, which fails a run (law 13).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableChange {
    pub reason: ReasonCode,
    pub path: Option<RepoPath>,
    pub detail: String,
}

/// Everything that could leave beside the working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutgoingChanges {
    pub changes: BTreeMap<RepoPath, PlacedChange>,
    /// Paths that were staged as the working tree holds them. They count only where the tree is not judged.
    pub staged_as_in_tree: BTreeMap<RepoPath, PlacedChange>,
    /// What lies outside of the root, if that is below the top of the repository: by path from the top.
    pub outside_root: BTreeMap<RepoPath, PlacedChange>,
    pub unreadable: Vec<UnreadableChange>,
}

/// One repository, and where its paths are in the tree.
#[derive(Debug, Clone, Copy)]
pub struct RepositoryPlace<'a> {
    pub layout: &'a GitLayout,
    /// The path of a submodule or nested repository.
    pub nested: Option<&'a RepoPath>,
    /// Whether its commits are those of the tree's own repository, so that their paths begin at the root.
    pub is_own_worktree: bool,
    /// The root of the tree below the top of its repository.
    pub below_top: &'a [u8],
}

impl RepositoryPlace<'_> {
    /// Returns a path of the repository as a path of the tree; `None` if it lies outside.
    fn to_tree_path(self, path: &[u8]) -> Option<RepoPath> {
        if let Some(nested) = self.nested {
            return nested.join(path).ok();
        }
        RepoPath::parse(self.below_root(path)?).ok()
    }

    /// Returns a path from the top of the repository as one from the root of the tree.
    fn below_root<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        match self.below_top {
            [] => Some(path),
            prefix => path.strip_prefix(prefix)?.strip_prefix(b"/"),
        }
    }

    /// Returns the path of a commit's file in the tree.
    pub fn to_committed_path(self, path: &RepoPath) -> Option<RepoPath> {
        let nested = self.nested.filter(|_| !self.is_own_worktree);
        Self { nested, ..self }.to_tree_path(path.as_bytes())
    }

    fn repository(self) -> Option<RepoPath> {
        self.nested.cloned()
    }

    fn unreadable(self, name: &str, failure: &GitFailure) -> UnreadableChange {
        self.unjudged(name, ReasonCode::GitCommandFailed, failure.to_string())
    }

    /// `name` is a file of the git directory.
    fn unjudged(self, name: &str, reason: ReasonCode, detail: String) -> UnreadableChange {
        let dot_git = format!(".git/{name}");
        let path = match self.nested {
            Some(nested) => nested.join(dot_git.as_bytes()).ok(),
            None => RepoPath::parse(dot_git.as_bytes()).ok(),
        };
        UnreadableChange { reason, path, detail }
    }
}

impl OutgoingChanges {
    /// Adds what could leave one repository, from its facts before and after and the tree after.
    pub fn add_repository(
        &mut self,
        place: RepositoryPlace<'_>,
        [before, after]: [&RepositoryFacts; 2],
        tree: &Snapshot,
    ) {
        self.add_commits(place, &before.refs, &after.refs);
        if before.index_differs(after)
            && let Err(failure) = self.add_staged(place, [before, after], tree)
        {
            self.unreadable.push(place.unreadable("index", &failure));
        }
    }

    fn add_commits(&mut self, place: RepositoryPlace<'_>, before: &RefFacts, after: &RefFacts) {
        if let (None, Some(why)) = (before.unreadable(), after.unreadable()) {
            let unreadable = place.unjudged(HEAD, ReasonCode::ProtectedChanged, why.to_owned());
            self.unreadable.push(unreadable);
        }
        let moved = MovedRefs::between(before, after, &after.branches_elsewhere(before));
        for (name, value) in &moved.senseless {
            let detail = format!("{} holds no id: `{value}`", shown_name(name));
            self.unreadable.push(place.unjudged(name, ReasonCode::ProtectedChanged, detail));
        }
        if moved.tips.is_empty() {
            return;
        }
        match moved.examine(place.layout) {
            Ok((changes, dead_ends)) => {
                for CommittedChange { entry, commit, reference } in changes {
                    let repository = place.repository();
                    let at = ChangePlace::Commit { commit: commit.to_string(), reference, repository };
                    let change = PlacedChange { before: entry.before, after: entry.after, place: at };
                    match place.to_committed_path(&entry.path) {
                        Some(path) => self.changes.entry(path).or_insert(change),
                        None => self.outside_root.entry(entry.path).or_insert(change),
                    };
                }
                for (name, kind) in dead_ends {
                    let shown = shown_name(&name);
                    let (reason, detail) = match kind.as_str() {
                        "missing" => (
                            ReasonCode::GitObjectMissing,
                            format!("{shown} leads to an object that is not there"),
                        ),
                        kind => (
                            ReasonCode::ProtectedChanged,
                            format!("{shown} leads to a {kind} and not to a commit, so it cannot be judged"),
                        ),
                    };
                    self.unreadable.push(place.unjudged(&name, reason, detail));
                }
            }
            Err(failure) => {
                let names = moved.tips.iter().map(|(name, _)| name.as_str());
                let first = names.clone().next().unwrap_or(HEAD);
                self.unreadable.push(place.unreadable(first, &failure));
            }
        }
    }

    fn add_staged(
        &mut self,
        place: RepositoryPlace<'_>,
        [before, after]: [&RepositoryFacts; 2],
        tree: &Snapshot,
    ) -> Result<(), GitFailure> {
        let listing = |facts: &RepositoryFacts| match &facts.index {
            // A damaged index is a violation by itself, and git takes nothing from it.
            Some(index) if index.is_sound() => index.listing(place.layout),
            _ => Ok(IndexListing::default()),
        };
        if after.index.as_ref().is_some_and(|index| !index.is_sound()) {
            return Ok(());
        }
        let [old, new] = expand_sparse(place.layout, [listing(before)?, listing(after)?])?;
        for contradiction in &new.contradictions {
            let detail = describe_contradiction(contradiction);
            self.unreadable.push(place.unjudged("index", ReasonCode::ProtectedChanged, detail));
        }
        let staged = index_rule::staged_changes(&old, &new, &SnapshotLookup { place, tree });
        let mut committed: Option<HeadTree> = None;
        for change in staged {
            let repository = place.repository();
            let at = ChangePlace::Index { repository };
            let placed = PlacedChange { before: change.before, after: change.after.clone(), place: at };
            let path = place.to_tree_path(&change.path);
            match (change.kind, &path) {
                (StagedKind::AsInTree, Some(path)) => {
                    self.staged_as_in_tree.insert(path.clone(), placed);
                    continue;
                }
                (StagedKind::HidesEdits, _) => {}
                // The tree outside of the root is not observed, so that only the commit can explain an entry there.
                (StagedKind::AsInTree | StagedKind::Differs, _) => {
                    let committed = match &mut committed {
                        Some(committed) => committed,
                        none => none.insert(checked_out(place.layout)?),
                    };
                    let held =
                        RepoPath::parse(&change.path).ok().and_then(|path| committed.get(&path).cloned());
                    let is_merged = !new.unmerged.contains_key(&change.path);
                    if is_merged && index_rule::same_content(&change.after, &held) {
                        continue;
                    }
                }
            }
            match (path, RepoPath::parse(&change.path)) {
                (Some(path), _) => drop(self.changes.entry(path).or_insert(placed)),
                (None, Ok(path)) => drop(self.outside_root.entry(path).or_insert(placed)),
                (None, Err(_)) => {}
            }
        }
        Ok(())
    }
}

/// Returns what each commit between two commits changes, by the rules for new commits.
pub fn changes_between(
    layout: &GitLayout,
    from: Option<&str>,
    to: &str,
) -> Result<Vec<CommittedChange>, GitFailure> {
    let parse = |id: &str| GitId::from_hex(id.as_bytes());
    let (from, to) = (from.and_then(parse), parse(to));
    let head = |id: GitId| (HEAD.to_owned(), id);
    let moved = MovedRefs {
        tips: to.filter(|to| from.as_ref() != Some(to)).map(head).into_iter().collect(),
        before: from.clone().map(head).into_iter().collect(),
        known: from.into_iter().collect(),
        senseless: Vec::new(),
    };
    if moved.tips.is_empty() { Ok(Vec::new()) } else { Ok(moved.examine(layout)?.0) }
}

/// Returns what is staged and neither in the commit nor in the tree: the committed and the staged side, by path of the
/// tree. `committed` has paths of the tree too.
pub fn staged_beside(
    place: RepositoryPlace<'_>,
    committed: &HeadTree,
    tree: &Snapshot,
) -> Result<BTreeMap<RepoPath, (TreeSide, TreeSide)>, GitFailure> {
    let Ok(Some(bytes)) = probity_storage::durable::read(&place.layout.git_dir.join("index")) else {
        return Ok(BTreeMap::new());
    };
    let listing = match IndexListing::parse(&bytes, place.layout.object_format) {
        Some(listing) => listing,
        None if index_is_sound(&bytes, place.layout.object_format) => {
            git::staged_entries(place.layout)?.held_against(&bytes, place.layout.object_format)
        }
        None => return Ok(BTreeMap::new()),
    };
    let contradicted = listing.contradictions.first().map(|first| {
        let format = place.layout.object_format;
        // Its id is that of what is wrong, so that something else is another change.
        let words: Vec<String> = listing.contradictions.iter().map(describe_contradiction).collect();
        first.tree.clone().unwrap_or_else(|| GitId::of_blob(format, words.concat().as_bytes()))
    });
    let [_, listing] = expand_sparse(place.layout, [IndexListing::default(), listing])?;
    let lookup = SnapshotLookup { place, tree };
    let mut staged = BTreeMap::new();
    if let (Some(id), Ok(path)) = (contradicted, RepoPath::parse(INDEX_PATH)) {
        staged.insert(path, (None, Some((SPARSE_DIR_MODE, id))));
    }
    // Both are sorted by the bytes of their paths.
    let mut held = committed.iter().peekable();
    let is_left = |path: &RepoPath| {
        let name = [place.below_top, path.as_bytes()].join(&b'/');
        let name = if place.below_top.is_empty() { path.as_bytes() } else { &name };
        tree.get(path).is_some() && !listing.unmerged.contains_key(name)
    };
    let mut removed = |(path, side): (&RepoPath, &(u32, GitId))| {
        if is_left(path) {
            staged.insert(path.clone(), (Some(side.clone()), None));
        }
    };
    let mut changed = Vec::new();
    for (name, entry) in &listing.entries {
        let Some(below) = place.below_root(name) else { continue };
        while let Some(gone) = held.next_if(|(path, _)| path.as_bytes() < below) {
            removed(gone);
        }
        let committed = held.next_if(|(path, _)| path.as_bytes() == below).map(|(_, side)| side);
        if committed.is_none_or(|(mode, id)| *id != entry.id || *mode != entry.mode) {
            changed.push((name, entry, committed.cloned()));
        }
    }
    held.for_each(removed);
    for (name, entry, held) in changed {
        let side = Some((entry.mode, entry.id.clone()));
        let is_beside = !index_rule::same_content(&side, &lookup.entry(name));
        let path = place.to_tree_path(name).filter(|_| is_beside && !index_rule::same_content(&side, &held));
        staged.extend(path.map(|path| (path, (held, side))));
    }
    Ok(staged)
}

/// Says what in an index is not as its entries say, and what git would do with it.
fn describe_contradiction(found: &IndexContradiction) -> String {
    let shown = probity_core::bytes::escape(&found.path);
    match &found.tree {
        Some(tree) => format!(
            "it says that the tree of `{shown}` is {tree}, which its entries contradict; the next commit would hold that \
             tree (`rm .git/index; git reset` makes the index again)"
        ),
        None if shown.is_empty() => "its tables contradict its entries".to_owned(),
        None => format!("its entry `{shown}` is there twice or not in order"),
    }
}

/// Returns the files of the checked-out commit; empty without one.
fn checked_out(layout: &GitLayout) -> Result<HeadTree, GitFailure> {
    let refs = RefFacts::gather(layout);
    match refs.commit().and_then(|id| GitId::from_hex(id.as_bytes())) {
        Some(id) => git::files_of(layout, &id),
        None => Ok(HeadTree::new()),
    }
}

/// Replaces directories that a sparse index holds as one entry by their files, where the two sides differ.
fn expand_sparse(layout: &GitLayout, mut sides: [IndexListing; 2]) -> Result<[IndexListing; 2], GitFailure> {
    let is_dir = |listing: &IndexListing, name: &[u8]| {
        listing.entries.get(name).is_some_and(|entry| entry.mode == SPARSE_DIR_MODE)
    };
    let names: BTreeSet<Vec<u8>> = sides
        .iter()
        .flat_map(|side| side.entries.keys().filter(|name| is_dir(side, name)))
        .filter(|name| sides[0].entries.get(*name) != sides[1].entries.get(*name))
        .cloned()
        .collect();
    for name in names {
        for side in &mut sides {
            let Some(dir) = side.entries.get(&name).filter(|entry| entry.mode == SPARSE_DIR_MODE) else {
                continue;
            };
            let files = git::files_of(layout, &dir.id)?;
            side.entries.remove(&name);
            for (path, (mode, id)) in files {
                let entry = probity_snapshot::git::IndexEntry::new(mode, id);
                side.entries.insert([&name, path.as_bytes()].concat(), entry);
            }
        }
    }
    Ok(sides)
}

/// The working tree as git would store it without filters.
struct SnapshotLookup<'a> {
    place: RepositoryPlace<'a>,
    tree: &'a Snapshot,
}

impl TreeLookup for SnapshotLookup<'_> {
    fn entry(&self, path: &[u8]) -> TreeSide {
        let entry = self.tree.get(&self.place.to_tree_path(path)?)?;
        match entry.kind() {
            SnapshotEntryKind::File => {
                let mode = if entry.mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 };
                Some((mode, entry.git_id()?))
            }
            SnapshotEntryKind::Symlink => {
                let id = GitId::of_blob(self.place.layout.object_format, entry.link_target()?);
                Some((0o120_000, id))
            }
            _ => None,
        }
    }
}

/// Returns whether the target of a symbolic reference is one of those that are compared.
fn leads_to_reference(value: &str) -> bool {
    let target = value.strip_prefix(SYMBOLIC_REF_PREFIX).unwrap_or_default();
    target == HEAD || target.starts_with("refs/")
}

/// A reference that leads to no commit, and the type of what it leads to.
type DeadEnd = (String, String);

/// The references that came to lead elsewhere.
struct MovedRefs {
    /// By name, where they lead now.
    tips: Vec<(String, GitId)>,
    /// By name, where they led before.
    before: BTreeMap<String, GitId>,
    /// Everything that references led to before.
    known: BTreeSet<GitId>,
    /// References with a value that no reference has.
    senseless: Vec<(String, String)>,
}

impl MovedRefs {
    /// Compares two observations, leaving out the branches `elsewhere`.
    fn between(before: &RefFacts, after: &RefFacts, elsewhere: &BTreeSet<&str>) -> Self {
        let parse = |value: &str| GitId::from_hex(value.as_bytes());
        let is_judged = |name: &str| {
            !UNJUDGED_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) && !elsewhere.contains(name)
        };
        let (mut tips, mut senseless) = (Vec::new(), Vec::new());
        let moved = after.all().filter(|(name, value)| before.get(name) != Some(value) && is_judged(name));
        for (name, value) in moved.filter(|(_, value)| !value.starts_with(SYMBOLIC_REF_PREFIX)) {
            match parse(value) {
                Some(id) => tips.push((name.to_owned(), id)),
                None => senseless.push((name.to_owned(), value.to_owned())),
            }
        }
        // The target of a symbolic reference is judged by its own name, unless it has one that is not judged.
        let symbolic =
            after.all().filter(|(name, value)| value.starts_with(SYMBOLIC_REF_PREFIX) && is_judged(name));
        for (name, value) in symbolic {
            // Git follows it to any file of its directory, such as `ORIG_HEAD`, and pushes what that names.
            if before.get(name) != Some(value) && !leads_to_reference(value) {
                senseless.push((name.to_owned(), value.to_owned()));
            }
            let led_to = before.resolve(name).map(|(_, value)| value);
            let target =
                after.resolve(name).filter(|(target, value)| !is_judged(target) && led_to != Some(*value));
            tips.extend(target.and_then(|(_, value)| Some((name.to_owned(), parse(value)?))));
        }
        tips.extend(after.detached_elsewhere(before).filter_map(|(name, id)| Some((name, parse(id)?))));
        let stashed = after.stashes().difference(before.stashes()).filter_map(|id| parse(id));
        tips.extend(stashed.map(|id| (STASH_REF.to_owned(), id)));
        let before_values = before.all().map(|(_, value)| value);
        let known: BTreeSet<GitId> =
            before_values.chain(before.stashes().iter().map(String::as_str)).filter_map(parse).collect();
        tips.retain(|(_, id)| !known.contains(id));
        let mut was: BTreeMap<String, GitId> =
            before.all().filter_map(|(name, value)| Some((name.to_owned(), parse(value)?))).collect();
        // A detached HEAD replaces what was checked out.
        was.extend(before.commit().and_then(parse).map(|id| (HEAD.to_owned(), id)));
        was.remove(STASH_REF);
        Self { tips, before: was, known, senseless }
    }

    /// Returns what new commits change, and the references that lead to no commit.
    fn examine(&self, layout: &GitLayout) -> Result<(Vec<CommittedChange>, Vec<DeadEnd>), GitFailure> {
        let ids: BTreeSet<GitId> = self.tips.iter().map(|(_, id)| id.clone()).collect();
        let graph = git::new_commits(layout, &ids, &self.known)?;
        // What is no new commit itself is a tag of one, an older commit, or none at all.
        let others: Vec<&(String, GitId)> =
            self.tips.iter().filter(|(_, id)| !graph.contains_key(id)).collect();
        let objects = git::peeled(layout, &others.iter().map(|(_, id)| id).collect::<Vec<_>>())?;
        let is_dead = |object: &PeeledObject| object.kind != "commit";
        let pairs = || others.iter().zip(&objects);
        let dead_ends = pairs().filter(|(_, object)| is_dead(object));
        let dead_ends = dead_ends.map(|((name, _), object)| (name.clone(), object.kind.clone())).collect();
        let commits_of: BTreeMap<&GitId, &GitId> =
            pairs().filter_map(|((_, id), object)| Some((id, object.id.as_ref()?))).collect();
        let tips = self.judged_tips(layout, &graph, &commits_of)?;
        let commits = diffs_of(layout, &graph)?;
        Ok((commit_rule::committed_changes(&commits, &tips), dead_ends))
    }

    /// Returns the references that lead to new commits, with what they no longer lead to.
    fn judged_tips(
        &self,
        layout: &GitLayout,
        graph: &BTreeMap<GitId, Vec<GitId>>,
        commits_of: &BTreeMap<&GitId, &GitId>,
    ) -> Result<Vec<MovedTip>, GitFailure> {
        let parents: BTreeSet<&GitId> = graph.values().flatten().collect();
        let mut tips = Vec::new();
        for (name, id) in &self.tips {
            let commit = commits_of.get(id).copied().unwrap_or(id).clone();
            if !graph.contains_key(&commit) {
                continue;
            }
            let replaced = match self.before.get(name) {
                None => None,
                // It was extended.
                Some(before) if parents.contains(before) => Some(BTreeSet::new()),
                Some(before) => Some(left_by(layout, before, id)?),
            };
            tips.push(MovedTip { name: name.clone(), commit, replaced });
        }
        Ok(tips)
    }
}

/// Returns how the commits that `before` leads to and `after` does not left their paths.
fn left_by(
    layout: &GitLayout,
    before: &GitId,
    after: &GitId,
) -> Result<BTreeSet<(RepoPath, TreeSide)>, GitFailure> {
    let gone = git::new_commits(layout, &[before.clone()].into(), &[after.clone()].into())?;
    let pairs: Vec<(&GitId, Option<&GitId>)> = gone.iter().flat_map(parent_pairs).collect();
    let lists = git::commit_diffs(layout, &pairs)?;
    Ok(lists.into_iter().flatten().map(|entry| (entry.path, entry.after)).collect())
}

/// Returns a commit with each of its parents, or with nothing if it has none.
fn parent_pairs<'a>((id, parents): (&'a GitId, &'a Vec<GitId>)) -> Vec<(&'a GitId, Option<&'a GitId>)> {
    match &parents[..] {
        [] => vec![(id, None)],
        parents => parents.iter().map(|parent| (id, Some(parent))).collect(),
    }
}

fn diffs_of(
    layout: &GitLayout,
    graph: &BTreeMap<GitId, Vec<GitId>>,
) -> Result<BTreeMap<GitId, CommitDiffs>, GitFailure> {
    let is_merge = |parents: &&Vec<GitId>| parents.len() > 1;
    let is_examined = graph.values().filter(is_merge).count() <= MAX_EXAMINED_MERGES;
    let mut bases: BTreeMap<&GitId, Vec<GitId>> = BTreeMap::new();
    if is_examined {
        for (id, parents) in graph.iter().filter(|(_, parents)| parents.len() > 1) {
            bases.insert(id, git::merge_bases(layout, parents)?);
        }
    }
    let mut pairs: Vec<(&GitId, Option<&GitId>)> = graph.iter().flat_map(parent_pairs).collect();
    pairs.extend(bases.iter().flat_map(|(id, bases)| bases.iter().map(|base| (*id, Some(base)))));
    let mut lists = git::commit_diffs(layout, &pairs)?.into_iter();
    let mut commits: BTreeMap<GitId, CommitDiffs> = BTreeMap::new();
    for (id, parents) in graph {
        let from_parents = lists.by_ref().take(parents.len().max(1)).collect();
        let from_bases = is_examined.then(Vec::new);
        commits.insert(id.clone(), CommitDiffs { parents: parents.clone(), from_parents, from_bases });
    }
    for (id, bases) in &bases {
        for list in lists.by_ref().take(bases.len()) {
            let paths = list.into_iter().map(|entry| entry.path).collect();
            if let Some(known) = commits.get_mut(*id).and_then(|commit| commit.from_bases.as_mut()) {
                known.push(paths);
            }
        }
    }
    Ok(commits)
}
