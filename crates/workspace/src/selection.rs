//! What the caller asks to be governed, the plan that a policy makes of it, and what would be sealed.

use crate::ServiceError;
use probity_api::govern::plan::{PlanWarning, ScopeCoverage};
use probity_core::ReasonCode;
use probity_evidence::{GlobList, Plan};
use probity_paths::{RepoPath, Scope};
use probity_policy::{PlanRequest, Policy};
use probity_snapshot::{Snapshot, SnapshotEntryKind};

/// What the caller asks for.
#[derive(Debug, Clone, Default)]
pub struct PlanSelection {
    /// Patterns for R.
    pub scope: Vec<Vec<u8>>,
    /// Packs by name.
    pub packs: Vec<String>,
    /// Paths that will change; they choose packs.
    pub changed: Vec<Vec<u8>>,
    /// The least tier.
    pub tier: Option<String>,
    /// The profile; the policy's default one if absent.
    pub profile: Option<String>,
    /// Whether the scope may cover no file that exists, because the command will create them.
    pub creates: bool,
    /// Whether the scope is empty on purpose: the command must change nothing.
    pub no_changes: bool,
}

/// What would be sealed.
#[derive(Debug)]
pub struct PlanPreview {
    /// The plan.
    pub plan: Plan,
    /// Its scope.
    pub scope: Scope,
    /// What is doubtful about the scope.
    pub warnings: Vec<PlanWarning>,
    /// How many existing files it covers.
    pub coverage: ScopeCoverage,
    /// Whether it covers build outputs.
    pub covers_outputs: bool,
}

/// The plan that a policy makes of `selection`.
pub fn compute_plan(policy: &Policy, selection: &PlanSelection) -> Result<Plan, ServiceError> {
    let request = PlanRequest {
        profile: profile(policy, selection)?,
        changed_files: selection.changed.clone(),
        tier: selection.tier.clone(),
        packs: selection.packs.clone(),
        scope: GlobList::new(selection.scope.iter().cloned()),
    };
    Ok(probity_policy::compute_plan(policy, &request)?)
}

/// The profile that is meant: the one asked for, or the policy's default one.
fn profile(policy: &Policy, selection: &PlanSelection) -> Result<String, ServiceError> {
    let asked = selection.profile.as_deref().or_else(|| policy.default_profile());
    asked.map(str::to_owned).ok_or_else(|| {
        let known: Vec<&str> = policy.profiles.iter().map(|profile| profile.id.as_str()).collect();
        let detail =
            format!("the policy has several profiles: choose one with `--profile`: {}", known.join(", "));
        ServiceError::refused(ReasonCode::PlanUnknownProfile, detail)
    })
}

/// The files (everything that is no directory) and the directories of a snapshot.
pub fn names(snapshot: &Snapshot) -> (Vec<RepoPath>, Vec<RepoPath>) {
    let mut files = Vec::new();
    let mut dirs = Vec::new();
    for entry in snapshot.entries() {
        let list = if entry.kind() == SnapshotEntryKind::Directory { &mut dirs } else { &mut files };
        list.push(entry.path().clone());
    }
    (files, dirs)
}
