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
mod catch_up;
mod context;
pub(crate) mod guard_file;
pub mod handles;
pub mod host;
mod identity;
mod lease_readings;
mod observations;
pub(crate) mod pending;
mod silence;
pub mod view;

pub use handles::{HandleStore, KeptHandle};
pub use host::{CloneHost, LocalHost, RegistryHost};
pub use identity::{AgentLabel, Caller, CallerCredentials, OwnerHandle};

use cache::RegistryCache;
use guard_file::GuardFile;
use lease_readings::{BegunLife, LeaseReadings};
use observations::IntentObservations;
use probity_core::text::count;
use probity_core::{Digest, json};
use probity_intents::coherence::{LackingWork, StaleBaseRule, TreeContents, TreeQuestion};
use probity_intents::registry::{
    CommandContext, CommandDecision, CommandRefusal, EventSeq, Intent, IntentBase, IntentRegistry,
    OwnerNotice, RegistryAction, RegistryChange, RegistryCommand, RegistryEvent,
};
use probity_intents::{CommandId, IntentOwner, IntentScope, PeerIntent, ScopeEntry};
use probity_paths::RepoPath;
use probity_storage::ports::{AppendOutcome, EventLog, EventRecord, LeaseStore, StorageEngine};
use probity_storage::{FileLock, StoreError};
use probity_team::TeamMembership;
use probity_workspace::StateDirectory;
use probity_workspace::clone_identity::CloneIdentity;
use probity_workspace::run_claims::{self, OpenRunClaim};
use probity_workspace::{ServiceError, Workspace, clock, transparency_log};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Names both the log and the leases.
const LOG_NAME: &str = transparency_log::INTENT_LOG;
/// Names the leases that bound the life times of intents on a shared store.
const LIVES_NAME: &str = "lives";
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
pub const CLOSED_INTENT_RETENTION_SECONDS: u64 = 14 * 24 * 3600;
/// How many expired or long closed intents make a start tidy up.
const MIN_INTENTS_TO_TIDY: usize = 100;

/// The facts about the tree that a start or a promotion needs.
#[derive(Debug, Clone, Default)]
pub struct TreeFacts {
    /// Whether an analysis of the current tree is stored.
    pub run_available: bool,
    pub dirty: BTreeSet<RepoPath>,
    /// Answers what the tree has of work that others finished; `None` outside of a team.
    pub base: Option<Arc<dyn BaseProbe>>,
    /// What happens to a start that lacks some of it.
    pub stale_base: StaleBaseRule,
}

/// Says what a tree has of the paths that other trees finished.
pub trait BaseProbe: std::fmt::Debug + Send + Sync {
    fn answer(&self, question: &TreeQuestion) -> Result<TreeContents, ServiceError>;
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

/// A shared store that could not be asked.
struct OfflineStore {
    store: String,
    why: String,
    /// Both, and how old the last known state is.
    shown: String,
}

/// The registry of one repository, up to the last event read.
pub struct IntentService {
    log: Box<dyn EventLog>,
    /// `None` on a store without a clock.
    leases: Option<Box<dyn LeaseStore>>,
    /// The life times of intents, on a shared store with a clock.
    lives: Option<Box<dyn LeaseStore>>,
    /// What the leases and lives of a shared store were a moment ago.
    lease_readings: LeaseReadings,
    /// Whether several machines use the store.
    is_shared: bool,
    /// What this machine saw of intents, on a shared store without a clock.
    observations: Option<IntentObservations>,
    /// Whether the events were read by this very command, so that it need not read them again.
    is_fresh: bool,
    /// Why the shared store could not be asked; what is known is then the last state.
    offline: Option<OfflineStore>,
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
        let mut shell = Self::unread(workspace)?.in_workspace(workspace);
        match shell.catch_up_unless_silent() {
            Err(ServiceError::Store(StoreError::Unreachable { store, why })) => {
                shell.go_offline(store, why)?;
            }
            read => read?,
        }
        if shell.is_shared && shell.offline.is_none() {
            pending::send(workspace, &mut shell)?;
        }
        shell.is_fresh = shell.is_shared && shell.offline.is_none();
        Ok(shell)
    }

    /// Opens the registry of this clone alone, also if the clone is in a team: for changes that were started without asking
    /// the store of the team.
    pub fn open_local(workspace: &Workspace) -> Result<Self, ServiceError> {
        let mut shell = Self::unread_local(workspace)?.in_workspace(workspace);
        shell.catch_up_from_cache()?;
        Ok(shell)
    }

    /// Opens the registry that has the named intent: in a team, that of this clone if the intent was started without asking
    /// the store of the team.
    pub fn open_with(workspace: &Workspace, name: &str) -> Result<Self, ServiceError> {
        if TeamMembership::of(&workspace.state)?.is_some() {
            let local = Self::open_local(workspace)?;
            if local.resolve(name).is_ok_and(|intent| intent.base.is_uncoordinated) {
                return Ok(local);
            }
        }
        Self::open(workspace)
    }

