//! Answers of `probity merge`: what a merge of documents lost, and what was decided about it.

use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::list_cut::LeftOutOfLists;
use probity_core::Digest;
use probity_documents::{
    CommitId, ConflictChoice, DecisionRecord, InvariantViolation, MergeConflict, MergeDocument, MergePolicy,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

probity_core::word_enum! {
    /// What the policy says about a conflict or a group.
    pub enum RulingStatus {
        /// It decides.
        Decided = "decided",
        /// A person must decide.
        Review = "review",
        /// The merge may not be published.
        Refused = "refused",
    }
}

/// What the policy says, and what it chooses.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PolicyRuling {
    pub status: RulingStatus,
    /// What it chooses, if it decides.
    pub choose: Option<ConflictChoice>,
}

/// Who decided before, when and why.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecisionSummary {
    pub by: String,
    pub at: String,
    pub why: String,
    /// The survival commit, if there is one.
    pub survival: Option<CommitId>,
    /// How many conflicts were decided together.
    pub decisions: usize,
}

/// A place at which intent did not survive a merge, and what is known about it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConflictReport {
    #[serde(flatten)]
    pub conflict: MergeConflict,
    /// The path as people write it.
    pub place: String,
    /// The authors of the commits whose intent was lost.
    pub authors: Vec<String>,
    pub verdict: PolicyRuling,
    /// The rank of the rule that matched.
    pub rule: Option<usize>,
    /// The rank of the group that the conflict is a part of.
    pub group: Option<usize>,
    pub resolved_by: Option<DecisionSummary>,
    /// What was decided the last time the same values met there.
    pub proposal: Option<ConflictChoice>,
    /// Decisions that this merge has overridden.
    pub overrides: Vec<DecisionSummary>,
}

/// What the policy says about a group of one document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GroupReport {
    /// The rank of the group.
    pub group: usize,
    pub attachment: String,
    pub key: String,
    /// Whether the merge put it together from both sides.
    pub torn: bool,
    pub verdict: PolicyRuling,
}

/// What a merge lost, or would lose.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeAnalysisAnswer {
    pub merge: CommitId,
    pub ours: CommitId,
    pub theirs: CommitId,
    /// The base; none where there is no single one.
    pub base: Option<CommitId>,
    pub two_way: bool,
    /// Whether the merge is in the store.
    pub written: bool,
    pub documents: Vec<MergeDocument>,
    pub conflicts: Vec<ConflictReport>,
    pub groups: Vec<GroupReport>,
    /// The documents that break an invariant in the merged state.
    pub violations: Vec<InvariantViolation>,
    /// How many questions are left for a person.
    pub open: usize,
    /// Whether the policy refuses the merge.
    pub refused: bool,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl MergeAnalysisAnswer {
    /// Cuts its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("conflicts", &mut self.conflicts, limit);
        self.left_out_of_lists.cut("documents", &mut self.documents, limit);
        self.left_out_of_lists.cut("violations", &mut self.violations, limit);
        self
    }

    /// Open conflicts are a conflict; what the policy refuses or an invariant forbids is a failure.
    pub const fn exit_code(&self) -> ExitCode {
        if self.refused || !self.violations.is_empty() {
            ExitCode::Failed
        } else if self.open > 0 {
            ExitCode::Conflict
        } else {
            ExitCode::Ok
        }
    }
}

/// What reducing the heads to one lost, or would lose: one report per merge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeHeadsAnswer {
    /// Whether the merges are in the store.
    pub written: bool,
    pub merges: Vec<MergeAnalysisAnswer>,
    /// How many questions are left for a person.
    pub open: usize,
}

impl MergeHeadsAnswer {
    /// The reports of several merges.
    pub fn new(written: bool, merges: Vec<MergeAnalysisAnswer>) -> Self {
        let open = merges.iter().map(|merge| merge.open).sum();
        Self { written, merges, open }
    }

    /// The worst of its merges.
    pub fn exit_code(&self) -> ExitCode {
        self.merges.iter().map(MergeAnalysisAnswer::exit_code).max().unwrap_or(ExitCode::Ok)
    }
}

probity_core::word_enum! {
    /// What a reconciliation comes to.
    pub enum ReconcileResult {
        /// A survival commit.
        Survival = "survival",
        /// The merge stands as it is.
        MergeStands = "merge-stands",
    }
}

/// One conflict that was decided.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConflictDecision {
    /// The id of the conflict.
    pub conflict: String,
    pub attachment: String,
    pub key: String,
    /// The path as people write it.
    pub place: String,
    pub choose: ConflictChoice,
    /// What decided it: `given`, `policy …`, `repeated` or `all`.
    pub by: String,
}

/// What deciding about a merge came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeReconcileAnswer {
    pub merge: CommitId,
    pub result: ReconcileResult,
    pub survival: Option<CommitId>,
    /// The opcodes of the survival commit, in their JSON form.
    pub ops: Vec<Value>,
    pub decided: Vec<ConflictDecision>,
    /// The ids of the conflicts that nothing decided; they stay as merged.
    pub open: Vec<String>,
    /// The documents that break an invariant afterwards.
    pub violations: Vec<InvariantViolation>,
    /// Names the record of the decisions.
    pub record: Option<Digest>,
    /// Whether anything was written.
    pub written: bool,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl MergeReconcileAnswer {
    /// Cuts its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("ops", &mut self.ops, limit);
        self.left_out_of_lists.cut("decided", &mut self.decided, limit);
        self.left_out_of_lists.cut("open", &mut self.open, limit);
        self.left_out_of_lists.cut("violations", &mut self.violations, limit);
        self
    }

    /// A broken invariant is a failure; conflicts that nobody decided are a conflict.
    pub const fn exit_code(&self) -> ExitCode {
        if !self.violations.is_empty() {
            ExitCode::Failed
        } else if self.open.is_empty() {
            ExitCode::Ok
        } else {
            ExitCode::Conflict
        }
    }
}

/// The policy that decides before a person is asked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergePolicyAnswer {
    pub policy: MergePolicy,
}

/// Who decided what, when and why, oldest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeDecisionsAnswer {
    pub decisions: Vec<DecisionEntry>,
}

/// One record of decisions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecisionEntry {
    /// Names the record.
    pub id: Digest,
    pub at: String,
    #[serde(flatten)]
    pub record: DecisionRecord,
}

impl Answer for MergeAnalysisAnswer {
    const SCHEMA: &'static str = "probity/merge-analysis/v1";
}

impl Answer for MergeHeadsAnswer {
    const SCHEMA: &'static str = "probity/merge-heads/v1";
}

impl Answer for MergeReconcileAnswer {
    const SCHEMA: &'static str = "probity/merge-reconcile/v1";
}

impl Answer for MergePolicyAnswer {
    const SCHEMA: &'static str = "probity/merge-policy/v1";
}

impl Answer for MergeDecisionsAnswer {
    const SCHEMA: &'static str = "probity/merge-decisions/v1";
}
