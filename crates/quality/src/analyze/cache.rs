//! Caches the facts extracted from a file, keyed by the digest of its bytes.
//!
//! The cache is one file of appended records. It therefore has the first line of every other cache, but is not
//! replaced as a whole and has no checksum at its end. Each record has a checksum over its key and payload: a
//! truncated or changed record is ignored, and the file is then rewritten. Damage can make an analysis slower, never wrong.
//!
//! ```text
//! first line of a cache, then records: payload length (u32), checksum (16 bytes), key (32 bytes), payload
//! ```

use probity_analysis::{FactsKey, FileFacts};
use probity_core::Digest;
use probity_core::digest::DigestHasher;
use probity_storage::CacheKind;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Must change whenever the format of the facts or of the records does.
pub(crate) const FACTS_CACHE: CacheKind = CacheKind { name: "facts", version: 4 };
const CHECKSUM_BYTES: usize = 16;
const HEADER_BYTES: usize = 4 + CHECKSUM_BYTES + 32;

/// The file is rewritten without unneeded records if it exceeds twice the needed size by more than this.
const MAX_UNNEEDED_BYTES: usize = 64 << 20;

const MAX_CACHE_BYTES: u64 = 4 << 30;

#[derive(Debug)]
pub(super) struct FactsCache {
    path: PathBuf,
    bytes: Vec<u8>,
    /// Start and end of the record of each key.
    records: BTreeMap<Digest, (usize, usize)>,
    /// Whether the file is damaged, so that appended records would not be found.
    is_damaged: bool,
}

impl FactsCache {
    /// Opens the cache at `path`. A missing or damaged file gives an empty or partial cache, never an error.
    pub(super) fn open(path: PathBuf) -> Self {
        let is_small = std::fs::metadata(&path).is_ok_and(|facts| facts.len() <= MAX_CACHE_BYTES);
        let bytes = if is_small { probity_storage::durable::read(&path).ok().flatten() } else { None };
        let bytes = bytes.unwrap_or_default();
        let (records, is_damaged) = index(&bytes);
        Self { path, bytes, records, is_damaged }
    }

    /// Returns an empty cache that will replace the file at `path`.
    pub(super) fn empty(path: PathBuf) -> Self {
        Self { path, bytes: Vec::new(), records: BTreeMap::new(), is_damaged: true }
    }

    /// Returns whether there is a record for `key`, intact or not.
    pub(super) fn has(&self, key: &Digest) -> bool {
        self.records.contains_key(key)
    }

    /// Returns the facts for `key` if the record is intact.
    pub(super) fn get(&self, key: &Digest) -> Option<Arc<FileFacts>> {
        let &(start, end) = self.records.get(key)?;
        let record = &self.bytes[start..end];
        let payload = &record[HEADER_BYTES..];
        if record[4..4 + CHECKSUM_BYTES] != checksum(key, payload) {
            return None;
        }
        let facts: FileFacts = postcard::from_bytes(payload).ok()?;
        facts.is_sound().then(|| Arc::new(facts))
    }

    /// Adds facts. `needed` lists all keys of the current analysis; others are dropped if the cache grows too large.
    /// Write errors are ignored: they cost only time.
    pub(super) fn add(&self, new: &[(Digest, Arc<FileFacts>)], needed: &[Digest]) {
        if new.is_empty() && !self.is_damaged {
            return;
        }
        let added: Vec<Vec<u8>> = new.par_iter().filter_map(|(key, facts)| record(key, facts)).collect();
        let live = needed.iter().filter_map(|key| self.records.get(key));
        let n_live: usize = live.clone().map(|(start, end)| end - start).sum();
        let n_added: usize = added.iter().map(Vec::len).sum();
        let is_bloated = self.bytes.len() + n_added > 2 * (n_live + n_added) + MAX_UNNEEDED_BYTES;
        tracing::trace!(target: "probity::work", cache_bytes_written = n_added as u64);
        let _ = if self.is_damaged || is_bloated {
            let kept = live.map(|&(start, end)| &self.bytes[start..end]);
            let first_line = FACTS_CACHE.first_line();
            let parts = std::iter::once(&first_line[..]).chain(kept).chain(added.iter().map(Vec::as_slice));
            probity_storage::durable::write_unsynced(&self.path, &parts.collect::<Vec<_>>().concat())
                .map_err(drop)
        } else {
            append(&self.path, &added.concat()).map_err(drop)
        };
    }
}

