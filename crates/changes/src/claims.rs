//! Runs and intents know of each other's claims.
//!
//! A run that goes on claims the patterns of its scope: it says so in a file of its directory, before it is sealed. An intent
//! claims its paths in the log of the registry. Whoever comes second is refused, or waits.
//!
//! Neither may look before the other has written, so that of a run and a start that race at most one goes ahead: a run
//! looks at the intents and writes its claim while it holds the lock of claims alone, and whoever claims paths in the
//! registry looks at the runs and appends while it holds a share of that lock. So each of two racers either has written
//! when the other looks, or looks when the other has written.

use crate::RootMapping;
use crate::registry::view::format_time;
use crate::registry::{AgentLabel, CallerCredentials, HandleStore, IntentService};
use probity_api::PathClaim;
use probity_evidence::GlobList;
use probity_intents::{RunClaim, ScopeEntry, run_conflicts};
use probity_paths::{RepoPath, Scope, escape_glob};
use probity_workspace::run_claims::file_test;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeMap;

/// The live claims on paths that a run of `scope` would touch: those that are the caller's own, and those that are not.
pub(crate) fn claims_on(
    workspace: &Workspace,
    credentials: &CallerCredentials,
    scope: &Scope,
) -> Result<(Vec<PathClaim>, Vec<PathClaim>), ServiceError> {
    // Where no intent was ever declared, none is in the way, and no registry is made for looking.
    if workspace.state.database().symlink_metadata().is_err() {
        return Ok((Vec::new(), Vec::new()));
    }
    let shell = IntentService::open(workspace)?;
    let circumstances = shell.command_context()?;
    let nobody = shell.owner_of(&credentials.caller())?;
    let handles = HandleStore::of(workspace).usable_handles(shell.registry());
    let prefix = workspace.below_top();
    let run = RunClaim { run_id: String::new(), prefix: prefix.clone(), scope: scope.clone() };
    let is_file = file_test(workspace);
    let mut claims = (Vec::new(), Vec::new());
    for intent in shell.registry().open_intents() {
        let kept = handles.iter().find(|kept| kept.intent_id == intent.id);
        let caller = credentials.caller_for_intent(kept);
        let reader = if caller.is_new { nobody.clone() } else { shell.owner_of(&caller)? };
        let ownership = intent.ownership(&reader, &circumstances);
        let peer = probity_intents::PeerIntent {
            intent_id: intent.id.clone(),
            ownership,
            status: intent.status,
            scope: intent.scope.clone(),
        };
        if !ownership.is_own() && !peer.is_live() {
            continue;
        }
        for (_, contested) in run_conflicts(&run, [&peer], &is_file) {
            let paths = RootMapping::for_workspace(workspace).to_workspace_entries(&contested);
            let claim = PathClaim {
                intent_id: intent.id.clone(),
                agent: intent.owner.label.clone(),
                intent: intent.description.clone(),
                ownership,
                exclude: GlobList::new(
                    contested.iter().flat_map(|entry| exclusions(entry, &prefix, is_file(entry))),
                ),
                paths,
                expires_at: format_time(intent.expires_at),
            };
            if ownership.is_own() { &mut claims.0 } else { &mut claims.1 }.push(claim);
        }
    }
    Ok(claims)
}

/// Who holds each of these paths with a live intent, whoever asks, in words for people.
pub fn path_holders(
    workspace: &Workspace,
    paths: &[RepoPath],
) -> Result<BTreeMap<RepoPath, String>, ServiceError> {
    let scope = GlobList::new(probity_paths::suggest(paths, &[])).to_scope()?;
    let credentials = CallerCredentials {
        handle: None,
        label: AgentLabel::Assumed(probity_workspace::user_name()),
        pid: None,
    };
    let (own, others) = claims_on(workspace, &credentials, &scope)?;
    let mut holders = BTreeMap::new();
    for claim in own.iter().chain(&others) {
        let is_held = |path: &&RepoPath| claim.paths.iter().any(|entry| entry.covers(path.as_bytes()));
        for path in paths.iter().filter(is_held) {
            let holder = format!("held by {} with intent {}", claim.agent, claim.intent_id);
            holders.insert(path.clone(), holder);
        }
    }
    Ok(holders)
}

/// Refuses a run of `scope` if somebody else holds paths of it; answers the claims of the caller itself.
pub fn check_run(
    workspace: &Workspace,
    credentials: &CallerCredentials,
    scope: &Scope,
) -> Result<Vec<PathClaim>, ServiceError> {
    let (own, others) = claims_on(workspace, credentials, scope)?;
    if others.is_empty() { Ok(own) } else { Err(ServiceError::Claimed { claims: others }) }
}

/// The patterns that take an entry out of a run's scope; none for one that holds the whole root.
fn exclusions(entry: &ScopeEntry, prefix: &[u8], is_file: bool) -> Vec<Vec<u8>> {
    let name = entry.as_bytes();
    let below = if prefix.is_empty() {
        Some(name)
    } else {
        name.strip_prefix(prefix).and_then(|name| name.strip_prefix(b"/"))
    };
    let Some(below) = below else { return Vec::new() };
    let name = [b"!", &escape_glob(below)[..]].concat();
    let whole = [&name[..], b"/**"].concat();
    if is_file { vec![name] } else { vec![name, whole] }
}
