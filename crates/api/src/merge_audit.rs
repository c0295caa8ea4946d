//! Answers of `probity merge audit`: whose edits a merge does not have.

use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::list_cut::LeftOutOfLists;
use crate::merges::RulingStatus;
use probity_documents::MergeStrategy;
pub use probity_evidence::GateStatus;
pub use probity_merge_audit::{
    EditKind, FindingClass, LossCause, MergeSide, SetAsideReason, UncheckedPart, VersionExcerpt,
};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

probity_core::word_enum! {
    /// The result of an audit.
    pub enum AuditOutcome {
        /// Every edit of either side is in the result.
        Clean = "clean",
        /// Where both sides edited the same place, one of them is not in the result: for a person to look at.
        Contested = "contested",
        /// Something is lost, or the result is broken.
        Lost = "lost",
    }
}

probity_core::word_enum! {
    /// Where the base of an audit came from.
    pub enum AuditBaseKind {
        /// One commit.
        Single = "single",
        /// The sides have several merge bases, which were merged.
        Virtual = "virtual",
        /// The sides have no common ancestor.
        None = "none",
    }
}

/// A commit with what people know it by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CommitReference {
    pub id: String,
    pub author: String,
    pub subject: String,
}

probity_core::word_enum! {
    /// What was decided about a finding, in the words of `merge reconcile`.
    pub enum FindingChoice {
        /// The edit of our side was put back.
        Ours = "ours",
        /// The edit of their side was put back.
        Theirs = "theirs",
        /// The merge stands as it is.
        Merged = "merged",
    }
}

/// A decision about one finding, on record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingDecision {
    /// The id of the finding.
    pub finding: String,
    /// Equal in every merge that loses the same edit in the same way.
    pub conflict: String,
    /// The merge; null if it was not committed then.
    pub merge: Option<String>,
    pub path: RepoPath,
    pub entity: Option<String>,
    pub chosen: FindingChoice,
    /// Who decided.
    pub by: String,
    /// When, in UTC.
    pub at: String,
    pub why: String,
}

/// Rules for findings of git merges, in the words of `merge policy`. The first rule that matches a finding rules on it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingPolicy {
    /// Rules in order of precedence.
    #[serde(default)]
    pub rules: Vec<FindingRule>,
}

/// One rule about findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindingRule {
    /// A glob for paths; `**` for all.
    #[serde(default = "every_path")]
    pub path: String,
    /// The qualified name of a function, class, key or section, in which `*` stands for any text; without it, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// The class of the finding; without it, any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<FindingClass>,
    /// `ours` or `theirs`: that side is right there, so that its edits must be in the merge and those of the other side need not.
    /// `require_review`: a person must decide, whatever the class. `refuse`: nobody may accept it.
    pub decide: MergeStrategy,
}

fn every_path() -> String {
    "**".to_owned()
}

/// What the policy says about a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingRuling {
    /// The rank of the rule.
    pub rule: usize,
    pub status: RulingStatus,
    /// The choice, if the policy decides.
    pub choose: Option<FindingChoice>,
}

/// The rules for findings of git merges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingPolicyAnswer {
    pub policy: FindingPolicy,
}

/// Every decision about findings of git merges.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergeFindingDecisions {
    /// Oldest first.
    pub decisions: Vec<FindingDecision>,
}

/// Which findings are decided, by whom, and why.
#[derive(Debug, Clone, Default)]
pub struct DecisionRequest {
    /// Ids of findings, or beginnings of them. Empty: everything that is open.
    pub findings: Vec<String>,
    /// Only what was accepted before, in another merge that lost the same edit in the same way.
    pub repeat: bool,
    /// Accepts also what the policy refuses.
    pub override_policy: bool,
    pub why: String,
    /// Defaults to the current user.
    pub by: Option<String>,
}

/// What a person chose for each of several findings of one merge.
#[derive(Debug, Clone, Default)]
pub struct FindingChoices {
    /// Ids of findings, each with the choice.
    pub choices: Vec<(String, FindingChoice)>,
    /// The subject of the survival commit; without it, one that names the files.
    pub subject: Option<String>,
    pub why: String,
    /// Defaults to the current user.
    pub by: Option<String>,
    /// Accepts also what the policy refuses.
    pub override_policy: bool,
    /// Writes nothing.
    pub dry_run: bool,
}

/// The edits that a review put back, and the losses that it accepted.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeReviewAnswer {
    /// The survival commit; null if no edit was put back.
    pub survival: Option<MergeSurvivalAnswer>,
    /// The accepted losses.
    pub recorded: Vec<FindingDecision>,
    pub audit: MergeAuditAnswer,
}

