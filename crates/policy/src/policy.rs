//! The policy: packs, gates, profiles and the rules for the tree, whatever file they came from.
//!
//! A policy is plain data. It may still be wrong (two packs of one name, a tier that is none): [`Policy::check`]
//! says so, and [`compute`](crate::compute) asks it first.

use crate::gate::{Gate, default_tier};
use crate::{AnalysisRules, ChangeRules, ContractRules};
use probity_core::Digest;
use probity_evidence::{AmendPolicy, Globs, RefsRule, SignatureRule};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The profile of a `probity.toml` that defines none.
pub(crate) const DEFAULT_PROFILE: &str = "default";

/// Everything that a plan and a seal are made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// Versions of the policy's parts, copied to each plan.
    pub versions: Map<String, Value>,
    /// Bundles of scope patterns and gates.
    pub packs: Vec<Pack>,
    /// Commands that must pass.
    pub gates: Vec<Gate>,
    /// Named sets of obligations.
    pub profiles: Vec<Profile>,
    /// Rules for the tree.
    pub workspace: Workspace,
    /// When a sealed scope may be amended.
    pub amend: AmendPolicy,
    /// How a patch contract is taken.
    #[serde(skip_serializing_if = "ContractRules::is_silent")]
    pub contract: ContractRules,
    /// What structural analysis looks for.
    #[serde(skip_serializing_if = "AnalysisRules::is_silent")]
    pub analysis: AnalysisRules,
    /// The rules for changes in a shared tree.
    #[serde(skip_serializing_if = "ChangeRules::is_silent")]
    pub change: ChangeRules,
}

/// A named bundle of scope patterns and gates, chosen by changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pack {
    /// The name of the pack.
    pub id: String,
    /// What the pack adds to R.
    #[serde(alias = "scopes")]
    pub scope: Globs,
    /// Which changed files choose the pack; the scope itself when absent.
    #[serde(default)]
    pub when: Option<Globs>,
    /// Gates that belong to the pack.
    #[serde(default)]
    pub gates: Vec<String>,
    /// The lowest tier of a plan with this pack.
    #[serde(default = "default_tier")]
    pub gate_tier: String,
    /// Stronger packs have the last word in R.
    #[serde(default)]
    pub precedence: i64,
}

/// A named set of obligations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// The name of the profile.
    pub id: String,
    /// The lowest tier of its plans.
    pub tier: String,
    /// How many packs one change may need.
    pub pack_cap: Option<u64>,
    /// Whether evidence must be signed.
    pub signature: SignatureRule,
}

/// Rules for the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Workspace {
    /// Paths that are not part of the delta: what builds write.
    pub build_outputs: Globs,
    /// Whether directories that say themselves that they are caches or virtual environments are build outputs too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recognize_outputs: bool,
    /// Paths that no change may touch, whatever its scope.
    pub protected: Globs,
    /// What a changed git reference means.
    pub refs: RefsRule,
}

/// The policy of a tree without `probity.toml`: nothing but one profile without obligations.
impl Default for Policy {
    fn default() -> Self {
        Self {
            versions: Map::new(),
            packs: Vec::new(),
            gates: Vec::new(),
            profiles: vec![Profile::named(DEFAULT_PROFILE)],
            workspace: Workspace::default(),
            amend: AmendPolicy::default(),
            contract: ContractRules::default(),
            analysis: AnalysisRules::default(),
            change: ChangeRules::default(),
        }
    }
}

impl Profile {
    /// A profile without obligations.
    pub(crate) fn named(id: &str) -> Self {
        Self { id: id.into(), tier: default_tier(), pack_cap: None, signature: SignatureRule::default() }
    }
}

impl Policy {
    /// The policy as JSON, every default written out.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a policy has text keys and whole numbers only")
    }

    /// The identity of the policy: equal for files of any form that say the same.
    pub fn digest(&self) -> Digest {
        Digest::of_json(&self.to_json())
    }

    /// The profile that counts when nobody names one: the only one, or the one called `default`.
    pub fn default_profile(&self) -> Option<&str> {
        match self.profiles.as_slice() {
            [only] => Some(&only.id),
            many => many.iter().map(|profile| profile.id.as_str()).find(|id| *id == DEFAULT_PROFILE),
        }
    }

    /// The profile called `id`.
    pub fn profile(&self, id: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.id == id)
    }

    /// The gate called `id`.
    pub fn gate(&self, id: &str) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.id == id)
    }
}
