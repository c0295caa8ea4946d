//! The queue: first come, first served, among intents whose scopes overlap.
//!
//! A waiter's turn has come when no live claim blocks it; then neither a newcomer nor a later waiter may pass it. A
//! waiter still blocked elsewhere may be passed on the free part of its scope, but at most [`MAX_QUEUE_PASSES`] times, so
//! that no one waits forever. A waiter with a lapsed lease keeps its place but loses its turn.

use super::{CommandContext, Intent, IntentBase, IntentRegistry};
use crate::owner::{IntentOwner, Ownership};
use crate::record::{IntentId, IntentStatus};
use crate::scope::IntentScope;
use std::collections::BTreeSet;

/// How often a blocked waiter may be passed.
pub const MAX_QUEUE_PASSES: u32 = 8;

impl IntentRegistry {
    /// Returns the 1-based position of a waiting intent among the overlapping ones that came earlier and are not gone.
    pub fn queue_position(
        &self,
        id: &IntentId,
        reader: &IntentOwner,
        seen: &CommandContext,
    ) -> Option<usize> {
        let intent = self.intents.get(id).filter(|intent| intent.status == IntentStatus::Queued)?;
        let ahead = self.waiters(&intent.scope, &intent.base, Some(intent));
        Some(1 + ahead.filter(|waiter| !is_gone(waiter, reader, seen)).count())
    }

    /// Returns whether a waiting intent is the first in its queue, and no live claim is in its way.
    pub fn has_turn(&self, id: &IntentId, reader: &IntentOwner, seen: &CommandContext) -> bool {
        self.queue_position(id, reader, seen) == Some(1)
            && self.intents.get(id).is_some_and(|intent| self.way_is_free(intent, reader, seen))
    }

    /// Returns the waiters that must be served before `reader` may claim `scope`; only those ahead of `place` count.
    pub(super) fn first_in_line(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        reader: &IntentOwner,
        place: Option<&Intent>,
        seen: &CommandContext,
    ) -> BTreeSet<IntentId> {
        self.waiters(scope, base, place)
            .filter(|waiter| waiter.ownership(reader, seen) == Ownership::ForeignActive)
            .filter(|waiter| waiter.passed >= MAX_QUEUE_PASSES || self.way_is_free(waiter, reader, seen))
            .map(|waiter| waiter.id.clone())
            .collect()
    }

    /// Returns the waiters that a claim on `scope` would pass.
    pub(super) fn passed_by(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        place: Option<&Intent>,
    ) -> BTreeSet<IntentId> {
        self.waiters(scope, base, place).map(|waiter| waiter.id.clone()).collect()
    }

    /// Returns the waiting intents that overlap `scope` and, if `place` is given, came before it.
    fn waiters<'r>(
        &'r self,
        scope: &IntentScope,
        base: &IntentBase,
        place: Option<&'r Intent>,
    ) -> impl Iterator<Item = &'r Intent> {
        self.overlapping(scope, base, place.map(|intent| &intent.id))
            .into_iter()
            .filter(|waiter| waiter.status == IntentStatus::Queued)
            .filter(move |waiter| place.is_none_or(|place| waiter.queued_at < place.queued_at))
    }

    fn way_is_free(&self, waiter: &Intent, reader: &IntentOwner, seen: &CommandContext) -> bool {
        let holders = self.overlapping(&waiter.scope, &waiter.base, Some(&waiter.id));
        holders
            .into_iter()
            .all(|holder| holder.status == IntentStatus::Queued || is_gone(holder, reader, seen))
    }
}

/// Returns true if an intent has expired or its owner is provably dead.
pub(super) fn is_gone(intent: &Intent, reader: &IntentOwner, seen: &CommandContext) -> bool {
    let ownership = intent.ownership(reader, seen);
    matches!(ownership, Ownership::Recoverable | Ownership::Expired)
}
