//! The team of a clone: makes, joins and leaves it, and shows whether its store can be reached.

use crate::clone_registration::{CLONES_SPACE, forget, parse_record, register};
use crate::landing;
use crate::registry::view::is_of_this_tree;
use crate::registry::{Caller, IntentService, LocalHost, RegistryHost, TreeFacts, pending, published_log};
use crate::team_context::{JoinedRules, TeamContext};
use probity_api::change::{
    TeamChange, TeamChangeAnswer, TeamClone, TeamLandedAnswer, TeamLogAcceptedAnswer, TeamStatusAnswer,
    TeamStoreMember, TeamView, TeamWarning, WaitingChange,
};
use probity_core::ReasonCode;
use probity_core::text::{count, short_id};
use probity_intents::IntentStatus;
use probity_intents::registry::{EventSeq, Intent, IntentRegistry, RegistryAction};
use probity_policy::{TeamRules, TeamStoreKind};
use probity_storage::{StoreError, durable};
use probity_team::{StoreCheckup, TeamMemberState, TeamMembership, TeamStoreAddress};
use probity_workspace::clone_identity::{CloneIdentity, random_name};
use probity_workspace::own_files::POLICY_FILE;
use probity_workspace::{ServiceError, Workspace, git_history};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What `probity team init` was told.
#[derive(Debug, Clone)]
pub struct TeamInit {
    pub store: TeamInitStore,
    /// The branch that changes are for; the current one if none is given.
    pub line: Option<String>,
}

/// The store of a new team.
#[derive(Debug, Clone)]
pub enum TeamInitStore {
    /// The name of a remote of this repository, or an address.
    Git { remote: String },
    Etcd {
        endpoints: Vec<String>,
        /// A file with the authorities that the members' certificates are held against.
        ca: Option<PathBuf>,
        user: Option<String>,
        namespace: Option<String>,
    },
}

/// Makes a team, writes it into the policy, and joins it.
pub fn init(workspace: &Workspace, request: &TeamInit) -> Result<TeamChangeAnswer, ServiceError> {
    let loaded = workspace.load_policy()?;
    if loaded.policy.team.repository.is_some() {
        let detail = "the policy names a team already: `probity team join` joins it";
        return Err(ServiceError::refused(ReasonCode::TeamInvalid, detail));
    }
    if loaded.source.is_some_and(|source| source.is_json) {
        let detail = "the policy is a JSON file, which is not edited: write its `team` by hand, then `probity team join`";
        return Err(ServiceError::refused(ReasonCode::TeamInvalid, detail));
    }
    refuse_open_intents(workspace)?;
    let line = match &request.line {
        Some(line) => Some(line.clone()),
        None => git_history::current_branch(workspace)?,
    };
    let rules =
        TeamRules { repository: Some(random_name()), line, ..store_rules(workspace, &request.store)? };
    let mut team = TeamMembership::new(&rules)?;
    team.identify(&workspace.state, true)?;
    register(workspace, &*team.store(workspace)?, LocalHost.host_name())?;
    append_to_policy(workspace, &team)?;
    team.save(&workspace.state)?;
    JoinedRules::from(&rules).save(&workspace.state)?;
    Ok(change_answer(
        TeamChange::Made,
        &team,
        "commit probity.toml and push it; in every other clone `probity team join`",
    ))
}

/// Returns the part of the policy that leads to a store.
fn store_rules(workspace: &Workspace, store: &TeamInitStore) -> Result<TeamRules, ServiceError> {
    match store {
        TeamInitStore::Git { remote } => {
            let address = match &workspace.git {
                Some(git) => git_history::remote_address(git, remote)?,
                None => None,
            };
            let remote = absolute(&workspace.root, address.as_deref().unwrap_or(remote));
            let store = Some(TeamStoreKind::Git);
            Ok(TeamRules { store, remote: Some(remote), ..TeamRules::default() })
        }
        TeamInitStore::Etcd { endpoints, ca, user, namespace } => {
            let read = |path: &PathBuf| {
                std::fs::read_to_string(path)
                    .map_err(ServiceError::system(format!("cannot read {}", path.display())))
            };
            Ok(TeamRules {
                store: Some(TeamStoreKind::Etcd),
                endpoints: endpoints.clone(),
                ca: ca.as_ref().map(read).transpose()?,
                user: user.clone(),
                namespace: namespace.clone(),
                ..TeamRules::default()
            })
        }
    }
}

