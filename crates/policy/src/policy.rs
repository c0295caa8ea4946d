//! The policy: packs, gates, profiles and rules for the tree, independent of the file format.
//!
//! A policy is plain data and may be inconsistent (two packs with the same name, an invalid tier).
//! [`Policy::check`] finds that, and [`compute`](crate::compute) calls it first.

use crate::gate::{Gate, default_tier};
use crate::{
    AnalysisRules, ChangeRules, ContractRules, EnforceRules, FalseClaims, GitRules, HookRules,
    StrictnessProfile, TeamRules,
};
use probity_core::{Digest, Severity};
use probity_evidence::{AmendPolicy, GlobList, RefsRule, SignatureRule};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The profile of a policy that defines none.
pub(crate) const DEFAULT_PROFILE: &str = "default";

/// The input for plans and seals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// Versions of the policy's parts, copied to each plan.
    pub versions: Map<String, Value>,
    pub packs: Vec<PolicyPack>,
    pub gates: Vec<Gate>,
    pub profiles: Vec<PolicyProfile>,
    pub workspace: WorkspaceRules,
    pub amend: AmendPolicy,
    #[serde(skip_serializing_if = "ContractRules::is_silent")]
    pub contract: ContractRules,
    #[serde(skip_serializing_if = "AnalysisRules::is_silent")]
    pub analysis: AnalysisRules,
    #[serde(skip_serializing_if = "ChangeRules::is_silent")]
    pub change: ChangeRules,
    #[serde(skip_serializing_if = "EnforceRules::is_silent")]
    pub enforce: EnforceRules,
    #[serde(skip_serializing_if = "GitRules::is_silent")]
    pub git: GitRules,
    #[serde(skip_serializing_if = "HookRules::is_silent")]
    pub hook: HookRules,
    #[serde(skip_serializing_if = "TeamRules::is_silent")]
    pub team: TeamRules,
}

/// A named bundle of scope patterns and gates, selected by changed files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyPack {
    pub id: String,
    /// Patterns that the pack adds to R.
    #[serde(alias = "scopes")]
    pub scope: GlobList,
    /// Changed files that select the pack; defaults to its scope.
    #[serde(default)]
    pub when: Option<GlobList>,
    #[serde(default)]
    pub gates: Vec<String>,
    /// Minimum tier of a plan with this pack.
    #[serde(default = "default_tier")]
    pub gate_tier: String,
    /// Patterns of packs with higher precedence decide in R.
    #[serde(default)]
    pub precedence: i64,
}

/// A named set of obligations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PolicyProfile {
    pub id: String,
    /// Minimum tier of its plans.
    pub tier: String,
    /// Maximum number of packs in a plan.
    pub pack_cap: Option<u64>,
    /// Whether evidence must be signed.
    pub signature: SignatureRule,
}

/// Rules for the tree.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkspaceRules {
    /// Paths excluded from the delta because builds write them.
    pub build_outputs: GlobList,
    /// True if directories that a marker file identifies as a cache or a virtual environment are build outputs too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub recognize_outputs: bool,
    /// Paths that no change may touch, whatever its scope.
    pub protected: GlobList,
    /// Consequence of a git reference changing during a run.
    pub refs: RefsRule,
}

/// The policy of a tree without a policy file: a single profile without obligations.
impl Default for Policy {
    fn default() -> Self {
        Self {
            versions: Map::new(),
            packs: Vec::new(),
            gates: Vec::new(),
            profiles: vec![PolicyProfile::without_obligations(DEFAULT_PROFILE)],
            workspace: WorkspaceRules::default(),
            amend: AmendPolicy::default(),
            contract: ContractRules::default(),
            analysis: AnalysisRules::default(),
            change: ChangeRules::default(),
            enforce: EnforceRules::default(),
            git: GitRules::default(),
            hook: HookRules::default(),
            team: TeamRules::default(),
        }
    }
}

impl PolicyProfile {
    pub(crate) fn without_obligations(id: &str) -> Self {
        Self { id: id.into(), tier: default_tier(), pack_cap: None, signature: SignatureRule::default() }
    }
}

impl Policy {
    /// Serializes the policy with every default written out.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).expect("a policy has text keys and whole numbers only")
    }

    /// Returns the policy without everything that demands less than no policy would: what remains can only make a verdict
    /// stricter. For a policy that nobody has committed yet.
    #[must_use]
    pub fn demands_only(&self) -> Self {
        let mut policy = self.clone();
        policy.workspace.build_outputs = GlobList::default();
        policy.workspace.recognize_outputs = false;
        policy.analysis = AnalysisRules::default();
        policy.change.allow_skip_gates = false;
        policy.enforce = policy.enforce.demands_only();
        policy.git = GitRules::default();
        policy.hook = HookRules::default();
        policy.team = TeamRules::default();
        if policy.contract.strictness == StrictnessProfile::Relaxed {
            policy.contract.strictness = StrictnessProfile::default();
        }
        // Only a floor below the usual one demands more.
        policy.contract.severity_floor =
            policy.contract.severity_floor.filter(|&floor| floor == Severity::Info);
        policy.contract.false_claims =
            policy.contract.false_claims.filter(|&rule| rule == FalseClaims::Violate);
        policy
    }

    /// Identifies the policy: files with the same content have the same digest in either format.
    pub fn digest(&self) -> Digest {
        Digest::of_json(&self.to_json())
    }

    /// Returns the profile used if none is named: the only one, or the one called `default`.
    pub fn default_profile(&self) -> Option<&str> {
        match self.profiles.as_slice() {
            [only] => Some(&only.id),
            many => many.iter().map(|profile| profile.id.as_str()).find(|id| *id == DEFAULT_PROFILE),
        }
    }

    pub fn profile(&self, id: &str) -> Option<&PolicyProfile> {
        self.profiles.iter().find(|profile| profile.id == id)
    }

    pub fn gate(&self, id: &str) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.id == id)
    }
}
