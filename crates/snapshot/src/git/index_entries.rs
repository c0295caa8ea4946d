//! Reads the entries of the index.
//!
//! [`IndexEntries`] answers only two questions about the tree: does git consider a filtered file unchanged, and does a
//! sparse checkout leave a file out? For everything else the content decides. [`IndexListing`] tells what the next
//! commit would hold.

use super::index_tables::{self, EntryPlaces, IndexContradiction};
use super::{GitLayout, git_files, index_is_sound};
use crate::entry::SnapshotEntry;
use crate::git_object::{GitId, ObjectFormat};
use std::collections::BTreeMap;
use std::time::SystemTime;

const MAX_INDEX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

const NS_PER_S: i64 = 1_000_000_000;
/// Bits of the flags of an entry.
const EXTENDED: u16 = 0x4000;
const STAGE_MASK: u16 = 0x3000;
const NAME_LEN_MASK: u16 = 0x0fff;
const ASSUME_VALID: u16 = 0x8000;
const SKIP_WORKTREE: u16 = 0x4000;
/// The mode of a whole directory that a sparse index leaves out; its id is that of a tree.
pub const SPARSE_DIR_MODE: u32 = 0o040_000;

/// One entry: what git last saw of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexEntry {
    ctime: (u32, u32),
    mtime: (u32, u32),
    inode: u32,
    size: u32,
    pub mode: u32,
    /// The blob that git associates with the file.
    pub id: GitId,
    /// True if the file is meant to be absent from the working tree.
    pub skip_worktree: bool,
    /// True if git is not to look at the file.
    pub assume_valid: bool,
}

impl IndexEntry {
    /// Returns true if git does not notice an edit of the file.
    pub fn hides_edits(&self) -> bool {
        self.skip_worktree || self.assume_valid
    }
}

/// Everything that the index would put into a commit, by path from the top of the working tree.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct IndexListing {
    pub entries: BTreeMap<Vec<u8>, IndexEntry>,
    /// The sides of paths in conflict, which cannot be committed as they are.
    pub unmerged: BTreeMap<Vec<u8>, Vec<(u32, GitId)>>,
    /// What git would take from other parts of the index, and the entries say otherwise.
    pub contradictions: Vec<IndexContradiction>,
}

impl IndexListing {
    /// Parses a sound index; `None` if it cannot be read, or if most of it is in another file.
    pub fn parse(bytes: &[u8], format: ObjectFormat) -> Option<Self> {
        if !index_is_sound(bytes, format) {
            return None;
        }
        let parsed = parse(bytes, format).filter(|parsed| !parsed.is_split())?;
        let places = &parsed.places;
        let contradictions =
            index_tables::contradictions(&parsed.listing.entries, &parsed.extensions, places, format);
        let mut listing = parsed.listing;
        listing.contradictions.extend(contradictions);
        Some(listing)
    }

    /// Holds entries that git told against the index that they are from.
    #[must_use]
    pub fn held_against(mut self, bytes: &[u8], format: ObjectFormat) -> Self {
        let found = parse(bytes, format).map(|parsed| {
            let (extensions, places) = (&parsed.extensions, &parsed.places);
            let of_tables = index_tables::contradictions(&self.entries, extensions, places, format);
            [parsed.listing.contradictions, of_tables].concat()
        });
        let unreadable = || vec![IndexContradiction { path: Vec::new(), tree: None }];
        self.contradictions = found.unwrap_or_else(unreadable);
        self
    }

    /// Parses the output of `git ls-files --stage -z`: records of `<mode> <id> <stage>TAB<path>NUL`.
    pub fn parse_ls_files(answer: &[u8]) -> Option<Self> {
        let mut listing = Self::default();
        for record in answer.split(|&byte| byte == 0).filter(|record| !record.is_empty()) {
            let tab = record.iter().position(|&byte| byte == b'\t')?;
            let fields: Vec<&[u8]> = record[..tab].split(|&byte| byte == b' ').collect();
            let [mode, id, stage] = fields[..] else { return None };
            let mode = u32::from_str_radix(std::str::from_utf8(mode).ok()?, 8).ok()?;
            let entry = IndexEntry::new(mode, GitId::from_hex(id)?);
            listing.insert(record[tab + 1..].to_vec(), entry, stage == b"0");
        }
        Some(listing)
    }

