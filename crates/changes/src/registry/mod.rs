//! Runs the registry of intents on a store: the one loop that turns commands into events.
//!
//! Read new events, apply them, decide, append. If another process appended first or the reply was lost, start over:
//! every command has an id, so the rules recognize one that was written after all. Nothing here judges: the rules are
//! in `probity_intents`, and [`host`] gathers the facts they need.
//!
//! * [`IntentService`]: opens the registry and carries out commands.
//! * [`Caller`], [`OwnerHandle`]: identify the caller. [`handles`]: keeps handles per worktree.
//! * [`view`]: the registry as one reader sees it. [`admin`]: repairs it. [`audit`]: reads the log itself.

pub mod admin;
pub mod audit;
mod cache;
pub(crate) mod guard_file;
pub mod handles;
pub mod host;
mod identity;
pub mod view;

pub use handles::{HandleStore, KeptHandle};
pub use host::{LocalHost, RegistryHost};
pub use identity::{AgentLabel, Caller, CallerCredentials, OwnerHandle};

use cache::RegistryCache;
use guard_file::GuardFile;
use probity_core::{Digest, json};
use probity_intents::registry::{
    CommandContext, CommandDecision, CommandRefusal, EventSeq, Intent, IntentRegistry, OwnerNotice,
    RegistryAction, RegistryCommand, RegistryEvent,
};
use probity_intents::{CommandId, IntentId, IntentOwner, IntentScope, PeerIntent, ProcessProbe, ScopeEntry};
use probity_paths::RepoPath;
use probity_storage::ports::{AppendOutcome, EventLog, EventRecord, LeaseStore, StorageEngine};
use probity_storage::{FileLock, StoreError};
use probity_workspace::StateDirectory;
use probity_workspace::run_claims::{self, OpenRunClaim};
use probity_workspace::{ServiceError, Workspace, clock, transparency_log};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Names both the log and the leases.
const LOG_NAME: &str = transparency_log::INTENT_LOG;
const EVENTS_PER_READ: usize = 1_000;
const MAX_DECISION_ATTEMPTS: usize = 10_000;
/// How long a command waits for its turn. The turn lock only spares contenders useless decisions, so a process that
/// was stopped while holding it must not block the others for longer.
const TURN_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const FIRST_TURN_POLL_INTERVAL: Duration = Duration::from_micros(50);
const MAX_TURN_POLL_INTERVAL: Duration = Duration::from_millis(1);
/// How many lost races make a command wait for its turn even while the log moves.
const MAX_LOST_RACES: usize = 3;
pub const CLOSED_INTENT_RETENTION_SECONDS: u64 = 14 * 24 * 3600;
/// How many expired or long closed intents make a start tidy up.
const MIN_INTENTS_TO_TIDY: usize = 100;

/// The facts about the tree that a start or a promotion needs.
#[derive(Debug, Clone, Default)]
pub struct TreeFacts {
    /// Whether an analysis of the current tree is stored.
    pub run_available: bool,
    pub dirty: BTreeSet<RepoPath>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandResult {
    /// `None` if there was nothing to do.
    pub event: Option<RegistryEvent>,
    /// Shown to the caller once.
    pub notices: Vec<OwnerNotice>,
    /// Whether the command had been carried out before and this repeats its answer.
    pub repeated: bool,
}

/// The registry of one repository, up to the last event read.
pub struct IntentService {
    log: Box<dyn EventLog>,
    leases: Box<dyn LeaseStore>,
    host: Arc<dyn RegistryHost>,
    registry: IntentRegistry,
    database: PathBuf,
    cache: Option<RegistryCache>,
    turn: Option<PathBuf>,
    /// Where to look for governed runs, and the top of the current working tree.
    runs: Option<(StateDirectory, PathBuf)>,
    /// The end of the log when this process last tidied up.
    tidied_at: Option<u64>,
    /// The snapshot that hooks read.
    guard: Option<GuardFile>,
}

impl IntentService {
    #[tracing::instrument(name = "open registry", skip_all)]
    pub fn open(workspace: &Workspace) -> Result<Self, ServiceError> {
        let store = workspace.state.store()?;
        let mut shell = Self::on_store(&store, Arc::new(LocalHost));
        shell.database = workspace.state.database();
        shell.cache = Some(RegistryCache::new(workspace.state.registry_cache()));
        shell.turn = Some(workspace.state.registry_turn());
        let top = workspace.git.as_ref().map_or(&workspace.root, |git| &git.root).clone();
        shell.runs = Some((workspace.state.clone(), top));
        shell.guard = Some(GuardFile::of(workspace));
        shell.catch_up_from_cache()?;
        Ok(shell)
    }

