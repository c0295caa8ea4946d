//! What a clone joined: a copy of the policy's `[team]` section in the state directory.
//!
//! The copy counts, not the file in the tree: a branch, or an agent that edits it, can neither leave the team nor lead the
//! clone to another store (law 8). `probity team join` renews it.

use crate::GitRemoteStore;
#[cfg(feature = "etcd")]
use crate::etcd::{Credentials, EtcdMember, EtcdMemberState, EtcdOptions, EtcdStore, EtcdTimeouts};
use probity_core::bytes::escape;
use probity_core::{ReasonCode, json};
use probity_policy::{TeamRules, TeamStoreKind};
use probity_snapshot::git::GitLayout;
use probity_storage::ports::StorageEngine;
use probity_storage::{StoreError, durable};
use probity_workspace::git_transport::shown_remote;
use probity_workspace::{ServiceError, StateDirectory, Workspace};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

pub const TEAM_FILE: &str = "team.json";
const SCHEMA: &str = "probity/team/v2";
/// The directory of what this clone keeps about its team; it may be deleted at any time.
const TEAM_DIR: &str = "team";
const MAX_NAME_BYTES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeamMembership {
    schema: String,
    pub repository: String,
    pub store: TeamStoreAddress,
    pub line: Option<String>,
}

/// Where the claims of a team are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum TeamStoreAddress {
    Git { remote: String },
    Etcd(EtcdAddress),
}

/// The members of an etcd, and which team and cluster this clone joined there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EtcdAddress {
    pub endpoints: Vec<String>,
    pub ca: Option<String>,
    pub user: Option<String>,
    pub namespace: String,
    /// The team under the namespace; `None` until it is known.
    pub team: Option<String>,
    pub cluster: Option<String>,
}

impl TeamStoreAddress {
    /// Returns the address without secrets.
    pub fn shown(&self) -> String {
        match self {
            Self::Git { remote } => shown_remote(remote),
            Self::Etcd(address) => address.endpoints.join(","),
        }
    }

    pub const fn kind(&self) -> TeamStoreKind {
        match self {
            Self::Git { .. } => TeamStoreKind::Git,
            Self::Etcd(_) => TeamStoreKind::Etcd,
        }
    }
}

fn invalid(why: impl Into<String>) -> ServiceError {
    ServiceError::refused(ReasonCode::TeamInvalid, why.into())
}

impl TeamMembership {
    /// Returns what the rules of a policy lead to.
    pub fn new(rules: &TeamRules) -> Result<Self, ServiceError> {
        let repository = rules.repository.clone().ok_or_else(|| invalid("`[team]` names no `repository`"))?;
        if !(8..=MAX_NAME_BYTES).contains(&repository.len()) || !is_plain_name(&repository) {
            return Err(invalid("`[team] repository` must be 8 to 64 letters, digits and dashes"));
        }
        let store = match rules.store {
            Some(TeamStoreKind::Git) => git_address(rules)?,
            Some(TeamStoreKind::Etcd) => etcd_address(rules)?,
            None => return Err(invalid("`[team]` names no `store`")),
        };
        Ok(Self { schema: SCHEMA.into(), repository, store, line: rules.line.clone() })
    }

    /// Returns whether the claims of two memberships are in the same log.
    pub fn is_same_store(&self, other: &Self) -> bool {
        let place = |membership: &Self| match &membership.store {
            TeamStoreAddress::Git { remote } => (Some(remote.clone()), None),
            // Members come and go; the team and the cluster stay.
            TeamStoreAddress::Etcd(address) => (None, Some((address.team.clone(), address.cluster.clone()))),
        };
        self.repository == other.repository && place(self) == place(other)
    }

    /// Returns what the clone joined; `None` if it joined nothing.
    pub fn of(state: &StateDirectory) -> Result<Option<Self>, StoreError> {
        let path = state.dir().join(TEAM_FILE);
        let Some(bytes) = durable::read_settings(&path)? else { return Ok(None) };
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
        match &self.store {
            TeamStoreAddress::Git { remote } => {
                let directory = Self::dir(&workspace.state).join("git");
                let store = GitRemoteStore::open(git_of(workspace)?, directory, remote, &self.repository)?;
                Ok(Box::new(store))
            }
            #[cfg(feature = "etcd")]
            TeamStoreAddress::Etcd(address) => Ok(Box::new(self.etcd_store(&workspace.state, address)?)),
            #[cfg(not(feature = "etcd"))]
            TeamStoreAddress::Etcd(_) => Err(invalid("this build of Probity has no engine for etcd")),
        }
    }

