//! Keeps governed runs and intents from claiming the same paths.
//!
//! A running governed run claims the patterns of its scope in a file of its directory, before it is sealed. An intent
//! claims its paths in the registry log. Whichever comes second is refused or waits.
//!
//! If a run and a start race, at most one may proceed. A run therefore reads the intents and writes its claim under
//! the exclusive claims lock, and a registry command that claims paths reads the runs and appends under a shared
//! lock. So of two racers, one always sees the other's claim.

use crate::RootMapping;
use crate::registry::view::format_time;
use crate::registry::{AgentLabel, CallerCredentials, HandleStore, IntentService};
use probity_api::PathClaim;
use probity_core::ReasonCode;
use probity_evidence::GlobList;
use probity_intents::registry::CommandRefusal;
use probity_intents::{IntentId, IntentStatus, RunClaim, ScopeEntry, run_conflicts};
use probity_paths::{RepoPath, Scope, escape_glob};
use probity_workspace::run_claims::file_test;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeMap;

/// Returns the live claims on paths that a run of `scope` would touch: first the caller's own, then those of other agents.
pub(crate) fn claims_on(
    workspace: &Workspace,
    credentials: &CallerCredentials,
    scope: &Scope,
) -> Result<(Vec<PathClaim>, Vec<PathClaim>), ServiceError> {
    // Without a database there is no intent. Opening the service would create one.
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

/// Describes for each path which live intent holds it, whether or not it is the caller's.
pub fn path_holders(
    workspace: &Workspace,
    paths: &[RepoPath],
) -> Result<BTreeMap<RepoPath, String>, ServiceError> {
    let scope = GlobList::new(probity_scopes::suggest(paths, &[])).to_scope()?;
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

/// Refuses a run of `scope` if another agent holds some of its paths; otherwise returns the caller's own claims.
pub fn check_run(
    workspace: &Workspace,
    credentials: &CallerCredentials,
    scope: &Scope,
) -> Result<Vec<PathClaim>, ServiceError> {
    let (own, others) = claims_on(workspace, credentials, scope)?;
    if others.is_empty() {
        return Ok(own);
    }
    let exclusions = others.iter().flat_map(|claim| claim.exclude.as_slice());
    let exclusions = exclusions.map(|pattern| workspace.working_directory.to_typed(pattern)).collect();
    Err(ServiceError::Claimed { claims: others, exclusions })
}

/// The change that a run carries out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CarriedIntent {
    pub intent_id: IntentId,
    /// The purpose of the change.
    pub description: String,
    /// What the change may touch, as patterns of a run's scope.
    pub scope: Vec<Vec<u8>>,
}

/// Finds the intent that a run is to carry out: the caller's own, and one that holds its paths.
pub fn carried_intent(
    workspace: &Workspace,
    credentials: &CallerCredentials,
    name: &str,
) -> Result<CarriedIntent, ServiceError> {
    let shell = IntentService::open_with(workspace, name)?;
    let intent = shell.resolve(name)?;
    let kept = HandleStore::of(workspace).get(&intent.id)?;
    let reader = shell.owner_of(&credentials.caller_for_intent(kept.as_ref()))?;
    let ownership = intent.ownership(&reader, &shell.command_context()?);
    if intent.status != IntentStatus::Active {
        let (intent_id, status, closed_at) = (intent.id.clone(), intent.status, intent.closed_at);
        return Err(CommandRefusal::WrongStatus { intent_id, status, closed_at }.into());
    }
    if !ownership.is_own() {
        let (intent_id, agent) = (intent.id.clone(), intent.owner.label.clone());
        return Err(CommandRefusal::HeldByOther { intent_id, agent, ownership }.into());
    }
    let prefix = workspace.below_top();
    let is_file = file_test(workspace);
    let let_in = intent.scope.entries().flat_map(|entry| inclusions(entry, &prefix, is_file(entry)));
    let mut scope: Vec<Vec<u8>> = let_in.collect();
    for forbidden in &RootMapping::for_workspace(workspace).to_workspace_scope(&intent.scope).forbidden {
        scope.extend(forbidden_patterns(forbidden.as_bytes()).ok_or_else(|| {
            let detail = format!(
                "intent {} forbids `{forbidden}`, which a scope cannot express; run with `--scope` instead",
                intent.id
            );
            ServiceError::refused(ReasonCode::UsageInvalid, detail)
        })?);
    }
    Ok(CarriedIntent { intent_id: intent.id.clone(), description: intent.description.clone(), scope })
}

/// Returns the patterns of a scope that exclude what a forbidden pattern (rule *fnmatch*, in which `*` matches `/` too)
/// matches; `None` if there are none.
fn forbidden_patterns(pattern: &[u8]) -> Option<Vec<Vec<u8>>> {
    let has_wildcard = |text: &[u8]| text.iter().any(|byte| b"*?[".contains(byte));
    let exclusion = |parts: &[&[u8]]| [&[&b"!"[..]], parts].concat().concat();
    match (pattern.strip_prefix(b"*"), pattern.strip_suffix(b"/*")) {
        _ if !has_wildcard(pattern) => Some(vec![exclusion(&[pattern]), exclusion(&[pattern, b"/**"])]),
        (_, Some(directory)) if !has_wildcard(directory) => Some(vec![exclusion(&[directory, b"/**"])]),
        (Some(end), _) if !has_wildcard(end) && !end.contains(&b'/') => {
            Some(vec![exclusion(&[b"**/*", end])])
        }
        _ => None,
    }
}

/// Returns the patterns that let an entry into a run's scope; none if the entry lies outside the root or contains it.
fn inclusions(entry: &ScopeEntry, prefix: &[u8], is_file: bool) -> Vec<Vec<u8>> {
    exclusions(entry, prefix, is_file).into_iter().map(|pattern| pattern[1..].to_vec()).collect()
}

/// Returns the patterns that exclude an entry from a run's scope; none if the entry lies outside the root or contains it.
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

#[cfg(test)]
mod tests {
    use super::forbidden_patterns;

    fn patterns(forbidden: &str) -> Option<Vec<String>> {
        let text = |pattern: Vec<u8>| String::from_utf8(pattern).expect("text");
        forbidden_patterns(forbidden.as_bytes()).map(|found| found.into_iter().map(text).collect())
    }

    #[test]
    fn forbidden_patterns_become_exclusions_or_nothing() {
        assert_eq!(patterns("src/gen"), Some(vec!["!src/gen".into(), "!src/gen/**".into()]));
        assert_eq!(patterns("migrations/*"), Some(vec!["!migrations/**".into()]));
        assert_eq!(patterns("*.lock"), Some(vec!["!**/*.lock".into()]));
        assert_eq!(patterns("src/*.lock"), None);
        assert_eq!(patterns("*/x"), None);
        assert_eq!(patterns("[ab]"), None);
    }
}