    fn insert(&mut self, name: Vec<u8>, entry: IndexEntry, is_merged: bool) {
        if is_merged {
            self.entries.insert(name, entry);
        } else {
            self.unmerged.entry(name).or_default().push((entry.mode, entry.id));
        }
    }
}

impl IndexEntry {
    /// Returns the entry of a file that git has not looked at.
    pub fn new(mode: u32, id: GitId) -> Self {
        let (never, none) = ((0, 0), 0);
        Self {
            ctime: never,
            mtime: never,
            inode: none,
            size: none,
            mode,
            id,
            skip_worktree: false,
            assume_valid: false,
        }
    }
}

/// The entries of an index that are not in conflict, by path from the top of the working tree.
#[derive(Debug, Default)]
pub struct IndexEntries {
    entries: BTreeMap<Vec<u8>, IndexEntry>,
    /// Time the index was written, in seconds and nanoseconds.
    written: (i64, i64),
}

impl IndexEntries {
    /// Reads the index of a repository; `None` if it is missing, damaged, or split into two files.
    pub fn read(layout: &GitLayout) -> Option<Self> {
        let path = layout.git_dir.join("index");
        let written = path.metadata().ok()?.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let bytes = git_files::read(&path, MAX_INDEX_BYTES).ok()?;
        if !index_is_sound(&bytes, layout.object_format) {
            return None;
        }
        let entries =
            parse(&bytes, layout.object_format).filter(|parsed| !parsed.is_split())?.listing.entries;
        let written = (i64::try_from(written.as_secs()).ok()?, i64::from(written.subsec_nanos()));
        Some(Self { entries, written })
    }

    /// Returns the entry of a path from the top of the working tree.
    pub fn get(&self, path: &[u8]) -> Option<&IndexEntry> {
        self.entries.get(path)
    }

    /// Returns true if a sparse checkout leaves out the file at a path from the top of the working tree.
    pub fn leaves_out(&self, path: &[u8]) -> bool {
        let ends = (0..path.len()).filter(|&at| path[at] == b'/').map(|at| &path[..=at]);
        let is_left_out = |name: &[u8], is_dir: bool| {
            self.get(name)
                .is_some_and(|entry| entry.skip_worktree && (entry.mode == SPARSE_DIR_MODE) == is_dir)
        };
        is_left_out(path, false) || ends.into_iter().any(|dir| is_left_out(dir, true))
    }

    /// Returns true if git has seen exactly this file and cannot have missed a later change to it.
    pub fn has_seen(&self, path: &[u8], file: &SnapshotEntry<'_>) -> bool {
        let Some(entry) = self.get(path) else { return false };
        let split = |ns: i64| (ns.div_euclid(NS_PER_S), ns.rem_euclid(NS_PER_S));
        let is_time = |(seconds, ns): (u32, u32), found: i64| {
            let found = split(found);
            // Some programs write whole seconds only.
            i64::from(seconds) == found.0 && (ns == 0 || i64::from(ns) == found.1)
        };
        // A file written at the same time as the index, or later, could have been written again with the same time.
        let mtime = split(file.mtime_ns());
        let is_older = if entry.mtime.1 == 0 { mtime.0 < self.written.0 } else { mtime < self.written };
        let low_bits = |number: u64| u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
        is_older
            && is_time(entry.mtime, file.mtime_ns())
            && is_time(entry.ctime, file.ctime_ns())
            && entry.inode == low_bits(file.object().1)
            && entry.size == low_bits(file.size())
            // Git sets the size to 0 if it is not sure itself.
            && (entry.size != 0 || file.size() == 0)
    }
}

/// One file of an index.
struct ParsedIndex<'a> {
    listing: IndexListing,
    places: EntryPlaces,
    extensions: Vec<(&'a [u8], &'a [u8])>,
}

