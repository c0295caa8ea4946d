//! What a clone joined: a copy of the policy's `[team]` section in the state directory.
//!
//! The copy counts, not the file in the tree: a branch, or an agent that edits it, can neither leave the team nor lead the
//! clone to another store (law 8). `probity team join` renews it.

use crate::GitRemoteStore;
use probity_core::{ReasonCode, json};
use probity_policy::{TeamRules, TeamStoreKind};
use probity_snapshot::git::GitLayout;
use probity_storage::ports::StorageEngine;
use probity_storage::{StoreError, durable};
use probity_workspace::{ServiceError, StateDirectory, Workspace};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub const TEAM_FILE: &str = "team.json";
const SCHEMA: &str = "probity/team/v1";
/// The directory of what this clone keeps about its team; it may be deleted at any time.
const TEAM_DIR: &str = "team";
const MAX_NAME_BYTES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamMembership {
    schema: String,
    pub repository: String,
    pub remote: String,
    pub line: Option<String>,
}

impl TeamMembership {
    /// Returns what the rules of a policy lead to.
    pub fn new(rules: &TeamRules) -> Result<Self, ServiceError> {
        let invalid = |why: &str| ServiceError::refused(ReasonCode::TeamInvalid, why.to_owned());
        let repository = rules.repository.clone().ok_or_else(|| invalid("`[team]` names no `repository`"))?;
        let is_name = (8..=MAX_NAME_BYTES).contains(&repository.len())
            && repository.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_name {
            return Err(invalid("`[team] repository` must be 8 to 64 letters, digits and dashes"));
        }
        let remote = match rules.store {
            Some(TeamStoreKind::Git) => {
                rules.remote.clone().ok_or_else(|| invalid("`[team]` names no `remote`"))?
            }
            None => return Err(invalid("`[team]` names no `store`")),
        };
        // `ext::sh -c …` and its like would start a program.
        let is_helper =
            remote.split_once("::").is_some_and(|(name, _)| name.chars().all(char::is_alphanumeric));
        if remote.starts_with('-') || is_helper || remote.chars().any(char::is_control) {
            return Err(invalid("`[team] remote` is no address that git may be given"));
        }
        if !is_loopback_or_tls(&remote) {
            return Err(invalid(
                "`[team] remote` is neither encrypted nor on this machine: use https or ssh",
            ));
        }
        Ok(Self { schema: SCHEMA.into(), repository, remote, line: rules.line.clone() })
    }

    /// Returns what the clone joined; `None` if it joined nothing.
    pub fn of(state: &StateDirectory) -> Result<Option<Self>, StoreError> {
        let path = state.dir().join(TEAM_FILE);
        let Some(bytes) = durable::read(&path)? else { return Ok(None) };
        let parsed = json::parse(&bytes).ok().and_then(|value| serde_json::from_value::<Self>(value).ok());
        if let Some(read) = parsed.filter(|read| read.schema == SCHEMA) {
            Ok(Some(read))
        } else {
            let why = "it is not what `probity team join` wrote; remove it and join again".to_owned();
            Err(StoreError::Damaged { path, why })
        }
    }

    pub fn save(&self, state: &StateDirectory) -> Result<(), StoreError> {
        durable::write(&state.dir().join(TEAM_FILE), &json::canonical_of(self))
    }

    /// Leaves the team; what is kept about it is removed.
    pub fn remove(state: &StateDirectory) -> Result<(), ServiceError> {
        durable::remove(&state.dir().join(TEAM_FILE))?;
        match std::fs::remove_dir_all(Self::dir(state)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(ServiceError::system("cannot remove what was kept about the team")(error))
            }
            _ => Ok(()),
        }
    }

    /// The directory of what this clone keeps about its team.
    pub fn dir(state: &StateDirectory) -> PathBuf {
        state.dir().join(TEAM_DIR)
    }

    /// Opens the shared store. Nothing is asked of it yet.
    pub fn store(&self, workspace: &Workspace) -> Result<Box<dyn StorageEngine>, ServiceError> {
        Ok(Box::new(self.git_store(&workspace.state, git_of(workspace)?)?))
    }

    fn git_store(&self, state: &StateDirectory, git: &GitLayout) -> Result<GitRemoteStore, StoreError> {
        GitRemoteStore::open(git, Self::dir(state).join("git"), &self.remote, &self.repository)
    }
}

fn git_of(workspace: &Workspace) -> Result<&GitLayout, ServiceError> {
    let detail = "a team needs a git repository, and this tree has none";
    workspace.git.as_ref().ok_or_else(|| ServiceError::refused(ReasonCode::TeamInvalid, detail))
}

/// Returns whether nobody on the way can read or change what goes to an address: it is encrypted, or on this machine.
pub fn is_loopback_or_tls(address: &str) -> bool {
    let host = |rest: &str| {
        let place = rest.split('/').next().unwrap_or_default();
        let place = place.rsplit('@').next().unwrap_or_default();
        let name = match place.strip_prefix('[') {
            Some(v6) => v6.split(']').next().unwrap_or_default(),
            None => place.split(':').next().unwrap_or_default(),
        };
        name == "localhost" || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    match address.split_once("://") {
        Some(("https" | "ssh" | "file", _)) => true,
        Some(("http" | "git", rest)) => host(rest),
        Some(_) => false,
        // A path, or the short form `user@host:path` of ssh.
        None => Path::new(address).is_absolute() || address.contains(':'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(remote: &str) -> TeamRules {
        TeamRules {
            repository: Some("0123456789".into()),
            store: Some(TeamStoreKind::Git),
            remote: Some(remote.into()),
            ..TeamRules::default()
        }
    }

    #[test]
    fn a_membership_is_kept_for_the_user_alone_and_read_back() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a directory");
        let state = StateDirectory::at(dir.path().to_owned());
        assert_eq!(TeamMembership::of(&state).expect("reads"), None);
        let joined = TeamMembership::new(&rules("https://example.org/r.git")).expect("is complete");
        joined.save(&state).expect("saves");
        assert_eq!(TeamMembership::of(&state).expect("reads"), Some(joined));
        let mode = dir.path().join(TEAM_FILE).metadata().expect("is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        std::fs::write(dir.path().join(TEAM_FILE), "{}").expect("writes");
        assert!(TeamMembership::of(&state).is_err());
        TeamMembership::remove(&state).expect("leaves");
        assert_eq!(TeamMembership::of(&state).expect("reads"), None);
    }

    #[test]
    fn only_safe_addresses_are_taken() {
        for good in [
            "https://example.org/r",
            "ssh://h/r",
            "git@h:r",
            "/srv/r.git",
            "http://127.0.0.1:8/r",
            "git://[::1]/r",
            "git://localhost/r",
        ] {
            assert!(TeamMembership::new(&rules(good)).is_ok(), "{good}");
        }
        for bad in [
            "http://example.org/r",
            "git://10.0.0.1/r",
            "ext::sh -c true",
            "--upload-pack=x",
            "r.git",
            "http://127.0.0.1@example.org/r",
            "a\nb:c",
        ] {
            assert!(TeamMembership::new(&rules(bad)).is_err(), "{bad}");
        }
        let unnamed = TeamRules { repository: None, ..rules("/srv/r.git") };
        assert!(TeamMembership::new(&unnamed).is_err());
    }
}