    /// Returns an unread registry on a store; [`Self::refresh`] reads it. Simulations use it.
    pub fn on_store(store: &dyn StorageEngine, host: Arc<dyn RegistryHost>) -> Self {
        Self {
            log: store.log(LOG_NAME),
            leases: store.leases(LOG_NAME),
            host,
            registry: IntentRegistry::default(),
            database: PathBuf::from(LOG_NAME),
            cache: None,
            turn: None,
            runs: None,
            tidied_at: None,
            guard: None,
        }
    }

    pub const fn registry(&self) -> &IntentRegistry {
        &self.registry
    }

    pub fn host(&self) -> &dyn RegistryHost {
        &*self.host
    }

    /// Returns the owner to record for a caller. A known handle keeps the name its owner started with, unless the
    /// caller gives another: the log names the agent, not the user who typed the command.
    pub fn owner_of(&self, caller: &Caller) -> Result<IntentOwner, ServiceError> {
        let mut owner = caller.owner(self.host())?;
        if let (AgentLabel::Assumed(_), Some(label)) = (&caller.label, self.registry.label_of(&owner)) {
            label.clone_into(&mut owner.label);
        }
        Ok(owner)
    }

    /// Reads new events.
    pub fn refresh(&mut self) -> Result<(), ServiceError> {
        loop {
            let records = self.log.read_after(self.registry.head().seq.0, EVENTS_PER_READ)?;
            for record in &records {
                self.apply_record(record)?;
            }
            if records.len() < EVENTS_PER_READ {
                return Ok(());
            }
        }
    }

    /// Waits at most `wait` for a new event, then reads new events.
    pub fn wait(&mut self, wait: Duration) -> Result<(), ServiceError> {
        self.log.watch(self.registry.head().seq.0, wait)?;
        self.refresh()
    }

    /// Returns what this host observes now, without facts about the tree.
    pub fn command_context(&self) -> Result<CommandContext, ServiceError> {
        self.command_context_in(&TreeFacts::default(), Vec::new())
    }

    /// Returns the repository's running governed runs except one that this process is part of.
    pub(crate) fn open_runs(&self) -> Result<Vec<OpenRunClaim>, ServiceError> {
        let Some((state, _)) = &self.runs else { return Ok(Vec::new()) };
        let mut runs = run_claims::open_runs(state)?;
        runs.retain(|run| !run.is_around_us());
        Ok(runs)
    }

    /// Returns the governed runs that conflict with `scope`, which uses the registry's path names.
    pub(crate) fn run_peers(&self, scope: &IntentScope) -> Result<Vec<PeerIntent>, ServiceError> {
        let Some((_, top)) = &self.runs else { return Ok(Vec::new()) };
        let is_file = |entry: &ScopeEntry| run_claims::is_file(top, entry);
        Ok(self.open_runs()?.iter().filter_map(|run| run.claim.as_peer(scope, &is_file)).collect())
    }

    /// Returns the scope that an action would claim.
    fn claimed_by(&self, action: &RegistryAction) -> Option<IntentScope> {
        match action {
            RegistryAction::Start { declaration, .. } => Some(declaration.scope.clone()),
            RegistryAction::Promote { intent_id, .. } => {
                self.registry.intent(intent_id).map(|intent| intent.scope.clone())
            }
            RegistryAction::Amend { allowed_files, allowed_related, .. } => Some(IntentScope {
                allowed_files: allowed_files.clone(),
                allowed_related: allowed_related.clone(),
                ..IntentScope::default()
            }),
            _ => None,
        }
    }

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
        let done = self.try_execute(command, tree)?;
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

