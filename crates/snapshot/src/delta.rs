//! The delta D: the paths that differ between two snapshots.
//!
//! * A path is *modified* if its type, its permission bits or its content differ. The content of an unreadable entry is
//!   unknown; it is unchanged only if device, inode, size and times are.
//! * A directory that was added or removed is in D only if nothing below it implies that: an added one if it is empty
//!   afterwards, a removed one if it was empty before. A directory that was not entered counts as empty.
//! * A directory whose type or permission bits changed is always in D.
//! * A rename is a deletion and an addition. If a file replaces a directory, the path is modified and everything below
//!   it deleted; in the reverse case everything below is added.
//!
//! D is empty exactly when the two root hashes are equal.

use crate::entry::size;
use crate::entry_record::{
    DirId, DirectoryRecord, EntryContent, EntryFacts, EntryRecord, ROOT, SnapshotEntryKind,
};
use crate::snapshot::Snapshot;
use probity_core::{ChangeKind, Digest};
use probity_paths::RepoPath;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// One path of D.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeChange {
    pub path: RepoPath,
    pub change: ChangeKind,
    pub before: Option<EntryState>,
    pub after: Option<EntryState>,
}

/// The entry at a path on one side of a delta.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryState {
    pub kind: SnapshotEntryKind,
    /// The twelve permission bits.
    pub mode: u32,
    /// Length of a file or link target in bytes; 0 for everything else.
    pub size: u64,
    /// Hash of a file's bytes or a link's target; `None` for everything else, and for unreadable entries.
    pub digest: Option<Digest>,
}

impl EntryState {
    pub(crate) fn of(record: &EntryRecord) -> Self {
        Self {
            kind: record.held.kind(),
            mode: record.facts.mode.into(),
            size: size(record),
            digest: record.held.digest(),
        }
    }
}

/// Returns the paths that differ, sorted by their bytes.
pub fn delta(before: &Snapshot, after: &Snapshot) -> Vec<TreeChange> {
    let mut changes = Vec::new();
    compare(before, after, EqualDirectoryPolicy::Skip, |pair| {
        changes.extend(entry_change(before, after, pair));
    });
    changes.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    changes
}

/// The way an entry was touched while its type, permission bits and content stayed the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TouchKind {
    /// Its owner, extended attributes, access list or names changed, or it was moved away and back.
    Attributes,
    /// It was written, and has the same content again.
    Written,
    /// Another object has its name now, with the same content.
    Replaced,
}

/// An entry that was touched but is not part of D.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TouchedEntry {
    pub path: RepoPath,
    pub touch: TouchKind,
}

/// Returns the entries that are not part of D although something about them changed, sorted by bytes.
///
/// For directories only a change of attributes is reported, because everything that comes or goes below touches them
/// too.
pub fn touched(before: &Snapshot, after: &Snapshot) -> Vec<TouchedEntry> {
    let mut touched = Vec::new();
    compare(before, after, EqualDirectoryPolicy::Visit, |pair| {
        if let EntryPair::Both(one, (dir, place)) = pair
            && let Some(touch) = touch_kind(before.record(one), after.record((dir, place)))
        {
            touched.push(TouchedEntry { path: after.path(dir, place), touch });
        }
    });
    touched.sort_unstable();
    touched
}

fn touch_kind(old: &EntryRecord, new: &EntryRecord) -> Option<TouchKind> {
    let object = |facts: &EntryFacts| (facts.device, facts.inode);
    if old.facts == new.facts || !is_same(old, new) {
        return None;
    }
    let touch = if object(&old.facts) != object(&new.facts) {
        TouchKind::Replaced
    } else if old.facts.mtime_ns != new.facts.mtime_ns {
        TouchKind::Written
    } else {
        TouchKind::Attributes
    };
    match new.held {
        EntryContent::File(Some(_)) | EntryContent::Symlink(Some(_)) => Some(touch),
        EntryContent::Directory(Some(_))
            if touch == TouchKind::Attributes && old.facts.ctime_ns != new.facts.ctime_ns =>
        {
            Some(touch)
        }
        _ => None,
    }
}

/// The position of an entry: its directory and its index there.
type EntryPosition = (DirId, usize);

/// An entry on one side or on both.
#[derive(Clone, Copy)]
enum EntryPair {
    Before(EntryPosition),
    After(EntryPosition),
    Both(EntryPosition, EntryPosition),
}

/// The treatment of directories whose hashes are equal.
#[derive(Clone, Copy, PartialEq)]
enum EqualDirectoryPolicy {
    Skip,
    Visit,
}

