//! The answer of a finish.

use super::hygiene::FinishHygieneAnswer;
use super::patch_trail::PatchTrail;
use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::kept_part::KeptPart;
use crate::quality::{CheckedClaims, FinishVerification};
use probity_contract::claims::ClaimVerdict;
use probity_contract::finish::{FinishNextStep, FinishStep, ReceiptOutcome};
pub use probity_contract::receipt::{ChangeEnforcement, Coordination, OverlappingIntent};
use probity_contract::{ContractReason, ContractStatus, DeltaVerdict, VerificationProfile};
use probity_core::Digest;
use probity_intents::hygiene::DirtyStatus;
use probity_intents::registry::OwnerNotice;
use probity_intents::{IntentId, LackingWork, ScopeCheck, ScopeCheckStatus};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether a change is accepted, and if not, why: the answer of `probity finish`.
// Deserialized only to repeat the answer of an accepted finish whose claim was released.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FinishAnswer {
    pub intent_id: IntentId,
    /// The verdict.
    pub status: ContractStatus,
    /// Why; null if the change is accepted.
    pub reason: Option<ContractReason>,
    /// The code of the next step.
    pub next_step: Option<FinishNextStep>,
    /// The verdict and the next step in a sentence.
    pub message: String,
    /// The command that commits exactly the accepted change, if it is uncommitted and has few paths.
    #[serde(default)]
    pub commit_command: Option<String>,
    /// Whether someone must act before the change can be accepted.
    pub user_action_required: bool,
    /// Whether the claim was released.
    pub intent_cleared: bool,
    /// Whether this finish was carried out before, and this is its stored answer.
    pub idempotent_replay: bool,
    /// Steps that were not reached.
    pub not_reached: Vec<FinishStep>,
    /// The uncommitted changes of the tree and their owners.
    pub workspace_hygiene_after: Option<FinishHygieneAnswer>,
    /// Whether only declared paths were changed.
    pub scope_check: Option<ScopeCheck>,
    /// The patch contract: members of `probity/contract-verify/v1`, without those found elsewhere in this answer.
    pub verification: Option<KeptPart<FinishVerification>>,
    /// The failed gates of the policy, with the end of their output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_gates: Vec<FailedGate>,
    /// The required gates of the policy that did not run, because the caller left them out. With an accepted change the
    /// exit code is then that of an unverified one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_gates: Vec<String>,
    /// What really changed, compared with the evidence.
    pub patch_trail: Option<PatchTrail>,
    /// The author's claims compared with the facts: the `claims` of `probity/contract-verify/v1`.
    pub claims: Option<KeptPart<CheckedClaims>>,
    pub receipt: Option<FinishReceipt>,
    /// Why there is no receipt although one was requested.
    pub receipt_error: Option<String>,
    /// The paths of the change that differ from the commit or from the start.
    #[serde(default)]
    pub changes: Vec<ChangedPath>,
    /// Uncommitted changes outside the scope of an accepted change.
    pub external_changes: Option<ExternalChanges>,
    /// The first paths outside the scope that were committed since the start.
    #[serde(default)]
    pub committed_outside_scope: Vec<RepoPath>,
    /// Those of them that neither the tree nor the checked-out branch shows, and what other worktrees committed on
    /// branches made since the start.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub committed_elsewhere: Vec<CommittedElsewhere>,
    /// A loss of health that does not block the change.
    pub health_regression_advisory: Option<HealthAdvisory>,
    /// A short summary; null if the change was not verified.
    pub summary: Option<FinishSummary>,
    /// Events that affected the owner's intents in the meantime.
    pub notices: Vec<OwnerNotice>,
    /// What kept the agent to its scope while it worked.
    #[serde(default)]
    pub enforcement: ChangeEnforcement,
    /// Programs that the session ran and whose writes its hook could not see; they were judged from the tree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unproven_programs: Vec<String>,
    /// Whether the claim of a change in a team bound the others; absent outside of a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coordination: Option<Coordination>,
    /// Intents of other trees that held some of the same paths at the same time, by announcement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overlaps: Vec<OverlappingIntent>,
    /// Work of other trees that landed on the line since the start, and that this tree lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub base_moved: Vec<LackingWork>,
    /// What the claim still waits for after an accepted finish in a team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<LandingWait>,
    /// The parts of `verification` and `claims` that a surface shows.
    #[serde(skip)]
    pub review: FinishReview,
}

impl Answer for FinishAnswer {
    const SCHEMA: &'static str = "probity/finish/v1";
}

impl FinishAnswer {
    pub fn exit_code(&self) -> ExitCode {
        if self.status.is_accepted() && !self.skipped_gates.is_empty() {
            return ExitCode::Unverified;
        }
        self.status.into()
    }

    /// Tells whether no path of the change differs from the start.
    pub fn nothing_changed(&self) -> bool {
        self.changes.iter().all(|change| !change.since_start)
    }
}

/// The wait of a finished change for its landing: its claim still keeps other trees off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LandingWait {
    /// Where the commit has to arrive.
    pub hold: LandingHold,
    /// The branch that the change is for.
    pub line: Option<String>,
    /// For how long the claim is held at most, in seconds.
    pub seconds: u64,
}