    fn in_workspace(mut self, workspace: &Workspace) -> Self {
        self.turn = Some(workspace.state.registry_turn());
        let top = workspace.git.as_ref().map_or(&workspace.root, |git| &git.root).clone();
        self.runs = Some((workspace.state.clone(), top));
        self.guard = Some(GuardFile::of(workspace));
        self
    }

    fn unread_local(workspace: &Workspace) -> Result<Self, ServiceError> {
        let identity = CloneIdentity::of(&workspace.state)?;
        let mut shell = Self::on_store(&workspace.state.store()?, Arc::new(CloneHost(identity)));
        shell.database = workspace.state.database();
        shell.cache = Some(RegistryCache::new(workspace.state.registry_cache()));
        Ok(shell)
    }

    /// Returns the last state of the team's registry that was read, without asking its store; `None` if there is none.
    pub(crate) fn last_known(state: &StateDirectory) -> Option<IntentRegistry> {
        let cache = RegistryCache::kept_current(TeamMembership::dir(state).join("registry"));
        cache.load().map(Into::into)
    }

    /// Returns the unread registry of a workspace: on the team's store if its clone joined one, else on its own.
    fn unread(workspace: &Workspace) -> Result<Self, ServiceError> {
        let Some(team) = TeamMembership::of(&workspace.state)? else {
            return Self::unread_local(workspace);
        };
        let dir = TeamMembership::dir(&workspace.state);
        let store = team.store(workspace)?;
        let identity = crate::clone_registration::identity(workspace, &*store, LocalHost.host_name())?;
        let mut shell = Self::on_store(&*store, Arc::new(CloneHost(identity)));
        shell.database = PathBuf::from(team.store.shown());
        shell.cache = Some(RegistryCache::kept_current(dir.join("registry")));
        if let Some(observations) = &mut shell.observations {
            observations.keep_in(dir.join("observed"));
        }
        Ok(shell)
    }

    /// Goes on with the last state that was read, because the shared store cannot be reached. Nothing can be claimed.
    fn go_offline(&mut self, store: String, why: String) -> Result<(), ServiceError> {
        let Some(snapshot) = self.cache.as_ref().and_then(RegistryCache::load) else {
            return Err(StoreError::Unreachable { store, why }.into());
        };
        self.registry = snapshot.into();
        let age = self.cache.as_ref().and_then(RegistryCache::age).unwrap_or_default();
        let age = match age.as_secs() {
            seconds @ 0..120 => count(usize::try_from(seconds).unwrap_or_default(), "second"),
            seconds => format!("{} minutes", seconds / 60),
        };
        let shown = format!("{store} cannot be reached ({why}); this is the state of {age} ago");
        self.offline = Some(OfflineStore { store, why, shown });
        Ok(())
    }

    /// Returns why the shared store could not be asked, and how old the shown state is.
    pub fn offline(&self) -> Option<&str> {
        self.offline.as_ref().map(|offline| &*offline.shown)
    }

    /// Refuses if the shared store could not be asked: what is known is too old to decide from.
    pub fn require_store(&self) -> Result<(), ServiceError> {
        match &self.offline {
            Some(OfflineStore { store, why, .. }) => {
                Err(StoreError::Unreachable { store: store.clone(), why: why.clone() }.into())
            }
            None => Ok(()),
        }
    }