/// Walks both trees side by side, directory by directory.
fn compare(
    before: &Snapshot,
    after: &Snapshot,
    equal: EqualDirectoryPolicy,
    mut visit: impl FnMut(EntryPair),
) {
    let mut todo = vec![(Some(ROOT), Some(ROOT))];
    while let Some((one, other)) = todo.pop() {
        let (old, new) = (one.map(|id| before.dir(id)), other.map(|id| after.dir(id)));
        if equal == EqualDirectoryPolicy::Skip && old.zip(new).is_some_and(|(old, new)| old.hash == new.hash)
        {
            continue;
        }
        for (i, j) in merge_children(old, new) {
            let spots = (one.zip(i), other.zip(j));
            match spots {
                (Some(one), Some(other)) => visit(EntryPair::Both(one, other)),
                (Some(one), None) => visit(EntryPair::Before(one)),
                (None, Some(other)) => visit(EntryPair::After(other)),
                (None, None) => {}
            }
            let below = (
                spots.0.and_then(|at| before.directory_at(at)),
                spots.1.and_then(|at| after.directory_at(at)),
            );
            if below != (None, None) {
                todo.push(below);
            }
        }
    }
}

/// Pairs the children of both sides by name.
fn merge_children<'a>(
    old: Option<&'a DirectoryRecord>,
    new: Option<&'a DirectoryRecord>,
) -> impl Iterator<Item = (Option<usize>, Option<usize>)> + 'a {
    let name = |dir: Option<&'a DirectoryRecord>, at: usize| {
        dir.and_then(|dir| Some(dir.name(dir.records.get(at)?)))
    };
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        let order = match (name(old, i), name(new, j)) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(one), Some(other)) => one.cmp(other),
        };
        let pair = (order.is_le().then_some(i), order.is_ge().then_some(j));
        i += usize::from(order.is_le());
        j += usize::from(order.is_ge());
        Some(pair)
    })
}

fn entry_change(before: &Snapshot, after: &Snapshot, pair: EntryPair) -> Option<TreeChange> {
    match pair {
        EntryPair::Both(one, other) => {
            let (old, new) = (before.record(one), after.record(other));
            let path = || after.path(other.0, other.1);
            (!is_same(old, new)).then(|| TreeChange {
                path: path(),
                change: ChangeKind::Modified,
                before: Some(EntryState::of(old)),
                after: Some(EntryState::of(new)),
            })
        }
        EntryPair::Before(one) => (!before.is_implied_by_children(one)).then(|| TreeChange {
            path: before.path(one.0, one.1),
            change: ChangeKind::Deleted,
            before: Some(EntryState::of(before.record(one))),
            after: None,
        }),
        EntryPair::After(other) => (!after.is_implied_by_children(other)).then(|| TreeChange {
            path: after.path(other.0, other.1),
            change: ChangeKind::Added,
            before: None,
            after: Some(EntryState::of(after.record(other))),
        }),
    }
}

/// Returns true if two entries agree in type, permission bits and content. Children of directories are compared
/// separately.
fn is_same(old: &EntryRecord, new: &EntryRecord) -> bool {
    let holds_same = match (&old.held, &new.held) {
        (EntryContent::Directory(Some(_)), EntryContent::Directory(Some(_))) => true,
        (EntryContent::File(None), EntryContent::File(None))
        | (EntryContent::Symlink(None), EntryContent::Symlink(None))
        | (EntryContent::Directory(None), EntryContent::Directory(None)) => {
            looks_same(&old.facts, &new.facts)
        }
        (old, new) => old == new,
    };
    holds_same && old.facts.mode == new.facts.mode
}

/// Compares all that is known of entries that were not read.
fn looks_same(old: &EntryFacts, new: &EntryFacts) -> bool {
    let key = |facts: &EntryFacts| (facts.device, facts.inode, facts.size, facts.mtime_ns, facts.ctime_ns);
    key(old) == key(new)
}

impl Snapshot {
    fn record(&self, (dir, place): EntryPosition) -> &EntryRecord {
        &self.dir(dir).records[place]
    }

    /// Returns the directory at a position, if it is one that was entered.
    fn directory_at(&self, at: EntryPosition) -> Option<DirId> {
        match self.record(at).held {
            EntryContent::Directory(id) => id,
            _ => None,
        }
    }

    fn is_implied_by_children(&self, at: EntryPosition) -> bool {
        self.directory_at(at).is_some_and(|id| !self.dir(id).records.is_empty())
    }
}
