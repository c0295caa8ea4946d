//! Decides commands: returns the event that would carry a command out, or a refusal. Changes nothing.

use super::command::{MAX_COLLECTED_INTENTS, MAX_HOLD_SECONDS, MAX_OPEN_INTENTS, MAX_SCOPE_ENTRIES};
use super::queue::is_gone;
use super::{
    CommandContext, CommandRefusal, EVENT_FORM, EventSeq, Intent, IntentAmendment, IntentBase,
    IntentDeclaration, IntentRegistry, MAX_LEASE_SECONDS, MAX_TTL_SECONDS, MIN_LEASE_SECONDS,
    MIN_TTL_SECONDS, NoticeKind, OwnerNotice, RegistryAction, RegistryChange, RegistryCommand, RegistryEvent,
};
use crate::coherence::{ClaimRelation, ReleasedWork};
use crate::owner::{IntentOwner, Lease, Ownership};
use crate::record::{IntentId, IntentStatus, TaskKey};
use crate::relations::overlap;
use crate::scope::{IntentScope, ScopeEntrySet};
use crate::start::{DirtyScopePolicy, OnConflict, StartState, StartStatus, start_decision};
use std::collections::BTreeSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandDecision {
    /// Append this event, if the log still ends where it did.
    Append(Box<RegistryEvent>),
    /// This event already carried the command out.
    Known(Box<RegistryEvent>),
    /// There is nothing to do.
    Nothing,
}

impl IntentRegistry {
    /// Decides a command in the context that the caller's host observed.
    pub fn decide(
        &self,
        seen: &CommandContext,
        command: &RegistryCommand,
    ) -> Result<CommandDecision, CommandRefusal> {
        let request = command.digest();
        if let Some(event) = self.commands.get(&command.id) {
            let same = event.request == request;
            return if same {
                Ok(CommandDecision::Known(Box::new(event.clone())))
            } else {
                Err(CommandRefusal::CommandIdReused)
            };
        }
        let Some(change) =
            CommandDecider { registry: self, seen, by: &command.by }.action(&command.action)?
        else {
            return Ok(CommandDecision::Nothing);
        };
        Ok(CommandDecision::Append(Box::new(RegistryEvent {
            form: if seen.clone_log.is_some() { EVENT_FORM } else { change.form() },
            seq: self.head.seq.next(),
            prev: self.head.digest,
            at: seen.now,
            command: command.id.clone(),
            request,
            by: command.by.clone(),
            notices: self.notices_with_lapse(&command.by, seen, &change),
            clone_log: seen.clone_log.clone(),
            change,
        })))
    }

    /// Returns the caller's pending notices, and one more if its lease had lapsed.
    fn notices_with_lapse(
        &self,
        by: &IntentOwner,
        seen: &CommandContext,
        change: &RegistryChange,
    ) -> Vec<OwnerNotice> {
        let mut notices = self.notices(by);
        let intent = change.intent_id().and_then(|id| self.intents.get(id));
        let lapsed =
            |intent: &&Intent| intent.owner.is_same_owner(by) && !intent.lease(seen).is_fresh(seen.now);
        if let Some(intent) = intent.filter(lapsed) {
            notices.push(OwnerNotice {
                seq: self.head.seq.next(),
                intent_id: intent.id.clone(),
                kind: NoticeKind::LeaseLapsed { since: intent.lease(seen).ends_at() },
            });
        }
        notices
    }
}

struct CommandDecider<'a> {
    registry: &'a IntentRegistry,
    seen: &'a CommandContext,
    by: &'a IntentOwner,
}

