//! The policy for findings of git merges: rules by path, entity and class that decide before a person is asked. A command of the
//! user writes it into the state directory; no file of the repository does.

use probity_api::merge_audit::{
    FindingChoice, FindingPolicy, FindingPolicyAnswer, FindingRule, FindingRuling, MergeFinding,
};
use probity_api::merges::RulingStatus;
use probity_core::ReasonCode;
use probity_documents::MergeStrategy;
use probity_paths::compiled::Glob;
use probity_paths::{RepoPath, fnmatch};
use probity_storage::{StoreError, durable};
use probity_workspace::{ServiceError, Workspace};
use std::path::PathBuf;

/// Larger files are no policies.
const MAX_POLICY_BYTES: u64 = 1 << 20;

fn file(workspace: &Workspace) -> PathBuf {
    workspace.state.dir().join("merge-finding-policy.json")
}

/// Returns the policy; an empty one if none was ever set.
pub fn finding_policy(workspace: &Workspace) -> Result<FindingPolicyAnswer, ServiceError> {
    let path = file(workspace);
    let facts = match path.symlink_metadata() {
        Ok(facts) => facts,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(FindingPolicyAnswer::default());
        }
        Err(source) => {
            return Err(ServiceError::System { what: format!("cannot read {}", path.display()), source });
        }
    };
    if !facts.is_file() || facts.len() > MAX_POLICY_BYTES {
        return Err(StoreError::Damaged { path, why: "it is not a policy file".to_owned() }.into());
    }
    let bytes = std::fs::read(&path)
        .map_err(|source| ServiceError::System { what: format!("cannot read {}", path.display()), source })?;
    let policy = parse(&bytes).map_err(|why| StoreError::Damaged { path, why })?;
    Ok(FindingPolicyAnswer { policy })
}

/// Sets the policy, if each of its rules can rule.
#[tracing::instrument(name = "set finding policy", skip_all)]
pub fn set_finding_policy(workspace: &Workspace, json: &[u8]) -> Result<FindingPolicyAnswer, ServiceError> {
    let policy = parse(json).map_err(|why| ServiceError::refused(ReasonCode::MergePolicyInvalid, why))?;
    let mut bytes = serde_json::to_vec_pretty(&policy).expect("a policy is plain data with text keys");
    bytes.push(b'\n');
    durable::write(&file(workspace), &bytes)?;
    Ok(FindingPolicyAnswer { policy })
}

fn parse(json: &[u8]) -> Result<FindingPolicy, String> {
    let json = probity_core::json::parse(json).map_err(|error| error.to_string())?;
    // Serde would accept a list as the members of an object, in order.
    if !json.is_object() {
        return Err("a policy is an object".to_owned());
    }
    let policy: FindingPolicy = serde_json::from_value(json).map_err(|error| error.to_string())?;
    for (index, rule) in policy.rules.iter().enumerate() {
        if Glob::parse(rule.path.as_bytes()).is_err() {
            return Err(format!("rule {index}: `{}` is not a glob for paths", rule.path));
        }
        if verdict(rule.decide).is_none() {
            return Err(format!(
                "rule {index}: a git merge has edits, no values, so `{}` decides nothing: use ours, theirs, \
                 require_review or refuse",
                rule.decide
            ));
        }
    }
    Ok(policy)
}

/// Returns what a strategy says about edits; `None` if it needs values.
const fn verdict(strategy: MergeStrategy) -> Option<RulingStatus> {
    match strategy {
        MergeStrategy::Ours | MergeStrategy::Theirs => Some(RulingStatus::Decided),
        MergeStrategy::RequireReview => Some(RulingStatus::Review),
        MergeStrategy::Refuse => Some(RulingStatus::Refused),
        _ => None,
    }
}

/// Returns the ruling of the first rule that matches.
pub(crate) fn rule_on(policy: &FindingPolicy, finding: &MergeFinding) -> Option<FindingRuling> {
    let rule = policy.rules.iter().position(|rule| matches(rule, finding))?;
    let status = verdict(policy.rules[rule].decide)?;
    let right_side = match policy.rules[rule].decide {
        MergeStrategy::Ours => Some(FindingChoice::Ours),
        MergeStrategy::Theirs => Some(FindingChoice::Theirs),
        _ => None,
    };
    let Some(right_side) = right_side else {
        return Some(FindingRuling { rule, status, choose: None });
    };
    // Without a side the result as a whole is broken: no side can be right about that.
    let lost = finding.restoring_choice()?;
    let choose = if lost == right_side { lost } else { FindingChoice::Merged };
    Some(FindingRuling { rule, status, choose: Some(choose) })
}

fn matches(rule: &FindingRule, finding: &MergeFinding) -> bool {
    let is_class = rule.class.is_none_or(|class| class == finding.class);
    let is_path = Glob::parse(rule.path.as_bytes()).is_ok_and(|glob| glob.matches(finding.path.as_bytes()));
    let is_entity = rule.entity.as_ref().is_none_or(|pattern| {
        let name = finding.entity.as_deref().and_then(|name| RepoPath::parse(name.as_bytes()).ok());
        name.is_some_and(|name| fnmatch::matches(pattern.as_bytes(), &name))
    });
    is_class && is_path && is_entity
}
