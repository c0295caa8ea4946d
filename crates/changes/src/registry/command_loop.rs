//! Carries out commands: the one loop that turns them into events.
//!
//! Read new events, apply them, decide, append. If another process appended first or the reply was lost, start over:
//! every command has an id, so the rules recognize one that was written after all.

use super::lease_readings::BegunLife;
use super::{CLOSED_INTENT_RETENTION_SECONDS, CommandResult, IntentService, TreeFacts};
use probity_core::{Digest, json};
use probity_intents::registry::{
    CommandDecision, CommandRefusal, EventSeq, Intent, RegistryAction, RegistryChange, RegistryCommand,
    RegistryEvent,
};
use probity_intents::{CommandId, IntentOwner};
use probity_storage::ports::{AppendOutcome, EventRecord, LeaseStore};
use probity_storage::{FileLock, StoreError};
use probity_workspace::{ServiceError, clock, run_claims};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a command of a shared store is tried before it gives up.
const SHARED_ATTEMPTS_TIMEOUT: Duration = Duration::from_secs(30);
const FIRST_SHARED_PAUSE: Duration = Duration::from_millis(10);
const MAX_SHARED_PAUSE: Duration = Duration::from_millis(500);
const MAX_DECISION_ATTEMPTS: usize = 10_000;
/// How long a command waits for its turn. The turn lock only spares contenders useless decisions, so a process that
/// was stopped while holding it must not block the others for longer.
const TURN_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const FIRST_TURN_POLL_INTERVAL: Duration = Duration::from_micros(50);
const MAX_TURN_POLL_INTERVAL: Duration = Duration::from_millis(1);
/// How many lost races make a command wait for its turn even while the log moves.
const MAX_LOST_RACES: usize = 3;
/// How many closed intents a team remembers, besides those whose work is still to land.
const MAX_CLOSED_SHARED_INTENTS: usize = 100;
/// How many expired or long closed intents make a start tidy up.
pub(super) const MIN_INTENTS_TO_TIDY: usize = 100;

/// How long a life that a lost race had begun counts as begun for the next try.
const BEGUN_LIFE_TTL: Duration = Duration::from_secs(1);

/// The turn of a process to append.
struct AppendTurn {
    /// `None` if another process kept it too long, or the log moved.
    lock: Option<FileLock>,
    has_waited: bool,
}

impl IntentService {
    /// Carries out an action of `by`. A refusal is [`ServiceError::Intent`] and leaves nothing behind.
    pub fn execute(
        &mut self,
        by: &IntentOwner,
        action: RegistryAction,
        tree: &TreeFacts,
    ) -> Result<CommandResult, ServiceError> {
        let id = CommandId::parse(clock::run_id()).map_err(|error| self.damaged(error.to_string()))?;
        self.execute_command(&RegistryCommand { id, by: by.clone(), action }, tree)
    }

    /// Carries out a command with an id chosen by the caller: a repetition is not carried out again and gets the same answer.
    #[tracing::instrument(name = "claim", skip_all)]
    pub fn execute_command(
        &mut self,
        command: &RegistryCommand,
        tree: &TreeFacts,
    ) -> Result<CommandResult, ServiceError> {
        self.require_store()?;
        let mut may_be_written = false;
        let done = self
            .try_execute(command, tree, &mut may_be_written)
            .map_err(|error| if may_be_written { unconfirmed(error) } else { error })?;
        if matches!(command.action, RegistryAction::Start { .. }) && !done.repeated {
            self.tidy(&command.by)?;
        }
        if let Some(cache) = &mut self.cache {
            cache.save_if_behind(&self.registry);
        }
        if done.event.is_some()
            && let Some(guard) = self.guard.clone()
        {
            guard.replace(self)?;
        }
        Ok(done)
    }

