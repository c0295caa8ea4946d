//! The fold of the log, kept in a file so that opening a long log is cheap.
//!
//! It is only ever a short cut: a file that is missing, damaged, of another form or of another log is left aside and the
//! log is read from its beginning. One thing it can prove: a log that is shorter than the file says has lost events.
//! Since the file lags behind, the end of the log is noted in a second one after every append: so also a database that
//! was removed, or whose last writes were damaged, is noticed.

use probity_intents::IntentRegistry;
use probity_intents::registry::{RegistryHead, RegistrySnapshot};
use probity_storage::{CacheFile, CacheKind, StoreError, durable};
use probity_workspace::ServiceError;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The fold as JSON: events are told apart by a member, which binary forms cannot read.
const INTENTS_CACHE: CacheKind = CacheKind { name: "intents", version: 3 };
/// How many events the file may lag behind, and one more for every [`INTENTS_PER_LAG_EVENT`] intents: writing it costs
/// what it holds, and is not to cost more than the events.
const MIN_LAG_EVENTS: u64 = 64;
const INTENTS_PER_LAG_EVENT: usize = 16;

/// The file, and up to which event it reaches as far as this process knows.
#[derive(Debug)]
pub(super) struct RegistryCache {
    path: PathBuf,
    held: u64,
}

impl RegistryCache {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, held: 0 }
    }

    /// Notes that the log has grown up to `head`. In place and without waiting for the disk: it is a lower bound.
    pub(super) fn note_head(&self, head: u64) {
        let path = head_file(&self.path);
        let no_links = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let open = || {
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(false).custom_flags(no_links).open(&path)
        };
        let file = open().or_else(|_| {
            path.parent().map_or(Ok(()), durable::create_dir).map_err(std::io::Error::other)?;
            open()
        });
        // What cannot be noted is no worse than a note that was lost.
        let _ = file.and_then(|file| file.write_all_at(format!("{head:>20}\n").as_bytes(), 0));
    }

    /// Where the log ended at least.
    pub(super) fn read_noted_head(&self) -> u64 {
        noted(&self.path)
    }

    /// What the file holds, if it holds together. It must still be compared with the log.
    pub(super) fn load(&self) -> Option<RegistrySnapshot> {
        read(&self.path)
    }

    /// Takes note that the file was used.
    pub(super) const fn mark_used(&mut self, head: RegistryHead) {
        self.held = head.seq.0;
    }

    /// Writes the file if it lags behind and nobody else has written it meanwhile. It is a cache: what cannot be written is
    /// read from the log next time.
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

/// Where a log ended at least, as the file beside its cache says; 0 if there is none.
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

/// Reads a cache file that holds together.
pub(super) fn read(path: &Path) -> Option<RegistrySnapshot> {
    cache_file(path).decode(|body| serde_json::from_slice(body).ok())
}

/// The fault of a log that ends before a point that it once had reached.
pub(super) fn lost_events(database: &Path, seen: u64, head: u64) -> ServiceError {
    let why = format!("the log of intents had {seen} events and has {head} now");
    StoreError::Damaged { path: database.to_owned(), why }.into()
}
