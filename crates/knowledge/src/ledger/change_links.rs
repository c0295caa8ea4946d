//! Links between changes and the ledger: a change cites the decision it implements, a decision lists the changes made
//! under it, and a starting change gets the constraints on its scope.

use super::fault::OrFault as _;
use super::queries::find;
use super::service::LedgerService;
use probity_api::ledger::CitationAnswer;
use probity_core::ReasonCode;
use probity_ledger::wire::{LedgerEvent, encode};
use probity_ledger::{Citation, ItemId, Ledger, ProjectLedger};
use probity_scopes::ScopeClaim;
use probity_workspace::{ServiceError, Workspace};
use serde::Serialize;

/// A constraint that applies to a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConstraintView {
    pub handle: String,
    pub summary: String,
    pub hard: bool,
    /// A path or pattern in it that overlaps the scope; `None` if it names no path and so applies everywhere.
    pub because: Option<String>,
}

/// Returns the active constraints that apply to a claimed scope, hard ones first.
pub fn constraints_touching(
    workspace: &Workspace,
    claim: &ScopeClaim,
) -> Result<Vec<ConstraintView>, ServiceError> {
    let service = LedgerService::open(workspace, None)?;
    let touching = service.book().main().constraints_touching(claim);
    Ok(touching
        .into_iter()
        .map(|constraint| ConstraintView {
            handle: constraint.handle.to_owned(),
            summary: constraint.summary.to_owned(),
            hard: constraint.hard,
            because: constraint.because,
        })
        .collect())
}

/// Refuses names that match no item of the ledger.
pub fn check_items<N: AsRef<str>>(workspace: &Workspace, items: &[N]) -> Result<(), ServiceError> {
    if items.is_empty() {
        return Ok(());
    }
    let service = LedgerService::open(workspace, None)?;
    items.iter().try_for_each(|name| find(service.book().main(), name.as_ref()).map(drop))
}

/// Records that a change (the id of an intent or a run) was made under items. Citing twice changes nothing.
pub fn cite<N: AsRef<str>>(
    workspace: &Workspace,
    change: &str,
    items: &[N],
    author: &str,
) -> Result<CitationAnswer, ServiceError> {
    if change.trim().is_empty() {
        return Err(ServiceError::refused(ReasonCode::LedgerInputInvalid, "a change needs an id"));
    }
    let mut service = LedgerService::open(workspace, None)?;
    service.transact(|book| {
        let mut events = Vec::new();
        let mut handles = Vec::new();
        for name in items {
            let item = find(book.main(), name.as_ref())?;
            handles.push(book.main().handle(item).to_owned());
        }
        for item in &handles {
            let is_new = !book.citations().iter().any(|known| known.change == change && known.item == *item);
            if is_new {
                let event = LedgerEvent::Cite { change, item, author };
                book.apply(&event).or_fault()?;
                events.push(event);
            }
        }
        let payload = if events.is_empty() { Vec::new() } else { vec![encode(&events)] };
        let of_change = |citation: &&Citation| citation.change == change;
        let citations = book.citations().iter().filter(of_change).cloned().collect();
        Ok((payload, CitationAnswer { change: change.to_owned(), citations }))
    })
}

/// Returns the items that any of these changes was made under, each once.
pub fn citations_of_changes(workspace: &Workspace, changes: &[&str]) -> Result<Vec<String>, ServiceError> {
    let service = LedgerService::open(workspace, None)?;
    let cited = service.book().citations().iter().filter(|it| changes.contains(&it.change.as_str()));
    let items: std::collections::BTreeSet<String> = cited.map(|citation| citation.item.clone()).collect();
    Ok(items.into_iter().collect())
}

/// Returns the changes made under an item, whichever of its handles they cite.
pub(super) fn citations_of(book: &ProjectLedger, ledger: &Ledger, item: ItemId) -> Vec<Citation> {
    let cites = |citation: &&Citation| ledger.find(&citation.item) == Some(item);
    book.citations().iter().filter(cites).cloned().collect()
}
