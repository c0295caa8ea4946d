//! Reads the registry log itself, for people and to prove that nobody rewrote it in the meantime.

use super::catch_up::{EVENTS_PER_READ, parse};
use super::view::logged_event;
use super::{IntentService, LOG_NAME, LocalHost, cache, damaged};
use probity_api::change::{ChainStatus, IntentLogAnswer};
use probity_core::Digest;
use probity_intents::IntentRegistry;
use probity_intents::registry::{EventSeq, RegistryChange, RegistryHead};
use probity_storage::ports::{EventLog, StorageEngine};
use probity_team::TeamMembership;
use probity_workspace::StateDirectory;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Verifies the whole log and returns at most `limit` events after `after`.
pub fn read_log(workspace: &Workspace, after: u64, limit: usize) -> Result<IntentLogAnswer, ServiceError> {
    let mut shell = IntentService::unread(workspace)?;
    if !shell.is_shared {
        workspace.state.store()?.check()?;
    }
    shell.unless_silent(IntentService::refresh)?;
    let records = shell.log.read_after(after, limit)?;
    let logged = |record| shell.parse(record).map(logged_event);
    let events = records.iter().map(logged).collect::<Result<_, _>>()?;
    Ok(IntentLogAnswer { head: shell.registry.head(), chain: ChainStatus::Ok, events })
}

/// Returns the end of the log; that of an empty log if there is no readable database.
pub(crate) fn log_head(state: &StateDirectory) -> RegistryHead {
    let last = || -> Option<RegistryHead> {
        let log = open_log(state)?;
        let head = log.head().ok()?;
        let event = parse(log.read_after(head.checked_sub(1)?, 1).ok()?.first()?).ok()?;
        Some(RegistryHead { seq: event.seq, digest: event.digest() })
    };
    last().unwrap_or_default()
}

/// Returns whether the log leads back to `known` link by link, so that it has only grown.
pub(crate) fn leads_back(state: &StateDirectory, known: RegistryHead) -> bool {
    let Some(log) = open_log(state) else {
        // Without a database the log must have been empty before. A database that cannot be opened proves nothing.
        return known == RegistryHead::default() && state.database().symlink_metadata().is_err();
    };
    let walk = || -> Result<bool, String> {
        let mut at = RegistryHead::default();
        let mut from = known.seq.0.saturating_sub(1);
        loop {
            let records = log.read_after(from, EVENTS_PER_READ).map_err(|error| error.to_string())?;
            for record in &records {
                let event = parse(record)?;
                let follows = event.seq <= known.seq || event.prev == at.digest;
                at = RegistryHead { seq: event.seq, digest: event.digest() };
                if !follows || (at.seq == known.seq && at != known) {
                    return Ok(false);
                }
                from = record.seq;
            }
            if records.len() < EVENTS_PER_READ {
                return Ok(at.seq >= known.seq);
            }
        }
    };
    walk().unwrap_or(false)
}

/// Returns the registry that the log describes; `None` if the log cannot be read.
pub(crate) fn read_registry(state: &StateDirectory) -> Option<IntentRegistry> {
    let store = state.existing_store().ok().flatten()?;
    let mut shell = IntentService::on_store(&store, Arc::new(LocalHost));
    shell.refresh().ok()?;
    Some(shell.registry)
}

/// Returns the receipts of intents that were finished after event `after`.
pub(crate) fn receipts_after(state: &StateDirectory, after: EventSeq) -> BTreeSet<Digest> {
    let mut receipts = BTreeSet::new();
    let Some(log) = open_log(state) else { return receipts };
    let mut from = after.0;
    while let Ok(records) = log.read_after(from, EVENTS_PER_READ) {
        let Some(last) = records.last() else { break };
        from = last.seq;
        for event in records.iter().filter_map(|record| parse(record).ok()) {
            if let RegistryChange::Released { receipt: Some(receipt), .. } = event.change {
                receipts.insert(receipt);
            }
        }
    }
    receipts
}

/// Returns whether the cache agrees with the log.
pub(crate) fn cache_is_true(state: &StateDirectory) -> bool {
    let Some(snapshot) = cache::read(&state.registry_cache()) else {
        return false;
    };
    let replay = || -> Option<IntentRegistry> {
        let mut registry = IntentRegistry::default();
        let log = open_log(state)?;
        while registry.head().seq < snapshot.head().seq {
            let left = snapshot.head().seq.0 - registry.head().seq.0;
            let limit = usize::try_from(left).unwrap_or(EVENTS_PER_READ).min(EVENTS_PER_READ);
            let records = log.read_after(registry.head().seq.0, limit).ok()?;
            for record in &records {
                let event = parse(record).ok()?;
                registry.check_next(&event).ok()?;
                registry.apply(&event);
            }
            records.first()?;
        }
        Some(registry)
    };
    replay().is_some_and(|registry| registry == IntentRegistry::from(snapshot.clone()))
}

/// Opens the log if there is a readable database. Never creates one.
fn open_log(state: &StateDirectory) -> Option<Box<dyn EventLog>> {
    state.existing_store().ok().flatten().map(|store| store.log(LOG_NAME))
}

/// Checks the database and the cache for `doctor`; returns the end of the log.
pub fn check(workspace: &Workspace) -> Result<RegistryHead, ServiceError> {
    let head = read_log(workspace, u64::MAX >> 1, 0)?.head;
    if TeamMembership::of(&workspace.state)?.is_some() {
        return Ok(head);
    }
    let cached = cache::read(&workspace.state.registry_cache());
    match cached {
        Some(snapshot) if snapshot.head().seq > head.seq => {
            Err(cache::lost_events(&workspace.state.database(), snapshot.head().seq.0, head.seq.0))
        }
        Some(_) if !cache_is_true(&workspace.state) => {
            let why = "it does not say what the log says; remove it, it will be made again";
            Err(damaged(&workspace.state.registry_cache(), why.into()))
        }
        _ => Ok(head),
    }
}
