//! What can be asked for: a start and a finish. Every surface fills these in, and no surface adds to them.

use contract::claims::Claim;
use intent::start::{DirtyScopePolicy, OnConflict};
use plan::StrictnessProfile;
use serde::{Deserialize, Serialize};

/// How much an answer says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DetailLevel {
    /// Counts, overlaps and what blocks.
    #[default]
    Summary,
    /// The same as `summary` for hygiene; all findings of a verdict.
    Normal,
    /// Every path and its class.
    Full,
}

/// A change that somebody wants to start.
#[derive(Debug, Clone, Default)]
pub struct StartRequest {
    /// The caller's own id for this start: repeating it gives the same intent. A new one is made if it is absent.
    pub command_id: Option<String>,
    /// What the change is for.
    pub description: String,
    /// What its owner expects of it.
    pub expected_effects: Vec<String>,
    /// Items of the ledger that it implements: handles or ids.
    pub implements: Vec<String>,
    /// The paths that the change is about, literally.
    pub allowed_files: Vec<Vec<u8>>,
    /// Further paths that it may touch, literally.
    pub allowed_related: Vec<Vec<u8>>,
    /// Patterns of what it must not touch.
    pub forbidden: Vec<Vec<u8>>,
    /// What dirt in `allowed_files` means.
    pub dirty_scope_policy: DirtyScopePolicy,
    /// What a conflict means.
    pub on_conflict: OnConflict,
    /// How long the intent may live.
    pub ttl_seconds: Option<u64>,
    /// Whether the caller's handle is kept for this worktree: for a new owner whose surface remembers nothing.
    pub keep_handle: bool,
    /// How long its owner may be silent.
    pub lease_seconds: Option<u64>,
    /// How strictly the budget is reckoned; what the policy says if absent.
    pub strictness: Option<StrictnessProfile>,
    /// Whether to analyse the tree if there is no run of it.
    pub analyze: bool,
    /// How much the answer says.
    pub detail_level: DetailLevel,
}

/// A place in the queue that is to become a claim.
#[derive(Debug, Clone)]
pub struct PromoteRequest {
    /// The intent.
    pub intent_id: String,
    /// What dirt in `allowed_files` means.
    pub dirty_scope_policy: DirtyScopePolicy,
    /// How strictly the budget is reckoned; what the policy says if absent.
    pub strictness: Option<StrictnessProfile>,
    /// Whether to analyse the tree if there is no run of it.
    pub analyze: bool,
    /// How much the answer says.
    pub detail_level: DetailLevel,
}

/// What a finisher shows as its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// These paths.
    ChangedFiles(Vec<Vec<u8>>),
    /// What differs from a commit, untracked files included.
    DiffRef(String),
    /// What changed in the scope since the start.
    Observed,
}

/// A change that is to be finished.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct FinishRequest {
    /// The caller's own id for this finish.
    pub command_id: Option<String>,
    /// The intent: its id, or a unique beginning of it.
    pub intent_id: String,
    /// What was changed.
    pub evidence: Evidence,
    /// The run of the tree after the change; if absent, the one of the tree as it is.
    pub after_run_id: Option<String>,
    /// Whether to analyse the tree if there is no run of it.
    pub analyze: bool,
    /// What the author claims.
    pub claims: Vec<Claim>,
    /// Text in which claims are looked for.
    pub claims_text: Option<String>,
    /// A note for the reviewer; it is not judged.
    pub review_text: Option<String>,
    /// How strictly the verdict is taken; what the policy says if absent.
    pub strictness: Option<StrictnessProfile>,
    /// Whether dirt outside the scope that nobody claims blocks; what the policy says if absent.
    pub strict: Option<bool>,
    /// Whether to leave the gates of the policy out. That is said in the verdict.
    pub skip_gates: bool,
    /// Whether to leave a receipt.
    pub create_receipt: bool,
    /// Whether to give the claim back once the change is accepted.
    pub auto_clear: bool,
    /// How much the answer says.
    pub detail_level: DetailLevel,
}

impl FinishRequest {
    /// A finish of `intent_id` on `evidence`, with everything else as usual.
    pub fn new(intent_id: impl Into<String>, evidence: Evidence) -> Self {
        Self {
            command_id: None,
            intent_id: intent_id.into(),
            evidence,
            after_run_id: None,
            analyze: false,
            claims: Vec::new(),
            claims_text: None,
            review_text: None,
            strictness: None,
            strict: None,
            skip_gates: false,
            create_receipt: true,
            auto_clear: true,
            detail_level: DetailLevel::default(),
        }
    }
}
