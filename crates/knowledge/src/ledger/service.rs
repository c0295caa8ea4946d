//! The one loop between the rules and the disk: read, decide, append, and only then answer (law 10).
//!
//! A transaction holds the journal's lock from reading to appending, so a decision is always about the state it is
//! appended to, and concurrent processes lose nothing. If appending fails, the state in memory is discarded because it
//! may be ahead of the disk.

use super::answers::LedgerNotices;
use super::cache;
use super::fault::OrFault as _;
use probity_core::Digest;
use probity_ledger::wire::LedgerEvent;
use probity_ledger::{ProjectLedger, ProjectLedgerError};
use probity_storage::{Journal, JournalPosition, StoreError};
use probity_workspace::transparency_log::{self, LEDGER_LOG};
use probity_workspace::{ServiceError, StateDirectory, Workspace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LOG_FILE: &str = "log";

/// The digests of the stored words of turns, by their ids.
pub(super) type TurnTexts = BTreeMap<String, Digest>;

#[derive(Debug)]
pub struct LedgerService {
    journal: Journal,
    directory: PathBuf,
    state: StateDirectory,
    stream: Option<String>,
    book: ProjectLedger,
    position: JournalPosition,
    /// The position of the newest snapshot.
    cached: JournalPosition,
    notices: LedgerNotices,
}

impl LedgerService {
    /// Opens the ledger of a workspace, without writing anything.
    #[tracing::instrument(name = "open ledger", skip_all)]
    pub fn open(workspace: &Workspace, stream: Option<&str>) -> Result<Self, ServiceError> {
        let mut service = Self {
            journal: Self::journal_at(&workspace.state.ledger()),
            directory: workspace.state.ledger(),
            state: workspace.state.clone(),
            stream: stream.map(str::to_owned),
            book: ProjectLedger::new(),
            position: JournalPosition::start(),
            cached: JournalPosition::start(),
            notices: LedgerNotices::default(),
        };
        service.load()?;
        Ok(service)
    }

    pub(super) fn journal_at(directory: &Path) -> Journal {
        Journal::at(directory.join(LOG_FILE))
    }

    /// Loads the newest usable snapshot and replays the log from there.
    fn load(&mut self) -> Result<(), ServiceError> {
        self.book = self.stream.as_deref().map_or_else(ProjectLedger::new, ProjectLedger::with_stream);
        self.position = JournalPosition::start();
        // Read first: a writer lists what it has appended to the journal.
        let known = known_end(&self.state)?;
        // The state of a stream begins before the snapshot's position, so a snapshot does not contain it.
        if self.stream.is_none()
            && let Some((book, position)) = cache::load(&self.directory, &self.journal)?
        {
            (self.book, self.position, self.cached) = (book, position, position);
        }
        self.position =
            self.journal.read_after(&self.position.clone(), |payload, _| -> Result<(), ServiceError> {
                self.book.replay(payload).or_fault()
            })?;
        self.notices.n_torn_bytes = self.journal.n_bytes_after(&self.position)?;
        check_known(&self.journal, &self.position, known.as_ref())
    }

    /// Reads the log for the words of all turns.
    pub(super) fn turn_texts(&self) -> Result<TurnTexts, ServiceError> {
        let mut texts = TurnTexts::new();
        self.journal.read_after(&JournalPosition::start(), |payload, _| -> Result<(), ServiceError> {
            for event in probity_ledger::wire::decode(payload).map_err(ProjectLedgerError::from).or_fault()? {
                if let LedgerEvent::Turn { id, text, .. } = event {
                    texts.entry(id.to_owned()).or_insert_with(|| Digest::of(text.as_bytes()));
                }
            }
            Ok(())
        })?;
        Ok(texts)
    }

    pub const fn book(&self) -> &ProjectLedger {
        &self.book
    }

    pub const fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Returns the end of the log when it was last read.
    pub const fn position(&self) -> &JournalPosition {
        &self.position
    }

    pub const fn notices(&self) -> &LedgerNotices {
        &self.notices
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Calls `work` on the current state and returns its answer once its payloads are on disk. `work` applies its
    /// events to the project ledger itself; each payload is one transaction.
    pub fn transact<T>(
        &mut self,
        work: impl FnOnce(&mut ProjectLedger) -> Result<(Vec<Vec<u8>>, T), ServiceError>,
    ) -> Result<T, ServiceError> {
        let mut writer = self.journal.lock()?;
        let (book, notices) = (&mut self.book, &mut self.notices);
        let store = self.state.store()?;
        let known = known_end(&self.state)?;
        let at_least = known.map_or(0, |known| known.bytes);
        let (position, torn) =
            writer.catch_up(&self.position, at_least, |payload, _| -> Result<(), ServiceError> {
                book.replay(payload).or_fault()
            })?;
        check_known(&self.journal, &position, known.as_ref())?;
        self.position = position;
        notices.torn = torn.or(notices.torn.take());
        let done = work(book).and_then(|(payloads, answer)| {
            let end = writer.append(&position, &payloads)?;
            if end != position {
                let entry = transparency_log::journal_entry(&end);
                transparency_log::append(&store, LEDGER_LOG, &entry.name, &entry.digest)?;
            }
            Ok((end, answer))
        });
        drop(writer);
        match done {
            Ok((end, answer)) => {
                self.position = end;
                self.keep_snapshot();
                Ok(answer)
            }
            Err(fault) => {
                self.load()?;
                Err(fault)
            }
        }
    }

    /// Saves a snapshot if enough was logged since the last one. It is a cache, so a failure is ignored.
    fn keep_snapshot(&mut self) {
        let is_due = self.position.bytes - self.cached.bytes >= cache::SNAPSHOT_INTERVAL_BYTES;
        if is_due && self.stream.is_none() && cache::save(&self.directory, &self.book, &self.position).is_ok()
        {
            self.cached = self.position;
        }
    }

    pub fn save_snapshot(&mut self) -> Result<(), ServiceError> {
        cache::save(&self.directory, &self.book, &self.position)?;
        self.cached = self.position;
        Ok(())
    }
}

/// Returns the end of the journal that the log of the repository lists: what was acknowledged.
pub(super) fn known_end(state: &StateDirectory) -> Result<Option<JournalPosition>, ServiceError> {
    let Some(store) = state.existing_store()? else { return Ok(None) };
    let entry = transparency_log::last(&store, LEDGER_LOG)?;
    Ok(entry.as_ref().and_then(transparency_log::journal_position))
}

/// Checks that a journal that ends at `end` contains what was acknowledged.
pub(super) fn check_known(
    journal: &Journal,
    end: &JournalPosition,
    known: Option<&JournalPosition>,
) -> Result<(), ServiceError> {
    let Some(known) = known else { return Ok(()) };
    if end.bytes < known.bytes {
        return Err(journal.shortened(end, known.bytes)?.into());
    }
    if end == known || journal.has(known)? {
        return Ok(());
    }
    let why = format!("its first {} bytes are not those that the log lists", known.bytes);
    Err(StoreError::Inconsistent { path: journal.path().to_owned(), why }.into())
}

/// Returns the end of the log in a directory; `None` if it cannot be read.
pub(super) fn end_of_log(directory: &Path) -> Option<JournalPosition> {
    LedgerService::journal_at(directory)
        .read_after(&JournalPosition::start(), |_, _| Ok::<_, StoreError>(()))
        .ok()
}

/// Returns whether a changed file in the ledger's directory shows nothing but valid growth of the log after `end`.
pub(super) fn has_grown_from(directory: &Path, name: &str, end: &JournalPosition) -> bool {
    let journal = LedgerService::journal_at(directory);
    match name {
        "log.lock" => true,
        name if name.starts_with("log.torn-") => true,
        LOG_FILE => {
            let is_of_log = end.frame_bytes == 0 || journal.has(end).unwrap_or(false);
            let read = journal.read_after(end, |_, _| Ok::<_, StoreError>(()));
            let length = std::fs::metadata(journal.path()).map_or(0, |facts| facts.len());
            // Bytes after the last frame are either a write in progress, complete in a moment, or forged.
            is_of_log && read.is_ok_and(|now| now.bytes == length)
        }
        // A cache that disagrees with the log was planted.
        "snapshot" => cache::snapshot_agrees(directory, &journal).is_ok_and(|agrees| agrees != Some(false)),
        _ => name.starts_with("snapshot."),
    }
}
