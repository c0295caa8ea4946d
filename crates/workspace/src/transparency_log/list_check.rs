//! Compares what the log lists with what is there: cheap enough for every command that answers from it.

use super::{BUNDLE_LOG, LEDGER_LOG, RECEIPT_LOG, entries, journal_position, last, open_existing_store};
use crate::{ServiceError, StateDirectory};
use probity_core::ReasonCode;
use probity_storage::StoreError;
use probity_storage::sqlite::SqliteStore;
use std::collections::BTreeSet;

/// Checks that the log knows every bundle and every receipt, that the newest bundle and every receipt it knows are
/// there, and that the ledger is not shorter than it was. Older bundles may have been pruned: `evidence chain` tells.
pub fn check_lists(state: &StateDirectory) -> Result<(), ServiceError> {
    check_listed(state)?;
    unlisted_bundle(state)?.map_or(Ok(()), |id| Err(unlisted(&format!("bundle {id}"))))
}

/// Checks what [`check_lists`] checks, but for bundles that the log does not know.
pub fn check_listed(state: &StateDirectory) -> Result<(), ServiceError> {
    let Some(store) = open_existing_store(state)? else {
        let found = state.receipts()?.first().map(|number| format!("receipt {number}"));
        return found.map_or(Ok(()), |found| Err(unlisted(&found)));
    };
    let newest = last(&store, BUNDLE_LOG)?;
    let found = state.bundles()?;
    if let Some(newest) = newest.filter(|newest| found.binary_search(&newest.name).is_err()) {
        return Err(missing(&format!("bundle {}", newest.name)));
    }
    check_receipts(state, &store)?;
    check_ledger(state, &store)
}

/// Returns a bundle that the log does not know: it was planted, or the log was cut.
pub fn unlisted_bundle(state: &StateDirectory) -> Result<Option<String>, ServiceError> {
    let Some(store) = open_existing_store(state)? else { return Ok(state.bundles()?.into_iter().next()) };
    let listed = || -> Result<BTreeSet<String>, StoreError> {
        Ok(entries(&store, BUNDLE_LOG, 0)?.into_iter().map(|entry| entry.name).collect())
    };
    let found = state.bundles()?;
    let known = listed()?;
    for id in found.into_iter().filter(|id| !known.contains(id)) {
        // A run that is just ending, or that was killed there, has its open directory until its bundle is listed.
        let is_open = state.open_runs()?.iter().any(|run| run.run_id == id);
        if !is_open && !listed()?.contains(&id) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

fn check_receipts(state: &StateDirectory, store: &SqliteStore) -> Result<(), ServiceError> {
    let known = entries(store, RECEIPT_LOG, 0)?;
    let found = state.receipts()?;
    if let Some(gone) = known.iter().find(|entry| found.iter().all(|number| number.to_string() != entry.name))
    {
        return Err(missing(&format!("receipt {}", gone.name)));
    }
    // One may be there that is just being written, or whose writer was killed.
    match found.last() {
        Some(last) if found.len() > known.len() + 1 => Err(unlisted(&format!("receipt {last}"))),
        _ => Ok(()),
    }
}

fn check_ledger(state: &StateDirectory, store: &SqliteStore) -> Result<(), ServiceError> {
    let Some(entry) = last(store, LEDGER_LOG)? else { return Ok(()) };
    let length = std::fs::metadata(state.ledger().join("log")).map_or(0, |facts| facts.len());
    match journal_position(&entry) {
        Some(end) if length >= end.bytes => Ok(()),
        _ => Err(missing(&format!("the ledger beyond byte {length} ({})", entry.name))),
    }
}

fn missing(what: &str) -> ServiceError {
    ServiceError::refused(ReasonCode::LogShortened, format!("the log lists {what}, which is gone"))
}

fn unlisted(what: &str) -> ServiceError {
    let detail = format!("{what} is there, but the log does not list it: the log was cut or begun again");
    ServiceError::refused(ReasonCode::LogShortened, detail)
}