/// Joins the team that the policy names.
pub fn join(workspace: &Workspace) -> Result<TeamChangeAnswer, ServiceError> {
    let policy = workspace.load_policy()?.policy;
    let mut team = TeamMembership::new(&policy.team)?;
    let known = TeamMembership::of(&workspace.state)?;
    team.identify(&workspace.state, false)?;
    if known.as_ref().is_none_or(|known| !known.is_same_store(&team)) {
        refuse_open_intents(workspace)?;
        if known.is_some() {
            TeamMembership::remove(&workspace.state)?;
        }
    }
    register(workspace, &*team.store(workspace)?, LocalHost.host_name())?;
    team.save(&workspace.state)?;
    JoinedRules::from(&policy.team).save(&workspace.state)?;
    Ok(change_answer(TeamChange::Joined, &team, "`probity status` shows who works on what in all clones"))
}

/// Leaves the team. The policy is not changed.
pub fn leave(workspace: &Workspace) -> Result<TeamChangeAnswer, ServiceError> {
    let Some(team) = TeamMembership::of(&workspace.state)? else { return Err(in_no_team()) };
    let service = IntentService::open(workspace)?;
    let n_here = open_changes(&service).filter(|intent| is_of_this_tree(workspace, &intent.base)).count();
    if n_here > 0 || pending::count(&workspace.state) > 0 {
        return Err(open_intents(n_here.max(1)));
    }
    let identity = CloneIdentity::of(&workspace.state)?;
    match forget(&*team.store(workspace)?, &identity) {
        // The record of a clone that is gone harms nobody.
        Ok(()) | Err(ServiceError::Store(StoreError::Unreachable { .. })) => {}
        Err(fault) => return Err(fault),
    }
    TeamMembership::remove(&workspace.state)?;
    JoinedRules::remove(&workspace.state)?;
    Ok(change_answer(
        TeamChange::Left,
        &team,
        "claims of this clone count only on this machine now; `probity team join` comes back",
    ))
}

/// Shows the team of this clone.
pub fn status(workspace: &Workspace) -> Result<TeamStatusAnswer, ServiceError> {
    let Some(team) = TeamMembership::of(&workspace.state)? else {
        let next_step = match workspace.load_policy()?.policy.team.repository {
            Some(_) => "the policy names a team: `probity team join`",
            None => "this clone is in no team: `probity team init --git origin` makes one",
        };
        return Ok(TeamStatusAnswer { team: None, next_step: next_step.into() });
    };
    let service = IntentService::open(workspace)?;
    let identity = CloneIdentity::of(&workspace.state)?;
    let unreachable = service.offline().map(str::to_owned);
    let (mut clones, mut round_trip_ms, mut checkup) = (Vec::new(), None, StoreCheckup::default());
    if unreachable.is_none() {
        checkup = team.checkup(&workspace.state)?;
        let store = team.store(workspace)?;
        let began = Instant::now();
        store.log(probity_workspace::transparency_log::INTENT_LOG).head()?;
        round_trip_ms = u64::try_from(began.elapsed().as_millis()).ok();
        let logs = service.registry().clone_logs();
        for (name, value) in store.refs(CLONES_SPACE).list()? {
            let Some(record) = parse_record(&value) else { continue };
            let is_of_clone = |intent: &&Intent| intent.owner.session.as_ref() == Some(&record.session);
            clones.push(TeamClone {
                n_open: open_changes(&service).filter(is_of_clone).count(),
                is_here: name == identity.clone,
                n_log_entries: logs.get(&name).map(|log| log.head.size),
                clone: name,
                host: record.host,
                since: record.since,
            });
        }
    }
    let n_pending = pending::count(&workspace.state);
    let next_step = match (&unreachable, n_pending) {
        (Some(_), _) => ReasonCode::TeamUnreachable.next_step().to_owned(),
        (None, 0) => "`probity status` shows who works on what".to_owned(),
        (None, n) => format!("{} waiting; the next command sends them", count(n, "release")),
    };
    let registry = service.registry();
    let view = TeamView {
        repository: team.repository.clone(),
        store: team.store.kind().as_str(),
        remote: team.store.shown(),
        line: team.line.clone(),
        unreachable,
        round_trip_ms,
        head: registry.head().seq.0,
        n_open: open_changes(&service).count(),
        n_open_here: open_changes(&service).filter(|intent| is_of_this_tree(workspace, &intent.base)).count(),
        n_landing: registry.open_intents().count() - open_changes(&service).count(),
        n_pending,
        members: checkup.members.into_iter().map(member_view).collect(),
        warnings: log_warnings(registry).chain(checkup.warnings.into_iter().map(warning_view)).collect(),
        clones,
    };
    Ok(TeamStatusAnswer { team: Some(view), next_step })
}

