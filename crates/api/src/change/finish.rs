//! The answer to a finish.

use super::hygiene::FinishHygieneAnswer;
use super::patch_trail::PatchTrail;
use crate::document::Answer;
use crate::exit_code::ExitCode;
use crate::kept_part::KeptPart;
use crate::quality::{CheckedClaims, FinishVerification};
use probity_contract::claims::ClaimVerdict;
use probity_contract::finish::{FinishNextStep, FinishStep, ReceiptOutcome};
use probity_contract::{ContractReason, ContractStatus, DeltaVerdict, VerificationProfile};
use probity_core::Digest;
use probity_intents::hygiene::DirtyStatus;
use probity_intents::registry::OwnerNotice;
use probity_intents::{IntentId, ScopeCheck, ScopeCheckStatus};
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether a change is accepted, and if not, why: the answer of `probity finish`.
// Only an accepted one, whose claim is free, is ever read back.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FinishAnswer {
    /// The intent.
    pub intent_id: IntentId,
    /// The verdict in one word.
    pub status: ContractStatus,
    /// Why; nothing for an accepted one.
    pub reason: Option<ContractReason>,
    /// What to do next, in one word.
    pub next_step: Option<FinishNextStep>,
    /// The same in a sentence.
    pub message: String,
    /// What commits the accepted change and nothing else, where it is not committed and has few paths.
    #[serde(default)]
    pub commit_command: Option<String>,
    /// Whether somebody has to act before the change can be accepted.
    pub user_action_required: bool,
    /// Whether the claim is free again.
    pub intent_cleared: bool,
    /// Whether this very finish was carried out before, and this is what it answered.
    pub idempotent_replay: bool,
    /// Steps that were not taken.
    pub not_reached: Vec<FinishStep>,
    /// Whose the uncommitted changes of the tree are.
    pub workspace_hygiene_after: Option<FinishHygieneAnswer>,
    /// Whether only declared paths were changed.
    pub scope_check: Option<ScopeCheck>,
    /// The patch contract: members of `probity/contract-verify/v1`, without what stands elsewhere in this answer.
    pub verification: Option<KeptPart<FinishVerification>>,
    /// The gates of the policy that failed, with the end of what they wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_gates: Vec<FailedGate>,
    /// What really changed, and what the evidence said.
    pub patch_trail: Option<PatchTrail>,
    /// What the author claims, against the facts: the `claims` of `probity/contract-verify/v1`.
    pub claims: Option<KeptPart<CheckedClaims>>,
    /// The receipt.
    pub receipt: Option<FinishReceipt>,
    /// Why there is no receipt although one was asked for.
    pub receipt_error: Option<String>,
    /// The paths of the change that differ from the commit or from the start.
    #[serde(default)]
    pub changes: Vec<ChangedPath>,
    /// Uncommitted changes outside the scope of an accepted change.
    pub external_changes: Option<ExternalChanges>,
    /// What was committed outside the scope since the start, the first of it.
    #[serde(default)]
    pub committed_outside_scope: Vec<RepoPath>,
    /// A loss of health that does not block.
    pub health_regression_advisory: Option<HealthAdvisory>,
    /// All of it in a few words; `null` if the change was not verified.
    pub summary: Option<FinishSummary>,
    /// What happened to intents of this owner meanwhile.
    pub notices: Vec<OwnerNotice>,
    /// What a surface shows of `verification` and `claims`.
    #[serde(skip)]
    pub review: FinishReview,
}

impl Answer for FinishAnswer {
    const SCHEMA: &'static str = "probity/finish/v1";
}

impl FinishAnswer {
    /// The exit code of the command line.
    pub fn exit_code(&self) -> ExitCode {
        self.status.into()
    }

    /// Whether the change is none: no path of it differs from what it was at the start.
    pub fn nothing_changed(&self) -> bool {
        self.changes.iter().all(|change| !change.since_start)
    }
}

/// What people are told of a verdict: what got worse, and which claims do not hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishReview {
    /// New findings that count against the change, the first of them.
    pub worse: Vec<WorseFinding>,
    /// Claims that are false or unproven.
    pub refuted_claims: Vec<RefutedClaim>,
}