    #[cfg(feature = "etcd")]
    fn etcd_store(&self, state: &StateDirectory, address: &EtcdAddress) -> Result<EtcdStore, StoreError> {
        let dir = Self::dir(state);
        EtcdStore::open(EtcdOptions {
            endpoints: address.endpoints.clone(),
            ca: address.ca.clone(),
            namespace: address.namespace.clone(),
            repository: self.repository.clone(),
            credentials: Credentials::new(address.user.clone(), &address.namespace, dir.join("token")),
            cluster: address.cluster.clone(),
            objects: dir.join("objects"),
            timeouts: EtcdTimeouts::default(),
        })
    }

    /// Asks the store who it is before this clone trusts it: its members' versions, the team and the cluster. `makes` lets
    /// a namespace that nobody uses become this team's. A git remote needs no such step: its first commit names it.
    #[cfg_attr(not(feature = "etcd"), expect(unused_variables, reason = "git has no such step"))]
    pub fn identify(&mut self, state: &StateDirectory, makes: bool) -> Result<(), ServiceError> {
        #[cfg(feature = "etcd")]
        if let TeamStoreAddress::Etcd(address) = &self.store {
            let store = self.etcd_store(state, address)?;
            let found = if makes { store.establish()? } else { store.identify()? };
            store.members()?;
            if let TeamStoreAddress::Etcd(address) = &mut self.store {
                (address.team, address.cluster) = (Some(found.team), Some(found.cluster));
            }
        }
        Ok(())
    }

    /// Asks what `doctor` and `team status` show about the store itself.
    #[cfg_attr(not(feature = "etcd"), expect(unused_variables, reason = "git has no members"))]
    pub fn checkup(&self, state: &StateDirectory) -> Result<StoreCheckup, ServiceError> {
        #[cfg(feature = "etcd")]
        if let TeamStoreAddress::Etcd(address) = &self.store {
            let store = self.etcd_store(state, address)?;
            let found = store.identify()?;
            if address.team.as_ref().is_some_and(|joined| *joined != found.team) {
                let why = format!("the team there is {}, and this clone joined another one", found.team);
                return Err(StoreError::Unfit { store: self.store.shown(), why }.into());
            }
            let members = store.members()?;
            let warnings = store.warnings(&members)?;
            return Ok(StoreCheckup {
                members: members.into_iter().map(TeamMemberState::from).collect(),
                warnings: warnings.into_iter().map(|found| (found.what, found.next_step)).collect(),
            });
        }
        Ok(StoreCheckup::default())
    }
}

/// What a store says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreCheckup {
    /// The members of an etcd; a git remote has none.
    pub members: Vec<TeamMemberState>,
    /// What is not as it should be, with the next step.
    pub warnings: Vec<(String, &'static str)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamMemberState {
    pub endpoint: String,
    pub version: Option<String>,
    pub is_leader: bool,
    pub round_trip_ms: Option<u64>,
    /// Why it does not answer.
    pub silent: Option<String>,
}