    fn try_execute(
        &mut self,
        command: &RegistryCommand,
        tree: &TreeFacts,
        may_be_written: &mut bool,
    ) -> Result<CommandResult, ServiceError> {
        let mut turn = None;
        let mut begun: Option<(BegunLife, Instant)> = None;
        let (mut n_lost, mut pause) = (0, FIRST_SHARED_PAUSE);
        let end = Instant::now() + SHARED_ATTEMPTS_TIMEOUT;
        for n_tries in 0..MAX_DECISION_ATTEMPTS {
            if !std::mem::take(&mut self.is_fresh) {
                self.refresh()?;
            }
            // No run may begin between reading the governed runs and the append: see `run_claims`.
            let (runs, _share) = match (self.claimed_by(&command.action), &self.runs) {
                (Some(scope), Some((state, _))) => {
                    let share = run_claims::share_claims(state)?;
                    (self.run_peers(&scope)?, Some(share))
                }
                _ => (Vec::new(), None),
            };
            let mut seen = self.command_context_in(tree, runs)?;
            seen.tree = self.tree_contents(&command.action, tree)?;
            if self.is_shared {
                // Read after the events: what this clone published before was read from the same log, so that it is no longer.
                seen.clone_log = self.host.clone_log(self.registry.clone_logs())?;
            }
            let decision = self.registry.decide(&seen, command);
            // A lost write may still be on its way: it must not appear behind a refusal (law 4).
            if *may_be_written
                && matches!(decision, Err(_) | Ok(CommandDecision::Nothing))
                && let Some(at) = self.log.void(command.id.as_str())?
            {
                return self.carried_out(EventSeq(at));
            }
            let event = match decision? {
                CommandDecision::Append(event) => event,
                CommandDecision::Known(event) => return Ok(CommandResult::repeated(*event)),
                CommandDecision::Nothing => {
                    let notices = self.registry.notices(&command.by);
                    return Ok(CommandResult { event: None, notices, repeated: false });
                }
            };
            // Only a command with something to append takes a turn: a refusal is as true without it.
            if turn.is_none()
                && let Some(path) = &self.turn
            {
                let taken = self.take_turn(path, n_tries >= MAX_LOST_RACES)?;
                turn = taken.lock;
                // Others appended while this process waited: an append from what it knows would be a lost race.
                let is_old = if self.is_shared {
                    taken.has_waited && turn.is_some()
                } else {
                    self.log.head()? != self.registry.head().seq.0
                };
                if is_old {
                    continue;
                }
            }
            let before = self.registry.head().seq.0;
            let bytes = encode(&event);
            self.begin_life(&event, &mut begun)?;
            match self.log.append(before, command.id.as_str(), &bytes)? {
                AppendOutcome::At(_) => {
                    self.registry.apply_stored(&event, Digest::of(&bytes));
                    self.lease_readings.go_on(before, begun.map(|(life, _)| life));
                    self.cut_if_due();
                    drop(turn);
                    let notices = event.notices.clone();
                    return Ok(CommandResult { event: Some(*event), notices, repeated: false });
                }
                AppendOutcome::Known { at } => return self.known_to_the_store(EventSeq(at), &event),
                // Another process was faster, or the outcome is unknown: read again and decide.
                AppendOutcome::Moved { head, news } => {
                    self.is_fresh = self.is_shared && self.apply_news(head, &news)?;
                }
                AppendOutcome::Unknown => *may_be_written = true,
            }
            if self.is_shared {
                if Instant::now() > end {
                    break;
                }
                n_lost += 1;
                if n_lost > 1 {
                    self.host.pause(random_part(pause));
                    pause = (pause * 2).min(MAX_SHARED_PAUSE);
                }
            }
        }
        if *may_be_written {
            if let Some(at) = self.log.void(command.id.as_str())? {
                return self.carried_out(EventSeq(at));
            }
            *may_be_written = false;
        }
        if self.is_shared {
            let why =
                format!("this command did not get its turn within {} s", SHARED_ATTEMPTS_TIMEOUT.as_secs());
            return Err(StoreError::Unreachable { store: self.database.display().to_string(), why }.into());
        }
        let why = format!(
            "the log of intents moved on {MAX_DECISION_ATTEMPTS} times before this command got its turn"
        );
        Err(StoreError::Engine { path: self.database.clone(), why }.into())
    }

    /// Applies the events that a refused append brought along; returns whether those are all.
    fn apply_news(&mut self, head: u64, news: &[EventRecord]) -> Result<bool, ServiceError> {
        for record in news {
            if record.seq == self.registry.head().seq.0 + 1 {
                self.apply_record(record)?;
            }
        }
        Ok(self.registry.head().seq.0 == head)
    }

    /// Makes the life and the lease that an event gives run in a shared store before the event is there: an intent that
    /// lives nowhere is over for everyone. What an earlier try of the same command began a moment ago is not begun again.
    fn begin_life(
        &self,
        event: &RegistryEvent,
        begun: &mut Option<(BegunLife, Instant)>,
    ) -> Result<(), ServiceError> {
        let (Some(lives), Some(leases)) = (&self.lives, &self.leases) else { return Ok(()) };
        let (id, life, lease) = match &event.change {
            RegistryChange::Granted { declaration, .. } | RegistryChange::Queued { declaration } => {
                (&declaration.intent_id, declaration.ttl_seconds, declaration.lease_seconds)
            }
            RegistryChange::Renewed { intent_id, lease, expires_at }
            | RegistryChange::Recovered { intent_id, lease, expires_at } => {
                (intent_id, expires_at.0.saturating_sub(event.at.0), lease.seconds)
            }
            RegistryChange::Released { intent_id, work: Some(work), .. } => match work.hold_seconds {
                Some(seconds) => (intent_id, seconds, seconds),
                None => return Ok(()),
            },
            _ => return Ok(()),
        };
        // Landing has a time of its own: the lease of the work before ends by itself, without a key.
        let is_new =
            self.registry.intent(id).is_none() || matches!(event.change, RegistryChange::Released { .. });
        let wanted = BegunLife { intent_id: id.clone(), life, lease };
        match begun {
            Some((known, at)) if *known == wanted && at.elapsed() < BEGUN_LIFE_TTL => return Ok(()),
            _ => {}
        }
        let is_new = is_new && begun.is_none();
        let now = Instant::now();
        let run = |store: &dyn LeaseStore, seconds| {
            let lasts = Duration::from_secs(seconds);
            if is_new { store.begin(id.as_str(), lasts) } else { store.renew(id.as_str(), lasts) }
        };
        // Each takes two round trips, and neither needs the other. Others may be waiting for the turn meanwhile.
        std::thread::scope(|scope| {
            let beside = scope.spawn(|| run(&**lives, life));
            let first = run(&**leases, lease);
            let second = beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            first.and(second)
        })?;
        *begun = Some((wanted, now));
        Ok(())
    }

