//! Commands that wait until the store of a team can be reached again.
//!
//! A finish made while the store is out of reach has its verdict and its receipt; only the release of the claim waits. It is
//! sent with the same command id at the next contact, so that it is carried out at most once.

use super::{IntentService, TreeFacts};
use probity_core::{Digest, json};
use probity_intents::registry::RegistryCommand;
use probity_storage::durable;
use probity_team::TeamMembership;
use probity_workspace::{ServiceError, StateDirectory, Workspace};
use std::path::PathBuf;

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

/// Sends what waits. What the registry refuses now is settled as well: the claim went to somebody else meanwhile.
pub(super) fn send(workspace: &Workspace, service: &mut IntentService) -> Result<(), ServiceError> {
    for path in files(&workspace.state) {
        let read = durable::read(&path)?.and_then(|bytes| json::parse(&bytes).ok());
        let Some(command) = read.and_then(|value| serde_json::from_value::<RegistryCommand>(value).ok())
        else {
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