    /// Renews the leases of an owner's open intents once a third of the lease has passed.
    pub fn touch(&self, by: &IntentOwner) -> Result<(), ServiceError> {
        let seen = self.command_context()?;
        for intent in self.registry.open_intents().filter(|intent| intent.ownership(by, &seen).is_own()) {
            let left = intent.lease(&seen).ends_at().0.saturating_sub(seen.now.0);
            if left.saturating_mul(3) < intent.lease.seconds.saturating_mul(2) {
                self.leases.renew(intent.id.as_str(), Duration::from_secs(intent.lease.seconds))?;
            }
        }
        Ok(())
    }

    pub fn event(&self, seq: EventSeq) -> Result<Option<RegistryEvent>, ServiceError> {
        let before = seq.0.saturating_sub(1);
        let record = self.log.read_after(before, 1)?.into_iter().find(|record| record.seq == seq.0);
        record.map(|record| self.parse(&record)).transpose()
    }

    fn try_execute(
        &mut self,
        command: &RegistryCommand,
        tree: &TreeFacts,
    ) -> Result<CommandResult, ServiceError> {
        let mut turn = None;
        for n_tries in 0..MAX_DECISION_ATTEMPTS {
            self.refresh()?;
            // No run may begin between reading the governed runs and the append: see `run_claims`.
            let (runs, _share) = match (self.claimed_by(&command.action), &self.runs) {
                (Some(scope), Some((state, _))) => {
                    let share = run_claims::share_claims(state)?;
                    (self.run_peers(&scope)?, Some(share))
                }
                _ => (Vec::new(), None),
            };
            let seen = self.command_context_in(tree, runs)?;
            let event = match self.registry.decide(&seen, command)? {
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
                turn = self.take_turn(path, n_tries >= MAX_LOST_RACES)?;
                if self.log.head()? != self.registry.head().seq.0 {
                    continue;
                }
            }
            let before = self.registry.head().seq.0;
            let bytes = encode(&event);
            match self.log.append(before, command.id.as_str(), &bytes)? {
                AppendOutcome::At(_) => {
                    self.registry.apply_stored(&event, Digest::of(&bytes));
                    drop(turn);
                    let notices = event.notices.clone();
                    return Ok(CommandResult { event: Some(*event), notices, repeated: false });
                }
                AppendOutcome::Known { at } => return self.known_to_the_store(EventSeq(at), &event),
                // Another process was faster, or the outcome is unknown: read again and decide.
                AppendOutcome::Moved { .. } | AppendOutcome::Unknown => {}
            }
        }
        let why = format!(
            "the log of intents moved on {MAX_DECISION_ATTEMPTS} times before this command got its turn"
        );
        Err(StoreError::Engine { path: self.database.clone(), why }.into())
    }

