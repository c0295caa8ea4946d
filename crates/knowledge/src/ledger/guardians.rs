//! The authors who may change hard constraints: a policy in the log, with the author who set it.

use super::fault::OrFault as _;
use super::service::LedgerService;
use probity_api::ledger::GuardAnswer;
use probity_core::ReasonCode;
use probity_ledger::wire::{LedgerEvent, encode};
use probity_workspace::{ServiceError, Workspace};

/// Sets the guardians, or only reads them if `change` is `None`. Once there are guardians, only one of them may change
/// the list.
pub fn guard(
    workspace: &Workspace,
    change: Option<Option<Vec<String>>>,
    by: &str,
) -> Result<GuardAnswer, ServiceError> {
    let mut service = LedgerService::open(workspace, None)?;
    if let Some(guardians) = change {
        service.transact(|book| {
            let is_barred = {
                let mut now = book.main().policy().guardians().into_iter().flatten().peekable();
                now.peek().is_some() && !now.any(|guardian| guardian == by)
            };
            if is_barred {
                let detail = format!("`{by}` is not a guardian of the hard constraints");
                return Err(ServiceError::refused(ReasonCode::LedgerNotAuthorised, detail));
            }
            let event = LedgerEvent::Policy {
                guardians: guardians.as_ref().map(|names| names.iter().map(String::as_str).collect()),
            };
            book.apply(&event).or_fault()?;
            Ok((vec![encode(&[event])], ()))
        })?;
    }
    let guardians = service.book().main().policy().guardians();
    Ok(GuardAnswer { guardians: guardians.map(|names| names.map(str::to_owned).collect()) })
}