#[cfg(feature = "etcd")]
impl From<EtcdMember> for TeamMemberState {
    fn from(member: EtcdMember) -> Self {
        let EtcdMember { endpoint, state } = member;
        match state {
            EtcdMemberState::Answered { version, is_leader, round_trip_ms, .. } => Self {
                endpoint,
                version: Some(version),
                is_leader,
                round_trip_ms: Some(round_trip_ms),
                silent: None,
            },
            EtcdMemberState::Silent { why } => {
                Self { endpoint, version: None, is_leader: false, round_trip_ms: None, silent: Some(why) }
            }
        }
    }
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn git_address(rules: &TeamRules) -> Result<TeamStoreAddress, ServiceError> {
    let remote = rules.remote.clone().ok_or_else(|| invalid("`[team]` names no `remote`"))?;
    if !rules.endpoints.is_empty() || rules.ca.is_some() || rules.user.is_some() || rules.namespace.is_some()
    {
        return Err(invalid("`endpoints`, `ca`, `user` and `namespace` belong to the store `etcd`"));
    }
    // `ext::sh -c …` and its like would start a program.
    let is_helper = remote.split_once("::").is_some_and(|(name, _)| name.chars().all(char::is_alphanumeric));
    if remote.starts_with('-') || is_helper || remote.chars().any(char::is_control) {
        return Err(invalid("`[team] remote` is no address that git may be given"));
    }
    if !is_loopback_or_tls(&remote) {
        return Err(invalid("`[team] remote` is neither encrypted nor on this machine: use https or ssh"));
    }
    Ok(TeamStoreAddress::Git { remote })
}

fn etcd_address(rules: &TeamRules) -> Result<TeamStoreAddress, ServiceError> {
    if rules.remote.is_some() {
        return Err(invalid("`remote` belongs to the store `git`"));
    }
    let mut endpoints = Vec::new();
    for endpoint in &rules.endpoints {
        let endpoint = endpoint.trim_end_matches('/');
        let place = endpoint.strip_prefix("https://").or_else(|| endpoint.strip_prefix("http://"));
        let is_place = place.is_some_and(|place| {
            // A password in an address would be committed with it.
            !place.is_empty() && !place.contains(['/', '@', '?', '#']) && !place.chars().any(char::is_control)
        });
        if !is_place {
            return Err(invalid(format!(
                "`[team] endpoints` has `{}`, which is no address like `https://etcd-1:2379`",
                escape(endpoint.as_bytes())
            )));
        }
        if !is_loopback_or_tls(endpoint) {
            return Err(invalid(format!("{endpoint} is neither encrypted nor on this machine: use https")));
        }
        endpoints.push(endpoint.to_owned());
    }
    if endpoints.is_empty() {
        return Err(invalid("`[team]` names no `endpoints`"));
    }
    let namespace = rules.namespace.clone().or_else(|| rules.user.clone()).unwrap_or_else(|| "team".into());
    if !is_plain_name(&namespace) || namespace.len() > MAX_NAME_BYTES {
        return Err(invalid("`[team] namespace` must be letters, digits and dashes, at most 64"));
    }
    let (ca, user) = (rules.ca.clone(), rules.user.clone());
    Ok(TeamStoreAddress::Etcd(EtcdAddress { endpoints, ca, user, namespace, team: None, cluster: None }))
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

    #[test]
    fn members_are_reached_by_tls_or_on_this_machine_and_carry_no_secret() {
        let rules = |endpoint: &str| TeamRules {
            repository: Some("0123456789".into()),
            store: Some(TeamStoreKind::Etcd),
            endpoints: vec![endpoint.into()],
            ..TeamRules::default()
        };
        for good in
            ["https://etcd-1:2379", "https://10.0.0.1:2379/", "http://127.0.0.1:2379", "http://[::1]:1"]
        {
            assert!(TeamMembership::new(&rules(good)).is_ok(), "{good}");
        }
        for bad in
            ["http://etcd-1:2379", "https://ann:secret@etcd-1:2379", "etcd-1:2379", "https://", "https://a/b"]
        {
            assert!(TeamMembership::new(&rules(bad)).is_err(), "{bad}");
        }
        let none = TeamRules { endpoints: Vec::new(), ..rules("https://a:1") };
        assert!(TeamMembership::new(&none).is_err());
        let mixed = TeamRules { remote: Some("/srv/r.git".into()), ..rules("https://a:1") };
        assert!(TeamMembership::new(&mixed).is_err());
        let named = TeamRules { user: Some("team-a".into()), ..rules("https://a:1") };
        let Ok(TeamMembership { store: TeamStoreAddress::Etcd(address), .. }) = TeamMembership::new(&named)
        else {
            panic!("is complete");
        };
        assert_eq!(address.namespace, "team-a", "the user's name, unless there is another");
    }
}