/// A new finding that counts against the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorseFinding {
    /// The file, if there is one.
    pub path: Option<RepoPath>,
    /// The first line, from 1.
    pub line: u32,
    /// What is wrong, in a sentence.
    pub message: String,
}

/// A claim that is false or unproven.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefutedClaim {
    /// What the facts say to it.
    pub verdict: ClaimVerdict,
    /// The sentence that claims it, else the word of the claim.
    pub claimed: String,
    /// What speaks against it or is missing.
    pub because: String,
}

/// A gate of the policy that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailedGate {
    /// The gate.
    pub id: String,
    /// Whether the change needs it to pass.
    pub required: bool,
    /// Why it failed, as its exit status or its time limit.
    pub detail: String,
    /// The end of what it wrote.
    pub log_tail: String,
}

/// The receipt of an accepted change.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FinishReceipt {
    /// Its digest.
    pub digest: Digest,
    /// Its number in the chain.
    pub number: u64,
    /// What the change does to the health of the tree.
    pub health: ReceiptHealth,
    /// Whether it is signed.
    pub signed: bool,
}

/// What a change does to the health of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptHealth {
    /// The health after the change.
    pub score: Option<i64>,
    /// How far that is from the baseline.
    pub delta: Option<i64>,
    /// How far that is from before the change.
    pub patch_health_delta: Option<i64>,
}

/// A loss of health that does not block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HealthAdvisory {
    /// How much was lost.
    pub health_delta: i64,
}

probity_core::word_enum! {
    /// What became of the claims of the author.
    pub enum ClaimsSummary {
        /// There were none.
        SkippedNoClaims = "skipped_no_claims",
        /// All are true.
        Valid = "valid",
        /// Some are unproven.
        Unverified = "unverified",
        /// Some are false.
        Violated = "violated",
    }
}

/// A verified change in a few words.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct FinishSummary {
    /// Whether only declared paths were changed.
    pub scope_status: ScopeCheckStatus,
    /// How the change was verified.
    pub verification_profile: VerificationProfile,
    /// What the two runs say; `null` if they were not compared.
    pub structural_verdict: Option<DeltaVerdict>,
    /// How the health changed.
    pub health_delta: Option<i64>,
    /// How many findings are new.
    pub regressions: usize,
    /// What became of the claims of the author.
    pub claims: ClaimsSummary,
    /// Whether there is a note for the reviewer.
    pub review_note_present: bool,
    /// What became of the receipt of an accepted change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<ReceiptOutcome>,
}

/// A path of a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedPath {
    /// The path.
    pub path: RepoPath,
    /// How it differs.
    pub change: DirtyStatus,
    /// Whether it differs from what it was at the start; otherwise it was uncommitted then and still is.
    pub since_start: bool,
}

/// Uncommitted changes that are no part of an accepted change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalChanges {
    /// How many there are.
    pub count: usize,
    /// Their paths, the first of them.
    pub paths: Vec<RepoPath>,
    /// How many there are of each attribution.
    #[serde(default)]
    pub by_attribution: BTreeMap<ChangeAttribution, usize>,
    /// The first of them with how they changed, and whose they are; none in a summary.
    #[serde(default)]
    pub changes: Vec<ExternalChange>,
    /// The rest, for a surface that shows all in few lines.
    #[serde(skip)]
    pub unlisted: Vec<ExternalChange>,
}

/// An uncommitted change that is no part of the finished one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExternalChange {
    /// The path.
    pub path: RepoPath,
    /// How it differs from the commit.
    pub change: DirtyStatus,
    /// Whose it is, as far as that is known.
    pub attribution: ChangeAttribution,
    /// The intent that holds it, or whose finish saw it as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<IntentId>,
    /// What people call the owner of that intent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

probity_core::word_enum! {
    /// Whose an uncommitted change is, as far as that is known (law 5).
    pub enum ChangeAttribution {
        /// A live intent of other agents holds the path.
        HeldByIntent = "held_by_intent",
        /// It is what a finished intent left, not committed yet.
        FinishedByIntent = "finished_by_intent",
        /// It was there at the start, and is the same.
        BeforeStart = "before_start",
        /// Nobody claims it.
        Unattributed = "unattributed",
    }
}
