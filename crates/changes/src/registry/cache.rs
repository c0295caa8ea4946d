//! The fold of the log, kept in a file so that opening a long log is cheap.
//!
//! It is only ever a short cut: a file that is missing, damaged, of another form or of another log is left aside and the
//! log is read from its beginning. One thing it can prove: a log that is shorter than the file says has lost events.
//! Since the file lags behind, the end of the log is noted in a second one after every append: so also a database that
//! was removed, or whose last writes were damaged, is noticed.

use probity_core::Digest;
use probity_intents::Registry;
use probity_intents::registry::{Head, Snapshot};
use probity_storage::{StoreError, durable};
use probity_workspace::Fault;
use std::fs::OpenOptions;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Changes whenever the form of the file does.
const FORM: &str = "probity intents cache 2";
/// How many events the file may lag behind, and one more for so many intents: writing it costs what it holds, and is
/// not to cost more than the events.
const LAG: u64 = 64;
const INTENTS_A_LAG: usize = 16;

/// The file, and what it holds as far as this process knows.
#[derive(Debug)]
pub(super) struct Cache {
    path: PathBuf,
    held: u64,
}

impl Cache {
    pub(super) const fn new(path: PathBuf) -> Self {
        Self { path, held: 0 }
    }

    /// Notes that the log has grown up to `head`. In place and without waiting for the disk: it is a lower bound.
    pub(super) fn note(&self, head: u64) {
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
    pub(super) fn noted(&self) -> u64 {
        noted(&self.path)
    }

    /// What the file holds, if it holds together. It must still be compared with the log.
    pub(super) fn load(&self) -> Option<Snapshot> {
        read(&self.path)
    }

    /// Takes note that the file was used.
    pub(super) const fn used(&mut self, head: Head) {
        self.held = head.seq.0;
    }

    /// Writes the file if it lags behind and nobody else has written it meanwhile. It is a cache: what cannot be written is
    /// read from the log next time.
    pub(super) fn keep(&mut self, registry: &Registry) {
        let head = registry.head().seq.0;
        let lag = LAG + (registry.n_intents() / INTENTS_A_LAG) as u64;
        let lags = |held: u64| head >= held.saturating_add(lag);
        if !lags(self.held) {
            return;
        }
        self.held = held(&self.path);
        if !lags(self.held) {
            return;
        }
        self.held = head;
        let body = serde_json::to_vec(&registry.snapshot());
        let Ok(body) = body else { return };
        let mut file = format!("{FORM}\n{head:>20} {}\n", Digest::of(&body)).into_bytes();
        file.extend(body);
        let _ = durable::write_unsynced(&self.path, &file);
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

/// Up to which event a cache file says that it reaches; 0 if there is none.
fn held(path: &Path) -> u64 {
    let mut line = [0; FORM.len() + 1 + 20];
    let read = std::fs::File::open(path).and_then(|file| file.read_exact_at(&mut line, 0));
    let number = line.strip_prefix(FORM.as_bytes()).filter(|_| read.is_ok());
    let number = number.and_then(|number| std::str::from_utf8(number).ok()?.trim().parse().ok());
    number.unwrap_or(0)
}

/// Reads a cache file that holds together.
pub(super) fn read(path: &Path) -> Option<Snapshot> {
    let bytes = durable::read(path).ok()??;
    let rest = bytes.strip_prefix(FORM.as_bytes())?.strip_prefix(b"\n")?;
    let line = rest.iter().position(|&byte| byte == b'\n')?;
    let (line, body) = (&rest[..line], &rest[line + 1..]);
    let snapshot: Snapshot = serde_json::from_slice(body).ok()?;
    let expected = format!("{:>20} {}", snapshot.head().seq.0, Digest::of(body));
    (line == expected.as_bytes()).then_some(snapshot)
}

/// The fault of a log that ends before a point that it once had reached.
pub(super) fn lost_events(database: &Path, seen: u64, head: u64) -> Fault {
    let why = format!("the log of intents had {seen} events and has {head} now");
    StoreError::Damaged { path: database.to_owned(), why }.into()
}
