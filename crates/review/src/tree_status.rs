//! The status of a shared tree, with the work of runs that ended: their evidence tells it from other uncommitted changes.

use crate::uncommitted_runs::uncommitted_runs;
use probity_api::change::StatusAnswer;
use probity_changes::registry::Caller;
use probity_changes::{RunRecords, RunWork};
use probity_evidence::EnforcementLevel;
use probity_paths::RepoPath;
use probity_runner::held;
use probity_snapshot::Snapshot;
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeSet;

/// Says who holds what, and who made which uncommitted changes.
pub fn tree_status(workspace: &Workspace, caller: &Caller) -> Result<StatusAnswer, ServiceError> {
    probity_changes::status(workspace, caller, Some(&EvidenceRecords { workspace }))
}

/// What the evidence of this repository says of runs.
struct EvidenceRecords<'a> {
    workspace: &'a Workspace,
}

impl RunRecords for EvidenceRecords<'_> {
    fn work_among(&self, paths: &BTreeSet<RepoPath>) -> Result<Vec<RunWork>, ServiceError> {
        let found = uncommitted_runs(self.workspace, paths.iter())?;
        let work = found.into_iter().map(|left| {
            let details = &left.run.stored.manifest.details;
            // Nothing of a run in a view that failed is in the tree unless somebody landed it.
            let was_in_view = details.enforcement == EnforcementLevel::Overlay;
            RunWork {
                accepted: was_in_view || left.passed(),
                agent: details.agent.clone(),
                run_id: left.run.first_run_id,
                paths: left.paths.into_keys().collect(),
            }
        });
        Ok(work.collect())
    }

    fn holds_part_in_scope(&self, run_id: &str, tree: &Snapshot) -> bool {
        held::holds_part_in_scope(self.workspace, run_id, tree)
    }
}
