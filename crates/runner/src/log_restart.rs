//! Begins the log of a repository again, on the record, when it was shortened or damaged and cannot be restored.

use crate::chain_check;
use probity_api::govern::log::{LogRestart, OldLogHead};
use probity_core::ReasonCode;
use probity_core::merkle::TreeHead;
use probity_evidence::TrustRequirements;
use probity_storage::{Journal, JournalPosition, StoreError};
use probity_workspace::transparency_log::{self, LEDGER_LOG, RecordedHead};
use probity_workspace::{ServiceError, Workspace, run_claims};

/// Accepts that the log is not what it was: keeps it aside with everything that it lists, and begins a new one.
pub fn restart(workspace: &Workspace, why: &str, by: &str) -> Result<LogRestart, ServiceError> {
    let refuse = |detail: &str| Err(ServiceError::refused(ReasonCode::LogRestartRefused, detail));
    if why.trim().is_empty() {
        return refuse("say why with `--why`: it becomes the first entry of the new log");
    }
    // Before the locks are taken: the checks take them too.
    let problems = problems(workspace);
    if problems.is_empty() {
        return refuse("nothing is wrong with the log, nor with anything that it lists");
    }
    let state = &workspace.state;
    // Nobody begins or ends a run meanwhile, and nobody claims anything.
    let _evidence = state.lock_evidence()?;
    let _claims = run_claims::lock_claims(state)?;
    if let Some(run) = state.open_runs()?.first() {
        return refuse(&format!("run {} is open: let it end, or let the next run close it", run.run_id));
    }
    let restarted = transparency_log::restart(state, why, by)?;
    let old = |head: RecordedHead| OldLogHead {
        origin: head.origin,
        head: TreeHead { size: head.size, root: head.root },
    };
    Ok(LogRestart {
        origin: restarted.head.origin,
        head: restarted.head.tree,
        why: restarted.record.why,
        by: restarted.record.by,
        problems,
        aside: restarted.aside.display().to_string(),
        noted: restarted.record.noted.map(old),
        stored: restarted.record.stored.map(old),
    })
}

/// Describes everything that is wrong with the log and with what it lists.
fn problems(workspace: &Workspace) -> Vec<String> {
    let mut problems = Vec::new();
    let whole = || -> Result<(), ServiceError> {
        transparency_log::check_lists(&workspace.state)?;
        if let Some(store) = workspace.state.existing_store()? {
            store.check_leaves(0)?;
        }
        check_journal(workspace)
    };
    problems.extend(whole().err().map(|fault| format!("{}: {fault}", fault.code())));
    match chain_check::check(workspace, &TrustRequirements::default()) {
        // A bundle that is damaged in itself is no fault of the log.
        Ok(report) => problems.extend(report.answer().problems),
        Err(fault) => problems.push(format!("{}: {fault}", fault.code())),
    }
    problems.dedup();
    problems
}

/// Checks that the ledger's journal can be read, and ends as the log says.
fn check_journal(workspace: &Workspace) -> Result<(), ServiceError> {
    let journal = Journal::at(workspace.state.ledger().join("log"));
    let end = journal.read_after(&JournalPosition::start(), |_, _| Ok::<_, StoreError>(()))?;
    let Some(store) = workspace.state.existing_store()? else { return Ok(()) };
    let listed = transparency_log::last(&store, LEDGER_LOG)?
        .and_then(|entry| transparency_log::journal_position(&entry));
    match listed {
        Some(listed)
            if end.bytes < listed.bytes || (end.bytes == listed.bytes && end.chain != listed.chain) =>
        {
            let detail = format!("the ledger ends at byte {} and not as the log lists it", end.bytes);
            Err(ServiceError::refused(ReasonCode::LogInconsistent, detail))
        }
        _ => Ok(()),
    }
}
