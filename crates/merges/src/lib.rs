//! Audits of git merges as every surface uses them: plain requests, plain answers.
//!
//! Owns: the four trees of a merge, the commits behind a finding, survival commits, decisions, the policy for findings.
//! May use: analysis, api, core, documents, evidence, line-diff, merge-audit, paths, policy, process, snapshot, storage, workspace.
//! Must not know: governed runs, intents, the store of documents, how an answer is shown.
//!
//! * [`audit`]: one merge, however it is named; [`read_four_trees`]: what it compares. [`audit_range`]: every merge of a
//!   range; [`audit_merges`]: those of a list.
//! * [`accept`]: puts on record that a merge stands without an edit; [`decide`]: that, and edits put back, for several
//!   findings at once; [`decisions`] lists what was decided.
//! * [`finding_policy`], [`set_finding_policy`]: rules that decide before a person is asked.
//! * [`merge_summary`], [`merge_sarif`]: findings for pull requests and code scanning services.
//! * [`install_git_hooks`]: lets git audit a merge before it is committed, by [`audit_before_commit`].
//! * [`restore`]: a survival commit that puts lost edits back, on a branch of its own.
//!
//! Objects are read by git commands that start nothing the repository names. Merge drivers and attributes have no say.

mod answers;
mod ci_outputs;
mod commit_graph;
mod contents;
mod decision_log;
mod decisions;
mod description;
mod four_trees;
mod git_hooks;
mod origins;
mod policy;
mod question;
mod range;
mod survival;
mod survival_gates;

pub use ci_outputs::{merge_sarif, merge_summary};
pub use decision_log::decisions;
pub use decisions::{accept, decide};
pub use description::{changed_words, what_happened};
pub use git_hooks::{install_git_hooks, remove_git_hooks};
pub use policy::{finding_policy, set_finding_policy};
pub use question::MergeQuestion;
pub use range::{audit_between, audit_merges, audit_range, audit_since};
pub use survival::{SurvivalRequest, restore};

use contents::ContentDepth;
use probity_api::LeftOutOfLists;
use probity_api::merge_audit::{AuditOutcome, MergeAuditAnswer, MergeAuditRangeAnswer};
use probity_merge_audit::FourTrees;
use probity_snapshot::git::GitLayout;
use probity_workspace::{ServiceError, Workspace};

/// Returns the repository of a workspace, also one without a working tree.
pub(crate) fn layout_of(workspace: &Workspace) -> Result<GitLayout, ServiceError> {
    let found = workspace.git.clone().or_else(|| GitLayout::find_bare(&workspace.root));
    found
        .ok_or_else(|| ServiceError::Missing(format!("{} is not a git repository", workspace.root.display())))
}

/// Audits the merge that is about to be committed, if there is one. Git tells its hooks the other side of a merge that has
/// no conflict; otherwise `MERGE_HEAD` does.
pub fn audit_before_commit(
    workspace: &Workspace,
    theirs: Option<String>,
) -> Result<MergeAuditRangeAnswer, ServiceError> {
    let layout = layout_of(workspace)?;
    let is_merging = theirs.is_some() || layout.git_dir.join("MERGE_HEAD").exists();
    let mut audits = Vec::new();
    if is_merging {
        audits.push(audit(workspace, &MergeQuestion::Working { theirs })?);
    }
    Ok(MergeAuditRangeAnswer {
        range: "about to be committed".to_owned(),
        merges: audits.len(),
        proven: audits.iter().filter(|audit| audit.findings.is_empty()).count(),
        outcome: audits.iter().map(|audit| audit.outcome).max().unwrap_or(AuditOutcome::Clean),
        audits,
        left_out_of_lists: LeftOutOfLists::default(),
    })
}

/// Returns the four trees of a merge commit of two parents, with the contents of all changed files.
pub fn read_four_trees(workspace: &Workspace, merge: &str) -> Result<Option<FourTrees>, ServiceError> {
    let layout = layout_of(workspace)?;
    let named = question::named_merges(workspace, &layout, &MergeQuestion::Commit(merge.to_owned()))?;
    let [merge] = &named[..] else { return Ok(None) };
    if merge.bases.len() != 1 {
        return Ok(None);
    }
    let mut trees = four_trees::read(&layout, merge)?;
    contents::fill(&layout, &mut [&mut trees], ContentDepth::Everything)?;
    Ok(Some(trees))
}

/// Audits one merge.
#[tracing::instrument(name = "audit merge", skip_all)]
pub fn audit(workspace: &Workspace, question: &MergeQuestion) -> Result<MergeAuditAnswer, ServiceError> {
    let layout = layout_of(workspace)?;
    let audited = question::named_merges(workspace, &layout, question)?;
    let mut answer = answers::audit_pairs(&layout, &audited, ContentDepth::Everything)?;
    decisions::settle(workspace, std::iter::once(&mut answer))?;
    Ok(answer)
}
