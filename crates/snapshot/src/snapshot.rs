//! A snapshot: every entry of the content zone at one time, with a root hash.

use crate::entry_record::{DirId, DirectoryRecord, EntryContent, ROOT};
use crate::finding::TreeFinding;
use crate::git_object::ObjectFormat;
use probity_core::Digest;
use probity_paths::RepoPath;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Kernels stamp files with a clock that may lag by some milliseconds, and some file systems store whole or only even
/// seconds. A file written shortly before a snapshot began could be written again with the same time.
const RACY_WINDOW_NS: i64 = 2_000_000_000;

/// Returns the time before which nothing can have been written again unnoticed by a look that began at `started_ns`.
pub(crate) const fn settled_at(started_ns: i64) -> i64 {
    started_ns.saturating_sub(RACY_WINDOW_NS)
}

/// Something worth knowing about how a snapshot was taken. It fails nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SnapshotNote {
    /// The system cannot distinguish mounts: a directory of the same device mounted inside the tree is not recognized
    /// as a mount point.
    NoMountIds,
    /// A link has an absolute target that leads back into the tree. It would leave the tree if the tree were moved.
    AbsoluteLinkInside(RepoPath),
}

impl fmt::Display for SnapshotNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMountIds => {
                f.write_str("this system does not tell mounts apart: bind mounts are not seen")
            }
            Self::AbsoluteLinkInside(path) => write!(f, "the link `{path}` names its target absolutely"),
        }
    }
}

/// Every entry of a tree at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    pub(crate) started_ns: i64,
    pub(crate) git_ids: Option<ObjectFormat>,
    /// Whether every directory has all the names that were listed in it, so that a later walk may take them from here.
    pub(crate) has_all_names: bool,
    /// A parent comes before its children; the children of one directory are sorted by name.
    pub(crate) dirs: Vec<DirectoryRecord>,
    pub(crate) findings: Vec<TreeFinding>,
    pub(crate) notes: Vec<SnapshotNote>,
}

impl Snapshot {
    /// The root hash: equal exactly when all entries are equal in path, type, permission bits and content.
    pub fn root(&self) -> Digest {
        self.dirs[ROOT as usize].hash
    }

    /// Returns the findings, sorted by path.
    pub fn findings(&self) -> &[TreeFinding] {
        &self.findings
    }

    pub fn notes(&self) -> &[SnapshotNote] {
        &self.notes
    }

    /// Returns the start time in nanoseconds since 1970, by this machine's clock.
    pub fn started_ns(&self) -> i64 {
        self.started_ns
    }

    /// Returns the format of the git blob ids, if the snapshot has them.
    pub fn git_ids(&self) -> Option<ObjectFormat> {
        self.git_ids
    }

    pub fn n_entries(&self) -> usize {
        self.dirs.iter().map(|dir| dir.records.len()).sum()
    }

    pub(crate) fn find<'n>(
        &self,
        names: impl Iterator<Item = &'n [u8]>,
    ) -> Option<(&DirectoryRecord, usize)> {
        let mut at = Some(ROOT);
        let mut found = None;
        for name in names {
            let dir = self.dir(at?);
            let place = dir.find(name)?;
            at = match dir.records[place].held {
                EntryContent::Directory(id) => id,
                _ => None,
            };
            found = Some((dir, place));
        }
        found
    }

    pub(crate) fn dir(&self, id: DirId) -> &DirectoryRecord {
        &self.dirs[id as usize]
    }

    pub(crate) fn git_id_len(&self) -> usize {
        self.git_ids.map_or(0, ObjectFormat::id_len)
    }

    /// Returns the time before which nothing can have been written again unnoticed.
    pub(crate) fn settled_ns(&self) -> i64 {
        settled_at(self.started_ns)
    }

    /// Returns whether this snapshot, kept as the known one, spares the next one as much reading as `later` would: it
    /// holds the same entries, and none of them is too young to be recognized.
    pub fn recalls_all_of(&self, later: &Self) -> bool {
        let settled_ns = self.settled_ns();
        let mut records = self.dirs.iter().flat_map(|dir| &*dir.records);
        (self.git_ids, self.has_all_names) == (later.git_ids, later.has_all_names)
            && self.dirs == later.dirs
            && records.all(|record| record.is_older_than(settled_ns))
    }

    /// Returns the path of the child at index `place` of directory `id`.
    pub(crate) fn path(&self, id: DirId, place: usize) -> RepoPath {
        let mut names = vec![self.dir(id).name(&self.dir(id).records[place])];
        let mut at = id;
        while at != ROOT {
            let (parent, place) = self.dir(at).parent;
            let dir = self.dir(parent);
            names.push(dir.name(&dir.records[place as usize]));
            at = parent;
        }
        join_names(&names)
    }
}

/// Joins names, the last first.
pub(crate) fn join_names(names: &[&[u8]]) -> RepoPath {
    let path: Vec<&[u8]> = names.iter().rev().copied().collect();
    RepoPath::parse(&path.join(&b'/'))
        .expect("the system lists no name that is empty, `.`, `..` or has a `/` or NUL")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SnapshotOptions;

    #[test]
    fn a_known_snapshot_is_kept_while_it_spares_all_reading() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::create_dir(dir.path().join("src")).expect("creates");
        std::fs::write(dir.path().join("src/a"), "1").expect("writes");
        let take = || Snapshot::take(dir.path(), &SnapshotOptions::default(), None).expect("reads");
        let young = take();
        assert!(!young.recalls_all_of(&take()), "a file that was just written is read again");
        let known = Snapshot { started_ns: young.started_ns + 2 * RACY_WINDOW_NS, ..young };
        assert!(known.recalls_all_of(&take()));
        std::fs::write(dir.path().join("src/b"), "2").expect("writes");
        assert!(!known.recalls_all_of(&take()));
    }
}
