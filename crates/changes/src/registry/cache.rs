//! Caches the registry state in a file so that opening a long log is cheap.
//!
//! The cache is only a shortcut: if the file is missing, damaged, of another version or of another log, the log is
//! read from its beginning. It can prove one thing: a log that ends before the file's position has lost events.

use probity_intents::IntentRegistry;
use probity_intents::registry::{RegistryHead, RegistrySnapshot};
use probity_storage::{CacheFile, CacheKind, StoreError};
use probity_workspace::ServiceError;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// JSON, because events are tagged by a member, which binary formats cannot read.
const INTENTS_CACHE: CacheKind = CacheKind { name: "intents", version: 7 };
/// How many events the file may lag behind, plus one for every [`INTENTS_PER_LAG_EVENT`] intents. Writing costs in
/// proportion to the intents, and must not cost more than the appends.
const MIN_LAG_EVENTS: u64 = 64;
const INTENTS_PER_LAG_EVENT: usize = 16;

/// The file, and the last event that this process knows it to contain.
#[derive(Debug)]
pub(super) struct RegistryCache {
    path: PathBuf,
    held: u64,
    /// Whether the file may lag behind. Without the store it is all that is known, so that of a team must not.
    may_lag: bool,
}

impl RegistryCache {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, held: 0, may_lag: true }
    }

    /// Returns a cache that is written after every event.
    pub(super) const fn kept_current(path: PathBuf) -> Self {
        Self { path, held: 0, may_lag: false }
    }

    /// Returns how long ago the file was written.
    pub(super) fn age(&self) -> Option<Duration> {
        self.path.metadata().ok()?.modified().ok()?.elapsed().ok()
    }

    /// Reads the file if its checksum holds. The result must still be compared with the log.
    pub(super) fn load(&self) -> Option<RegistrySnapshot> {
        read(&self.path)
    }

    pub(super) const fn mark_used(&mut self, head: RegistryHead) {
        self.held = head.seq.0;
    }

    /// Writes the file if it lags behind and no other process has written it in the meantime. Errors are ignored: the
    /// log remains the source.
    pub(super) fn save_if_behind(&mut self, registry: &IntentRegistry) {
        let head = registry.head().seq.0;
        let lag = MIN_LAG_EVENTS + (registry.n_intents() / INTENTS_PER_LAG_EVENT) as u64;
        let lag = if self.may_lag { lag } else { 1 };
        let lags = |held: u64| head >= held.saturating_add(lag);
        if !lags(self.held) {
            return;
        }
        let file = cache_file(&self.path);
        self.held = file.reach();
        if !lags(self.held) {
            return;
        }
        self.held = head;
        let Ok(body) = serde_json::to_vec(&registry.snapshot()) else { return };
        let _ = file.write(head, |file| file.write_all(&body));
    }
}

fn cache_file(path: &Path) -> CacheFile {
    CacheFile::new(path.to_owned(), INTENTS_CACHE)
}

pub(super) fn read(path: &Path) -> Option<RegistrySnapshot> {
    cache_file(path).decode(|body| serde_json::from_slice(body).ok())
}

/// The error for a log that ends before a position it had reached.
pub(super) fn lost_events(database: &Path, seen: u64, head: u64) -> ServiceError {
    let why = format!("the log of intents had {seen} events and has {head} now");
    StoreError::Shortened { path: database.to_owned(), why }.into()
}
