//! The entries of a snapshot as callers see them, and their order.

use crate::entry_record::{DirId, DirectoryRecord, EntryContent, EntryRecord, ROOT, SnapshotEntryKind};
use crate::git_object::GitId;
use crate::snapshot::Snapshot;
use probity_core::Digest;
use probity_paths::RepoPath;

#[derive(Debug, Clone)]
pub struct SnapshotEntry<'a> {
    path: RepoPath,
    dir: &'a DirectoryRecord,
    place: usize,
    git_id_len: usize,
}

impl<'a> SnapshotEntry<'a> {
    fn new(snapshot: &Snapshot, path: RepoPath, dir: &'a DirectoryRecord, place: usize) -> Self {
        Self { path, dir, place, git_id_len: snapshot.git_id_len() }
    }

    fn record(&self) -> &'a EntryRecord {
        &self.dir.records[self.place]
    }

    pub fn path(&self) -> &RepoPath {
        &self.path
    }

    pub fn into_path(self) -> RepoPath {
        self.path
    }

    pub fn kind(&self) -> SnapshotEntryKind {
        self.record().held.kind()
    }

    /// Returns the twelve permission bits.
    pub fn mode(&self) -> u32 {
        self.record().facts.mode.into()
    }

    /// Returns the length of a file or link target in bytes; 0 for everything else.
    pub fn size(&self) -> u64 {
        size(self.record())
    }

    /// Returns the time of the last write, in nanoseconds since 1970.
    pub fn mtime_ns(&self) -> i64 {
        self.record().facts.mtime_ns
    }

    /// Returns the time of the last change to anything about the entry, in nanoseconds since 1970.
    pub fn ctime_ns(&self) -> i64 {
        self.record().facts.ctime_ns
    }

    /// Returns the device and the inode.
    pub fn object(&self) -> (u64, u64) {
        (self.record().facts.device, self.record().facts.inode)
    }

    /// Returns the number of hard links to the object.
    pub fn links(&self) -> u32 {
        self.record().facts.links
    }

    /// Returns the hash of a file's bytes or a link's target; `None` for everything else, and for unreadable entries.
    pub fn digest(&self) -> Option<Digest> {
        self.record().held.digest()
    }

    pub fn link_target(&self) -> Option<&'a [u8]> {
        self.dir.target(u32::try_from(self.place).ok()?)
    }

    /// Returns the git blob id of a file, if the snapshot has ids.
    pub fn git_id(&self) -> Option<GitId> {
        let id = self.dir.git_ids.get(self.place * self.git_id_len..)?.get(..self.git_id_len)?;
        matches!(self.record().held, EntryContent::File(Some(_))).then(|| GitId::from_bytes(id))?
    }
}

impl Snapshot {
    /// The entries, sorted by the bytes of their paths.
    pub fn entries(&self) -> impl Iterator<Item = SnapshotEntry<'_>> {
        EntryIterator::new(self)
    }

    /// Returns the entries with this last name, sorted by the bytes of their paths. Only the names of one place in each
    /// directory are looked at, so a large tree is searched at once.
    pub fn entries_named(&self, name: &[u8]) -> Vec<SnapshotEntry<'_>> {
        let named = (0..).zip(&self.dirs).filter_map(|(id, dir)| {
            let place = dir.find(name)?;
            Some(SnapshotEntry::new(self, self.path(id, place), dir, place))
        });
        let mut named: Vec<_> = named.collect();
        named.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        named
    }

    /// The entry at `path`.
    pub fn get(&self, path: &RepoPath) -> Option<SnapshotEntry<'_>> {
        let (dir, place) = self.find(path.segments())?;
        Some(SnapshotEntry::new(self, path.clone(), dir, place))
    }
}

/// The size that counts: directories and special files have one that means nothing.
pub(crate) fn size(record: &EntryRecord) -> u64 {
    match record.held.kind() {
        SnapshotEntryKind::File | SnapshotEntryKind::Symlink => record.facts.size,
        _ => 0,
    }
}

/// Iterates over a snapshot in the byte order of the paths.
///
/// That is not quite the order of a tree: `a`, `a.c`, `a/b`, since `.` comes before `/`. So a directory's children
/// wait until every sibling that sorts before `a/` is done.
struct EntryIterator<'a> {
    snapshot: &'a Snapshot,
    levels: Vec<DirectoryLevel>,
    path: Vec<u8>,
}

/// One directory on the way down.
struct DirectoryLevel {
    dir: DirId,
    next: usize,
    /// Directories already listed whose children are still waiting.
    waiting: Vec<usize>,
    path_len: usize,
}

impl<'a> EntryIterator<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        let root = DirectoryLevel { dir: ROOT, next: 0, waiting: Vec::new(), path_len: 0 };
        Self { snapshot, levels: vec![root], path: Vec::new() }
    }

    /// Returns the directory whose children come next on this level, if it is their turn.
    fn next_waiting_directory(dir: &DirectoryRecord, level: &DirectoryLevel) -> Option<usize> {
        let &place = level.waiting.last()?;
        let name = dir.name(&dir.records[place]);
        let sibling = dir.records.get(level.next).map(|record| dir.name(record));
        let is_before = |sibling: &[u8]| sibling.strip_prefix(name).is_some_and(|rest| rest[0] < b'/');
        (!sibling.is_some_and(is_before)).then_some(place)
    }

    fn set_name(&mut self, path_len: usize, name: &[u8]) {
        self.path.truncate(path_len);
        if path_len > 0 {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
    }
}

impl<'a> Iterator for EntryIterator<'a> {
    type Item = SnapshotEntry<'a>;

    fn next(&mut self) -> Option<SnapshotEntry<'a>> {
        loop {
            let level = self.levels.last_mut()?;
            let dir = self.snapshot.dir(level.dir);
            let path_len = level.path_len;
            if let Some(place) = Self::next_waiting_directory(dir, level) {
                level.waiting.pop();
                self.set_name(path_len, dir.name(&dir.records[place]));
                if let EntryContent::Directory(Some(id)) = dir.records[place].held {
                    let path_len = self.path.len();
                    self.levels.push(DirectoryLevel { dir: id, next: 0, waiting: Vec::new(), path_len });
                }
                continue;
            }
            let Some(record) = dir.records.get(level.next) else {
                self.levels.pop();
                continue;
            };
            let place = level.next;
            level.next += 1;
            if matches!(record.held, EntryContent::Directory(Some(_))) {
                level.waiting.push(place);
            }
            self.set_name(path_len, dir.name(record));
            let path = RepoPath::parse(&self.path).expect("names of a tree make a path");
            return Some(SnapshotEntry::new(self.snapshot, path, dir, place));
        }
    }
}
