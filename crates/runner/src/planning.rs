//! Turns a selection into what will be sealed: the plan, its warnings, and its coverage.

use crate::{bundles, coverage};
use probity_api::govern::plan::{PlanAnswer, PlanWarning, ScopeCoverage, ScopeSuggestion};
use probity_core::{ReasonCode, bytes};
use probity_evidence::GlobList;
use probity_paths::RepoPath;
use probity_policy::{OutputProposal, Policy};
use probity_snapshot::Snapshot;
use probity_workspace::exemptions::Exemptions;
use probity_workspace::observe::WorkspaceObserver;
use probity_workspace::selection::{PlanPreview, PlanSelection, compute_plan, names};
use probity_workspace::workspace::LoadedPolicy;
use probity_workspace::{ServiceError, Workspace, exemptions, git};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// A scope that covers more than this share of the files gets a warning.
const BROAD_SCOPE_PERCENT: usize = 80;
/// In smaller trees, covering most of the files is normal.
const MIN_BROAD_SCOPE_FILES: usize = 10;

/// A preview of the seal, with build outputs the tree suggests.
#[derive(Debug)]
pub struct ProposedPlan {
    pub preview: PlanPreview,
    pub has_policy: bool,
    /// The build outputs of the policy.
    pub build_outputs: GlobList,
    /// Build outputs that the tree suggests and the policy lacks.
    pub proposals: Vec<OutputProposal>,
}

impl ProposedPlan {
    pub fn answer(&self, workspace: &Workspace) -> PlanAnswer {
        let preview = &self.preview;
        PlanAnswer {
            root: workspace.root.clone().into(),
            plan: preview.plan.clone(),
            plan_hash: preview.plan.hash(),
            coverage: preview.coverage,
            warnings: preview.warnings.clone(),
            build_outputs: self.build_outputs.clone(),
            proposed_build_outputs: self.proposals.iter().map(|proposal| proposal.pattern.clone()).collect(),
        }
    }
}

/// Computes the preview for `selection` on a tree of these files and directories.
#[tracing::instrument(name = "plan", skip_all)]
pub(crate) fn preview(
    policy: &Policy,
    selection: &PlanSelection,
    (files, dirs): (Vec<RepoPath>, Vec<RepoPath>),
    exemptions: &Exemptions,
) -> Result<PlanPreview, ServiceError> {
    let plan = compute_plan(policy, selection)?;
    let declaration = probity_scopes::declare_plan(
        plan.scope.as_slice(),
        &probity_scopes::TreeNames::new(files.iter(), dirs.iter()),
    );
    if let Some(error) = declaration.errors.first() {
        let place = error.index.and_then(|index| plan.scope.as_slice().get(index));
        let pattern = place.map_or_else(String::new, |pattern| format!("`{}`: ", bytes::escape(pattern)));
        return Err(ServiceError::refused(error.code, format!("{pattern}{}", error.code.meaning())));
    }
    let scope = plan.scope.to_scope()?;
    // Build outputs are not judged, so they do not count toward coverage.
    let (exempt, judged): (Vec<&RepoPath>, Vec<&RepoPath>) =
        files.iter().partition(|path| exemptions.exempts_path(path));
    let n_covered = |paths: &[&RepoPath]| paths.iter().filter(|path| scope.contains(path)).count();
    let coverage = ScopeCoverage { covered: n_covered(&judged), files: judged.len() };
    let covers_outputs = n_covered(&exempt) > 0;
    let mut warnings: Vec<PlanWarning> = declaration
        .warnings
        .iter()
        .map(|warning| PlanWarning {
            code: warning.code,
            pattern: warning
                .index
                .and_then(|index| plan.scope.as_slice().get(index))
                .map(|pattern| bytes::escape(pattern)),
        })
        .collect();
    if selection.no_changes {
        warnings.retain(|warning| warning.code != ReasonCode::ScopeEmptyScope);
    }
    if is_broad(coverage) && !warnings.iter().any(|warning| warning.code == ReasonCode::ScopeCatchAll) {
        warnings.push(PlanWarning { code: ReasonCode::ScopeBroad, pattern: None });
    }
    // A scope that covers nothing at all is refused when a command is to run, not warned about.
    if coverage.covered > 0 && !selection.creates {
        let mut idle = coverage::idle_patterns(&selection.scope, &files)?;
        // `dir` beside `dir/**` means the entry itself, such as the commit of a submodule.
        idle.retain(|pattern| !selection.scope.contains(&[pattern.as_slice(), b"/**"].concat()));
        warnings.extend(idle.iter().map(|pattern| PlanWarning {
            code: ReasonCode::ScopeCoversNothing,
            pattern: Some(bytes::escape(pattern)),
        }));
    }
    Ok(PlanPreview { plan, scope, warnings, coverage, covers_outputs })
}

