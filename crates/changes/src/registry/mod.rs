//! Runs the registry of intents on a store. Nothing here judges: the rules are in `probity_intents`, and [`host`] gathers the
//! facts they need.
//!
//! * [`IntentService`]: the registry up to the last event read. `opening`, `catch_up` and `cache` read it, `command_loop`
//!   carries out commands, `context` gathers what they are decided from.
//! * [`Caller`], [`OwnerHandle`]: identify the caller. [`handles`]: keeps handles per worktree.
//! * [`view`]: the registry as one reader sees it. [`admin`]: repairs it. [`audit`]: reads the log itself.

pub mod admin;
pub mod audit;
mod cache;
mod catch_up;
mod command_loop;
mod context;
pub(crate) mod guard_file;
pub mod handles;
pub mod host;
mod identity;
mod lease_readings;
mod observations;
mod opening;
pub(crate) mod pending;
pub mod published_log;
mod silence;
pub mod view;

pub use handles::{HandleStore, KeptHandle};
pub use host::{CloneHost, LocalHost, RegistryHost};
pub use identity::{AgentLabel, Caller, CallerCredentials, OwnerHandle};

use cache::RegistryCache;
use guard_file::GuardFile;
use lease_readings::LeaseReadings;
use observations::IntentObservations;
use probity_intents::IntentOwner;
use probity_intents::coherence::{StaleBaseRule, TreeContents, TreeQuestion};
use probity_intents::registry::{EventSeq, IntentRegistry, OwnerNotice, RegistryEvent};
use probity_paths::RepoPath;
use probity_storage::StoreError;
use probity_storage::ports::{EventLog, LeaseStore};
use probity_workspace::{ServiceError, StateDirectory, transparency_log};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Names both the log and the leases.
const LOG_NAME: &str = transparency_log::INTENT_LOG;
/// Names the leases that bound the life times of intents on a shared store.
const LIVES_NAME: &str = "lives";
pub const CLOSED_INTENT_RETENTION_SECONDS: u64 = 14 * 24 * 3600;

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
