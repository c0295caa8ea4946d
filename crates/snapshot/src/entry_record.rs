//! The stored facts of one entry, kept small because a tree has many.

use probity_core::Digest;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SnapshotEntryKind {
    /// A regular file.
    File,
    Directory,
    Symlink,
    /// A named pipe.
    Fifo,
    Socket,
    CharDevice,
    BlockDevice,
}

impl SnapshotEntryKind {
    /// Returns the name used in documents.
    pub const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "directory",
            Self::Symlink => "symlink",
            Self::Fifo => "fifo",
            Self::Socket => "socket",
            Self::CharDevice => "char_device",
            Self::BlockDevice => "block_device",
        }
    }
}

/// The metadata of an entry, read without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryStat {
    pub(crate) kind: SnapshotEntryKind,
    /// The twelve permission bits.
    pub(crate) mode: u16,
    pub(crate) links: u32,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) mtime_ns: i64,
    pub(crate) ctime_ns: i64,
    /// The device that a device file represents; 0 for everything else.
    pub(crate) special: u64,
    /// The mount it is on, where the system reports it.
    pub(crate) mount: Option<u64>,
    /// Creation time where the system reports it, otherwise 0.
    pub(crate) born_ns: i64,
}

impl EntryStat {
    /// Returns the metadata of an entry of which only the name is known.
    pub(crate) const fn unknown(kind: SnapshotEntryKind, device: u64) -> Self {
        Self {
            kind,
            mode: 0,
            links: 0,
            device,
            inode: 0,
            size: 0,
            mtime_ns: 0,
            ctime_ns: 0,
            special: 0,
            mount: None,
            born_ns: 0,
        }
    }

    /// Returns true if both are the same object, even if it changed.
    pub(crate) fn is_same_object(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode && self.kind == other.kind
    }
}

/// The number of a directory in its snapshot.
pub(crate) type DirId = u32;

/// The number of the root directory.
pub(crate) const ROOT: DirId = 0;

/// What an entry holds. `None`: it could not be seen, so it is compared by what [`EntryFacts`] say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryContent {
    /// The hash of the file's bytes.
    File(Option<Digest>),
    /// The hash of the link's target.
    Symlink(Option<Digest>),
    /// The children.
    Directory(Option<DirId>),
    Fifo,
    Socket,
    CharDevice(u64),
    BlockDevice(u64),
}

impl EntryContent {
    /// Returns the content of an entry that was not read, or has none.
    pub(crate) const fn unread(stat: &EntryStat) -> Self {
        match stat.kind {
            SnapshotEntryKind::File => Self::File(None),
            SnapshotEntryKind::Directory => Self::Directory(None),
            SnapshotEntryKind::Symlink => Self::Symlink(None),
            SnapshotEntryKind::Fifo => Self::Fifo,
            SnapshotEntryKind::Socket => Self::Socket,
            SnapshotEntryKind::CharDevice => Self::CharDevice(stat.special),
            SnapshotEntryKind::BlockDevice => Self::BlockDevice(stat.special),
        }
    }

    pub(crate) const fn kind(&self) -> SnapshotEntryKind {
        match self {
            Self::File(_) => SnapshotEntryKind::File,
            Self::Symlink(_) => SnapshotEntryKind::Symlink,
            Self::Directory(_) => SnapshotEntryKind::Directory,
            Self::Fifo => SnapshotEntryKind::Fifo,
            Self::Socket => SnapshotEntryKind::Socket,
            Self::CharDevice(_) => SnapshotEntryKind::CharDevice,
            Self::BlockDevice(_) => SnapshotEntryKind::BlockDevice,
        }
    }

    /// Returns the hash of a file's bytes or a link's target.
    pub(crate) const fn digest(&self) -> Option<Digest> {
        match self {
            Self::File(digest) | Self::Symlink(digest) => *digest,
            _ => None,
        }
    }
}

/// The part of a [`EntryStat`] that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryFacts {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) mtime_ns: i64,
    pub(crate) ctime_ns: i64,
    pub(crate) links: u32,
    pub(crate) mode: u16,
}

impl From<&EntryStat> for EntryFacts {
    fn from(stat: &EntryStat) -> Self {
        Self {
            device: stat.device,
            inode: stat.inode,
            size: stat.size,
            mtime_ns: stat.mtime_ns,
            ctime_ns: stat.ctime_ns,
            links: stat.links,
            mode: stat.mode,
        }
    }
}

/// One child of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryRecord {
    /// Offset and length of its name in the directory's bytes.
    pub(crate) name: (u32, u16),
    pub(crate) facts: EntryFacts,
    pub(crate) held: EntryContent,
}

impl EntryRecord {
    /// Returns true if the entry was last written before `settled_ns`, so that a later write must show in its times.
    pub(crate) fn is_older_than(&self, settled_ns: i64) -> bool {
        self.facts.mtime_ns.max(self.facts.ctime_ns) < settled_ns
    }
}

/// One directory, with its children sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DirectoryRecord {
    /// Its parent and its index there. The root points at itself.
    pub(crate) parent: (DirId, u32),
    /// The names of the children, concatenated.
    #[serde(with = "probity_core::bytes::raw")]
    pub(crate) names: Box<[u8]>,
    #[serde(with = "crate::record_table")]
    pub(crate) records: Box<[EntryRecord]>,
    /// The link targets, by index of the record.
    pub(crate) targets: Box<[(u32, Box<[u8]>)]>,
    /// The git blob ids, one per record (zeros where there is none); empty if they were not requested.
    #[serde(with = "probity_core::bytes::raw")]
    pub(crate) git_ids: Box<[u8]>,
    /// The hash over the children.
    pub(crate) hash: Digest,
}

impl DirectoryRecord {
    /// Returns a root without children; its hash is still to be computed.
    pub(crate) fn empty() -> Self {
        Self {
            parent: (ROOT, 0),
            names: Box::default(),
            records: Box::default(),
            targets: Box::default(),
            git_ids: Box::default(),
            hash: Digest::from_bytes([0; 32]),
        }
    }

    pub(crate) fn name(&self, record: &EntryRecord) -> &[u8] {
        &self.names[record.name.0 as usize..][..usize::from(record.name.1)]
    }

    /// Returns the index of the child `name`.
    pub(crate) fn find(&self, name: &[u8]) -> Option<usize> {
        self.records.binary_search_by(|record| self.name(record).cmp(name)).ok()
    }

    pub(crate) fn target(&self, place: u32) -> Option<&[u8]> {
        let found = self.targets.binary_search_by_key(&place, |(at, _)| *at).ok()?;
        Some(&self.targets[found].1)
    }
}
