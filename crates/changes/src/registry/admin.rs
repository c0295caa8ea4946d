//! Setting a registry in order: each intent by itself, and nobody's living claim is taken away.

use super::{Shell, TreeFacts};
use probity_api::change::{IntentResetAnswer, ResetAction, ResetEntry};
use probity_intents::registry::Action;
use probity_intents::{IntentId, Owner};
use probity_workspace::Fault;

/// How long an intent lives if nothing else is asked for.
pub const TTL_SECONDS: u64 = 3_600;
/// How long its owner may be silent if nothing else is asked for.
pub const LEASE_SECONDS: u64 = 300;

/// Renews one's own open intents, closes those that are over or whose owner is dead, and leaves the rest alone.
/// `owner` says who asks about each of them.
pub fn reset(
    shell: &mut Shell,
    owner: &dyn Fn(&Shell, &IntentId) -> Result<Owner, Fault>,
) -> Result<IntentResetAnswer, Fault> {
    shell.refresh()?;
    let ids: Vec<IntentId> = shell.registry().open_intents().map(|it| it.id.clone()).collect();
    let mut intents = Vec::new();
    for intent_id in ids {
        let by = owner(shell, &intent_id)?;
        intents.push(reset_one(shell, &by, intent_id)?);
    }
    Ok(IntentResetAnswer { intents })
}

fn reset_one(shell: &mut Shell, by: &Owner, intent_id: IntentId) -> Result<ResetEntry, Fault> {
    let renew = Action::Renew {
        intent_id: intent_id.clone(),
        lease_seconds: LEASE_SECONDS,
        ttl_seconds: Some(TTL_SECONDS),
    };
    let clear = Action::Clear { intent_id: intent_id.clone() };
    let mut last = None;
    for (action, does) in [(renew, ResetAction::Renewed), (clear, ResetAction::Cleared)] {
        match shell.execute(by, action, &TreeFacts::default()) {
            Ok(_) => return Ok(ResetEntry { intent_id, action: does, reason: None, next_step: None }),
            Err(Fault::Intent(refusal)) => last = Some(refusal),
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