fn member_view(member: TeamMemberState) -> TeamStoreMember {
    let TeamMemberState { endpoint, version, is_leader, round_trip_ms, silent } = member;
    TeamStoreMember { endpoint, version, is_leader, round_trip_ms, silent }
}

fn warning_view((what, next_step): (String, &'static str)) -> TeamWarning {
    TeamWarning { what, next_step: next_step.to_owned() }
}

/// Says which clones published a log that contradicts what they published before.
fn log_warnings(registry: &IntentRegistry) -> impl Iterator<Item = TeamWarning> {
    published_log::breaches(registry.clone_logs()).map(|(clone, log, breach)| TeamWarning {
        what: published_log::breach_words(clone, log, breach),
        next_step: format!(
            "look at that machine (`probity log show`); `probity team accept-log {} --why TEXT` once it is explained",
            short_id(clone)
        ),
    })
}

/// Takes the contradiction in the log of a clone as known, with the reason, for the whole team.
pub fn accept_log(
    workspace: &Workspace,
    caller: &Caller,
    clone: &str,
    why: &str,
) -> Result<TeamLogAcceptedAnswer, ServiceError> {
    if TeamMembership::of(&workspace.state)?.is_none() {
        return Err(in_no_team());
    }
    let mut service = IntentService::open(workspace)?;
    service.require_store()?;
    let found: Vec<(String, EventSeq, String)> = published_log::breaches(service.registry().clone_logs())
        .filter(|(name, ..)| name.starts_with(clone))
        .map(|(name, log, breach)| {
            (name.to_owned(), breach.seq, published_log::breach_words(name, log, breach))
        })
        .collect();
    let [(clone, breach, accepted)] = &found[..] else {
        let detail = match found.len() {
            0 => format!(
                "no log of a clone `{clone}` contradicts what it published before: `probity team status` names those that do"
            ),
            n => format!("`{clone}` names {n} clones: give more of the name"),
        };
        return Err(ServiceError::Missing(detail));
    };
    let by = service.owner_of(caller)?;
    let (clone, why) = (clone.clone(), why.to_owned());
    let action = RegistryAction::AcceptLog { clone: clone.clone(), breach: *breach, why: why.clone() };
    service.execute(&by, action, &TreeFacts::default())?;
    Ok(TeamLogAcceptedAnswer { clone, accepted: accepted.clone(), why })
}

/// Returns the intents that are not finished.
fn open_changes(service: &IntentService) -> impl Iterator<Item = &Intent> {
    service.registry().open_intents().filter(|intent| intent.status != IntentStatus::Landing)
}

/// Looks for finished work on the branches of the remote that this clone fetched or pushed, and ends the wait of what is
/// there.
pub fn landed(workspace: &Workspace, caller: &Caller) -> Result<TeamLandedAnswer, ServiceError> {
    let Some(team) = TeamContext::of(workspace)? else { return Err(in_no_team()) };
    let mut service = IntentService::open(workspace)?;
    if let Some(why) = service.offline() {
        return Err(ServiceError::refused(ReasonCode::TeamUnreachable, why));
    }
    let by = service.owner_of(caller)?;
    let ids = landing::not_on_line(&service, &team);
    let landed = landing::land_found(workspace, &team, &mut service, &by, &ids)?;
    let seen = service.command_context()?;
    let is_landing = |intent: &&Intent| intent.status == IntentStatus::Landing && !intent.is_over(&seen);
    let waiting: Vec<WaitingChange> = service
        .registry()
        .open_intents()
        .filter(is_landing)
        .map(|intent| WaitingChange {
            intent_id: intent.id.clone(),
            agent: intent.owner.label.clone(),
            host: intent.owner.host.clone(),
            line: intent.base.line.clone(),
            is_here: is_of_this_tree(workspace, &intent.base),
            left_seconds: intent.ends_at(&seen).0.saturating_sub(seen.now.0),
        })
        .collect();
    let next_step = match (landed.as_slice(), waiting.as_slice()) {
        (_, []) => "nothing waits for its landing".to_owned(),
        (_, waiting) if waiting.iter().any(|change| change.is_here) => {
            "commit and push the finished work of this tree, then ask again".to_owned()
        }
        _ => "`git fetch` shows what others pushed; then ask again".to_owned(),
    };
    Ok(TeamLandedAnswer { landed, waiting, next_step })
}

/// Refuses a start in a clone whose policy names a team that it has not joined: its claims would bind nobody.
pub(crate) fn check_joined(workspace: &Workspace, rules: &TeamRules) -> Result<(), ServiceError> {
    if rules.repository.is_none() || TeamMembership::of(&workspace.state)?.is_some() {
        return Ok(());
    }
    let detail = "the policy names a team that this clone has not joined, so nobody else would see the claim";
    Err(ServiceError::refused(ReasonCode::TeamNotJoined, detail))
}

fn refuse_open_intents(workspace: &Workspace) -> Result<(), ServiceError> {
    let service = IntentService::open(workspace)?;
    let seen = service.command_context()?;
    let n_open = service.registry().open_intents().filter(|intent| !intent.is_over(&seen)).count();
    if n_open > 0 && !service.is_shared() { Err(open_intents(n_open)) } else { Ok(()) }
}

fn open_intents(n_open: usize) -> ServiceError {
    let detail = format!("this clone has {}, which would be left behind", count(n_open, "open intent"));
    ServiceError::refused(ReasonCode::TeamBusy, detail)
}

fn in_no_team() -> ServiceError {
    ServiceError::refused(ReasonCode::TeamNotJoined, "this clone is in no team")
}

fn change_answer(change: TeamChange, team: &TeamMembership, next_step: &str) -> TeamChangeAnswer {
    TeamChangeAnswer {
        change,
        repository: team.repository.clone(),
        remote: team.store.shown(),
        line: team.line.clone(),
        next_step: next_step.to_owned(),
    }
}

/// Returns a relative path as an absolute one; every other address stays.
fn absolute(root: &Path, remote: &str) -> String {
    let is_path = !remote.contains(':') && !Path::new(remote).is_absolute();
    if !is_path {
        return remote.to_owned();
    }
    let path = root.join(remote);
    path.canonicalize().unwrap_or(path).display().to_string()
}

/// Adds the section to the policy of the tree, behind what is there.
fn append_to_policy(workspace: &Workspace, team: &TeamMembership) -> Result<(), ServiceError> {
    let path = workspace.root.join(POLICY_FILE);
    let mut text = durable::read(&path)?.unwrap_or_default();
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    let quoted = |word: &str| serde_json::Value::from(word).to_string();
    let mut section = String::new();
    if !text.is_empty() {
        section.push('\n');
    }
    section.push_str("[team]\n");
    let _ = writeln!(section, "repository = {}", quoted(&team.repository));
    let _ = writeln!(section, "store = {}", quoted(team.store.kind().as_str()));
    match &team.store {
        TeamStoreAddress::Git { remote } => {
            let _ = writeln!(section, "remote = {}", quoted(remote));
        }
        TeamStoreAddress::Etcd(address) => {
            let endpoints: Vec<String> = address.endpoints.iter().map(|endpoint| quoted(endpoint)).collect();
            let _ = writeln!(section, "endpoints = [{}]", endpoints.join(", "));
            let _ = writeln!(section, "namespace = {}", quoted(&address.namespace));
            for (name, value) in [("user", &address.user), ("ca", &address.ca)] {
                if let Some(value) = value {
                    let _ = writeln!(section, "{name} = {}", quoted(value));
                }
            }
        }
    }
    if let Some(line) = &team.line {
        let _ = writeln!(section, "line = {}", quoted(line));
    }
    text.extend(section.bytes());
    std::fs::write(&path, text).map_err(ServiceError::system(format!("cannot write {}", path.display())))
}
