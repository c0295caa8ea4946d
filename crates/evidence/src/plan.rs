//! The plan: the scope of a change and the gates it must pass, as one hashed document.

use crate::GlobList;
use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a change may touch and which gates must pass.
///
/// Unknown fields are ignored, so that later versions can add some. To check a hash, hash the JSON that was
/// read, not this struct.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Format version: `"1"`.
    pub version: String,
    /// The policy profile the plan was computed from.
    pub profile: String,
    /// Versions of the policy's parts.
    pub policy_versions: Map<String, Value>,
    /// The selected packs, strongest first.
    pub packs: Vec<String>,
    /// The highest tier required by the profile, the request or a pack.
    pub tier: String,
    /// The gates to run, in policy order.
    pub gates: Vec<PlannedGate>,
    /// Gates above the tier, which are not run.
    pub skipped_gates: Vec<String>,
    /// The paths the change may touch (R).
    pub scope: GlobList,
    /// The number of packs allowed and selected.
    pub pack_cap: PackCap,
}

/// A gate of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedGate {
    /// The gate's id.
    pub id: String,
    /// The tier the gate belongs to.
    pub tier: String,
    /// Program and arguments.
    pub run: Vec<String>,
    /// Time limit in milliseconds.
    pub timeout_ms: u64,
    /// True if a failure of this gate fails the run.
    pub required: bool,
}

/// The number of packs allowed and selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackCap {
    /// The profile's limit, if it has one.
    pub cap: Option<u64>,
    /// The number of packs selected.
    pub selected: u64,
}

impl Plan {
    pub const PLAN_VERSION: &str = "1";

    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a plan has text keys and whole numbers only")
    }

    /// Returns the hash that a seal fixes.
    pub fn hash(&self) -> Digest {
        Digest::of_json(&self.to_json())
    }

    pub fn required_gates(&self) -> impl Iterator<Item = &str> {
        self.gates.iter().filter(|gate| gate.required).map(|gate| gate.id.as_str())
    }
}
