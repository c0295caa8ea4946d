//! Makes a clone known to the store of its team, under a name that no other clone has.

use probity_core::json;
use probity_storage::ports::{StorageEngine, SwapOutcome};
use probity_storage::{StoreError, durable};
use probity_team::TeamMembership;
use probity_workspace::clone_identity::CloneIdentity;
use probity_workspace::{ServiceError, StateDirectory, Workspace, clock};
use serde::{Deserialize, Serialize};

/// Names the pointers to the clones of a team.
pub(crate) const CLONES_SPACE: &str = "clones";
/// Notes that the store knows this clone in this session, so that it is not asked again.
const REGISTERED_FILE: &str = "registered";

/// What the store knows about a clone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloneRecord {
    pub(crate) session: String,
    pub(crate) host: String,
    pub(crate) since: String,
}

/// Returns the identity of this clone in its team. A clone whose name another machine uses, because its disk was copied,
/// gets a new one.
pub(crate) fn identity(
    workspace: &Workspace,
    store: &dyn StorageEngine,
    host_name: &str,
) -> Result<CloneIdentity, ServiceError> {
    let identity = CloneIdentity::of(&workspace.state)?;
    if durable::read(&registered_file(&workspace.state))?.as_deref() == Some(mark(&identity).as_bytes()) {
        return Ok(identity);
    }
    match register(workspace, store, host_name) {
        // Without the store nothing can be claimed anyway.
        Err(ServiceError::Store(StoreError::Unreachable { .. })) => Ok(identity),
        registered => registered,
    }
}

pub(crate) fn registered_file(state: &StateDirectory) -> std::path::PathBuf {
    TeamMembership::dir(state).join(REGISTERED_FILE)
}

fn mark(identity: &CloneIdentity) -> String {
    format!("{} {}\n", identity.clone, identity.session)
}

/// How often a registration is tried. Nobody else writes it, unless a copy of this clone is at work.
const MAX_REGISTRATION_ATTEMPTS: usize = 20;

/// Tells the store about this clone.
pub(crate) fn register(
    workspace: &Workspace,
    store: &dyn StorageEngine,
    host_name: &str,
) -> Result<CloneIdentity, ServiceError> {
    let mut identity = CloneIdentity::of(&workspace.state)?;
    let clones = store.refs(CLONES_SPACE);
    for n_tries in 0.. {
        if n_tries >= MAX_REGISTRATION_ATTEMPTS {
            return Err(contradicts_itself());
        }
        let known = clones.get(&identity.clone)?;
        let session = known.as_deref().and_then(parse_record).map(|record| record.session);
        match session {
            Some(session) if session == identity.session => break,
            Some(session) if !identity.ended_sessions().contains(&session) => {
                identity = identity.renamed(&workspace.state)?;
                continue;
            }
            _ => {}
        }
        let record = CloneRecord {
            session: identity.session.clone(),
            host: host_name.to_owned(),
            since: clock::format_rfc3339(clock::now_seconds()),
        };
        let value = json::canonical_of(&record);
        if clones.compare_and_set(&identity.clone, known.as_deref(), Some(&value))? == SwapOutcome::Done {
            break;
        }
    }
    durable::write(&registered_file(&workspace.state), mark(&identity).as_bytes())?;
    Ok(identity)
}

pub(crate) fn forget(store: &dyn StorageEngine, identity: &CloneIdentity) -> Result<(), ServiceError> {
    let clones = store.refs(CLONES_SPACE);
    for _ in 0..MAX_REGISTRATION_ATTEMPTS {
        let Some(known) = clones.get(&identity.clone)? else { return Ok(()) };
        if clones.compare_and_set(&identity.clone, Some(&known), None)? == SwapOutcome::Done {
            return Ok(());
        }
    }
    Err(contradicts_itself())
}

fn contradicts_itself() -> ServiceError {
    let why = "it neither takes the registration of this clone nor shows another one".to_owned();
    StoreError::Unreachable { store: "the store of the team".to_owned(), why }.into()
}

pub(crate) fn parse_record(bytes: &[u8]) -> Option<CloneRecord> {
    serde_json::from_value(json::parse(bytes).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_storage::memory_store::MemoryStore;
    use probity_storage::ports::{EventLog, LeaseStore, ObjectStore, RefStore};

    /// A store that shows nothing and takes nothing.
    struct ContradictoryStore(MemoryStore);

    struct ContradictoryRefs;

    impl RefStore for ContradictoryRefs {
        fn get(&self, _: &str) -> Result<Option<Vec<u8>>, StoreError> {
            Ok(None)
        }

        fn compare_and_set(
            &self,
            _: &str,
            _: Option<&[u8]>,
            _: Option<&[u8]>,
        ) -> Result<SwapOutcome, StoreError> {
            Ok(SwapOutcome::Moved { found: None })
        }

        fn list(&self) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
            Ok(Vec::new())
        }
    }

    impl StorageEngine for ContradictoryStore {
        fn log(&self, name: &str) -> Box<dyn EventLog> {
            self.0.log(name)
        }

        fn refs(&self, _: &str) -> Box<dyn RefStore> {
            Box::new(ContradictoryRefs)
        }

        fn leases(&self, space: &str) -> Option<Box<dyn LeaseStore>> {
            self.0.leases(space)
        }

        fn objects(&self) -> Box<dyn ObjectStore> {
            self.0.objects()
        }
    }

    #[test]
    fn a_store_that_contradicts_itself_is_not_asked_for_ever() {
        let dir = tempfile::tempdir().expect("a directory");
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let registered = register(&workspace, &ContradictoryStore(MemoryStore::new()), "host");
        assert!(
            matches!(registered, Err(ServiceError::Store(StoreError::Unreachable { .. }))),
            "{registered:?}"
        );
    }
}
