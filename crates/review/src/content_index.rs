//! Which bundles and receipts left a content at a path: an index, so that nobody reads ten thousand of them for one line.
//!
//! It is a cache beside the log, extended by what the log has gained since. What it finds is read and checked by the one
//! who asks; a forged index can hide a change, and cannot invent one.

use crate::intent_review;
use probity_core::Digest;
use probity_evidence::{BundleDocument as _, DELTA_FILE, DeltaFile, StoredManifest, bundle};
use probity_paths::RepoPath;
use probity_quality::contract::receipts::ReceiptStore;
use probity_runner::bundles;
use probity_storage::sqlite::SqliteStore;
use probity_storage::{CacheFile, CacheKind};
use probity_workspace::transparency_log::{self, BUNDLE_LOG, LogEntry, RECEIPT_LOG};
use probity_workspace::{ServiceError, Workspace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const CONTENT_INDEX: CacheKind = CacheKind { name: "content-index", version: 2 };

/// The index of both logs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct ContentIndex {
    bundles: IndexedLog,
    receipts: IndexedLog,
    /// From the hash of an amended bundle to the number of the one that judges the run again.
    amendments: BTreeMap<Digest, u32>,
}

/// What one log lists, by what it left.
#[derive(Debug, Default, Serialize, Deserialize)]
struct IndexedLog {
    /// The entries that are in the index, from the first on.
    names: Vec<String>,
    digests: Vec<Digest>,
    /// From path and content to the numbers of the entries that left it, oldest first.
    left: BTreeMap<u64, Vec<u32>>,
}

/// One key for a path and a content. Keys of other contents may be equal: what is found is always looked at.
fn content_key(path: &RepoPath, content: &Digest) -> u64 {
    let mut bytes = path.as_bytes().to_vec();
    bytes.push(0);
    bytes.extend_from_slice(content.as_bytes());
    let digest = Digest::of(&bytes);
    digest.as_bytes().iter().take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

impl IndexedLog {
    /// Adds what the log has gained; returns whether there was anything. A log that is not the indexed one any more is
    /// indexed from its beginning.
    fn extend(
        &mut self,
        store: &SqliteStore,
        log: &str,
        mut contents: impl FnMut(&LogEntry) -> Vec<(RepoPath, Digest)>,
    ) -> Result<bool, ServiceError> {
        // The last known entry is read again: if it is another one, the log was replaced.
        let n_known = self.names.len() as u64;
        let mut new = transparency_log::entries(store, log, n_known.saturating_sub(1))?;
        if let Some(last) = self.digests.last() {
            if new.first().map(|entry| entry.digest) == Some(*last) {
                new.remove(0);
            } else {
                *self = Self::default();
                new = transparency_log::entries(store, log, 0)?;
            }
        }
        let has_gained = !new.is_empty();
        for entry in new {
            let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            for (path, content) in contents(&entry) {
                self.left.entry(content_key(&path, &content)).or_default().push(number);
            }
            self.names.push(entry.name);
            self.digests.push(entry.digest);
        }
        Ok(has_gained)
    }

    /// Returns the names and digests of the entries that may have left a content, newest first.
    fn find(&self, path: &RepoPath, content: &Digest) -> Vec<(&str, Digest)> {
        let numbers = self.left.get(&content_key(path, content)).map(Vec::as_slice).unwrap_or_default();
        let entry = |number: &u32| {
            let number = *number as usize;
            Some((self.names.get(number)?.as_str(), *self.digests.get(number)?))
        };
        numbers.iter().rev().filter_map(entry).collect()
    }
}

impl ContentIndex {
    /// Opens the index and brings it up to date with the log.
    pub(crate) fn open(workspace: &Workspace, store: &SqliteStore) -> Result<Self, ServiceError> {
        let cache = CacheFile::new(workspace.state.content_index(), CONTENT_INDEX);
        let mut index: Self = cache.load().unwrap_or_default();
        let mut amended: Vec<(Digest, String)> = Vec::new();
        let left_by_run = |entry: &LogEntry| match run_contents(workspace, &entry.name) {
            Some(BundleContents::Left(contents)) => contents,
            Some(BundleContents::Amends(of)) => {
                amended.push((of, entry.name.clone()));
                Vec::new()
            }
            None => Vec::new(),
        };
        let mut has_gained = index.bundles.extend(store, BUNDLE_LOG, left_by_run)?;
        for (of, name) in amended {
            let number = index.bundles.names.iter().rposition(|known| *known == name);
            index.amendments.extend(number.and_then(|number| Some((of, u32::try_from(number).ok()?))));
        }
        let receipts = ReceiptStore::open(workspace);
        let left_by_change = |entry: &LogEntry| {
            let receipt = entry.name.parse().ok().and_then(|number| receipts.by_number(number).ok());
            let receipt = receipt.filter(|receipt| receipt.digest == entry.digest);
            receipt.map(|receipt| intent_review::left_contents(&receipt)).unwrap_or_default()
        };
        has_gained |= index.receipts.extend(store, RECEIPT_LOG, left_by_change)?;
        if has_gained {
            // Failing to write a cache only costs time.
            workspace.state.while_no_run_is_open(|| drop(cache.store(&index)));
        }
        Ok(index)
    }

    /// Returns the runs that may have left a content, newest first, with the digest that the log lists.
    pub(crate) fn runs(&self, path: &RepoPath, content: &Digest) -> Vec<(&str, Digest)> {
        self.bundles.find(path, content)
    }

    /// Returns the bundle that judges an amended one again, with the digest that the log lists.
    pub(crate) fn amendment_of(&self, amended: &Digest) -> Option<(&str, Digest)> {
        let number = *self.amendments.get(amended)? as usize;
        Some((self.bundles.names.get(number)?.as_str(), *self.bundles.digests.get(number)?))
    }

    /// Returns the digests of the receipts whose changes may have left a content, newest first.
    pub(crate) fn receipts(&self, path: &RepoPath, content: &Digest) -> Vec<Digest> {
        self.receipts.find(path, content).into_iter().map(|(_, digest)| digest).collect()
    }
}

/// What the index keeps of a bundle.
enum BundleContents {
    /// What its run left.
    Left(Vec<(RepoPath, Digest)>),
    /// It judges the run of the bundle with this hash again.
    Amends(Digest),
}

/// Reads what the index keeps of a bundle. A landing and a revert are about what another run made.
fn run_contents(workspace: &Workspace, run_id: &str) -> Option<BundleContents> {
    let directory = workspace.state.evidence().join(run_id);
    let stored = StoredManifest::parse(&bundle::read_manifest(&directory).ok()??).ok()?;
    let details = &stored.manifest.details;
    if let Some(amended) = details.amended_from {
        return Some(BundleContents::Amends(amended));
    }
    if details.lands.is_some() || details.reverts.is_some() {
        return None;
    }
    let files = bundles::read(&directory).ok()?;
    let delta = DeltaFile::parse(files.get(DELTA_FILE.as_bytes())?).ok()?;
    let left = delta.changes.into_iter().filter_map(|change| Some((change.path, change.after?.digest?)));
    Some(BundleContents::Left(left.collect()))
}
