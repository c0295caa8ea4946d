//! What an intent holds of the paths that a run would touch.

use probity_evidence::GlobList;
use probity_intents::{IntentId, Ownership, ScopeEntrySet};
use schemars::JsonSchema;
use serde::Serialize;

/// A live claim of an intent on paths that a run would touch.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PathClaim {
    /// The intent.
    pub intent_id: IntentId,
    /// What people call its owner.
    pub agent: String,
    /// What it is for.
    pub intent: String,
    /// How it relates to the caller.
    pub ownership: Ownership,
    /// Its entries that the run would touch, as the run names paths; those above its root keep their names.
    pub paths: ScopeEntrySet,
    /// When it ends, whatever its owner does.
    pub expires_at: String,
    /// What to add to a run's scope to leave these paths alone.
    pub exclude: GlobList,
}
