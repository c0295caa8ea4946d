//! Reads the registry from its log: from the cache of this clone, from the snapshot of a log that was cut, and event by event.

use super::IntentService;
use super::cache::{self, RegistryCache};
use probity_core::{Digest, ReasonCode, json};
use probity_intents::registry::{EVENT_FORM, IntentRegistry, RegistryEvent, RegistrySnapshot};
use probity_storage::StoreError;
use probity_storage::ports::{EventRecord, EventsSince};
use probity_workspace::ServiceError;
use serde::Deserialize;

pub(super) const EVENTS_PER_READ: usize = 1_000;
/// How many events of a shared log are between two cuts at least. A snapshot costs in proportion to its intents, and must not
/// cost more than the events that it stands for.
pub(super) const EVENTS_PER_CUT: u64 = 250;
/// How many commands the snapshot of a cut repeats; the store knows the others itself until the next cut.
const COMMANDS_PER_CUT: usize = 50;

impl IntentService {
    /// Reads new events.
    pub fn refresh(&mut self) -> Result<(), ServiceError> {
        loop {
            let records = match self.log.read_after(self.registry.head().seq.0, EVENTS_PER_READ) {
                Err(StoreError::Cut { .. }) => {
                    self.load_snapshot()?;
                    continue;
                }
                records => records?,
            };
            for record in &records {
                self.apply_record(record)?;
            }
            if records.len() < EVENTS_PER_READ {
                return Ok(());
            }
        }
    }

    /// Goes on from the snapshot that stands for the events which were cut off.
    fn load_snapshot(&mut self) -> Result<(), ServiceError> {
        let gone = || self.damaged("events were cut off, and no snapshot stands for them".into());
        let snapshot = self.log.snapshot()?.ok_or_else(gone)?;
        if let Some(form) = newer_form(&snapshot.bytes) {
            return Err(self.newer(&format!("the snapshot at {}", snapshot.at), form));
        }
        let state: RegistrySnapshot = serde_json::from_slice(&snapshot.bytes)
            .map_err(|error| self.damaged(format!("the snapshot at {}: {error}", snapshot.at)))?;
        if state.head().seq.0 != snapshot.at || snapshot.at <= self.registry.head().seq.0 {
            return Err(self.damaged(format!("the snapshot at {} is of another place", snapshot.at)));
        }
        self.registry = state.into();
        Ok(())
    }

    /// Cuts the log of a shared store off from time to time: it has a quota. The writer of the right event does it, and a
    /// failure is left to the next one.
    pub(super) fn cut_if_due(&self) {
        let head = self.registry.head().seq.0;
        if self.is_shared
            && head.is_multiple_of(events_per_cut(self.registry.n_intents()))
            && let Ok(bytes) = serde_json::to_vec(&self.registry.snapshot_with_commands(COMMANDS_PER_CUT))
            && let Err(error) = self.log.cut(head, &bytes)
        {
            tracing::debug!(%error, "the log was not cut");
        }
    }

    pub(super) fn apply_record(&mut self, record: &EventRecord) -> Result<(), ServiceError> {
        let event = self.parse(record)?;
        self.registry.check_next(&event).map_err(|error| self.damaged(error.to_string()))?;
        self.registry.apply_stored(&event, Digest::of(&record.event));
        Ok(())
    }

    pub(super) fn parse(&self, record: &EventRecord) -> Result<RegistryEvent, ServiceError> {
        if let Some(form) = newer_form(&record.event) {
            return Err(self.newer(&format!("event {}", record.seq), form));
        }
        parse(record).map_err(|why| self.damaged(format!("event {}: {why}", record.seq)))
    }

    fn newer(&self, what: &str, form: u64) -> ServiceError {
        let log = self.database.display();
        let detail =
            format!("{what} of {log} has form {form}, and this program knows forms up to {EVENT_FORM}");
        ServiceError::refused(ReasonCode::LogNewer, detail)
    }

