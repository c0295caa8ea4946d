//! Begins the log again after it was shortened, damaged or lost, on the record: what there was is kept aside, and the first
//! entry of the new log names the heads that the old one had.

use super::{LogRestartRecord, RecordedHead, begin_after, note_of};
use crate::{CHECKPOINT_FILE, DATABASE_FILE, StateDirectory, clock};
use probity_storage::sqlite::SqliteStore;
use probity_storage::{HeadNote as _, LogHead, StoreError, database, durable};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What the old log lists or is made of. The checkpoint is moved last: as long as it is there, no command begins a log.
const MOVED_NAMES: [&str; 11] = [
    "evidence",
    "receipts",
    "ledger",
    "before",
    "handles",
    "cache/intents",
    "cache/intents.head",
    "chain.json",
    "store.sqlite-wal",
    "store.sqlite-shm",
    DATABASE_FILE,
];

/// A log that was begun again.
#[derive(Debug)]
pub struct RestartedLog {
    /// Where everything lies that the old log listed.
    pub aside: PathBuf,
    /// What the first entry of the new log says.
    pub record: LogRestartRecord,
    pub head: LogHead,
}

/// Keeps the old log and what it lists aside, and begins a new one. The caller holds the locks of runs and claims.
pub fn restart(state: &StateDirectory, why: &str, by: &str) -> Result<RestartedLog, StoreError> {
    let name = clock::run_id();
    let aside = state.aside().join(&name);
    let record = LogRestartRecord {
        why: why.to_owned(),
        by: by.to_owned(),
        aside: name,
        noted: note_of(state).read().ok().flatten().map(RecordedHead::from),
        stored: stored_head(state).map(RecordedHead::from),
    };
    {
        let _turn = database::lock_for_writing(&state.database())?;
        durable::create_dir(&aside)?;
        for name in MOVED_NAMES.into_iter().chain([CHECKPOINT_FILE]) {
            move_to(&state.dir().join(name), &aside.join(name))?;
        }
        durable::sync_dir(&aside)?;
        durable::sync_dir(state.dir())?;
    }
    let store = SqliteStore::open_noted(&state.database(), Some(Box::new(note_of(state))))?;
    begin_after(state, &store, Some(record.clone()))?;
    let head = store.log_head()?.ok_or_else(|| StoreError::Engine {
        path: state.database(),
        why: "the new log has no entry".into(),
    })?;
    Ok(RestartedLog { aside, record, head })
}

/// Returns the head of the old log, if its store can still be read.
fn stored_head(state: &StateDirectory) -> Option<LogHead> {
    if !database::exists(&state.database()).ok()? {
        return None;
    }
    SqliteStore::open_noted(&state.database(), None).ok()?.log_head().ok()?
}

fn move_to(from: &Path, to: &Path) -> Result<(), StoreError> {
    if let Some(parent) = to.parent() {
        durable::create_dir(parent)?;
    }
    match fs::rename(from, to) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(StoreError::Io { path: from.to_owned(), source: error })
        }
        _ => Ok(()),
    }
}
