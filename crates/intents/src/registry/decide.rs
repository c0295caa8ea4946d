//! Decides commands: returns the event that would carry a command out, or a refusal. Changes nothing.

use super::command::{MAX_ENTRIES, MAX_OPEN};
use super::queue::is_gone;
use super::{
    Action, Amendment, Base, Change, Circumstances, Command, Declaration, Event, Intent, MAX_LEASE, MAX_TTL,
    MIN_LEASE, MIN_TTL, Notice, NoticeKind, Refusal, Registry, Seq,
};
use crate::owner::{Lease, Owner, Ownership, Timestamp};
use crate::record::{IntentId, Status};
use crate::relations::overlap;
use crate::scope::{Entries, IntentScope};
use crate::start::{DirtyScopePolicy, OnConflict, StartState, StartStatus, start_decision};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Append this event, if the log still ends where it did.
    Append(Box<Event>),
    /// This event already carried the command out.
    Known(Box<Event>),
    /// There is nothing to do.
    Nothing,
}

impl Registry {
    /// Decides a command in the context that the caller's host observed.
    pub fn decide(&self, seen: &Circumstances, command: &Command) -> Result<Decision, Refusal> {
        let request = command.digest();
        if let Some(event) = self.commands.get(&command.id) {
            let same = event.request == request;
            return if same {
                Ok(Decision::Known(Box::new(event.clone())))
            } else {
                Err(Refusal::CommandIdReused)
            };
        }
        let Some(change) = Decide { registry: self, seen, by: &command.by }.action(&command.action)? else {
            return Ok(Decision::Nothing);
        };
        Ok(Decision::Append(Box::new(Event {
            seq: self.head.seq.next(),
            prev: self.head.digest,
            at: seen.now,
            command: command.id.clone(),
            request,
            by: command.by.clone(),
            notices: self.notices_with_lapse(&command.by, seen, &change),
            change,
        })))
    }

    /// Returns the caller's pending notices, and one more if its lease had lapsed.
    fn notices_with_lapse(&self, by: &Owner, seen: &Circumstances, change: &Change) -> Vec<Notice> {
        let mut notices = self.notices(by);
        let intent = change.intent_id().and_then(|id| self.intents.get(id));
        let lapsed = |intent: &&Intent| intent.owner.is(by) && !intent.lease(seen).is_fresh(seen.now);
        if let Some(intent) = intent.filter(lapsed) {
            notices.push(Notice {
                seq: self.head.seq.next(),
                intent_id: intent.id.clone(),
                kind: NoticeKind::LeaseLapsed { since: intent.lease(seen).ends_at() },
            });
        }
        notices
    }
}

struct Decide<'a> {
    registry: &'a Registry,
    seen: &'a Circumstances,
    by: &'a Owner,
}