    pub const fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns an unread registry on a store; [`Self::refresh`] reads it. Simulations use it.
    pub fn on_store(store: &dyn StorageEngine, host: Arc<dyn RegistryHost>) -> Self {
        Self {
            log: store.log(LOG_NAME),
            leases: store.leases(LOG_NAME),
            lives: store.leases(LIVES_NAME).filter(|_| store.is_shared()),
            lease_readings: LeaseReadings::default(),
            is_shared: store.is_shared(),
            observations: (store.is_shared() && store.leases(LIVES_NAME).is_none())
                .then(IntentObservations::default),
            is_fresh: false,
            offline: None,
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

    /// Waits at most `wait` for a new event, then reads new events.
    pub fn wait(&mut self, wait: Duration) -> Result<(), ServiceError> {
        let known = self.registry.head().seq.0;
        if self.log.watch(known, wait)? == known { Ok(()) } else { self.refresh() }
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

    /// Returns what the tree has of work that others finished, as far as an action depends on it.
    fn tree_contents(&self, action: &RegistryAction, tree: &TreeFacts) -> Result<TreeContents, ServiceError> {
        let (scope, base) = match action {
            RegistryAction::Start { declaration, .. } => (&declaration.scope, &declaration.base),
            RegistryAction::Promote { intent_id, base, .. } => match self.registry.intent(intent_id) {
                Some(intent) => (&intent.scope, base),
                None => return Ok(TreeContents::default()),
            },
            _ => return Ok(TreeContents::default()),
        };
        self.ask_tree(scope, base, tree)
    }

    fn ask_tree(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        tree: &TreeFacts,
    ) -> Result<TreeContents, ServiceError> {
        let Some(probe) = &tree.base else { return Ok(TreeContents::default()) };
        let question = self.registry.base_question(scope, base);
        if question.paths.is_empty() && question.commits.is_empty() {
            return Ok(TreeContents::default());
        }
        probe.answer(&question)
    }

    /// Returns the work of other trees that a claim on `scope` from `base` would lack.
    pub(crate) fn lacking(
        &self,
        scope: &IntentScope,
        base: &IntentBase,
        tree: &TreeFacts,
    ) -> Result<Vec<LackingWork>, ServiceError> {
        Ok(self.registry.lacking(scope, base, &self.ask_tree(scope, base, tree)?))
    }

    /// Returns the work of other trees that landed on the line of an intent since it was granted, and that its tree lacks.
    pub(crate) fn landed_under(
        &self,
        intent: &Intent,
        tree: &TreeFacts,
    ) -> Result<Vec<LackingWork>, ServiceError> {
        let own = self.ask_tree(&intent.scope, &intent.base, tree)?;
        Ok(self.registry.landed_under(intent, &own, tree.stale_base))
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

    /// Renews the leases of an owner's open intents once a third of the lease has passed.
    pub fn touch(&self, by: &IntentOwner) -> Result<(), ServiceError> {
        // Without a clock only events show that an owner is there, and use does not merit one.
        let (Some(leases), None) = (&self.leases, self.offline()) else { return Ok(()) };
        let seen = self.command_context()?;
        for intent in self.registry.open_intents().filter(|intent| intent.ownership(by, &seen).is_own()) {
            let left = intent.lease(&seen).ends_at().0.saturating_sub(seen.now.0);
            // A shared store tells only an upper bound of the time left, so that use always renews.
            if self.is_shared || left.saturating_mul(3) < intent.lease.seconds.saturating_mul(2) {
                leases.renew(intent.id.as_str(), Duration::from_secs(intent.lease.seconds))?;
                self.lease_readings.forget();
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
        may_be_written: &mut bool,
    ) -> Result<CommandResult, ServiceError> {
        let mut turn = None;
        let mut pause = FIRST_SHARED_PAUSE;
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
            let decision = self.registry.decide(&seen, command);
            // A lost write may still be on its way: it must not appear behind a refusal (law 4).
            if *may_be_written
                && matches!(decision, Err(_) | Ok(CommandDecision::Nothing))
                && self.log.void(command.id.as_str())?.is_some()
            {
                continue;
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
                turn = self.take_turn(path, n_tries >= MAX_LOST_RACES)?;
                if !self.is_shared && self.log.head()? != self.registry.head().seq.0 {
                    continue;
                }
            }
            let before = self.registry.head().seq.0;
            let bytes = encode(&event);
            let begun = self.begin_life(&event, n_tries == 0)?;
            match self.log.append(before, command.id.as_str(), &bytes)? {
                AppendOutcome::At(_) => {
                    self.registry.apply_stored(&event, Digest::of(&bytes));
                    self.lease_readings.go_on(before, begun);
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
                if n_tries > 0 {
                    self.host.pause(random_part(pause));
                    pause = (pause * 2).min(MAX_SHARED_PAUSE);
                }
            }
        }
        if *may_be_written {
            if self.log.void(command.id.as_str())?.is_some() {
                self.refresh()?;
                if let CommandDecision::Known(event) =
                    self.registry.decide(&self.command_context()?, command)?
                {
                    return Ok(CommandResult::repeated(*event));
                }
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
    /// lives nowhere is over for everyone.
    fn begin_life(
        &self,
        event: &RegistryEvent,
        is_first_try: bool,
    ) -> Result<Option<BegunLife>, ServiceError> {
        let (Some(lives), Some(leases)) = (&self.lives, &self.leases) else { return Ok(None) };
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
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        // Landing has a time of its own: the lease of the work before ends by itself, without a key.
        let is_new =
            self.registry.intent(id).is_none() || matches!(event.change, RegistryChange::Released { .. });
        let is_new = is_new && is_first_try;
        for (store, seconds) in [(lives, life), (leases, lease)] {
            let lasts = Duration::from_secs(seconds);
            if is_new { store.begin(id.as_str(), lasts) } else { store.renew(id.as_str(), lasts) }?;
        }
        Ok(Some(BegunLife { intent_id: id.clone(), life, lease }))
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
            let has_moved = !patient && !self.is_shared && self.log.head()? != self.registry.head().seq.0;
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
        if self.registry.intents().filter(is_litter).count() < MIN_INTENTS_TO_TIDY {
            return Ok(());
        }
        let action = RegistryAction::Collect { retention_seconds: CLOSED_INTENT_RETENTION_SECONDS };
        let id = CommandId::parse(clock::run_id()).map_err(|error| self.damaged(error.to_string()))?;
        let command = RegistryCommand { id, by: by.clone(), action };
        self.try_execute(&command, &TreeFacts::default(), &mut false).map(drop)
    }

    fn damaged(&self, why: String) -> ServiceError {
        damaged(&self.database, why)
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

impl std::fmt::Debug for IntentService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IntentService").field("head", &self.registry.head()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod cut_log;
#[cfg(test)]
mod late_writes;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod several_machines;
#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;
