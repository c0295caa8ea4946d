//! The answer of `probity amend --intent`.

use crate::document::Answer;
use probity_intents::registry::Notice;
use probity_intents::{Entries, IntentId, IntentScope};
use schemars::JsonSchema;
use serde::Serialize;

/// An intent whose scope grew: the answer of `probity amend --intent`.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct AmendAnswer {
    /// The intent.
    pub intent_id: IntentId,
    /// What was added to `allowed_files`.
    pub allowed_files: Entries,
    /// What was added to `allowed_related`.
    pub allowed_related: Entries,
    /// Why.
    pub why: String,
    /// What may be touched now.
    pub scope: IntentScope,
    /// What to do next.
    pub next_step: &'static str,
    /// What happened to intents of this owner meanwhile.
    pub notices: Vec<Notice>,
}

impl Answer for AmendAnswer {
    const SCHEMA: &'static str = "probity/intent-amend/v1";
}
