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

/// Tells the store about this clone.
pub(crate) fn register(
    workspace: &Workspace,
    store: &dyn StorageEngine,
    host_name: &str,
) -> Result<CloneIdentity, ServiceError> {
    let mut identity = CloneIdentity::of(&workspace.state)?;
    let clones = store.refs(CLONES_SPACE);
    loop {
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
    while let Some(known) = clones.get(&identity.clone)? {
        if clones.compare_and_set(&identity.clone, Some(&known), None)? == SwapOutcome::Done {
            break;
        }
    }
    Ok(())
}

pub(crate) fn parse_record(bytes: &[u8]) -> Option<CloneRecord> {
    serde_json::from_value(json::parse(bytes).ok()?).ok()
}