impl ParsedIndex<'_> {
    /// Returns true if most entries are in another file.
    fn is_split(&self) -> bool {
        self.extensions.iter().any(|(name, _)| name == b"link")
    }
}

/// Parses the entries of a sound index of version 2, 3 or 4.
fn parse(bytes: &[u8], format: ObjectFormat) -> Option<ParsedIndex<'_>> {
    let version = *bytes.get(7)?;
    let n_entries = u32::from_be_bytes(*bytes.get(8..)?.first_chunk()?);
    let body = bytes.get(..bytes.len().checked_sub(format.id_len())?)?;
    let (mut at, mut name) = (12, Vec::new());
    let mut listing = IndexListing::default();
    // An index is sorted: a map is built from a list of its entries at once.
    let mut merged = Vec::new();
    let mut places = EntryPlaces::default();
    let (mut last_name, mut last_stage) = (Vec::new(), 0);
    for _ in 0..n_entries {
        let start = at;
        places.starts.push(start);
        let number = |place: usize| {
            body.get(start + 4 * place..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
        };
        let id_at = start + 40;
        let id = GitId::from_bytes(body.get(id_at..id_at + format.id_len())?)?;
        at = id_at + format.id_len();
        let flags = u16::from_be_bytes(*body.get(at..)?.first_chunk()?);
        at += 2;
        let mut extended = 0;
        if flags & EXTENDED != 0 && version >= 3 {
            extended = u16::from_be_bytes(*body.get(at..)?.first_chunk()?);
            at += 2;
        }
        if version == 4 {
            let kept = name.len().checked_sub(varint(body, &mut at)?)?;
            name.truncate(kept);
        } else {
            name.clear();
        }
        let len = body.get(at..)?.iter().position(|&byte| byte == 0)?;
        name.extend_from_slice(&body[at..at + len]);
        at += len + 1;
        if version < 4 {
            // Padded with NULs to a multiple of eight, with at least one.
            at = start + (at - start).next_multiple_of(8);
        }
        let declared = usize::from(flags & NAME_LEN_MASK);
        if declared != name.len().min(usize::from(NAME_LEN_MASK)) {
            return None;
        }
        let entry = IndexEntry {
            ctime: (number(0)?, number(1)?),
            mtime: (number(2)?, number(3)?),
            inode: number(5)?,
            mode: number(6)?,
            size: number(9)?,
            id,
            skip_worktree: extended & SKIP_WORKTREE != 0,
            assume_valid: flags & ASSUME_VALID != 0,
        };
        // Of two entries of one name, and of entries that are not sorted, git finds one or the other. The entries of a split
        // index that replace others have no names here.
        let stage = flags & STAGE_MASK;
        let follows = last_name.is_empty() || (&last_name, last_stage) < (&name, stage);
        if !name.is_empty() && !follows {
            listing.contradictions.push(IndexContradiction { path: name.clone(), tree: None });
        }
        last_name.clone_from(&name);
        last_stage = stage;
        if stage == 0 {
            merged.push((name.clone(), entry));
        } else {
            listing.insert(name.clone(), entry, false);
        }
    }
    listing.entries = merged.into_iter().collect();
    places.end = at;
    let extensions = index_tables::extensions(body.get(at..)?)?;
    Some(ParsedIndex { listing, places, extensions })
}

/// Returns the number of bytes that a version 4 name drops from the previous one, in git's offset encoding.
fn varint(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut next = || {
        let byte = *bytes.get(*at)?;
        *at += 1;
        Some(byte)
    };
    let mut byte = next()?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = next()?;
        value = value.checked_add(1)?.checked_mul(0x80)? + usize::from(byte & 0x7f);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, version in 2_u8..5, n_entries in 0_u8..4) {
            let mut index = b"DIRC\0\0\0\x02\0\0\0\0".to_vec();
            (index[7], index[11]) = (version, n_entries);
            index.extend(bytes);
            let _ = parse(&index, ObjectFormat::Sha1);
        }
    }
}