    /// Starts from the cache if it belongs to this log, else from the first event.
    pub(super) fn catch_up_from_cache(&mut self) -> Result<(), ServiceError> {
        // A shared store is asked once, by the refresh: an event that is read back proves that the log reached it.
        let head = if self.is_shared { u64::MAX } else { self.log.head()? };
        if let Some(snapshot) = self.cache.as_ref().and_then(RegistryCache::load) {
            let known = snapshot.head();
            if known.seq.0 > head {
                return Err(cache::lost_events(&self.database, known.seq.0, head));
            }
            if self.is_shared {
                return self.catch_up_shared(snapshot.into());
            }
            let is_of_this_log = match self.event(known.seq)? {
                Some(event) => event.digest() == known.digest,
                None => known == IntentRegistry::default().head(),
            };
            if is_of_this_log {
                self.registry = snapshot.into();
                self.cache.iter_mut().for_each(|cache| cache.mark_used(known));
            }
        }
        self.catch_up_and_cache()
    }

    /// Continues from what this clone knew of a shared log. One question proves that the log still has the last known event,
    /// and brings what is new.
    fn catch_up_shared(&mut self, cached: IntentRegistry) -> Result<(), ServiceError> {
        let known = cached.head();
        let Some(command) = cached.last_command().cloned() else { return self.catch_up_and_cache() };
        let records = match self.log.read_since(known.seq.0, command.as_str(), EVENTS_PER_READ) {
            // The cache is older than the cut: the snapshot replaces it.
            Err(StoreError::Cut { .. }) => return self.catch_up_and_cache(),
            Err(error) => return Err(error.into()),
            Ok(EventsSince::After(records)) => records,
            Ok(EventsSince::Including(mut records)) => {
                if records.first().is_none_or(|first| first.seq != known.seq.0) {
                    return Err(cache::lost_events(&self.database, known.seq.0, self.log.head()?));
                }
                let first = records.remove(0);
                if self.parse(&first)?.digest() != known.digest {
                    // The cache is of another log.
                    return self.catch_up_and_cache();
                }
                records
            }
        };
        self.registry = cached;
        self.cache.iter_mut().for_each(|cache| cache.mark_used(known));
        for record in &records {
            self.apply_record(record)?;
        }
        // As many as were asked for, with the known event or without it.
        if records.len() + 1 >= EVENTS_PER_READ {
            return self.catch_up_and_cache();
        }
        self.save_cache();
        Ok(())
    }

    pub(super) fn catch_up_and_cache(&mut self) -> Result<(), ServiceError> {
        self.refresh()?;
        self.save_cache();
        Ok(())
    }

    pub(super) fn save_cache(&mut self) {
        if let Some(cache) = &mut self.cache {
            cache.save_if_behind(&self.registry);
        }
    }
}

/// Returns how many events are between two cuts of a log with this many intents: all writers agree on the places.
pub(super) fn events_per_cut(n_intents: usize) -> u64 {
    let least = u64::try_from(n_intents).unwrap_or(u64::MAX / 2).div_ceil(EVENTS_PER_CUT).max(1);
    EVENTS_PER_CUT.saturating_mul(least.next_power_of_two())
}

/// Returns the form of an event or a snapshot that is newer than this program.
fn newer_form(bytes: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct AnyForm {
        form: u64,
    }
    serde_json::from_slice::<AnyForm>(bytes)
        .ok()
        .map(|any| any.form)
        .filter(|form| *form > u64::from(EVENT_FORM))
}

pub(super) fn parse(record: &EventRecord) -> Result<RegistryEvent, String> {
    let value = json::parse(&record.event).map_err(|error| error.to_string())?;
    let event: RegistryEvent = serde_json::from_value(value).map_err(|error| error.to_string())?;
    if event.seq.0 != record.seq || event.command.as_str() != record.command {
        return Err("it stands in the wrong place".into());
    }
    Ok(event)
}
