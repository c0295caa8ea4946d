//! The answer of `probity amend --intent`.

use crate::document::Answer;
use probity_intents::registry::OwnerNotice;
use probity_intents::{IntentId, IntentScope, ScopeEntrySet};
use schemars::JsonSchema;
use serde::Serialize;

/// An intent whose scope grew: the answer of `probity amend --intent`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AmendAnswer {
    /// The intent.
    pub intent_id: IntentId,
    /// What was added to `allowed_files`.
    pub allowed_files: ScopeEntrySet,
    /// What was added to `allowed_related`.
    pub allowed_related: ScopeEntrySet,
    /// Why.
    pub why: String,
    /// What may be touched now.
    pub scope: IntentScope,
    /// What to do next.
    pub next_step: &'static str,
    /// What happened to intents of this owner meanwhile.
    pub notices: Vec<OwnerNotice>,
}

impl Answer for AmendAnswer {
    const SCHEMA: &'static str = "probity/intent-amend/v1";
}
