//! The queue: first come, first served, among those whose scopes overlap.
//!
//! A waiter's turn has come when no live claim is in its way; then no newcomer and no later waiter may pass it. A
//! waiter that is still blocked elsewhere may be passed on its free part, but only [`MAX_PASSES`] times, so that nobody
//! waits for ever. A waiter that has let its lease lapse keeps its place and loses its turn.

use super::{Circumstances, Intent, Registry};
use crate::owner::{Owner, Ownership};
use crate::record::{IntentId, Status};
use crate::scope::IntentScope;
use std::collections::BTreeSet;

/// How often a waiter may be passed by others.
pub const MAX_PASSES: u32 = 8;

impl Registry {
    /// The place of a waiting intent: one after those who came before it, overlap it, and are not gone.
    pub fn queue_position(&self, id: &IntentId, reader: &Owner, seen: &Circumstances) -> Option<usize> {
        let intent = self.intents.get(id).filter(|intent| intent.status == Status::Queued)?;
        let ahead = self.waiters(&intent.scope, Some(intent));
        Some(1 + ahead.filter(|waiter| !is_gone(waiter, reader, seen)).count())
    }

    /// The waiters that must be served before `reader` may claim `scope`; those behind `place` do not count.
    pub(super) fn first_in_line(
        &self,
        scope: &IntentScope,
        reader: &Owner,
        place: Option<&Intent>,
        seen: &Circumstances,
    ) -> BTreeSet<IntentId> {
        self.waiters(scope, place)
            .filter(|waiter| waiter.ownership(reader, seen) == Ownership::ForeignActive)
            .filter(|waiter| waiter.passed >= MAX_PASSES || self.way_is_free(waiter, reader, seen))
            .map(|waiter| waiter.id.clone())
            .collect()
    }

    /// The waiters that a claim on `scope` goes past.
    pub(super) fn passed_by(&self, scope: &IntentScope, place: Option<&Intent>) -> BTreeSet<IntentId> {
        self.waiters(scope, place).map(|waiter| waiter.id.clone()).collect()
    }

    /// The waiting intents that overlap `scope`, and came before `place` if there is one.
    fn waiters<'r>(
        &'r self,
        scope: &IntentScope,
        place: Option<&'r Intent>,
    ) -> impl Iterator<Item = &'r Intent> {
        self.overlapping(scope, place.map(|intent| &intent.id))
            .into_iter()
            .filter(|waiter| waiter.status == Status::Queued)
            .filter(move |waiter| place.is_none_or(|place| waiter.queued_at < place.queued_at))
    }

    /// Whether no live claim stands in a waiter's way.
    fn way_is_free(&self, waiter: &Intent, reader: &Owner, seen: &Circumstances) -> bool {
        let holders = self.overlapping(&waiter.scope, Some(&waiter.id));
        holders.into_iter().all(|holder| holder.status != Status::Active || is_gone(holder, reader, seen))
    }
}

/// Whether nobody stands behind an intent any more, as far as the reader's host can tell.
pub(super) fn is_gone(intent: &Intent, reader: &Owner, seen: &Circumstances) -> bool {
    let ownership = intent.ownership(reader, seen);
    matches!(ownership, Ownership::Recoverable | Ownership::Expired)
}
