//! Collects what a report says about the tree besides its analysis: the project's name and the commit.

use probity_analysis::report::ReportSubject;
use probity_policy::Policy;
use probity_workspace::Workspace;
use probity_workspace::worktree::WorktreeStatus;

/// Leaves out what cannot be found: a report without a commit is still a report.
pub fn report_subject(workspace: &Workspace, policy: &Policy) -> ReportSubject {
    let project = workspace.root.file_name().map(|name| probity_core::bytes::escape(name.as_encoded_bytes()));
    let worktree = WorktreeStatus::observe(workspace, policy).ok();
    let commit = worktree.as_ref().and_then(|worktree| worktree.state.head.clone());
    let has_uncommitted_changes = worktree.is_some_and(|worktree| !worktree.state.dirty.is_empty());
    ReportSubject { project, has_uncommitted_changes: commit.is_some() && has_uncommitted_changes, commit }
}
