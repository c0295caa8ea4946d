//! The stored facts of one entry, kept small because a tree has many.

use probity_core::Digest;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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

impl Kind {
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
pub(crate) struct Stat {
    pub(crate) kind: Kind,
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

impl Stat {
    /// Returns the metadata of an entry of which only the name is known.
    pub(crate) const fn unknown(kind: Kind, device: u64) -> Self {
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

/// What an entry holds. `None`: it could not be seen, so it is compared by what [`Facts`] say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Held {
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

impl Held {
    /// Returns the content of an entry that was not read, or has none.
    pub(crate) const fn unread(stat: &Stat) -> Self {
        match stat.kind {
            Kind::File => Self::File(None),
            Kind::Directory => Self::Directory(None),
            Kind::Symlink => Self::Symlink(None),
            Kind::Fifo => Self::Fifo,
            Kind::Socket => Self::Socket,
            Kind::CharDevice => Self::CharDevice(stat.special),
            Kind::BlockDevice => Self::BlockDevice(stat.special),
        }
    }

    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::File(_) => Kind::File,
            Self::Symlink(_) => Kind::Symlink,
            Self::Directory(_) => Kind::Directory,
            Self::Fifo => Kind::Fifo,
            Self::Socket => Kind::Socket,
            Self::CharDevice(_) => Kind::CharDevice,
            Self::BlockDevice(_) => Kind::BlockDevice,
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

/// The part of a [`Stat`] that is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) size: u64,
    pub(crate) mtime_ns: i64,
    pub(crate) ctime_ns: i64,
    pub(crate) links: u32,
    pub(crate) mode: u16,
}

impl From<&Stat> for Facts {
    fn from(stat: &Stat) -> Self {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Offset and length of its name in the directory's bytes.
    pub(crate) name: (u32, u16),
    pub(crate) facts: Facts,
    pub(crate) held: Held,
}

impl Record {
    /// Returns true if the entry was last written before `settled_ns`, so that a later write must show in its times.
    pub(crate) fn is_older_than(&self, settled_ns: i64) -> bool {
        self.facts.mtime_ns.max(self.facts.ctime_ns) < settled_ns
    }
}

/// One directory, with its children sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dir {
    /// Its parent and its index there. The root points at itself.
    pub(crate) parent: (DirId, u32),
    /// The names of the children, concatenated.
    #[serde(with = "probity_core::bytes::raw")]
    pub(crate) names: Box<[u8]>,
    pub(crate) records: Box<[Record]>,
    /// The link targets, by index of the record.
    pub(crate) targets: Box<[(u32, Box<[u8]>)]>,
    /// The git blob ids, one per record (zeros where there is none); empty if they were not requested.
    #[serde(with = "probity_core::bytes::raw")]
    pub(crate) git_ids: Box<[u8]>,
    /// The hash over the children.
    pub(crate) hash: Digest,
}

impl Dir {
    pub(crate) fn name(&self, record: &Record) -> &[u8] {
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
