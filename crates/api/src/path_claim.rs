//! The claim of an intent on paths that a run would touch.

use probity_evidence::GlobList;
use probity_intents::{IntentId, Ownership, ScopeEntrySet};
use schemars::JsonSchema;
use serde::Serialize;

/// A live claim of an intent on paths that a run would touch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathClaim {
    pub intent_id: IntentId,
    /// The label of its owner.
    pub agent: String,
    /// The purpose of the intent.
    pub intent: String,
    /// The relation between its owner and the caller.
    pub ownership: Ownership,
    /// Its entries that the run would touch, relative to the run's root; entries above that root keep their names.
    pub paths: ScopeEntrySet,
    /// The time at which it ends, even if its owner is alive.
    pub expires_at: String,
    /// Patterns that, added to a run's scope, exclude these paths.
    pub exclude: GlobList,
}
