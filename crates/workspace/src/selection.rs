//! The paths a caller wants governed, the plan a policy derives from them, and a preview of the seal.

use crate::{ServiceError, Workspace};
use probity_api::govern::plan::{PlanWarning, ScopeCoverage};
use probity_core::ReasonCode;
use probity_evidence::{GlobList, Plan};
use probity_paths::{RepoPath, Scope};
use probity_policy::{PlanRequest, Policy};
use probity_scopes::{DeclarationField, DeclarationReport, IntentScope, ScopeDiagnostic, TreeNames};
use probity_snapshot::{Snapshot, SnapshotEntryKind};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

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

/// Checks a declared scope of an intent: an entry that cannot be meant is refused with the rule that it breaks. Returns
/// the doubts about the others.
pub fn check_declaration(
    declared: IntentScope<'_>,
    tree: &TreeNames<'_>,
) -> Result<Vec<ScopeDiagnostic>, ServiceError> {
    let DeclarationReport { errors, warnings } = probity_scopes::declare_intent(declared, tree);
    let Some(error) = errors.first() else { return Ok(warnings) };
    let list = match error.field {
        DeclarationField::AllowedRelated => declared.allowed_related,
        DeclarationField::Forbidden => declared.forbidden,
        DeclarationField::AllowedFiles | DeclarationField::Scope => declared.allowed_files,
    };
    let entry = error.index.and_then(|index| list.get(index));
    let shown = entry.map_or_else(String::new, |entry| format!(" `{}`", probity_core::bytes::escape(entry)));
    let detail = format!("{}{shown}: {}", error.field.name(), error.code.meaning());
    Err(ServiceError::refused(error.code, detail))
}

/// Checks a declared scope against the files that it names, without a snapshot of the tree.
pub fn check_named_paths(workspace: &Workspace, declared: IntentScope<'_>) -> Result<(), ServiceError> {
    let named = declared.allowed_files.iter().chain(declared.allowed_related);
    let is_there =
        |path: &RepoPath| workspace.root.join(OsStr::from_bytes(path.as_bytes())).symlink_metadata().is_ok();
    let present: Vec<RepoPath> =
        named.filter_map(|entry| RepoPath::parse(entry).ok()).filter(is_there).collect();
    check_declaration(declared, &TreeNames::new(&present, [])).map(drop)
}

/// Returns the non-directories and the directories of a snapshot.
pub fn names(snapshot: &Snapshot) -> (Vec<RepoPath>, Vec<RepoPath>) {
    let mut files = Vec::new();
    let mut dirs = Vec::new();
    for entry in snapshot.entries() {
        let list = if entry.kind() == SnapshotEntryKind::Directory { &mut dirs } else { &mut files };
        list.push(entry.into_path());
    }
    (files, dirs)
}
