//! The standing of one path under the current policy, independent of any run.

use crate::run;
use probity_api::govern::path::{PathKind, PathStanding, ProtectionRule};
use probity_core::bytes::escape;
use probity_evidence::{Plan, Seal};
use probity_paths::RepoPath;
use probity_policy::Policy;
use probity_workspace::exemptions::{Exemptions, TrackedPaths};
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::selection::{PlanSelection, compute_plan};
use probity_workspace::{ServiceError, Workspace, clock, git};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

pub fn standing(workspace: &Workspace, path: &RepoPath) -> Result<PathStanding, ServiceError> {
    let policy = workspace.load_policy()?.policy;
    let snapshot = WorkspaceObserver::new(workspace).content(None)?;
    let committed = git::head_tree(workspace).ok();
    let (exemptions, _) = Exemptions::at_start(workspace, &policy, committed.as_ref(), &snapshot)?;
    // The gates depend on what changes: take those that a change of this path would run.
    let contents =
        run::contents_of(workspace, &policy, plan_for(&policy, path)?, &clock::run_id(), &snapshot);
    let seal = Seal::new(contents);
    let exemptions = exemptions.with_gates(&seal, &snapshot)?;
    let protected = seal.contents().protected.to_scope()?;
    let pattern = protected.decision(path).filter(|_| protected.contains(path));
    let is_git_file = path.segments().any(|name| name == b".git");
    let protected_by = if is_git_file {
        Some(ProtectionRule::GitDirectory)
    } else {
        pattern.map(|it| ProtectionRule::Pattern { pattern: escape(it.pattern.as_bytes()) })
    };
    let tracked = workspace.git.is_some().then(|| TrackedPaths::of(workspace, committed.as_ref(), &snapshot));
    let tracked = match tracked {
        Some(TrackedPaths::Known(paths)) => Some(paths.contains(path)),
        Some(TrackedPaths::Unknown) | None => None,
    };
    let mut packs = Vec::new();
    for pack in &policy.packs {
        if pack.scope.to_scope()?.contains(path) {
            packs.push(pack.id.clone());
        }
    }
    Ok(PathStanding {
        kind: kind(workspace, path),
        tracked,
        protected_by,
        output_rule: exemptions.rule_for(path),
        judged_because: exemptions.why_path_judged(path),
        exempt: exemptions.exempts_path(path),
        packs,
    })
}

/// Computes the plan for a change of `path`, or for no particular change if that needs more input.
fn plan_for(policy: &Policy, path: &RepoPath) -> Result<Plan, ServiceError> {
    let profile = policy.default_profile().or_else(|| policy.profiles.first().map(|it| it.id.as_str()));
    let selection = PlanSelection { profile: profile.map(str::to_owned), ..PlanSelection::default() };
    let of_path = PlanSelection { changed: vec![path.as_bytes().to_vec()], ..selection.clone() };
    compute_plan(policy, &of_path).or_else(|_| compute_plan(policy, &selection))
}

fn kind(workspace: &Workspace, path: &RepoPath) -> Option<PathKind> {
    let facts = workspace.root.join(OsStr::from_bytes(path.as_bytes())).symlink_metadata().ok()?;
    Some(match facts.file_type() {
        it if it.is_file() => PathKind::File,
        it if it.is_dir() => PathKind::Directory,
        it if it.is_symlink() => PathKind::Symlink,
        _ => PathKind::Special,
    })
}
