//! Replays the whole log, to prove that it gives the current state.

use super::cache;
use super::fault::OrFault as _;
use super::service::{LedgerService, check_known, known_end};
use probity_api::ledger::{ReplayAnswer, ReplayedInput};
use probity_ledger::ProjectLedger;
use probity_storage::JournalPosition;
use probity_workspace::{ServiceError, Workspace};

const MAX_LISTED_INPUTS: usize = 10_000;

/// Replays the log from the beginning, checking every frame, and lists the inputs after `since`.
pub fn replay(workspace: &Workspace, since: Option<i64>) -> Result<ReplayAnswer, ServiceError> {
    let directory = workspace.state.ledger();
    let journal = LedgerService::journal_at(&directory);
    let mut book = ProjectLedger::new();
    let mut transactions = 0;
    let known = known_end(&workspace.state)?;
    let end = journal.read_after(&JournalPosition::start(), |payload, _| -> Result<(), ServiceError> {
        transactions += 1;
        book.replay(payload).or_fault()
    })?;
    check_known(&journal, &end, known.as_ref())?;
    let state_digest = book.digest();
    let inputs = match since {
        None => Vec::new(),
        Some(since) => inputs_after(&book, since)?,
    };
    Ok(ReplayAnswer {
        seq: book.main().head().get(),
        log_digest: end.chain,
        state_digest,
        transactions,
        log_bytes: end.bytes,
        snapshot_agrees: cache::snapshot_agrees(&directory, &journal)?,
        decided_otherwise: book.n_decided_otherwise(),
        inputs,
    })
}

fn inputs_after(book: &ProjectLedger, since: i64) -> Result<Vec<ReplayedInput>, ServiceError> {
    let ledger = book.main();
    let since = ledger.position(since).or_fault()?;
    let entries = ledger.entries_after(since).take(MAX_LISTED_INPUTS);
    Ok(entries
        .map(|entry| ReplayedInput {
            item: entry.item.map(|item| ledger.handle(item).to_owned()),
            input: entry.into(),
        })
        .collect())
}
