//! Finds the base of a change in a pipeline, so that `probity ci` needs no argument.

mod environment;

pub use environment::{PipelineVariables, read};

use probity_api::quality::{PipelineBaseRule, PipelineRange};
use probity_core::ReasonCode;
use probity_core::bytes::escape;
use probity_snapshot::GitId;
use probity_workspace::{ServiceError, Workspace, git};

/// Branches that a change usually goes to, for pipelines that name none.
const USUAL_TARGETS: [&str; 3] =
    ["refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master"];

/// Finds base and head of the change that is checked out. `given` is what the caller named as the base.
pub fn find_range(
    workspace: &Workspace,
    said: &PipelineVariables,
    given: Option<&str>,
) -> Result<PipelineRange, ServiceError> {
    let head = git::commit_id(workspace, "HEAD")?;
    // The author of a change chooses where it begins, so an old base must not bring back an old policy (law 8).
    let range = |base: String, policy_from: String, name: &str, base_rule| PipelineRange {
        service: said.service,
        base,
        base_name: escape(name.as_bytes()),
        base_rule,
        policy_from,
        head: head.clone(),
    };
    if let Some(name) = given {
        let target = git::commit_id(workspace, name)?;
        let base = common_ancestor(workspace, &target, &head, name)?;
        return Ok(range(base, target, name, PipelineBaseRule::Given));
    }
    // Services check out a merge of the request into its target. What that merge changed is the request, also in a
    // clone that has only two commits.
    if let Some(tip) = &said.request_tip
        && git::find_commit(workspace, "HEAD^2")?.is_some_and(|second| second == *tip)
        && let Some(first) = git::find_commit(workspace, "HEAD^1")?
    {
        return Ok(range(first.clone(), first, "HEAD^1", PipelineBaseRule::FirstParent));
    }
    for name in &said.targets {
        if let Some(target) = git::find_commit(workspace, name)? {
            let base = common_ancestor(workspace, &target, &head, name)?;
            // A service may name the base itself first; the branch knows the newer policy.
            let tip = branch_tip(workspace, &said.targets)?.unwrap_or(target);
            return Ok(range(base, tip, name, PipelineBaseRule::MergeBase));
        }
    }
    if !said.targets.is_empty() {
        return Err(missing_base(workspace, &said.targets[0]));
    }
    if let Some(before) = &said.before_push {
        let base = git::find_commit(workspace, before)?.ok_or_else(|| missing_base(workspace, before))?;
        return Ok(range(base.clone(), base, before, PipelineBaseRule::BeforePush));
    }
    for name in USUAL_TARGETS {
        if let Some(target) = git::find_commit(workspace, name)? {
            let base = common_ancestor(workspace, &target, &head, name)?;
            return Ok(range(base, target, name, PipelineBaseRule::MergeBase));
        }
    }
    Err(ServiceError::refused(
        ReasonCode::PipelineBaseUnknown,
        "neither the environment nor the remote `origin` names a branch that this change goes to",
    ))
}

/// Returns the tip of the first branch among the targets that this clone has.
fn branch_tip(workspace: &Workspace, targets: &[String]) -> Result<Option<String>, ServiceError> {
    for name in targets.iter().filter(|name| name.starts_with("refs/")) {
        if let Some(tip) = git::find_commit(workspace, name)? {
            return Ok(Some(tip));
        }
    }
    Ok(None)
}

fn common_ancestor(
    workspace: &Workspace,
    target: &str,
    head: &str,
    name: &str,
) -> Result<String, ServiceError> {
    let Some(layout) = &workspace.git else { return Err(missing_base(workspace, name)) };
    let ids: Option<Vec<GitId>> = [target, head].iter().map(|id| GitId::from_hex(id.as_bytes())).collect();
    let bases = git::merge_bases(layout, &ids.unwrap_or_default())?;
    bases.first().map(ToString::to_string).ok_or_else(|| missing_base(workspace, name))
}

/// A base that this clone does not have, or that shares no history with the checkout.
fn missing_base(workspace: &Workspace, name: &str) -> ServiceError {
    let is_shallow = workspace.git.as_ref().is_some_and(probity_snapshot::git::GitLayout::is_shallow);
    let why = if is_shallow { "this clone is shallow" } else { "this clone does not have it" };
    let name = escape(name.as_bytes());
    ServiceError::refused(
        ReasonCode::PipelineBaseMissing,
        format!("no common history of `{name}` and the checkout is here: {why}"),
    )
}