    /// Waits for the turn to append. Unless `patient`, returns as soon as the log moves, to decide again: there may
    /// be nothing left to append, and a waiting release of the contended path must not queue behind the others. Also
    /// returns without it if another process keeps it too long, since the turn only spares contenders useless decisions.
    fn take_turn(&self, path: &Path, patient: bool) -> Result<AppendTurn, ServiceError> {
        let mut has_waited = false;
        let end = Instant::now() + TURN_LOCK_TIMEOUT;
        let mut pause = FIRST_TURN_POLL_INTERVAL;
        loop {
            match FileLock::poll(path) {
                Ok(Some(lock)) => return Ok(AppendTurn { lock: Some(lock), has_waited }),
                Ok(None) => {}
                // Appending is safe without the lock, only with more lost races.
                Err(_) => return Ok(AppendTurn { lock: None, has_waited }),
            }
            has_waited = true;
            std::thread::sleep(pause);
            pause = (pause * 2).min(MAX_TURN_POLL_INTERVAL);
            let has_moved = !patient && !self.is_shared && self.log.head()? != self.registry.head().seq.0;
            if has_moved || Instant::now() > end {
                return Ok(AppendTurn { lock: None, has_waited });
            }
        }
    }

    /// Returns the event of a command of this process whose reply was lost.
    fn carried_out(&mut self, at: EventSeq) -> Result<CommandResult, ServiceError> {
        self.refresh()?;
        let event = self.event(at)?.ok_or_else(|| self.damaged(format!("event {at} is gone")))?;
        Ok(CommandResult::repeated(event))
    }

    /// Finds a repeated command that the rules have forgotten but the store still knows.
    fn known_to_the_store(
        &self,
        at: EventSeq,
        decided: &RegistryEvent,
    ) -> Result<CommandResult, ServiceError> {
        let stored = match self.event(at) {
            // It was carried out so long ago that the event itself was cut off.
            Err(ServiceError::Store(StoreError::Cut { .. })) => {
                return Err(CommandRefusal::CommandIdReused.into());
            }
            stored => stored?.ok_or_else(|| self.damaged(format!("event {at} is gone")))?,
        };
        if stored.request == decided.request {
            Ok(CommandResult::repeated(stored))
        } else {
            Err(CommandRefusal::CommandIdReused.into())
        }
    }

    /// Closes expired intents and forgets long closed ones, if there are many. The loser of a race leaves it to the winner.
    fn tidy(&mut self, by: &IntentOwner) -> Result<(), ServiceError> {
        let head = self.registry.head().seq.0;
        if self.tidied_at.is_some_and(|at| head < at.saturating_add(MIN_INTENTS_TO_TIDY as u64)) {
            return Ok(());
        }
        self.tidied_at = Some(head);
        let seen = self.command_context()?;
        let is_litter = |intent: &&Intent| match intent.closed_at {
            Some(at) => at.plus_seconds(CLOSED_INTENT_RETENTION_SECONDS) <= seen.now,
            None => intent.is_over(&seen),
        };
        // The registry of a team is a snapshot in its store and a download for a new machine.
        let keep_closed = self.is_shared.then_some(MAX_CLOSED_SHARED_INTENTS);
        let n_forgettable = keep_closed.map_or(0, |n| self.registry.n_forgettable(n));
        if self.registry.intents().filter(is_litter).count().max(n_forgettable) < MIN_INTENTS_TO_TIDY {
            return Ok(());
        }
        let action =
            RegistryAction::Collect { retention_seconds: CLOSED_INTENT_RETENTION_SECONDS, keep_closed };
        let id = CommandId::parse(clock::run_id()).map_err(|error| self.damaged(error.to_string()))?;
        let command = RegistryCommand { id, by: by.clone(), action };
        self.try_execute(&command, &TreeFacts::default(), &mut false).map(drop)
    }
}

/// Says of a store that fell silent that a write had been sent before: nobody may take the silence for a refusal (law 4).
fn unconfirmed(error: ServiceError) -> ServiceError {
    match error {
        ServiceError::Store(StoreError::Unreachable { store, why }) => {
            let why = format!(
                "{why}; the request had been sent and may be carried out: `probity status` shows it once the store answers"
            );
            StoreError::Unreachable { store, why }.into()
        }
        error => error,
    }
}

/// Returns between a half and all of a pause, so that machines that collided do not meet again.
fn random_part(pause: Duration) -> Duration {
    pause / 2 + pause / 512 * u32::from(uuid::Uuid::new_v4().as_bytes()[0])
}

pub(super) fn encode(event: &RegistryEvent) -> Vec<u8> {
    let value = serde_json::to_value(event).expect("an event has text keys and no other maps");
    json::canonical(&value)
}
