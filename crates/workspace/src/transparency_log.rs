//! The one append-only log of a repository: evidence, receipts, the ledger and the registry of intents, for all worktrees.
//!
//! The log is the Merkle tree over the events of the store (`storage::merkle_log`). What lies in files of its own is an
//! event by name and digest: a bundle under its run, a receipt under its number, the ledger under the end of its
//! journal. The head is noted in `log.checkpoint`, signed if the repository has a key, and is part of every later seal
//! and receipt, so that a log that was cut or replaced by an older copy contradicts whatever is left.
//!
//! `StateDirectory::store` begins the log of a new repository. One from before the log is taken over once, as its first entry
//! says: the old heads (`chain.json`, `receipts/head.json`, `cache/intents.head`) are what it must agree with.

mod legacy_heads;
mod list_check;
mod restart;

pub use list_check::{check_listed, check_lists, unlisted_bundle};
pub use restart::{RestartedLog, restart};

use crate::{DATABASE_FILE, StateDirectory, clock};
use probity_core::{Digest, json};
use probity_evidence::checkpoint::NoteVerdict;
use probity_evidence::{PublicKey, SecretKey, SignedCheckpoint, TreeCheckpoint};
use probity_storage::ports::{AppendOutcome, EventLog, StorageEngine};
use probity_storage::sqlite::SqliteStore;
use probity_storage::{HeadNote, JournalPosition, LogHead, NewEvent, StoreError, database, durable};
use rustix::fs::OFlags;
use serde::Serialize;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::PathBuf;

pub use probity_evidence::BUNDLE_LOG;
pub const RECEIPT_LOG: &str = "receipts";
pub const LEDGER_LOG: &str = "ledger";
pub const INTENT_LOG: &str = "intents";
/// Decisions of people about changes; each event is the whole record.
pub const DECISION_LOG: &str = "decisions";
/// The log about the log itself: its beginning.
pub const OWN_LOG: &str = "log";

const MAX_APPEND_ATTEMPTS: usize = 1_000;
const ENTRIES_PER_READ: usize = 1_000;

/// An entry of a log whose content lies in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    pub name: String,
    pub digest: Digest,
}

/// The note `log.checkpoint`.
#[derive(Debug)]
struct CheckpointNote {
    path: PathBuf,
    signing_key: PathBuf,
}

impl HeadNote for CheckpointNote {
    fn read(&self) -> Result<Option<LogHead>, StoreError> {
        let bytes = durable::read_settings(&self.path)?.unwrap_or_default();
        // What a machine that lost its power leaves of a file that was never flushed says nothing.
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        let note = SignedCheckpoint::parse(&bytes)
            .map_err(|error| StoreError::Inconsistent { path: self.path.clone(), why: error.to_string() })?;
        let is_signed = |key: SecretKey| note.log_signature(&key.public()) == NoteVerdict::Valid;
        if !self.key()?.is_none_or(is_signed) {
            let why = "it is not signed with the key of this repository".into();
            return Err(StoreError::Inconsistent { path: self.path.clone(), why });
        }
        let TreeCheckpoint { origin, head } = note.checkpoint().clone();
        Ok(Some(LogHead { origin, tree: head }))
    }

    /// Written in place and not flushed, because it is only a lower bound, and a flush would double the cost of an append.
    fn write(&self, head: &LogHead) {
        let Ok(key) = self.key() else { return };
        let text = checkpoint(head, key.as_ref()).to_text();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(&self.path);
        // A failed write is no worse than a lost one: the bound is only lower.
        let _ = file.and_then(|file| {
            file.write_all_at(text.as_bytes(), 0)?;
            let length = text.len() as u64;
            if file.metadata()?.len() == length { Ok(()) } else { file.set_len(length) }
        });
    }

    fn path(&self) -> PathBuf {
        self.path.clone()
    }
}

impl CheckpointNote {
    fn key(&self) -> Result<Option<SecretKey>, StoreError> {
        let Some(bytes) = durable::read_settings(&self.signing_key)? else { return Ok(None) };
        let damaged = |why: String| StoreError::Damaged { path: self.signing_key.clone(), why };
        SecretKey::parse(&bytes).map(Some).map_err(|error| damaged(error.to_string()))
    }
}

