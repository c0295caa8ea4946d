//! Takes over a state directory from before the log: bundles, receipts and the ledger, held against their old heads.

use super::{BUNDLE_LOG, INTENT_LOG, LEDGER_LOG, LogEntry, RECEIPT_LOG, journal_entry};
use crate::StateDirectory;
use probity_core::{Digest, json};
use probity_evidence::{StoredManifest, receipt};
use probity_storage::ports::StorageEngine as _;
use probity_storage::sqlite::SqliteStore;
use probity_storage::{Journal, JournalPosition, StoreError, durable};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The head of a hash chain. The aliases are the member names of its first form.
#[derive(Deserialize)]
struct StoredHead {
    #[serde(alias = "run_hash")]
    digest: Digest,
    #[serde(alias = "run_id")]
    id: String,
}

fn head_files(state: &StateDirectory) -> [PathBuf; 3] {
    let dir = state.dir();
    [dir.join("chain.json"), dir.join("receipts/head.json"), dir.join("cache/intents.head")]
}

/// Returns whether there is something to take over although there is no store yet.
pub(super) fn exist(state: &StateDirectory) -> bool {
    head_files(state).iter().any(|file| file.exists())
}

/// Returns what the log adopts. A head whose entry is gone is adopted all the same, so that the entry is missed later.
pub(super) fn adopted_entries(
    state: &StateDirectory,
    store: &SqliteStore,
) -> Result<Vec<(&'static str, LogEntry)>, StoreError> {
    let [chain, receipts, noted] = head_files(state);
    check_noted_intents(state, store, &noted)?;
    let mut adopted = Vec::new();
    if let Some(head) = read_head(&chain)? {
        adopted.extend(bundles(state, &head)?.into_iter().map(|entry| (BUNDLE_LOG, entry)));
    }
    if let Some(head) = read_head(&receipts)? {
        adopted.extend(receipts_up_to(state, &head)?.into_iter().map(|entry| (RECEIPT_LOG, entry)));
    }
    let journal = Journal::at(state.ledger().join("log"));
    let end = journal.read_after(&JournalPosition::start(), |_, _| Ok::<_, StoreError>(()))?;
    if end.frame_bytes > 0 {
        adopted.push((LEDGER_LOG, journal_entry(&end)));
    }
    Ok(adopted)
}

/// Removes the old heads, which the log replaces.
pub(super) fn remove(state: &StateDirectory) -> Result<(), StoreError> {
    head_files(state).iter().try_for_each(|file| durable::remove(file))
}

/// The registry noted the number of its events in a file of its own.
fn check_noted_intents(state: &StateDirectory, store: &SqliteStore, note: &Path) -> Result<(), StoreError> {
    let text = durable::read(note)?.unwrap_or_default();
    let noted: u64 = std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    let head = store.log(INTENT_LOG).head()?;
    if noted <= head {
        return Ok(());
    }
    let why = format!("the log of intents had {noted} events and has {head} now");
    Err(StoreError::Shortened { path: state.database(), why })
}

fn read_head(path: &Path) -> Result<Option<StoredHead>, StoreError> {
    let Some(bytes) = durable::read(path)? else { return Ok(None) };
    let damaged = |why: String| StoreError::Damaged { path: path.to_owned(), why };
    let value = json::parse(&bytes).map_err(|error| damaged(error.to_string()))?;
    serde_json::from_value(value).map(Some).map_err(|error| damaged(error.to_string()))
}

/// Follows the chain of evidence from its head as far as it leads.
fn bundles(state: &StateDirectory, head: &StoredHead) -> Result<Vec<LogEntry>, StoreError> {
    let mut manifests = BTreeMap::new();
    for run_id in state.bundles()? {
        let bytes = durable::read(&state.evidence().join(&run_id).join("manifest.json"))?.unwrap_or_default();
        if let Ok(stored) = StoredManifest::parse(&bytes) {
            manifests.insert(stored.run_hash, (run_id, stored.prev_run_hash));
        }
    }
    let mut chain = vec![LogEntry { name: head.id.clone(), digest: head.digest }];
    let mut next = manifests.remove(&head.digest).and_then(|(_, before)| before);
    while let Some(digest) = next {
        let Some((name, before)) = manifests.remove(&digest) else { break };
        chain.push(LogEntry { name, digest });
        next = before;
    }
    chain.reverse();
    Ok(chain)
}

fn receipts_up_to(state: &StateDirectory, head: &StoredHead) -> Result<Vec<LogEntry>, StoreError> {
    let mut entries = Vec::new();
    let last: u64 = head.id.parse().unwrap_or(0);
    for number in 1..last {
        let bytes = durable::read(&state.receipt(number))?.unwrap_or_default();
        let document = json::parse(&bytes).ok();
        // One that is gone or damaged already keeps its place, with a digest that no receipt has.
        let digest = document.and_then(|document| receipt::verify(&document).ok()).unwrap_or(Digest::of(&[]));
        entries.push(LogEntry { name: number.to_string(), digest });
    }
    entries.push(LogEntry { name: last.to_string(), digest: head.digest });
    Ok(entries)
}
