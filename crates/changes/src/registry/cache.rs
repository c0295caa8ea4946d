//! Caches the registry state in a file so that opening a long log is cheap.
//!
//! The cache is only a shortcut: if the file is missing, damaged, of another version or of another log, the log is
//! read from its beginning. It can prove one thing: a log that ends before the file's position has lost events.
//! Because the file lags behind, a second file records the end of the log after every append, which also reveals a
//! database that was removed or lost its last writes.

use probity_intents::IntentRegistry;
use probity_intents::registry::{RegistryHead, RegistrySnapshot};
use probity_storage::{CacheFile, CacheKind, StoreError, durable};
use probity_workspace::ServiceError;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// JSON, because events are tagged by a member, which binary formats cannot read.
const INTENTS_CACHE: CacheKind = CacheKind { name: "intents", version: 3 };
/// How many events the file may lag behind, plus one for every [`INTENTS_PER_LAG_EVENT`] intents. Writing costs in
/// proportion to the intents, and must not cost more than the appends.
const MIN_LAG_EVENTS: u64 = 64;
const INTENTS_PER_LAG_EVENT: usize = 16;

/// The file, and the last event that this process knows it to contain.
#[derive(Debug)]
pub(super) struct RegistryCache {
    path: PathBuf,
    held: u64,
}

impl RegistryCache {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, held: 0 }
    }

    /// Records that the log has grown to `head`. Written in place and not synced: it is only a lower bound.
    pub(super) fn note_head(&self, head: u64) {
        let path = head_file(&self.path);
        let no_links = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let open = || {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).mode(0o600).custom_flags(no_links).open(&path)
        };
        let file = open().or_else(|_| {
            path.parent().map_or(Ok(()), durable::create_dir).map_err(std::io::Error::other)?;
            open()
        });
        // A failed write is no worse than a lost one: the bound is only lower.
        let _ = file.and_then(|file| file.write_all_at(format!("{head:>20}\n").as_bytes(), 0));
    }

    pub(super) fn read_noted_head(&self) -> u64 {
        noted(&self.path)
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

/// Returns the recorded lower bound for the end of the log; 0 if there is none.
pub(super) fn noted(cache: &Path) -> u64 {
    let text = durable::read(&head_file(cache)).ok().flatten().unwrap_or_default();
    std::str::from_utf8(&text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

fn head_file(cache: &Path) -> PathBuf {
    cache.with_extension("head")
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
    StoreError::Damaged { path: database.to_owned(), why }.into()
}