/// Stores the signing key of a repository, and signs the noted head with it first: from then on it must be signed.
pub fn install_key(state: &StateDirectory, key: &SecretKey) -> Result<(), StoreError> {
    let store = open_store(state)?;
    let _turn = database::lock_for_writing(&state.database())?;
    if let Some(head) = store.log_head()? {
        durable::write(&state.checkpoint(), checkpoint(&head, Some(key)).to_text().as_bytes())?;
    }
    durable::write(&state.signing_key(), &key.to_file())
}

/// Returns a head as a checkpoint, signed if there is a key.
pub fn checkpoint(head: &LogHead, key: Option<&SecretKey>) -> SignedCheckpoint {
    let note = SignedCheckpoint::unsigned(TreeCheckpoint { origin: head.origin.clone(), head: head.tree });
    match key {
        Some(key) => note.signed(key),
        None => note,
    }
}

fn note_of(state: &StateDirectory) -> CheckpointNote {
    CheckpointNote { path: state.checkpoint(), signing_key: state.signing_key() }
}

impl StateDirectory {
    /// Opens the store, creating it if missing, and holds its log against the noted head.
    pub fn store(&self) -> Result<SqliteStore, StoreError> {
        open_store(self)
    }

    /// Opens the store if there is one, like [`Self::store`].
    pub fn existing_store(&self) -> Result<Option<SqliteStore>, StoreError> {
        open_existing_store(self)
    }
}

/// Opens the store, creating it and beginning its log if necessary. Refuses one that `log.checkpoint` contradicts.
fn open_store(state: &StateDirectory) -> Result<SqliteStore, StoreError> {
    refuse_lost_database(state)?;
    let store = SqliteStore::open_noted(&state.database(), Some(Box::new(note_of(state))))?;
    if store.log_size()? == 0 {
        begin(state, &store)?;
    } else {
        store.check_note()?;
    }
    Ok(store)
}

/// Opens the store if there is one. Never creates one, but notices that one is gone.
fn open_existing_store(state: &StateDirectory) -> Result<Option<SqliteStore>, StoreError> {
    if database::exists(&state.database())? || legacy_heads::exist(state) {
        return open_store(state).map(Some);
    }
    refuse_lost_database(state).map(|()| None)
}

fn refuse_lost_database(state: &StateDirectory) -> Result<(), StoreError> {
    if database::exists(&state.database())? {
        return Ok(());
    }
    match note_of(state).read()? {
        Some(noted) => {
            let why = format!("it is gone, but log.checkpoint has {} log entries", noted.tree.size);
            Err(StoreError::Shortened { path: state.database(), why })
        }
        None => Ok(()),
    }
}

/// The first entry of a log.
#[derive(Debug, Serialize)]
struct LogBeginning {
    begun_at: String,
    /// Random, so that no two logs have the same origin.
    id: String,
    adopted: AdoptedCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    restarted: Option<LogRestartRecord>,
}

/// How many entries a log took over when it began.
#[derive(Debug, Serialize)]
struct AdoptedCounts {
    bundles: usize,
    receipts: usize,
    ledger: usize,
    intents: u64,
}

/// Why a log was begun again, and what the old one was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogRestartRecord {
    pub why: String,
    pub by: String,
    /// The directory below `aside` that holds what the old log listed.
    pub aside: String,
    /// The head that `log.checkpoint` knew.
    pub noted: Option<RecordedHead>,
    /// The head that the old store had, if it could be read.
    pub stored: Option<RecordedHead>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecordedHead {
    pub origin: String,
    pub size: u64,
    pub root: Digest,
}

impl From<LogHead> for RecordedHead {
    fn from(head: LogHead) -> Self {
        Self { origin: head.origin, size: head.tree.size, root: head.tree.root }
    }
}

/// Begins the log with what the state directory holds from before it had one.
fn begin(state: &StateDirectory, store: &SqliteStore) -> Result<(), StoreError> {
    begin_after(state, store, None)
}