/// Decisions that were put on record, and what the audit says with them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeDecisionAnswer {
    pub recorded: Vec<FindingDecision>,
    pub audit: MergeAuditAnswer,
}

/// One edit that the result does not have, or one place where it is broken.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeFinding {
    /// Stable for the same four contents, so that decisions carry over.
    pub id: String,
    /// Equal in every merge that loses the same edit in the same way.
    pub conflict: String,
    pub class: FindingClass,
    pub kind: EditKind,
    /// Whose edit it is; null if the result as a whole is broken.
    pub side: Option<MergeSide>,
    pub path: RepoPath,
    /// Qualified name of the function, class, key or section.
    pub entity: Option<String>,
    /// First and last line in that side's version; of a deletion, in the base.
    pub lines: Option<[u32; 2]>,
    /// The raw lines: of an insertion those that are gone, of a deletion those that are back.
    pub lost: Vec<String>,
    pub cause: Option<LossCause>,
    /// The commits of that side that made the edit, newest first.
    pub commits: Vec<CommitReference>,
    pub base: Option<VersionExcerpt>,
    pub ours: Option<VersionExcerpt>,
    pub theirs: Option<VersionExcerpt>,
    pub merged: Option<VersionExcerpt>,
    /// What the policy says about this finding; absent if no rule matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruling: Option<FindingRuling>,
    /// What was decided about this finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<FindingDecision>,
    /// What was decided when another merge lost the same edit in the same way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_before: Option<FindingDecision>,
}

impl MergeFinding {
    /// Returns true if the finding makes the audit fail: it is hard or a rule asks for a decision, and neither a person nor
    /// the policy decided that the merge stands.
    pub fn is_open(&self) -> bool {
        (self.class.is_hard() || self.ruling.is_some()) && !self.is_accepted()
    }

    /// Returns true if it is open and nobody said what is to become of it. One that somebody restored on a branch is open
    /// until that branch is merged, and decided.
    pub fn is_undecided(&self) -> bool {
        self.is_open() && self.decision.is_none()
    }

    /// Returns true if somebody, or the policy, decided that the merge stands as it is.
    pub fn is_accepted(&self) -> bool {
        let ruled = self.ruling.as_ref().and_then(|ruling| ruling.choose);
        match &self.decision {
            Some(decision) => decision.chosen == FindingChoice::Merged,
            None => ruled == Some(FindingChoice::Merged),
        }
    }

    /// Returns the choice that puts the edit back; `None` if there is no edit to put back.
    pub fn restoring_choice(&self) -> Option<FindingChoice> {
        self.side.map(|side| match side {
            MergeSide::Ours => FindingChoice::Ours,
            MergeSide::Theirs => FindingChoice::Theirs,
        })
    }
}

/// A file that the result has as one side has it, although both had changed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TakenWhole {
    pub path: RepoPath,
    pub from: MergeSide,
}

/// A file whose losses are only listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetAside {
    pub path: RepoPath,
    pub reason: SetAsideReason,
}

/// The audit of one merge.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeAuditAnswer {
    /// The result: a commit or a tree; null for what is not committed yet.
    pub merge: Option<String>,
    /// The merge base; null if there is no single one.
    pub base: Option<String>,
    pub base_kind: AuditBaseKind,
    pub ours: String,
    pub theirs: String,
    /// True without a common ancestor: then every finding is a hint.
    pub two_way: bool,
    pub outcome: AuditOutcome,
    pub findings: Vec<MergeFinding>,
    pub taken_whole: Vec<TakenWhole>,
    pub set_aside: Vec<SetAside>,
    /// What was left out because too many files changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unchecked: Vec<UncheckedPart>,
    /// Who made the merge; null if it is not a commit.
    pub merged_by: Option<CommitReference>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl MergeAuditAnswer {
    /// Returns the outcome that follows from findings.
    pub fn outcome_of(findings: &[MergeFinding]) -> AuditOutcome {
        if findings.iter().any(MergeFinding::is_open) {
            AuditOutcome::Lost
        } else if findings.iter().all(MergeFinding::is_accepted) {
            AuditOutcome::Clean
        } else {
            AuditOutcome::Contested
        }
    }

    /// Returns the findings whose edits the policy wants back.
    pub fn wanted_by_policy(&self) -> impl Iterator<Item = &MergeFinding> {
        self.findings.iter().filter(|finding| {
            let chosen = finding.ruling.as_ref().and_then(|ruling| ruling.choose);
            chosen.is_some() && chosen == finding.restoring_choice()
        })
    }

    /// Shortens its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("findings", &mut self.findings, limit);
        self.left_out_of_lists.cut("taken_whole", &mut self.taken_whole, limit);
        self.left_out_of_lists.cut("set_aside", &mut self.set_aside, limit);
        self
    }

    /// Returns `Failed` if something is lost or broken.
    pub const fn exit_code(&self) -> ExitCode {
        match self.outcome {
            AuditOutcome::Lost => ExitCode::Failed,
            AuditOutcome::Clean | AuditOutcome::Contested => ExitCode::Ok,
        }
    }
}

