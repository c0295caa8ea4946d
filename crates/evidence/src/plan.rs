//! The plan: what a change may touch and what must pass, as one hashed document.

use crate::Globs;
use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a change may touch and what must pass.
///
/// Reading is open to fields that later versions may add; to check a hash, hash the document as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The form of the document: `"1"`.
    pub version: String,
    /// The profile under which the plan was made.
    pub profile: String,
    /// Versions of the policy's parts.
    pub policy_versions: Map<String, Value>,
    /// The chosen packs, strongest first.
    pub packs: Vec<String>,
    /// The highest tier that profile, request and packs ask for.
    pub tier: String,
    /// The gates to run, in the order of the policy.
    pub gates: Vec<PlannedGate>,
    /// Gates that the tier leaves out.
    pub skipped_gates: Vec<String>,
    /// R.
    pub scope: Globs,
    /// How many packs were allowed and how many chosen.
    pub pack_cap: PackCap,
}

/// A gate of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedGate {
    /// The name of the gate.
    pub id: String,
    /// Its tier.
    pub tier: String,
    /// Program and arguments.
    pub run: Vec<String>,
    /// How long it may run.
    pub timeout_ms: u64,
    /// Whether its failure fails the run.
    pub required: bool,
}

/// How many packs a plan may have and has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PackCap {
    /// The profile's cap, if it has one.
    pub cap: Option<u64>,
    /// How many packs were chosen.
    pub selected: u64,
}

impl Plan {
    /// The form of the documents that this code writes.
    pub const VERSION: &str = "1";

    /// The plan as JSON.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a plan has text keys and whole numbers only")
    }

    /// The hash that a seal fixes.
    pub fn hash(&self) -> Digest {
        Digest::of_json(&self.to_json())
    }

    /// The gates whose failure fails the run.
    pub fn required_gates(&self) -> impl Iterator<Item = &str> {
        self.gates.iter().filter(|gate| gate.required).map(|gate| gate.id.as_str())
    }
}
