//! Commands that wait until the store of a team can be reached again.
//!
//! A finish made while the store is out of reach has its verdict and its receipt; only the release of the claim waits. It is
//! sent with the same command id at the next contact, so that it is carried out at most once.

use super::{IntentService, TreeFacts};
use probity_core::{Digest, json};
use probity_intents::registry::{RegistryAction, RegistryCommand};
use probity_storage::durable;
use probity_team::TeamMembership;
use probity_workspace::{ServiceError, StateDirectory, Workspace};
use std::path::{Path, PathBuf};

fn directory(state: &StateDirectory) -> PathBuf {
    TeamMembership::dir(state).join("pending")
}

fn files(state: &StateDirectory) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory(state)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.path()).filter(|path| path.extension().is_none()).collect();
    files.sort();
    files
}

/// Returns how many commands wait.
pub(crate) fn count(state: &StateDirectory) -> usize {
    files(state).len()
}

/// Keeps a command for later.
pub(crate) fn keep(state: &StateDirectory, command: &RegistryCommand) -> Result<(), ServiceError> {
    let name = Digest::of(command.id.as_str().as_bytes()).to_hex()[..32].to_owned();
    Ok(durable::write(&directory(state).join(name), &json::canonical_of(command))?)
}

/// Returns the command in a file; `None` if it is no release. Nothing else ever waits, so anything else was planted.
fn waiting_release(path: &Path) -> Result<Option<RegistryCommand>, ServiceError> {
    let read = durable::read(path)?.and_then(|bytes| json::parse(&bytes).ok());
    let command = read.and_then(|value| serde_json::from_value::<RegistryCommand>(value).ok());
    Ok(command.filter(|command| matches!(command.action, RegistryAction::Release { .. })))
}

/// Returns whether a file holds a release.
pub(crate) fn is_waiting_release(path: &Path) -> bool {
    waiting_release(path).is_ok_and(|command| command.is_some())
}

/// Sends what waits. What the registry refuses now is settled as well: the claim went to somebody else meanwhile.
pub(super) fn send(workspace: &Workspace, service: &mut IntentService) -> Result<(), ServiceError> {
    for path in files(&workspace.state) {
        let Some(command) = waiting_release(&path)? else {
            durable::remove(&path)?;
            continue;
        };
        match service.execute_command(&command, &TreeFacts::default()) {
            Ok(_) | Err(ServiceError::Intent(_)) => durable::remove(&path)?,
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}