/// The audit of every merge in a range.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeAuditRangeAnswer {
    pub range: String,
    /// The number of merges in the range.
    pub merges: usize,
    /// The merges that equal a clean merge of their parents, file by file.
    pub proven: usize,
    pub outcome: AuditOutcome,
    /// The merges with findings, newest first.
    pub audits: Vec<MergeAuditAnswer>,
    #[serde(skip_serializing_if = "LeftOutOfLists::is_empty")]
    pub left_out_of_lists: LeftOutOfLists,
}

impl MergeAuditRangeAnswer {
    /// Shortens its long lists.
    #[must_use]
    pub fn shortened(mut self, limit: usize) -> Self {
        self.left_out_of_lists.cut("audits", &mut self.audits, limit);
        self.audits = self.audits.into_iter().map(|audit| audit.shortened(limit)).collect();
        self
    }

    pub const fn exit_code(&self) -> ExitCode {
        match self.outcome {
            AuditOutcome::Lost => ExitCode::Failed,
            AuditOutcome::Clean | AuditOutcome::Contested => ExitCode::Ok,
        }
    }
}

/// A finding that a survival commit could not restore by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnrestoredFinding {
    pub id: String,
    pub path: RepoPath,
    /// What a person has to do.
    pub why: String,
}

/// What a gate says about the tree with lost edits put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SurvivalGate {
    pub id: String,
    pub status: GateStatus,
    pub required: bool,
    /// True if it fails on the merge itself, too, so that the edits are not the cause.
    pub fails_without: bool,
    /// Why it failed or was skipped, and the end of its output.
    pub detail: String,
}

/// The survival commit that puts lost edits back.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MergeSurvivalAnswer {
    pub merge: String,
    /// The new branch; null if nothing was written.
    pub branch: Option<String>,
    /// The survival commit, a child of the merge.
    pub commit: Option<String>,
    /// The ids of the findings that it restores.
    pub restored: Vec<String>,
    pub by_hand: Vec<UnrestoredFinding>,
    /// What the gates of the project say about the tree with the edits; empty with `--dry-run`, with `--skip-gates`, and
    /// without gates.
    pub gates: Vec<SurvivalGate>,
    /// The audit of the same sides with the survival commit as the result.
    pub audit: MergeAuditAnswer,
    /// False with `--dry-run`: this is what would be written.
    pub written: bool,
}

impl MergeSurvivalAnswer {
    /// Returns `Conflict` if something is left to a person.
    pub const fn exit_code(&self) -> ExitCode {
        if self.by_hand.is_empty() { ExitCode::Ok } else { ExitCode::Conflict }
    }
}

/// The git hooks that were written or removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GitHooksAnswer {
    /// Their names.
    pub hooks: Vec<String>,
    /// True if they are there now.
    pub installed: bool,
}

impl Answer for GitHooksAnswer {
    const SCHEMA: &'static str = "probity/git-hooks/v1";
}

impl Answer for FindingPolicyAnswer {
    const SCHEMA: &'static str = "probity/merge-finding-policy/v1";
}

impl Answer for MergeFindingDecisions {
    const SCHEMA: &'static str = "probity/merge-finding-decisions/v1";
}

impl Answer for MergeDecisionAnswer {
    const SCHEMA: &'static str = "probity/merge-decision/v1";
}

impl Answer for MergeReviewAnswer {
    const SCHEMA: &'static str = "probity/merge-review/v1";
}

impl Answer for MergeSurvivalAnswer {
    const SCHEMA: &'static str = "probity/merge-survival/v1";
}

impl Answer for MergeAuditAnswer {
    const SCHEMA: &'static str = "probity/merge-audit/v1";
}

impl Answer for MergeAuditRangeAnswer {
    const SCHEMA: &'static str = "probity/merge-audit-range/v1";
}
