//! A change that was reviewed, for the pages that are made from it.

use probity_api::review::{ChangeFindings, ChangeReview, DecisionRecord, FindingNote};
use probity_review::{ChangeContents, ChangeName};
use std::sync::Arc;

/// A change that was reviewed, with the name that leads to its contents.
#[derive(Debug)]
pub(crate) struct ReviewContext {
    pub(crate) name: ChangeName,
    pub(crate) review: ChangeReview,
    pub(crate) contents: ChangeContents,
    pub(crate) decisions: Vec<DecisionRecord>,
    /// Entries in the log when it was read.
    pub(crate) log_size: u64,
    /// What the change did to the findings of the tree, if it was compared.
    pub(crate) findings: Option<Arc<ChangeFindings>>,
}

impl ReviewContext {
    /// The findings that are known, of a receipt or of a comparison.
    pub(crate) fn notes(&self) -> &[FindingNote] {
        self.findings.as_ref().map_or(&self.review.findings, |found| &found.findings)
    }

    /// The revision that lines of the new side belong to.
    pub(crate) fn revision(&self) -> Option<String> {
        match &self.name {
            ChangeName::Range { head, .. } => Some(head.clone()),
            ChangeName::OpenRun(_) => None,
            _ => Some("worktree".to_owned()),
        }
    }
}
