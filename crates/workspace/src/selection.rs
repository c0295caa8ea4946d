//! The paths a caller wants governed, the plan a policy derives from them, and a preview of the seal.

use crate::ServiceError;
use probity_api::govern::plan::{PlanWarning, ScopeCoverage};
use probity_core::ReasonCode;
use probity_evidence::{GlobList, Plan};
use probity_paths::{RepoPath, Scope};
use probity_policy::{PlanRequest, Policy};
use probity_snapshot::{Snapshot, SnapshotEntryKind};

#[derive(Debug, Clone, Default)]
pub struct PlanSelection {
    /// Patterns of the scope.
    pub scope: Vec<Vec<u8>>,
    /// Packs by name.
    pub packs: Vec<String>,
    /// Paths that will change; they select packs.
    pub changed: Vec<Vec<u8>>,
    /// The minimum tier.
    pub tier: Option<String>,
    /// `None` means the policy's default profile.
    pub profile: Option<String>,
    /// The scope may match no existing file, because the command will create them.
    pub creates: bool,
    /// The scope is empty on purpose: the command must change nothing.
    pub no_changes: bool,
}

/// A preview of the seal.
#[derive(Debug)]
pub struct PlanPreview {
    pub plan: Plan,
    pub scope: Scope,
    /// Doubts about the scope.
    pub warnings: Vec<PlanWarning>,
    /// The number of existing files it covers.
    pub coverage: ScopeCoverage,
    pub covers_outputs: bool,
}

/// Computes the plan for `selection`.
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

/// Returns the requested profile, or the policy's default.
fn profile(policy: &Policy, selection: &PlanSelection) -> Result<String, ServiceError> {
    let asked = selection.profile.as_deref().or_else(|| policy.default_profile());
    asked.map(str::to_owned).ok_or_else(|| {
        let known: Vec<&str> = policy.profiles.iter().map(|profile| profile.id.as_str()).collect();
        let detail =
            format!("the policy has several profiles: choose one with `--profile`: {}", known.join(", "));
        ServiceError::refused(ReasonCode::PlanUnknownProfile, detail)
    })
}

/// Returns the non-directories and the directories of a snapshot.
pub fn names(snapshot: &Snapshot) -> (Vec<RepoPath>, Vec<RepoPath>) {
    let mut files = Vec::new();
    let mut dirs = Vec::new();
    for entry in snapshot.entries() {
        let list = if entry.kind() == SnapshotEntryKind::Directory { &mut dirs } else { &mut files };
        list.push(entry.path().clone());
    }
    (files, dirs)
}