fn begin_after(
    state: &StateDirectory,
    store: &SqliteStore,
    restarted: Option<LogRestartRecord>,
) -> Result<(), StoreError> {
    let adopted = legacy_heads::adopted_entries(state, store)?;
    let count = |log: &str| adopted.iter().filter(|(of, _)| *of == log).count();
    let beginning = LogBeginning {
        begun_at: clock::now(),
        id: clock::run_id(),
        adopted: AdoptedCounts {
            bundles: count(BUNDLE_LOG),
            receipts: count(RECEIPT_LOG),
            ledger: count(LEDGER_LOG),
            intents: store.log(INTENT_LOG).head()?,
        },
        restarted,
    };
    let (event, digests) = (
        json::canonical_of(&beginning),
        adopted.iter().map(|(_, entry)| entry.digest.to_string()).collect::<Vec<_>>(),
    );
    let events: Vec<NewEvent<'_>> = adopted
        .iter()
        .zip(&digests)
        .map(|((log, entry), digest)| NewEvent { log, command: &entry.name, event: digest.as_bytes() })
        .collect();
    store.begin_log(&NewEvent { log: OWN_LOG, command: "begin", event: &event }, &events)?;
    legacy_heads::remove(state)
}

/// Appends an entry; one that is there already is not appended again.
pub fn append(store: &SqliteStore, log: &str, name: &str, digest: &Digest) -> Result<(), StoreError> {
    let (events, text) = (store.log(log), digest.to_string());
    for _ in 0..MAX_APPEND_ATTEMPTS {
        match events.append(events.head()?, name, text.as_bytes())? {
            AppendOutcome::At(_) => return Ok(()),
            AppendOutcome::Known { at } => {
                let known = events.read_after(at - 1, 1)?;
                if known.first().is_some_and(|record| record.event == text.as_bytes()) {
                    return Ok(());
                }
                let why = format!("the log has another digest for `{name}` of {log}");
                return Err(StoreError::Inconsistent { path: DATABASE_FILE.into(), why });
            }
            AppendOutcome::Moved { .. } | AppendOutcome::Unknown => {}
        }
    }
    Err(StoreError::Engine {
        path: DATABASE_FILE.into(),
        why: "the log moved on before this entry got its turn".into(),
    })
}

/// Returns the last entry of a log.
pub fn last(store: &SqliteStore, log: &str) -> Result<Option<LogEntry>, StoreError> {
    let events = store.log(log);
    let Some(before) = events.head()?.checked_sub(1) else { return Ok(None) };
    Ok(read(&*events, log, before)?.pop())
}

/// Returns the entries of a log after number `after`, oldest first.
pub fn entries(store: &SqliteStore, log: &str, after: u64) -> Result<Vec<LogEntry>, StoreError> {
    let events = store.log(log);
    let mut all = Vec::new();
    loop {
        let more = read(&*events, log, after + all.len() as u64)?;
        if more.is_empty() {
            return Ok(all);
        }
        all.extend(more);
    }
}

fn read(events: &dyn EventLog, log: &str, after: u64) -> Result<Vec<LogEntry>, StoreError> {
    let why = format!("an entry of `{log}` has no digest");
    let damaged = || StoreError::Damaged { path: DATABASE_FILE.into(), why: why.clone() };
    let records = events.read_after(after, ENTRIES_PER_READ)?;
    let entry = |record: probity_storage::ports::EventRecord| {
        let digest = std::str::from_utf8(&record.event).ok().and_then(|text| text.parse().ok());
        Ok(LogEntry { name: record.command, digest: digest.ok_or_else(damaged)? })
    };
    records.into_iter().map(entry).collect()
}

/// Names a position of the ledger's journal: where its last frame begins and ends.
pub fn journal_entry(end: &JournalPosition) -> LogEntry {
    LogEntry { name: format!("{}-{}", end.bytes - end.frame_bytes, end.bytes), digest: end.chain }
}

/// Returns the position that an entry of the ledger's log names.
pub fn journal_position(entry: &LogEntry) -> Option<JournalPosition> {
    let (start, end) = entry.name.split_once('-')?;
    let (start, bytes): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
    Some(JournalPosition { bytes, chain: entry.digest, frame_bytes: bytes.checked_sub(start)? })
}

/// Returns whether `log.checkpoint` says nothing that the store contradicts and, with a key, is signed with it.
pub fn note_is_true(state: &StateDirectory, key: Option<&PublicKey>) -> bool {
    let signed = |key: &PublicKey| {
        let bytes = durable::read_settings(&state.checkpoint()).ok().flatten().unwrap_or_default();
        SignedCheckpoint::parse(&bytes).is_ok_and(|note| note.log_signature(key) == NoteVerdict::Valid)
    };
    open_existing_store(state).is_ok_and(|store| store.is_some()) && key.is_none_or(signed)
}
