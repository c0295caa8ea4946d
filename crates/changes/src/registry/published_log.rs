//! The own log of a clone as its team sees it: its head goes into the events that the clone writes, in the same write.
//!
//! Evidence, receipts, the ledger and decisions are entries of that log (`workspace::transparency_log`). Every reader of the
//! events holds each head against the one before: see [`probity_intents::clone_logs`].

use super::IntentService;
use probity_core::ReasonCode;
use probity_core::text::short_id;
use probity_intents::clone_logs::{CloneLog, CloneLogBreach, CloneLogBreachKind, CloneLogHead, CloneLogs};
use probity_storage::LogHead;
use probity_storage::sqlite::SqliteStore;
use probity_team::TeamMembership;
use probity_workspace::clone_identity::CloneIdentity;
use probity_workspace::{ServiceError, StateDirectory};

/// Returns what a clone has to publish; `None` if that is known.
pub(super) fn head(
    state: &StateDirectory,
    clone: &str,
    published: &CloneLogs,
) -> Result<Option<CloneLogHead>, ServiceError> {
    let known = published.get(clone);
    let store = state.existing_store()?;
    let found = store.as_ref().map(SqliteStore::log_head).transpose()?.flatten();
    let (Some(store), Some(LogHead { origin, tree })) = (store, found) else {
        // A log that was there and is gone is told as well.
        let lost = known.filter(|known| known.head.size > 0);
        return Ok(lost.map(|_| CloneLogHead::of_lost_log(clone.to_owned())));
    };
    let proof = match known {
        Some(known) if known.origin == origin && known.head == tree => return Ok(None),
        Some(known) if known.origin == origin => store.consistency_proof(known.head.size, tree.size)?,
        _ => None,
    };
    // Without a proof the head is published all the same: the others then see that it contradicts the one before.
    Ok(Some(CloneLogHead { clone: clone.to_owned(), origin, head: tree, proof: proof.unwrap_or_default() }))
}

/// Compares the log of this clone with the head that the clone last published, as far as the events of the team were read:
/// a copy of the state directory from before has a `log.checkpoint` of its own, which agrees with it.
pub fn check(state: &StateDirectory) -> Result<(), ServiceError> {
    if TeamMembership::of(state)?.is_none() {
        return Ok(());
    }
    let Some(registry) = IntentService::last_known(state) else { return Ok(()) };
    let clone = CloneIdentity::of(state)?.clone;
    let Some(known) = registry.clone_logs().get(&clone).filter(|known| known.head.size > 0) else {
        return Ok(());
    };
    let place = format!("the log of the team (event {})", known.seq);
    let Some(store) = state.existing_store()? else {
        let detail = format!("it is gone, but {place} has {} entries", known.head.size);
        return Err(ServiceError::refused(ReasonCode::LogShortened, detail));
    };
    match store.log_head()? {
        // One that was begun again says so with the next event of this clone.
        Some(head) if head.origin != known.origin => Ok(()),
        _ => Ok(store.check_head(&known.head, &place)?),
    }
}

/// Returns the contradictions in the logs of all clones that nobody accepted, as far as the events of the team were read.
pub fn last_known_breaches(state: &StateDirectory) -> Result<Vec<String>, ServiceError> {
    if TeamMembership::of(state)?.is_none() {
        return Ok(Vec::new());
    }
    let registry = IntentService::last_known(state).unwrap_or_default();
    Ok(breaches(registry.clone_logs()).map(|(clone, log, breach)| breach_words(clone, log, breach)).collect())
}

pub(crate) fn breaches(logs: &CloneLogs) -> impl Iterator<Item = (&str, &CloneLog, &CloneLogBreach)> {
    logs.iter().filter_map(|(clone, log)| Some((clone, log, log.breach.as_ref()?)))
}

/// Says what happened to the log of a clone.
pub(crate) fn breach_words(clone: &str, log: &CloneLog, breach: &CloneLogBreach) -> String {
    let entries = |n: u64| match n {
        1 => "1 entry".to_owned(),
        n => format!("{n} entries"),
    };
    let (before, after) = (entries(breach.n_before), entries(breach.n_after));
    let what = match breach.kind {
        CloneLogBreachKind::Shortened => format!("went back from {before} to {after}"),
        CloneLogBreachKind::Rewritten => {
            format!("was rewritten: its {after} do not begin with the {before} from before")
        }
        CloneLogBreachKind::Replaced => format!("with {before} was replaced by another one with {after}"),
    };
    let (clone, host) = (short_id(clone), &log.host);
    format!("the log of clone {clone} on {host} {what} (event {}, by {})", breach.seq, breach.agent)
}