    /// Waits for the turn to append. Unless `patient`, returns as soon as the log moves, to decide again: there may
    /// be nothing left to append, and a waiting release of the contended path must not queue behind the others. Also
    /// returns `None` if another process keeps the turn too long, since the turn only spares contenders useless decisions.
    fn take_turn(&self, path: &Path, patient: bool) -> Result<Option<FileLock>, ServiceError> {
        let end = Instant::now() + TURN_LOCK_TIMEOUT;
        let mut pause = FIRST_TURN_POLL_INTERVAL;
        loop {
            match FileLock::poll(path) {
                Ok(Some(lock)) => return Ok(Some(lock)),
                Ok(None) => {}
                // Appending is safe without the lock, only with more lost races.
                Err(_) => return Ok(None),
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(MAX_TURN_POLL_INTERVAL);
            let has_moved = !patient && self.log.head()? != self.registry.head().seq.0;
            if has_moved || Instant::now() > end {
                return Ok(None);
            }
        }
    }

    /// Finds a repeated command that the rules have forgotten but the store still knows.
    fn known_to_the_store(
        &self,
        at: EventSeq,
        decided: &RegistryEvent,
    ) -> Result<CommandResult, ServiceError> {
        let stored = self.event(at)?.ok_or_else(|| self.damaged(format!("event {at} is gone")))?;
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
        let now = self.host.now();
        let is_litter = |intent: &&Intent| match intent.closed_at {
            Some(at) => at.plus_seconds(CLOSED_INTENT_RETENTION_SECONDS) <= now,
            None => intent.expires_at <= now,
        };
        if self.registry.intents().filter(is_litter).count() < MIN_INTENTS_TO_TIDY {
            return Ok(());
        }
        let action = RegistryAction::Collect { retention_seconds: CLOSED_INTENT_RETENTION_SECONDS };
        let id = CommandId::parse(clock::run_id()).map_err(|error| self.damaged(error.to_string()))?;
        self.try_execute(&RegistryCommand { id, by: by.clone(), action }, &TreeFacts::default()).map(drop)
    }

    fn command_context_in(
        &self,
        tree: &TreeFacts,
        runs: Vec<PeerIntent>,
    ) -> Result<CommandContext, ServiceError> {
        let running: BTreeMap<String, Duration> = self.leases.running()?.into_iter().collect();
        let open = || self.registry.open_intents();
        let lease =
            |intent: &Intent| running.get(intent.id.as_str()).map(|left| (intent.id.clone(), left.as_secs()));
        Ok(CommandContext {
            now: self.host.now(),
            probes: self.probes(open()),
            leases: open().filter_map(lease).collect(),
            run_available: tree.run_available,
            dirty: tree.dirty.clone(),
            runs,
        })
    }

    /// Probes the processes behind these intents, each process once.
    fn probes<'i>(&self, intents: impl Iterator<Item = &'i Intent>) -> BTreeMap<IntentId, ProcessProbe> {
        let mut known: BTreeMap<u32, ProcessProbe> = BTreeMap::new();
        intents
            .filter(|intent| host::can_probe(self.host(), &intent.owner))
            .map(|intent| {
                let pid = intent.owner.pid;
                (intent.id.clone(), *known.entry(pid).or_insert_with(|| self.host.probe_process(pid)))
            })
            .collect()
    }

    fn apply_record(&mut self, record: &EventRecord) -> Result<(), ServiceError> {
        let event = self.parse(record)?;
        self.registry.check_next(&event).map_err(|error| self.damaged(error.to_string()))?;
        self.registry.apply_stored(&event, Digest::of(&record.event));
        Ok(())
    }

    fn parse(&self, record: &EventRecord) -> Result<RegistryEvent, ServiceError> {
        parse(record).map_err(|why| self.damaged(format!("event {}: {why}", record.seq)))
    }

    /// Starts from the cache if it belongs to this log, else from the first event.
    fn catch_up_from_cache(&mut self) -> Result<(), ServiceError> {
        let head = self.log.head()?;
        if let Some(snapshot) = self.cache.as_ref().and_then(RegistryCache::load) {
            let known = snapshot.head();
            if known.seq.0 > head {
                return Err(cache::lost_events(&self.database, known.seq.0, head));
            }
            let is_of_this_log = match self.event(known.seq)? {
                Some(event) => event.digest() == known.digest,
                None => known == IntentRegistry::default().head(),
            };
            if is_of_this_log {
                self.registry = snapshot.into();
                self.cache.iter_mut().for_each(|cache| cache.mark_used(known));
            }
        }
        self.refresh()?;
        if let Some(cache) = &mut self.cache {
            cache.save_if_behind(&self.registry);
        }
        Ok(())
    }

    fn damaged(&self, why: String) -> ServiceError {
        damaged(&self.database, why)
    }
}

impl CommandResult {
    fn repeated(event: RegistryEvent) -> Self {
        Self { notices: event.notices.clone(), event: Some(event), repeated: true }
    }
}

fn damaged(database: &Path, why: String) -> ServiceError {
    StoreError::Damaged { path: database.to_owned(), why }.into()
}

fn encode(event: &RegistryEvent) -> Vec<u8> {
    let value = serde_json::to_value(event).expect("an event has text keys and no other maps");
    json::canonical(&value)
}

fn parse(record: &EventRecord) -> Result<RegistryEvent, String> {
    let value = json::parse(&record.event).map_err(|error| error.to_string())?;
    let event: RegistryEvent = serde_json::from_value(value).map_err(|error| error.to_string())?;
    if event.seq.0 != record.seq || event.command.as_str() != record.command {
        return Err("it stands in the wrong place".into());
    }
    Ok(event)
}

impl std::fmt::Debug for IntentService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shell").field("head", &self.registry.head()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod processes;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
