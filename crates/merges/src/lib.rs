//! Audits of git merges as every surface uses them: plain requests, plain answers.
//!
//! Owns: which four trees a question means, reading them, the commits behind a finding, survival commits, accepted losses.
//! May use: analysis, api, core, merge-audit, paths, snapshot, workspace.
//! Must not know: governed runs, intents, the document store, how an answer is shown.
//!
//! * [`audit`]: one merge, however it is named. [`audit_range`]: every merge of a range.
//! * [`restore`]: a survival commit that puts lost edits back, on a branch of its own.
//!
//! Objects are read by git commands that start nothing the repository names. Merge drivers and attributes have no say.

mod answers;
mod commit_graph;
mod contents;
mod four_trees;
mod origins;
mod question;
mod range;
mod survival;

pub use question::MergeQuestion;
pub use range::audit_range;
pub use survival::{SurvivalRequest, restore};

use contents::ContentDepth;
use probity_api::merge_audit::MergeAuditAnswer;
use probity_snapshot::git::GitLayout;
use probity_workspace::{ServiceError, Workspace};

/// Returns the repository of a workspace, also one without a working tree.
pub(crate) fn layout_of(workspace: &Workspace) -> Result<GitLayout, ServiceError> {
    let found = workspace.git.clone().or_else(|| GitLayout::find_bare(&workspace.root));
    found.ok_or_else(|| ServiceError::Missing(format!("{} is no git repository", workspace.root.display())))
}

/// Audits one merge.
#[tracing::instrument(name = "audit merge", skip_all)]
pub fn audit(workspace: &Workspace, question: &MergeQuestion) -> Result<MergeAuditAnswer, ServiceError> {
    let layout = layout_of(workspace)?;
    let audited = question::named_merges(workspace, &layout, question)?;
    let mut answer: Option<MergeAuditAnswer> = None;
    for merge in &audited {
        let one = answers::audit_one(&layout, merge, ContentDepth::Everything)?;
        match &mut answer {
            None => answer = Some(one),
            Some(all) => {
                all.findings.extend(one.findings);
                all.taken_whole.extend(one.taken_whole);
                all.set_aside.extend(one.set_aside);
                all.outcome = all.outcome.max(one.outcome);
            }
        }
    }
    answer.ok_or_else(|| ServiceError::Missing("there is no merge to audit".to_owned()))
}
