//! The hash of a directory, and thereby of a tree: equal hashes mean equal trees.
//!
//! The hash of a directory is the SHA-256 of these bytes; numbers are big-endian and unsigned:
//!
//! ```text
//! "probity/tree/v1" 00
//! number of children                       8 bytes
//! for each child, in the order of the bytes of its name:
//!   length of the name                     4 bytes
//!   name
//!   permission bits (the twelve of 07777)  2 bytes
//!   tag of its type                        1 byte
//!   content
//! ```
//!
//! | Type | Tag | Content |
//! |---|---|---|
//! | file | `f` | SHA-256 of its bytes, 32 bytes |
//! | symbolic link | `l` | SHA-256 of its target, 32 bytes |
//! | directory | `d` | the hash of the directory, 32 bytes |
//! | named pipe | `p` | nothing |
//! | socket | `s` | nothing |
//! | character device | `c` | device number, 8 bytes |
//! | block device | `b` | device number, 8 bytes |
//! | file, link, directory that was not read | `F`, `L`, `D` | device, inode, size, mtime in ns, ctime in ns, 8 bytes each |
//!
//! The root hash of a snapshot is the hash of its root directory. The root directory has no name, so its own
//! permission bits are in no hash. Times, inodes, owners, link counts and the sizes of directories are in no hash
//! either; only an unread entry is hashed by its device, inode, size and times, because nothing else can be compared.

use crate::entry_record::{DirectoryRecord, EntryContent, EntryFacts, EntryRecord};
use probity_core::Digest;
use probity_core::digest::DigestHasher;

/// Fills in the hashes of the directories that have directories; the others have theirs from [`hash_leaf`].
pub(crate) fn hash_parents(dirs: &mut [DirectoryRecord]) {
    let mut bytes = Vec::new();
    // The last first: a parent comes before its children in `dirs`.
    for id in (0..dirs.len()).rev() {
        if !is_leaf(&dirs[id]) {
            dirs[id].hash = hash_dir(&dirs[id], dirs, &mut bytes);
        }
    }
}

/// Computes the hash of a directory without subdirectories, which walking threads can do in parallel.
pub(crate) fn hash_leaf(dir: &mut DirectoryRecord) {
    if is_leaf(dir) {
        dir.hash = hash_dir(dir, &[], &mut Vec::new());
    }
}

fn is_leaf(dir: &DirectoryRecord) -> bool {
    !dir.records.iter().any(|record| matches!(record.held, EntryContent::Directory(_)))
}

fn hash_dir(dir: &DirectoryRecord, dirs: &[DirectoryRecord], bytes: &mut Vec<u8>) -> Digest {
    bytes.clear();
    bytes.extend_from_slice(b"probity/tree/v1\0");
    bytes.extend_from_slice(&(dir.records.len() as u64).to_be_bytes());
    let mut hasher = DigestHasher::default();
    for record in &dir.records {
        put_record(dir, record, dirs, bytes);
        if bytes.len() > 32 * 1024 {
            hasher.update(bytes);
            bytes.clear();
        }
    }
    hasher.update(bytes);
    hasher.finish()
}

fn put_record(dir: &DirectoryRecord, record: &EntryRecord, dirs: &[DirectoryRecord], bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&u32::from(record.name.1).to_be_bytes());
    bytes.extend_from_slice(dir.name(record));
    bytes.extend_from_slice(&record.facts.mode.to_be_bytes());
    bytes.push(record.held.tag());
    match &record.held {
        EntryContent::File(Some(digest)) | EntryContent::Symlink(Some(digest)) => {
            bytes.extend_from_slice(digest.as_bytes());
        }
        EntryContent::Directory(Some(id)) => bytes.extend_from_slice(dirs[*id as usize].hash.as_bytes()),
        EntryContent::File(None) | EntryContent::Symlink(None) | EntryContent::Directory(None) => {
            put_unread(bytes, &record.facts);
        }
        EntryContent::CharDevice(number) | EntryContent::BlockDevice(number) => {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        EntryContent::Fifo | EntryContent::Socket => {}
    }
}

fn put_unread(bytes: &mut Vec<u8>, facts: &EntryFacts) {
    for number in [
        facts.device,
        facts.inode,
        facts.size,
        facts.mtime_ns.cast_unsigned(),
        facts.ctime_ns.cast_unsigned(),
    ] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
}
