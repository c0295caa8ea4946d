//! Repairs a registry, one intent at a time, without taking anyone's live claim.

use super::{IntentService, TreeFacts};
use probity_api::change::{IntentResetAnswer, ResetAction, ResetEntry};
use probity_intents::registry::{CommandRefusal, RegistryAction};
use probity_intents::{IntentId, IntentOwner, Ownership};
use probity_workspace::ServiceError;

pub const DEFAULT_TTL_SECONDS: u64 = 3_600;
/// How long an owner may be silent before its lease lapses.
pub const DEFAULT_LEASE_SECONDS: u64 = 300;

/// Renews the caller's open intents, closes those that are expired or whose owner is dead, and leaves the rest alone.
/// The caller's own intent whose process is gone is reported instead: it must be recovered or cleared. `owner`
/// returns the caller's identity for each intent.
pub fn reset(
    shell: &mut IntentService,
    owner: &dyn Fn(&IntentService, &IntentId) -> Result<IntentOwner, ServiceError>,
) -> Result<IntentResetAnswer, ServiceError> {
    shell.refresh()?;
    let ids: Vec<IntentId> = shell.registry().open_intents().map(|it| it.id.clone()).collect();
    let mut intents = Vec::new();
    for intent_id in ids {
        let by = owner(shell, &intent_id)?;
        intents.push(reset_one(shell, &by, intent_id)?);
    }
    Ok(IntentResetAnswer { intents })
}

fn reset_one(
    shell: &mut IntentService,
    by: &IntentOwner,
    intent_id: IntentId,
) -> Result<ResetEntry, ServiceError> {
    if let Some(refusal) = orphaned(shell, by, &intent_id)? {
        let next_step = Some(format!(
            "the process of its owner is gone: `probity intent recover {intent_id}` takes it over, `probity intent clear \
             {intent_id}` ends it"
        ));
        let reason = Some(refusal.code());
        return Ok(ResetEntry { intent_id, action: ResetAction::Rejected, reason, next_step });
    }
    let renew = RegistryAction::Renew {
        intent_id: intent_id.clone(),
        lease_seconds: DEFAULT_LEASE_SECONDS,
        ttl_seconds: Some(DEFAULT_TTL_SECONDS),
    };
    let clear = RegistryAction::Clear { intent_id: intent_id.clone() };
    let mut last = None;
    for (action, does) in [(renew, ResetAction::Renewed), (clear, ResetAction::Cleared)] {
        match shell.execute(by, action, &TreeFacts::default()) {
            Ok(_) => return Ok(ResetEntry { intent_id, action: does, reason: None, next_step: None }),
            Err(ServiceError::Intent(refusal)) => last = Some(refusal),
            Err(fault) => return Err(fault),
        }
    }
    Ok(ResetEntry {
        intent_id,
        action: ResetAction::Rejected,
        reason: last.as_ref().map(|refusal| refusal.code()),
        next_step: last.as_ref().map(|refusal| refusal.next_step().into_owned()),
    })
}

/// Returns the refusal to renew the caller's own intent after its process has gone: for everyone else its owner is
/// dead, and a new lease would not change that.
fn orphaned(
    shell: &IntentService,
    by: &IntentOwner,
    intent_id: &IntentId,
) -> Result<Option<CommandRefusal>, ServiceError> {
    let circumstances = shell.command_context()?;
    let Some(intent) = shell.registry().intent(intent_id) else { return Ok(None) };
    let stranger = IntentOwner { token: Some(String::new()), ..by.clone() };
    let ownership = intent.ownership(&stranger, &circumstances);
    let is_orphaned = intent.owner.is_same_owner(by) && ownership == Ownership::Recoverable;
    let agent = intent.owner.label.clone();
    Ok(is_orphaned.then(|| CommandRefusal::HeldByOther { intent_id: intent_id.clone(), agent, ownership }))
}