impl CommandDecider<'_> {
    fn action(&self, action: &RegistryAction) -> Result<Option<RegistryChange>, CommandRefusal> {
        match action {
            RegistryAction::Start { declaration, dirty_scope_policy, on_conflict } => {
                self.start(declaration, *dirty_scope_policy, *on_conflict).map(Some)
            }
            RegistryAction::Promote { intent_id, base, dirty_scope_policy } => {
                self.promote(intent_id, base, *dirty_scope_policy).map(Some)
            }
            RegistryAction::Renew { intent_id, lease_seconds, ttl_seconds } => {
                self.renew(intent_id, *lease_seconds, *ttl_seconds).map(Some)
            }
            RegistryAction::Amend { intent_id, token, allowed_files, allowed_related, why } => {
                self.amend(intent_id, *token, allowed_files, allowed_related, why).map(Some)
            }
            RegistryAction::Release { intent_id, token, receipt, work } => {
                self.fenced_intent(intent_id, *token)?;
                check_hold(work.as_ref())?;
                let (intent_id, work) = (intent_id.clone(), work.clone());
                Ok(Some(RegistryChange::Released { intent_id, receipt: *receipt, work }))
            }
            RegistryAction::Land { intent_id, commit, branch } => Ok(self.land(intent_id, commit, branch)?),
            RegistryAction::Clear { intent_id } => self.clear(intent_id).map(Some),
            RegistryAction::Recover { intent_id, lease_seconds, ttl_seconds } => {
                self.recover(intent_id, *lease_seconds, *ttl_seconds).map(Some)
            }
            RegistryAction::Collect { retention_seconds, keep_closed } => {
                Ok(self.collect(*retention_seconds, *keep_closed))
            }
            RegistryAction::AcceptLog { clone, breach, why } => {
                let known = self.registry.clone_logs.breach_of(clone).filter(|known| known.seq == *breach);
                let (clone, why) = (clone.clone(), why.clone());
                Ok(known.map(|_| RegistryChange::LogAccepted { clone, breach: *breach, why }))
            }
        }
    }

    fn start(
        &self,
        declaration: &IntentDeclaration,
        dirty_scope_policy: DirtyScopePolicy,
        on_conflict: OnConflict,
    ) -> Result<RegistryChange, CommandRefusal> {
        self.check_declaration(declaration)?;
        let task = declaration.task.as_ref();
        self.check_task(task, None)?;
        let (scope, base) = (&declaration.scope, &declaration.base);
        let queued = || RegistryChange::Queued { declaration: declaration.clone() };
        match self.check_start(scope, base, None, dirty_scope_policy, on_conflict) {
            Ok(StartStatus::Queued) => Ok(queued()),
            Ok(_) => Ok(RegistryChange::Granted {
                declaration: declaration.clone(),
                displaced: &self.displaced(scope, base, None) | &self.gone_from_task(task, None),
                passed: self.registry.passed_by(scope, base, None),
                announced: self.announced(scope, base, None),
                lacks: self.lacks(scope, base),
            }),
            Err(CommandRefusal::QueueAhead { .. }) if on_conflict == OnConflict::Queue => Ok(queued()),
            Err(refusal) => Err(refusal),
        }
    }

    fn promote(
        &self,
        id: &IntentId,
        base: &IntentBase,
        policy: DirtyScopePolicy,
    ) -> Result<RegistryChange, CommandRefusal> {
        let intent = self.own_intent(id)?;
        if intent.status != IntentStatus::Queued {
            return Err(CommandRefusal::wrong_status(intent));
        }
        let task = intent.task.as_ref();
        self.check_task(task, Some(id))?;
        self.check_start(&intent.scope, base, Some(intent), policy, OnConflict::Block)?;
        Ok(RegistryChange::Promoted {
            intent_id: id.clone(),
            base: base.clone(),
            displaced: &self.displaced(&intent.scope, base, Some(id)) | &self.gone_from_task(task, Some(id)),
            passed: self.registry.passed_by(&intent.scope, base, Some(intent)),
            announced: self.announced(&intent.scope, base, Some(id)),
            lacks: self.lacks(&intent.scope, base),
        })
    }

    /// Applies the start rules, then those of the registry: no overlap with the caller's own claims, no
    /// passing of those in line.
    fn check_start(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        place: Option<&Intent>,
        dirty_scope_policy: DirtyScopePolicy,
        on_conflict: OnConflict,
    ) -> Result<StartStatus, CommandRefusal> {
        let others = self.registry.overlapping(scope, base, place.map(|intent| &intent.id));
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
            lacking: self.registry.lacking(scope, base, &self.seen.tree),
            stale_base: self.seen.stale_base,
        });
        match decision.status {
            StartStatus::NeedsAnalysis | StartStatus::Blocked => {
                return Err(CommandRefusal::Blocked { decision: Box::new(decision) });
            }
            StartStatus::Queued => return Ok(StartStatus::Queued),
            StartStatus::Active => {}
        }
        let own =
            |other: &&&Intent| other.status == IntentStatus::Active && !is_gone(other, self.by, self.seen);
        if let Some(holder) = others.iter().find(own) {
            return Err(CommandRefusal::OverlapsOwn { holder: holder.id.clone() });
        }
        let waiters = self.registry.first_in_line(scope, base, self.by, place, self.seen);
        if waiters.is_empty() { Ok(StartStatus::Active) } else { Err(CommandRefusal::QueueAhead { waiters }) }
    }

    /// Returns the active intents that overlap a scope being granted. All of them are gone: the caller has
    /// already refused if one is not.
    fn displaced(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        except: Option<&IntentId>,
    ) -> BTreeSet<IntentId> {
        let others = self.registry.overlapping(scope, base, except).into_iter();
        let is_displaced = |other: &&Intent| match other.status {
            IntentStatus::Active => true,
            // One of the caller's own that lands stays: what it left is compared with the base instead.
            IntentStatus::Landing => is_gone(other, self.by, self.seen),
            _ => false,
        };
        others.filter(is_displaced).map(|other| other.id.clone()).collect()
    }

    /// Returns the active intents of other trees that hold some of these paths as well, by announcement.
    fn announced(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        except: Option<&IntentId>,
    ) -> BTreeSet<IntentId> {
        let others = self.registry.related(scope, base, except, ClaimRelation::Announced);
        // One whose owner seems dead counts too: it is not displaced, and may be recovered.
        let holds = |other: &&Intent| matches!(other.status, IntentStatus::Active | IntentStatus::Landing);
        others.into_iter().filter(holds).map(|other| other.id.clone()).collect()
    }

    /// Returns the finished intents of other trees whose work the tree lacks.
    fn lacks(&self, scope: &IntentScope, base: &IntentBase) -> BTreeSet<IntentId> {
        let lacking = self.registry.lacking(scope, base, &self.seen.tree).into_iter();
        lacking.map(|work| work.intent_id).collect()
    }

    /// Says where finished work arrived. What is known already needs no event: a change lands once.
    fn land(
        &self,
        id: &IntentId,
        commit: &str,
        branch: &str,
    ) -> Result<Option<RegistryChange>, CommandRefusal> {
        let unknown = || CommandRefusal::UnknownIntent { intent_id: id.clone() };
        let intent = self.registry.intent(id).ok_or_else(unknown)?;
        match (intent.status, self.registry.contents_of(id)) {
            (IntentStatus::Landing, _) => {}
            // Its time to land was over, or it came to its line by another branch.
            (IntentStatus::Released, Some(change)) if !change.is_on_line() => {
                if change.branch.as_deref() == Some(branch) {
                    return Ok(None);
                }
            }
            (IntentStatus::Released, _) => return Ok(None),
            _ => return Err(CommandRefusal::wrong_status(intent)),
        }
        let (commit, branch) = (commit.to_owned(), branch.to_owned());
        Ok(Some(RegistryChange::Landed { intent_id: id.clone(), commit, branch }))
    }

    fn renew(
        &self,
        id: &IntentId,
        lease_seconds: u64,
        ttl_seconds: Option<u64>,
    ) -> Result<RegistryChange, CommandRefusal> {
        let intent = self.own_intent(id)?;
        check_bounds("lease_seconds", lease_seconds, MIN_LEASE_SECONDS, MAX_LEASE_SECONDS)?;
        if let Some(ttl) = ttl_seconds {
            check_bounds("ttl_seconds", ttl, MIN_TTL_SECONDS, MAX_TTL_SECONDS)?;
        }
        let now = self.seen.now;
        Ok(RegistryChange::Renewed {
            intent_id: id.clone(),
            lease: Lease { renewed_at: now, seconds: lease_seconds },
            expires_at: ttl_seconds.map_or(intent.ends_at(self.seen), |ttl| now.plus_seconds(ttl)),
        })
    }

    fn amend(
        &self,
        id: &IntentId,
        token: EventSeq,
        allowed_files: &ScopeEntrySet,
        allowed_related: &ScopeEntrySet,
        why: &str,
    ) -> Result<RegistryChange, CommandRefusal> {
        let intent = self.fenced_intent(id, token)?;
        let added = IntentScope {
            allowed_files: allowed_files.clone(),
            allowed_related: allowed_related.clone(),
            ..IntentScope::default()
        };
        check_size(intent.scope.entries().count() + added.entries().count())?;
        let runs = self.seen.runs.iter().filter(|run| overlap(&added, &run.scope));
        let holders: BTreeSet<IntentId> = self
            .registry
            .overlapping(&added, &intent.base, Some(id))
            .into_iter()
            .filter(|other| self.is_in_the_way(other))
            .map(|other| other.id.clone())
            .chain(runs.map(|run| run.intent_id.clone()))
            .collect();
        if !holders.is_empty() {
            return Err(CommandRefusal::Overlaps { holders });
        }
        let waiters = self.registry.first_in_line(&added, &intent.base, self.by, None, self.seen);
        if !waiters.is_empty() {
            return Err(CommandRefusal::QueueAhead { waiters });
        }
        let amendment = IntentAmendment {
            seq: self.registry.head.seq.next(),
            at: self.seen.now,
            by: self.by.clone(),
            why: why.to_owned(),
            allowed_files: added.allowed_files.clone(),
            allowed_related: added.allowed_related.clone(),
        };
        let displaced = self.displaced(&added, &intent.base, Some(id));
        let announced = self.announced(&added, &intent.base, Some(id));
        Ok(RegistryChange::Amended { intent_id: id.clone(), amendment, displaced, announced })
    }

    fn clear(&self, id: &IntentId) -> Result<RegistryChange, CommandRefusal> {
        let intent = self.open(id)?;
        let ownership = self.ownership(intent);
        if ownership.is_foreign() {
            return Err(held_by_other(intent, ownership));
        }
        Ok(RegistryChange::Cleared { intent_id: id.clone() })
    }

    fn recover(
        &self,
        id: &IntentId,
        lease_seconds: u64,
        ttl_seconds: u64,
    ) -> Result<RegistryChange, CommandRefusal> {
        let intent = self.open(id)?;
        if intent.status == IntentStatus::Landing {
            return Err(CommandRefusal::wrong_status(intent));
        }
        check_bounds("lease_seconds", lease_seconds, MIN_LEASE_SECONDS, MAX_LEASE_SECONDS)?;
        check_bounds("ttl_seconds", ttl_seconds, MIN_TTL_SECONDS, MAX_TTL_SECONDS)?;
        // An expired intent can come back too, but only for its owner, or if its owner is dead.
        if intent.ownership_without_end(self.by, self.seen).is_foreign() {
            let ownership = self.ownership(intent);
            return Err(CommandRefusal::NotRecoverable { intent_id: id.clone(), ownership });
        }
        let now = self.seen.now;
        Ok(RegistryChange::Recovered {
            intent_id: id.clone(),
            lease: Lease { renewed_at: now, seconds: lease_seconds },
            expires_at: now.plus_seconds(ttl_seconds),
        })
    }

    fn collect(&self, retention_seconds: u64, keep_closed: Option<usize>) -> Option<RegistryChange> {
        let now = self.seen.now;
        let pick = |wanted: &dyn Fn(&Intent) -> bool| -> BTreeSet<IntentId> {
            let found = self.registry.intents().filter(|intent| wanted(intent));
            found.take(MAX_COLLECTED_INTENTS).map(|intent| intent.id.clone()).collect()
        };
        let expired = pick(&|intent| !intent.status.is_closed() && intent.is_over(self.seen));
        let newest = keep_closed.and_then(|n| self.registry.first_kept_closed(n));
        let forgotten = pick(&|it| {
            it.closed_at.is_some_and(|at| at.plus_seconds(retention_seconds) <= now)
                || newest.is_some_and(|newest| self.registry.is_forgettable(it, newest))
        });
        (!expired.is_empty() || !forgotten.is_empty())
            .then_some(RegistryChange::Collected { expired, forgotten })
    }

    /// Returns whether an overlapping intent rules an amendment out. One of the caller's own that lands does not.
    fn is_in_the_way(&self, other: &Intent) -> bool {
        match other.status {
            IntentStatus::Active => !is_gone(other, self.by, self.seen),
            IntentStatus::Landing => self.ownership(other).is_foreign(),
            _ => false,
        }
    }

    fn ownership(&self, intent: &Intent) -> Ownership {
        intent.ownership(self.by, self.seen)
    }

    fn open(&self, id: &IntentId) -> Result<&Intent, CommandRefusal> {
        let unknown = || CommandRefusal::UnknownIntent { intent_id: id.clone() };
        let intent = self.registry.intent(id).ok_or_else(unknown)?;
        if intent.status.is_closed() {
            return Err(CommandRefusal::wrong_status(intent));
        }
        Ok(intent)
    }

    /// Returns an open, unexpired intent of the caller.
    fn own_intent(&self, id: &IntentId) -> Result<&Intent, CommandRefusal> {
        let intent = self.open(id)?;
        match self.ownership(intent) {
            Ownership::OwnActive | Ownership::OwnStale => Ok(intent),
            Ownership::Expired => Err(CommandRefusal::Expired { intent_id: id.clone() }),
            ownership => Err(held_by_other(intent, ownership)),
        }
    }

    /// Returns an active intent of the caller whose claim is still the one the token was issued for.
    fn fenced_intent(&self, id: &IntentId, token: EventSeq) -> Result<&Intent, CommandRefusal> {
        let intent = self.own_intent(id)?;
        if intent.status != IntentStatus::Active {
            return Err(CommandRefusal::wrong_status(intent));
        }
        if intent.token != Some(token) {
            return Err(CommandRefusal::StaleToken { given: token, current: intent.token });
        }
        Ok(intent)
    }

    /// Refuses a task that somebody works on already.
    fn check_task(&self, task: Option<&TaskKey>, except: Option<&IntentId>) -> Result<(), CommandRefusal> {
        let Some(task) = task else { return Ok(()) };
        // The owner of finished work may go on with its task while the work lands.
        let goes_on =
            |holder: &Intent| holder.status == IntentStatus::Landing && holder.owner.is_same_owner(self.by);
        let holders = self.registry.intents_for_task(task, except);
        match holders.into_iter().find(|holder| !is_gone(holder, self.by, self.seen) && !goes_on(holder)) {
            Some(holder) => Err(CommandRefusal::TaskTaken {
                task: task.clone(),
                holder: holder.id.clone(),
                agent: holder.owner.label.clone(),
                host: holder.owner.host.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Returns the intents for a task that are over or whose owners are dead. The owner who takes the task over closes them, so
    /// that none comes back.
    fn gone_from_task(&self, task: Option<&TaskKey>, except: Option<&IntentId>) -> BTreeSet<IntentId> {
        let holders = task.map(|task| self.registry.intents_for_task(task, except)).unwrap_or_default();
        let gone = holders.into_iter().filter(|holder| is_gone(holder, self.by, self.seen));
        gone.map(|holder| holder.id.clone()).collect()
    }

    fn check_declaration(&self, declaration: &IntentDeclaration) -> Result<(), CommandRefusal> {
        check_bounds("ttl_seconds", declaration.ttl_seconds, MIN_TTL_SECONDS, MAX_TTL_SECONDS)?;
        check_bounds("lease_seconds", declaration.lease_seconds, MIN_LEASE_SECONDS, MAX_LEASE_SECONDS)?;
        if declaration.scope.allowed_files.is_empty() {
            return Err(CommandRefusal::EmptyScope);
        }
        check_size(declaration.scope.entries().count())?;
        if self.registry.intent(&declaration.intent_id).is_some() {
            return Err(CommandRefusal::IntentExists { intent_id: declaration.intent_id.clone() });
        }
        // Counted per session, so that the machines of a team do not use up each other's share.
        let is_of_session = |intent: &&Intent| intent.owner.session == self.by.session;
        let open = self.registry.open_intents().filter(is_of_session).count() as u64;
        check_bounds("open intents", open, 0, MAX_OPEN_INTENTS as u64 - 1)
    }
}

fn held_by_other(intent: &Intent, ownership: Ownership) -> CommandRefusal {
    CommandRefusal::HeldByOther { intent_id: intent.id.clone(), agent: intent.owner.label.clone(), ownership }
}

fn check_hold(work: Option<&ReleasedWork>) -> Result<(), CommandRefusal> {
    match work.and_then(|work| work.hold_seconds) {
        Some(seconds) => check_bounds("hold_seconds", seconds, MIN_TTL_SECONDS, MAX_HOLD_SECONDS),
        None => Ok(()),
    }
}

fn check_size(n_entries: usize) -> Result<(), CommandRefusal> {
    check_bounds("scope entries", n_entries as u64, 0, MAX_SCOPE_ENTRIES as u64)
}

fn check_bounds(what: &'static str, given: u64, least: u64, most: u64) -> Result<(), CommandRefusal> {
    if (least..=most).contains(&given) {
        Ok(())
    } else {
        Err(CommandRefusal::OutOfBounds { what, least, most, given })
    }
}
