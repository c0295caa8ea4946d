//! The answer of `probity amend --intent`.

use crate::document::Answer;
use probity_intents::registry::OwnerNotice;
use probity_intents::{IntentId, IntentScope, ScopeEntrySet};
use schemars::JsonSchema;
use serde::Serialize;

/// An intent with a wider scope: the answer of `probity amend --intent`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AmendAnswer {
    pub intent_id: IntentId,
    /// Entries added to `allowed_files`.
    pub allowed_files: ScopeEntrySet,
    /// Entries added to `allowed_related`.
    pub allowed_related: ScopeEntrySet,
    pub why: String,
    /// The scope after the amendment.
    pub scope: IntentScope,
    pub next_step: &'static str,
    /// Events that affected the owner's other intents in the meantime.
    pub notices: Vec<OwnerNotice>,
}

impl Answer for AmendAnswer {
    const SCHEMA: &'static str = "probity/intent-amend/v1";
}