probity_core::word_enum! {
    /// Where the commit of a finished change has to arrive.
    pub enum LandingHold {
        /// On a branch of the remote.
        Push = "push",
        /// On the line.
        Merge = "merge",
    }
}

/// What people see of a verdict: what got worse, and which claims do not hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishReview {
    /// The first new findings that count against the change.
    pub worse: Vec<WorseFinding>,
    pub refuted_claims: Vec<RefutedClaim>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorseFinding {
    pub path: Option<RepoPath>,
    /// The first line, counted from 1.
    pub line: u32,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefutedClaim {
    pub verdict: ClaimVerdict,
    /// The sentence that makes the claim, or else its code.
    pub claimed: String,
    /// The facts against it, or the missing proof.
    pub because: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedGate {
    pub id: String,
    /// Whether it must pass for the change to be accepted.
    pub required: bool,
    /// Whether it ran at all. If not, its result says nothing about the change.
    #[serde(default = "started")]
    pub started: bool,
    /// Why it failed, such as its exit status or its time limit.
    pub detail: String,
    /// The end of its output.
    pub log_tail: String,
}

/// Answers that were kept before this was recorded name gates that ran.
const fn started() -> bool {
    true
}

/// The receipt of an accepted change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FinishReceipt {
    pub digest: Digest,
    /// Its number in the chain of receipts.
    pub number: u64,
    /// The effect of the change on the health of the tree.
    pub health: ReceiptHealth,
    pub signed: bool,
}

/// The effect of a change on the health of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptHealth {
    /// The health after the change.
    pub score: Option<i64>,
    /// The difference from the baseline.
    pub delta: Option<i64>,
    /// The difference from before the change.
    pub patch_health_delta: Option<i64>,
}

/// A loss of health that does not block the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthAdvisory {
    pub health_delta: i64,
}

probity_core::word_enum! {
    /// The result of checking the author's claims.
    pub enum ClaimsSummary {
        /// No claims were made.
        SkippedNoClaims = "skipped_no_claims",
        /// All are true.
        Valid = "valid",
        /// Some are unproven.
        Unverified = "unverified",
        /// Some are false.
        Violated = "violated",
    }
}

/// A short summary of a verified change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FinishSummary {
    /// Whether only declared paths were changed.
    pub scope_status: ScopeCheckStatus,
    /// How the change was verified.
    pub verification_profile: VerificationProfile,
    /// The comparison of the two runs; null if they were not compared.
    pub structural_verdict: Option<DeltaVerdict>,
    /// The difference in health.
    pub health_delta: Option<i64>,
    /// The number of new findings.
    pub regressions: usize,
    /// The result of checking the author's claims.
    pub claims: ClaimsSummary,
    /// Whether the author left a note for the reviewer.
    pub review_note_present: bool,
    /// The outcome of creating the receipt of an accepted change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<ReceiptOutcome>,
}

/// A path of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedPath {
    pub path: RepoPath,
    pub change: DirtyStatus,
    /// Whether it differs from the start; if not, it was already uncommitted then.
    pub since_start: bool,
}

/// A change outside the scope that is only committed: on another branch, a tag or a stash, or outside of the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommittedElsewhere {
    /// Outside of the root, from the top of the repository.
    pub path: RepoPath,
    /// How the commit changes it.
    pub change: DirtyStatus,
    pub commit: String,
    /// A reference that leads to the commit.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The origin of the change, as far as it is known.
    pub attribution: ChangeAttribution,
    /// The intent of another worktree that holds the path, or held it since the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<IntentId>,
    /// The label of that intent's owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Uncommitted changes that are not part of an accepted change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalChanges {
    pub count: usize,
    /// The first paths.
    pub paths: Vec<RepoPath>,
    /// The number of changes by attribution.
    #[serde(default)]
    pub by_attribution: BTreeMap<ChangeAttribution, usize>,
    /// The first changes with their attribution; empty in a summary.
    #[serde(default)]
    pub changes: Vec<ExternalChange>,
    /// The remaining changes, for a surface that groups all of them in a few lines.
    #[serde(skip)]
    pub unlisted: Vec<ExternalChange>,
}

/// An uncommitted change that is not part of the finished one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalChange {
    pub path: RepoPath,
    /// How it differs from the commit.
    pub change: DirtyStatus,
    /// The origin of the change, as far as it is known.
    pub attribution: ChangeAttribution,
    /// The intent that holds the path, or whose finish saw its current content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<IntentId>,
    /// The label of that intent's owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

probity_core::word_enum! {
    /// The origin of a change, as far as it is known (law 5).
    pub enum ChangeAttribution {
        /// A live intent of another agent holds the path.
        HeldByIntent = "held_by_intent",
        /// A finished intent left it, and it is not committed yet.
        FinishedByIntent = "finished_by_intent",
        /// It was there at the start and has not changed since.
        BeforeStart = "before_start",
        /// It is on a branch that another worktree has checked out.
        OtherWorktree = "other_worktree",
        /// No intent claims it.
        Unattributed = "unattributed",
    }
}