impl Decide<'_> {
    fn action(&self, action: &Action) -> Result<Option<Change>, Refusal> {
        match action {
            Action::Start { declaration, dirty_scope_policy, on_conflict } => {
                self.start(declaration, *dirty_scope_policy, *on_conflict).map(Some)
            }
            Action::Promote { intent_id, base, dirty_scope_policy } => {
                self.promote(intent_id, base, *dirty_scope_policy).map(Some)
            }
            Action::Renew { intent_id, lease_seconds, ttl_seconds } => {
                self.renew(intent_id, *lease_seconds, *ttl_seconds).map(Some)
            }
            Action::Amend { intent_id, token, allowed_files, allowed_related, why } => {
                self.amend(intent_id, *token, allowed_files, allowed_related, why).map(Some)
            }
            Action::Release { intent_id, token, receipt } => {
                self.fenced(intent_id, *token)?;
                Ok(Some(Change::Released { intent_id: intent_id.clone(), receipt: *receipt }))
            }
            Action::Clear { intent_id } => self.clear(intent_id).map(Some),
            Action::Recover { intent_id, lease_seconds, ttl_seconds } => {
                self.recover(intent_id, *lease_seconds, *ttl_seconds).map(Some)
            }
            Action::Collect { retention_seconds } => Ok(self.collect(*retention_seconds)),
        }
    }

    fn start(
        &self,
        declaration: &Declaration,
        dirty_scope_policy: DirtyScopePolicy,
        on_conflict: OnConflict,
    ) -> Result<Change, Refusal> {
        self.check_declaration(declaration)?;
        let scope = &declaration.scope;
        let queued = || Change::Queued { declaration: declaration.clone() };
        match self.check_start(scope, None, dirty_scope_policy, on_conflict) {
            Ok(StartStatus::Queued) => Ok(queued()),
            Ok(_) => Ok(Change::Granted {
                declaration: declaration.clone(),
                displaced: self.displaced(scope, None),
                passed: self.registry.passed_by(scope, None),
            }),
            Err(Refusal::QueueAhead { .. }) if on_conflict == OnConflict::Queue => Ok(queued()),
            Err(refusal) => Err(refusal),
        }
    }

    fn promote(&self, id: &IntentId, base: &Base, policy: DirtyScopePolicy) -> Result<Change, Refusal> {
        let intent = self.own(id)?;
        if intent.status != Status::Queued {
            return Err(Refusal::wrong_status(intent));
        }
        self.check_start(&intent.scope, Some(intent), policy, OnConflict::Block)?;
        Ok(Change::Promoted {
            intent_id: id.clone(),
            base: base.clone(),
            displaced: self.displaced(&intent.scope, Some(id)),
            passed: self.registry.passed_by(&intent.scope, Some(intent)),
        })
    }

    /// Applies the start rules, then those of the registry: no overlap with the caller's own claims, no
    /// passing of those in line.
    fn check_start(
        &self,
        scope: &IntentScope,
        place: Option<&Intent>,
        dirty_scope_policy: DirtyScopePolicy,
        on_conflict: OnConflict,
    ) -> Result<StartStatus, Refusal> {
        let others = self.registry.overlapping(scope, place.map(|intent| &intent.id));
        let decision = start_decision(&StartState {
            run_available: self.seen.run_available,
            scope: scope.clone(),
            concurrent_intents: others
                .iter()
                .map(|other| other.peer(self.by, self.seen))
                .chain(self.seen.runs.iter().cloned())
                .collect(),
            dirty: self.seen.dirty.clone(),
            dirty_scope_policy,
            on_conflict,
        });
        match decision.status {
            StartStatus::NeedsAnalysis | StartStatus::Blocked => {
                return Err(Refusal::Blocked { decision: Box::new(decision) });
            }
            StartStatus::Queued => return Ok(StartStatus::Queued),
            StartStatus::Active => {}
        }
        let own = |other: &&&Intent| other.status == Status::Active && !is_gone(other, self.by, self.seen);
        if let Some(holder) = others.iter().find(own) {
            return Err(Refusal::OverlapsOwn { holder: holder.id.clone() });
        }
        let waiters = self.registry.first_in_line(scope, self.by, place, self.seen);
        if waiters.is_empty() { Ok(StartStatus::Active) } else { Err(Refusal::QueueAhead { waiters }) }
    }

    /// Returns the active intents that overlap a scope being granted. All of them are gone: the caller has
    /// already refused if one is not.
    fn displaced(&self, scope: &IntentScope, except: Option<&IntentId>) -> BTreeSet<IntentId> {
        let others = self.registry.overlapping(scope, except).into_iter();
        others.filter(|other| other.status == Status::Active).map(|other| other.id.clone()).collect()
    }

    fn renew(&self, id: &IntentId, lease_seconds: u64, ttl_seconds: Option<u64>) -> Result<Change, Refusal> {
        let intent = self.own(id)?;
        check_bounds("lease_seconds", lease_seconds, MIN_LEASE, MAX_LEASE)?;
        if let Some(ttl) = ttl_seconds {
            check_bounds("ttl_seconds", ttl, MIN_TTL, MAX_TTL)?;
        }
        let now = self.seen.now;
        Ok(Change::Renewed {
            intent_id: id.clone(),
            lease: Lease { renewed_at: now, seconds: lease_seconds },
            expires_at: ttl_seconds.map_or(intent.expires_at, |ttl| now.plus(ttl)),
        })
    }

    fn amend(
        &self,
        id: &IntentId,
        token: Seq,
        allowed_files: &Entries,
        allowed_related: &Entries,
        why: &str,
    ) -> Result<Change, Refusal> {
        let intent = self.fenced(id, token)?;
        let added = IntentScope {
            allowed_files: allowed_files.clone(),
            allowed_related: allowed_related.clone(),
            ..IntentScope::default()
        };
        check_size(intent.scope.entries().count() + added.entries().count())?;
        let runs = self.seen.runs.iter().filter(|run| overlap(&added, &run.scope));
        let holders: BTreeSet<IntentId> = self
            .registry
            .overlapping(&added, Some(id))
            .into_iter()
            .filter(|other| other.status == Status::Active && !is_gone(other, self.by, self.seen))
            .map(|other| other.id.clone())
            .chain(runs.map(|run| run.intent_id.clone()))
            .collect();
        if !holders.is_empty() {
            return Err(Refusal::Overlaps { holders });
        }
        let waiters = self.registry.first_in_line(&added, self.by, None, self.seen);
        if !waiters.is_empty() {
            return Err(Refusal::QueueAhead { waiters });
        }
        let amendment = Amendment {
            seq: self.registry.head.seq.next(),
            at: self.seen.now,
            by: self.by.clone(),
            why: why.to_owned(),
            allowed_files: added.allowed_files.clone(),
            allowed_related: added.allowed_related.clone(),
        };
        let displaced = self.displaced(&added, Some(id));
        Ok(Change::Amended { intent_id: id.clone(), amendment, displaced })
    }

    fn clear(&self, id: &IntentId) -> Result<Change, Refusal> {
        let intent = self.open(id)?;
        let ownership = self.ownership(intent);
        if ownership.is_foreign() {
            return Err(held_by_other(intent, ownership));
        }
        Ok(Change::Cleared { intent_id: id.clone() })
    }

    fn recover(&self, id: &IntentId, lease_seconds: u64, ttl_seconds: u64) -> Result<Change, Refusal> {
        let intent = self.open(id)?;
        check_bounds("lease_seconds", lease_seconds, MIN_LEASE, MAX_LEASE)?;
        check_bounds("ttl_seconds", ttl_seconds, MIN_TTL, MAX_TTL)?;
        // An expired intent can come back too, but only for its owner, or if its owner is dead.
        let unending = Intent { expires_at: Timestamp(u64::MAX), ..intent.clone() };
        if self.ownership(&unending).is_foreign() {
            let ownership = self.ownership(intent);
            return Err(Refusal::NotRecoverable { intent_id: id.clone(), ownership });
        }
        let now = self.seen.now;
        Ok(Change::Recovered {
            intent_id: id.clone(),
            lease: Lease { renewed_at: now, seconds: lease_seconds },
            expires_at: now.plus(ttl_seconds),
        })
    }

    fn collect(&self, retention_seconds: u64) -> Option<Change> {
        let now = self.seen.now;
        let pick = |wanted: &dyn Fn(&Intent) -> bool| -> BTreeSet<IntentId> {
            self.registry.intents().filter(|intent| wanted(intent)).map(|intent| intent.id.clone()).collect()
        };
        let expired = pick(&|intent| !intent.status.is_closed() && intent.expires_at <= now);
        let forgotten = pick(&|it| it.closed_at.is_some_and(|at| at.plus(retention_seconds) <= now));
        (!expired.is_empty() || !forgotten.is_empty()).then_some(Change::Collected { expired, forgotten })
    }

    fn ownership(&self, intent: &Intent) -> Ownership {
        intent.ownership(self.by, self.seen)
    }

    fn open(&self, id: &IntentId) -> Result<&Intent, Refusal> {
        let unknown = || Refusal::UnknownIntent { intent_id: id.clone() };
        let intent = self.registry.intent(id).ok_or_else(unknown)?;
        if intent.status.is_closed() {
            return Err(Refusal::wrong_status(intent));
        }
        Ok(intent)
    }

    /// Returns an open, unexpired intent of the caller.
    fn own(&self, id: &IntentId) -> Result<&Intent, Refusal> {
        let intent = self.open(id)?;
        match self.ownership(intent) {
            Ownership::OwnActive | Ownership::OwnStale => Ok(intent),
            Ownership::Expired => Err(Refusal::Expired { intent_id: id.clone() }),
            ownership => Err(held_by_other(intent, ownership)),
        }
    }

    /// Returns an active intent of the caller whose claim is still the one the token was issued for.
    fn fenced(&self, id: &IntentId, token: Seq) -> Result<&Intent, Refusal> {
        let intent = self.own(id)?;
        if intent.status != Status::Active {
            return Err(Refusal::wrong_status(intent));
        }
        if intent.token != Some(token) {
            return Err(Refusal::StaleToken { given: token, current: intent.token });
        }
        Ok(intent)
    }

    fn check_declaration(&self, declaration: &Declaration) -> Result<(), Refusal> {
        check_bounds("ttl_seconds", declaration.ttl_seconds, MIN_TTL, MAX_TTL)?;
        check_bounds("lease_seconds", declaration.lease_seconds, MIN_LEASE, MAX_LEASE)?;
        if declaration.scope.allowed_files.is_empty() {
            return Err(Refusal::EmptyScope);
        }
        check_size(declaration.scope.entries().count())?;
        if self.registry.intent(&declaration.intent_id).is_some() {
            return Err(Refusal::IntentExists { intent_id: declaration.intent_id.clone() });
        }
        let open = self.registry.open_ids.len() as u64;
        check_bounds("open intents", open, 0, MAX_OPEN as u64 - 1)
    }
}

fn held_by_other(intent: &Intent, ownership: Ownership) -> Refusal {
    Refusal::HeldByOther { intent_id: intent.id.clone(), agent: intent.owner.label.clone(), ownership }
}

fn check_size(n_entries: usize) -> Result<(), Refusal> {
    check_bounds("scope entries", n_entries as u64, 0, MAX_ENTRIES as u64)
}

fn check_bounds(what: &'static str, given: u64, least: u64, most: u64) -> Result<(), Refusal> {
    if (least..=most).contains(&given) {
        Ok(())
    } else {
        Err(Refusal::OutOfBounds { what, least, most, given })
    }
}
