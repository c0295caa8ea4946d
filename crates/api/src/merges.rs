//! Answers of `probity merge`: what a merge of documents lost, and the decisions about it.

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
    /// The policy's ruling on a conflict or a group.
    pub enum RulingStatus {
        /// The policy decides.
        Decided = "decided",
        /// A person must decide.
        Review = "review",
        /// The merge may not be published.
        Refused = "refused",
    }
}

/// The policy's ruling and choice.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PolicyRuling {
    pub status: RulingStatus,
    /// The choice, if the policy decides.
    pub choose: Option<ConflictChoice>,
}

/// An earlier decision.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecisionSummary {
    pub by: String,
    pub at: String,
    pub why: String,
    /// The survival commit, if there is one.
    pub survival: Option<CommitId>,
    /// The number of conflicts decided together.
    pub decisions: usize,
}

/// A place where an intent did not survive a merge, with what is known about it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConflictReport {
    #[serde(flatten)]
    pub conflict: MergeConflict,
    /// The path in its readable form.
    pub place: String,
    /// The authors of the commits whose intent was lost.
    pub authors: Vec<String>,
    pub verdict: PolicyRuling,
    /// The rank of the rule that matched.
    pub rule: Option<usize>,
    /// The rank of the group that the conflict is a part of.
    pub group: Option<usize>,
    pub resolved_by: Option<DecisionSummary>,
    /// The choice made the last time the same values met at the same place.
    pub proposal: Option<ConflictChoice>,
    /// Decisions that this merge has overridden.
    pub overrides: Vec<DecisionSummary>,
}

/// The policy's ruling on a group of fields in one document.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GroupReport {
    /// The rank of the group.
    pub group: usize,
    pub attachment: String,
    pub key: String,
    /// Whether the merge combined it from both sides.
    pub torn: bool,
    pub verdict: PolicyRuling,
}

/// What a merge lost or would lose.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeAnalysisAnswer {
    pub merge: CommitId,
    pub ours: CommitId,
    pub theirs: CommitId,
    /// The merge base; null if there is no single one.
    pub base: Option<CommitId>,
    pub two_way: bool,
    /// Whether the merge is in the store.
    pub written: bool,
    pub documents: Vec<MergeDocument>,
    pub conflicts: Vec<ConflictReport>,
    pub groups: Vec<GroupReport>,
    /// The documents that break an invariant in the merged state.
    pub violations: Vec<InvariantViolation>,
    /// The number of conflicts that a person must decide.
    pub open: usize,
    /// Whether the policy refuses the merge.
    pub refused: bool,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl MergeAnalysisAnswer {
    /// Shortens its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("conflicts", &mut self.conflicts, limit);
        self.left_out_of_lists.cut("documents", &mut self.documents, limit);
        self.left_out_of_lists.cut("violations", &mut self.violations, limit);
        self
    }

    /// Returns `Conflict` for open conflicts, and `Failed` if the policy refuses the merge or an invariant is broken.
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

/// What reducing the heads to one lost or would lose: one report per merge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeHeadsAnswer {
    /// Whether the merges are in the store.
    pub written: bool,
    pub merges: Vec<MergeAnalysisAnswer>,
    /// The number of conflicts that a person must decide.
    pub open: usize,
}

impl MergeHeadsAnswer {
    pub fn new(written: bool, merges: Vec<MergeAnalysisAnswer>) -> Self {
        let open = merges.iter().map(|merge| merge.open).sum();
        Self { written, merges, open }
    }

    /// Returns the worst exit code of its merges.
    pub fn exit_code(&self) -> ExitCode {
        self.merges.iter().map(MergeAnalysisAnswer::exit_code).max().unwrap_or(ExitCode::Ok)
    }
}

probity_core::word_enum! {
    /// The result of a reconciliation.
    pub enum ReconcileResult {
        /// A survival commit was made.
        Survival = "survival",
        /// The merge needs no change.
        MergeStands = "merge-stands",
    }
}

/// A decided conflict.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ConflictDecision {
    pub conflict: String,
    pub attachment: String,
    pub key: String,
    /// The path in its readable form.
    pub place: String,
    pub choose: ConflictChoice,
    /// The source of the decision: `given`, `policy …`, `repeated` or `all`.
    pub by: String,
}

/// The result of deciding the conflicts of a merge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeReconcileAnswer {
    pub merge: CommitId,
    pub result: ReconcileResult,
    pub survival: Option<CommitId>,
    /// The opcodes of the survival commit, in their JSON form.
    pub ops: Vec<Value>,
    pub decided: Vec<ConflictDecision>,
    /// The ids of the conflicts that nothing decided; they keep the merged value.
    pub open: Vec<String>,
    /// The documents that still break an invariant.
    pub violations: Vec<InvariantViolation>,
    /// The identifier of the decision record.
    pub record: Option<Digest>,
    pub written: bool,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl MergeReconcileAnswer {
    /// Shortens its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("ops", &mut self.ops, limit);
        self.left_out_of_lists.cut("decided", &mut self.decided, limit);
        self.left_out_of_lists.cut("open", &mut self.open, limit);
        self.left_out_of_lists.cut("violations", &mut self.violations, limit);
        self
    }

    /// Returns `Failed` for a broken invariant, and `Conflict` for undecided conflicts.
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

/// The policy that rules before a person is asked.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergePolicyAnswer {
    pub policy: MergePolicy,
}

/// The recorded decisions, oldest first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeDecisionsAnswer {
    pub decisions: Vec<DecisionEntry>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DecisionEntry {
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