/// Returns whether every record of the cache at `path` is intact. It cannot tell whether the facts are true.
pub(crate) fn is_whole(path: &Path) -> bool {
    let facts = FactsCache::open(path.to_owned());
    let is_sound = |(key, &(start, end)): (&Digest, &(usize, usize))| {
        let record = &facts.bytes[start..end];
        record[4..4 + CHECKSUM_BYTES] == checksum(key, &record[HEADER_BYTES..])
    };
    !facts.is_damaged && facts.records.iter().all(is_sound)
}

pub(super) fn key(key: &FactsKey) -> Digest {
    let mut hasher = DigestHasher::default();
    hasher.update(key.content.as_bytes());
    hasher.update(key.language.name().as_bytes());
    hasher.update(format!("{:?} {} {}", key.language, key.analyser, key.max_bytes).as_bytes());
    hasher.finish()
}

/// Returns the position of each record and whether the file is damaged. The last of equal keys counts.
fn index(bytes: &[u8]) -> (BTreeMap<Digest, (usize, usize)>, bool) {
    let mut records = BTreeMap::new();
    let line = FACTS_CACHE.first_line();
    if !bytes.starts_with(&line) {
        return (records, true);
    }
    let mut at = line.len();
    while let Some(header) = bytes.get(at..at + HEADER_BYTES) {
        let (length, rest) = header.split_first_chunk::<4>().expect("a header has more than four bytes");
        let key: [u8; 32] = rest[CHECKSUM_BYTES..].try_into().expect("a header ends with a key");
        let end = at + HEADER_BYTES + u32::from_le_bytes(*length) as usize;
        if end > bytes.len() {
            return (records, true);
        }
        records.insert(Digest::from_bytes(key), (at, end));
        at = end;
    }
    (records, at != bytes.len())
}

fn record(key: &Digest, facts: &FileFacts) -> Option<Vec<u8>> {
    let payload = postcard::to_stdvec(facts).ok()?;
    let length = u32::try_from(payload.len()).ok()?;
    let parts = [&length.to_le_bytes()[..], &checksum(key, &payload), key.as_bytes(), &payload];
    Some(parts.concat())
}

fn checksum(key: &Digest, payload: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = DigestHasher::default();
    hasher.update(key.as_bytes());
    hasher.update(payload);
    *hasher.finish().as_bytes().first_chunk().expect("a digest is longer than a checksum")
}

/// Appends in one write, so that records of two writers do not mix.
fn append(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let no_tricks = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    OpenOptions::new().append(true).custom_flags(no_tricks).open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts(n_lines: u32) -> Arc<FileFacts> {
        Arc::new(FileFacts { n_lines, symbols: ["name"].into_iter().collect(), ..FileFacts::default() })
    }

    fn keys() -> [Digest; 3] {
        [&b"a"[..], b"b", b"c"].map(Digest::of)
    }

    /// Writes a cache file with the records of `a` and `b`.
    fn written(dir: &Path) -> PathBuf {
        let path = dir.join("facts");
        let [a, b, _] = keys();
        FactsCache::open(path.clone()).add(&[(a, facts(1))], &[a]);
        FactsCache::open(path.clone()).add(&[(b, facts(2))], &[a, b]);
        path
    }

    #[test]
    fn what_was_added_is_found_by_the_next_one() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = FactsCache::open(written(dir.path()));
        let [a, b, c] = keys();
        assert_eq!((cache.get(&a), cache.get(&b), cache.get(&c)), (Some(facts(1)), Some(facts(2)), None));
    }

    #[test]
    fn after_damage_new_records_are_found_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = written(dir.path());
        let bytes = std::fs::read(&path).expect("reads");
        std::fs::write(&path, &bytes[..bytes.len() - 3]).expect("is cut short");
        let [a, b, c] = keys();
        let cache = FactsCache::open(path.clone());
        assert_eq!(cache.get(&b), None);
        cache.add(&[(c, facts(3))], &[a, c]);
        let cache = FactsCache::open(path);
        assert_eq!((cache.get(&a), cache.get(&c)), (Some(facts(1)), Some(facts(3))));
    }

    proptest! {
        #[test]
        fn no_changed_byte_gives_other_facts(at in 0usize..200, byte: u8) {
            let dir = tempfile::tempdir().expect("a directory");
            let path = written(dir.path());
            let mut bytes = std::fs::read(&path).expect("reads");
            let at = at % bytes.len();
            bytes[at] = byte;
            std::fs::write(&path, &bytes).expect("writes");
            let cache = FactsCache::open(path);
            let [a, b, _] = keys();
            prop_assert!(cache.get(&a).is_none_or(|found| found == facts(1)));
            prop_assert!(cache.get(&b).is_none_or(|found| found == facts(2)));
        }
    }
}
