//! Opens the registry: on the store of the team if the clone joined one, else on its own; from the last state that was read
//! if the store of the team is silent.

use super::{CloneHost, IntentObservations, IntentService, LIVES_NAME, LOG_NAME, LeaseReadings, LocalHost};
use super::{GuardFile, OfflineStore, RegistryCache, RegistryHost, pending};
use probity_core::text::count;
use probity_intents::registry::IntentRegistry;
use probity_storage::StoreError;
use probity_storage::ports::StorageEngine;
use probity_team::TeamMembership;
use probity_workspace::clone_identity::CloneIdentity;
use probity_workspace::{ServiceError, StateDirectory, Workspace};
use std::path::PathBuf;
use std::sync::Arc;

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
        let mut shell =
            Self::on_store(&workspace.state.store()?, Arc::new(CloneHost::new(identity, &workspace.state)));
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
    pub(super) fn unread(workspace: &Workspace) -> Result<Self, ServiceError> {
        let Some(team) = TeamMembership::of(&workspace.state)? else {
            return Self::unread_local(workspace);
        };
        let dir = TeamMembership::dir(&workspace.state);
        let store = team.store(workspace)?;
        let identity = crate::clone_registration::identity(workspace, &*store, LocalHost.host_name())?;
        let mut shell = Self::on_store(&*store, Arc::new(CloneHost::new(identity, &workspace.state)));
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
}