fn is_broad(coverage: ScopeCoverage) -> bool {
    coverage.files >= MIN_BROAD_SCOPE_FILES && coverage.covered * 100 > coverage.files * BROAD_SCOPE_PERCENT
}

/// Computes the preview for `selection` on the current tree.
pub fn propose_plan(workspace: &Workspace, selection: &PlanSelection) -> Result<ProposedPlan, ServiceError> {
    let _phase = workspace.progress.begin("planning");
    let LoadedPolicy { policy, source } = workspace.load_policy()?;
    let snapshot = WorkspaceObserver::new(workspace).content(None)?;
    let committed = git::head_tree(workspace).ok();
    let (exemptions, _) = Exemptions::at_start(workspace, &policy, committed.as_ref(), &snapshot)?;
    let preview = preview(&policy, selection, names(&snapshot), &exemptions)?;
    coverage::require_coverage(&workspace.working_directory, selection, &preview, &snapshot, &exemptions)?;
    let build_outputs = policy.workspace.build_outputs;
    let is_known =
        |proposal: &OutputProposal| build_outputs.as_slice().contains(&proposal.pattern.clone().into());
    let mut proposals = probity_policy::propose_build_outputs(&kept_files(workspace, &snapshot), &|file| {
        read_text(workspace, file)
    });
    proposals.retain(|proposal| !is_known(proposal));
    Ok(ProposedPlan { preview, has_policy: source.is_some(), build_outputs, proposals })
}

/// Returns the committed files, or, if nothing is committed, every file that does not look like a build output. Build
/// results must not count as kept, or no build output would ever be proposed.
pub(crate) fn kept_files(workspace: &Workspace, snapshot: &Snapshot) -> Vec<RepoPath> {
    let committed: Vec<RepoPath> = git::head_tree(workspace).unwrap_or_default().into_keys().collect();
    if !committed.is_empty() {
        return committed;
    }
    let mut files = names(snapshot).0;
    files.retain(|file| probity_policy::output_root(file).is_none());
    files
}

/// Reads a small text file of the tree.
pub(crate) fn read_text(workspace: &Workspace, file: &RepoPath) -> Option<String> {
    /// Larger files are not manifests.
    const MAX_TEXT_BYTES: u64 = 1024 * 1024;
    let path = workspace.root.join(OsStr::from_bytes(file.as_bytes()));
    let is_small_file =
        std::fs::symlink_metadata(&path).is_ok_and(|facts| facts.is_file() && facts.len() <= MAX_TEXT_BYTES);
    is_small_file.then(|| std::fs::read_to_string(&path).ok())?
}

#[derive(Debug)]
pub struct SuggestedScope {
    pub patterns: Vec<Vec<u8>>,
    /// Changed paths left out because they look like build outputs.
    pub n_outputs_left_out: usize,
}

impl SuggestedScope {
    pub fn answer(&self, workspace: &Workspace) -> ScopeSuggestion {
        ScopeSuggestion {
            root: workspace.root.clone().into(),
            scope: self.patterns.iter().map(|pattern| bytes::escape(pattern)).collect(),
            outputs_left_out: self.n_outputs_left_out,
        }
    }
}

/// Suggests a minimal scope for `paths`, or for the changes of the run `from` without build outputs.
pub fn suggest(
    workspace: &Workspace,
    paths: &[Vec<u8>],
    from: Option<&str>,
) -> Result<SuggestedScope, ServiceError> {
    let mut n_outputs_left_out = 0;
    let wanted: Vec<RepoPath> = match from {
        Some(run) => {
            let run_id = bundles::find(workspace, run)?;
            let manifest = bundles::manifest(workspace, &run_id)?.manifest;
            let delta = manifest.delta_paths().ok_or_else(|| {
                ServiceError::refused(
                    ReasonCode::ReconSnapshotMissing,
                    format!("run {run_id} does not know what it changed"),
                )
            })?;
            let sources;
            (sources, n_outputs_left_out) = exemptions::sources_among(&delta);
            sources
        }
        None => paths
            .iter()
            .map(|path| RepoPath::parse(path))
            .collect::<Result<_, _>>()
            .map_err(|error| ServiceError::refused(ReasonCode::PathInvalid, error.to_string()))?,
    };
    let (files, _) = names(&WorkspaceObserver::new(workspace).content(None)?);
    // Build outputs beside the wanted files do not keep a directory from being named as a whole.
    let (sources, _) = exemptions::sources_among(&files);
    Ok(SuggestedScope { patterns: probity_scopes::suggest(&wanted, &sources), n_outputs_left_out })
}
