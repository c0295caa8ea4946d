//! Requests: start, promote and finish a change.
//!
//! Each request is one type with one set of defaults. The arguments of a tool are parsed into it, its schema is the
//! tool's schema, and the options of the command line fill it in.

use probity_contract::claims::Claim;
use probity_intents::ScopeEntry;
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_policy::StrictnessProfile;
use schemars::JsonSchema;
use serde::Deserialize;

probity_core::word_enum! {
    /// How much an answer says
    #[derive(Default)]
    pub enum DetailLevel {
        /// Counts, overlaps and what blocks.
        #[default]
        Summary = "summary",
        /// The same as `summary` for hygiene; all findings of a verdict.
        Normal = "normal",
        /// Every path and its class.
        Full = "full",
    }
}

/// A change that somebody wants to start.
// Member docs are the descriptions that an agent reads and pays for by the word: keep them short.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StartRequest {
    /// What the change is for
    #[serde(rename = "intent")]
    pub description: String,
    /// Exact paths to be edited; no patterns
    #[schemars(with = "Vec<String>")]
    pub allowed_files: Vec<ScopeEntry>,
    /// Further paths that may be edited
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub allowed_related: Vec<ScopeEntry>,
    /// Patterns that must not be touched
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub forbidden: Vec<ScopeEntry>,
    #[serde(default)]
    #[expect(missing_docs, reason = "the name says it")]
    pub expected_effects: Vec<String>,
    /// The task it is for, such as issue-911: only one agent works on a task
    pub task: Option<String>,
    /// Items of the ledger that it implements
    #[serde(default)]
    pub implements: Vec<String>,
    /// In a team: start without asking its store; the claim then binds nobody else
    #[serde(default)]
    pub offline: bool,
    #[serde(default)]
    #[expect(missing_docs, reason = "the name says it")]
    pub on_conflict: OnConflict,
    #[serde(default)]
    #[expect(missing_docs, reason = "the name says it")]
    pub dirty_scope_policy: DirtyScopePolicy,
    /// Not less than the policy says
    pub strictness: Option<StrictnessProfile>,
    #[expect(missing_docs, reason = "the name says it")]
    pub ttl_seconds: Option<u64>,
    #[expect(missing_docs, reason = "the name says it")]
    pub lease_seconds: Option<u64>,
    /// Analyze first if no run describes the tree [true]
    #[serde(default = "yes")]
    pub analyze: bool,
    /// Own id of this start: repeated, it is recognized
    pub command_id: Option<String>,
    #[serde(default)]
    #[expect(missing_docs, reason = "the name says it")]
    pub detail_level: DetailLevel,
    /// Keeps the caller's handle for this worktree, for a new owner whose surface remembers nothing. Set by the
    /// surface, never by the caller.
    #[serde(skip)]
    pub keep_handle: bool,
}

impl StartRequest {
    /// Starts on `allowed_files`, with defaults for everything else.
    pub fn new(description: impl Into<String>, allowed_files: Vec<ScopeEntry>) -> Self {
        Self {
            description: description.into(),
            allowed_files,
            allowed_related: Vec::new(),
            forbidden: Vec::new(),
            expected_effects: Vec::new(),
            task: None,
            implements: Vec::new(),
            offline: false,
            on_conflict: OnConflict::default(),
            dirty_scope_policy: DirtyScopePolicy::default(),
            strictness: None,
            ttl_seconds: None,
            lease_seconds: None,
            analyze: true,
            command_id: None,
            detail_level: DetailLevel::default(),
            keep_handle: false,
        }
    }
}

/// A request to turn a place in the queue into a claim.
#[derive(Debug, Clone)]
pub struct PromoteRequest {
    /// The intent: its id or a unique prefix of it.
    pub intent_id: String,
    /// How to treat uncommitted changes in `allowed_files`.
    pub dirty_scope_policy: DirtyScopePolicy,
    /// Strictness used to compute the budget; the policy's if absent.
    pub strictness: Option<StrictnessProfile>,
    /// Whether to analyze the tree if no run describes it.
    pub analyze: bool,
    pub detail_level: DetailLevel,
}

/// A change that is to be finished.
// Member docs are the descriptions that an agent reads and pays for by the word: keep them short.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a question of its own")]
pub struct FinishRequest {
    #[expect(missing_docs, reason = "the name says it")]
    pub intent_id: String,
    /// Paths that were changed
    #[schemars(with = "Option<Vec<String>>")]
    pub changed_files: Option<Vec<ScopeEntry>>,
    /// Or: everything that differs from this commit
    pub diff_ref: Option<String>,
    /// The run of the tree after the change [the one of the tree as it is]
    pub after_run_id: Option<String>,
    /// Analyze first if no run describes the tree [true]
    #[serde(default = "yes")]
    pub analyze: bool,
    /// Structured claims, for example `{"claim": "no_regressions"}`
    #[serde(default)]
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub claims: Vec<Claim>,
    /// Text to search for claims
    pub claims_text: Option<String>,
    /// A note for the reviewer; it is not judged
    pub review_text: Option<String>,
    /// Not less than the policy says
    pub strictness: Option<StrictnessProfile>,
    /// Unclaimed changes outside the scope block
    pub strict: Option<bool>,
    /// Leave the gates of the policy out, where it has `allow_skip_gates`; the answer says so
    #[serde(default)]
    pub skip_gates: bool,
    /// Leave a receipt [true]
    #[serde(default = "yes")]
    pub create_receipt: bool,
    /// Give the claim back once the change is accepted [true]
    #[serde(default = "yes")]
    pub auto_clear: bool,
    /// Own id of this finish
    pub command_id: Option<String>,
    #[serde(default)]
    #[expect(missing_docs, reason = "the name says it")]
    pub detail_level: DetailLevel,
}

impl FinishRequest {
    /// Finishes `intent_id` with the changes found in the tree, and defaults for everything else.
    pub fn new(intent_id: impl Into<String>) -> Self {
        Self {
            intent_id: intent_id.into(),
            changed_files: None,
            diff_ref: None,
            after_run_id: None,
            analyze: true,
            claims: Vec::new(),
            claims_text: None,
            review_text: None,
            strictness: None,
            strict: None,
            skip_gates: false,
            create_receipt: true,
            auto_clear: true,
            command_id: None,
            detail_level: DetailLevel::default(),
        }
    }
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_is_left_out_of_a_request_is_as_usual() {
        let read: StartRequest =
            serde_json::from_value(json!({ "intent": "fix", "allowed_files": ["a"] })).expect("a request");
        let usual = StartRequest::new("fix", vec![ScopeEntry::new("a")]);
        assert_eq!(format!("{read:?}"), format!("{usual:?}"));
        let read: FinishRequest = serde_json::from_value(json!({ "intent_id": "x" })).expect("a request");
        assert_eq!(format!("{read:?}"), format!("{:?}", FinishRequest::new("x")));
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        let error = |member: &str| {
            let mut request = json!({ "intent": "fix", "allowed_files": ["a"] });
            request[member] = Value::from("perhaps");
            serde_json::from_value::<StartRequest>(request).expect_err("an unknown word").to_string()
        };
        for (member, words) in [
            ("on_conflict", "block, queue"),
            ("dirty_scope_policy", "block, continue_own_wip"),
            ("strictness", "ci, strict, relaxed"),
            ("detail_level", "summary, normal, full"),
        ] {
            assert!(error(member).contains(&format!("`perhaps` is not one of {words}")), "{}", error(member));
        }
    }
}
