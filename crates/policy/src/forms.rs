//! How a policy is written: the parts that `probity.toml` and `probity.json` have in common. Both say the same with the
//! same words, so that one obligation means one thing; only the names of the lists differ.

use crate::gate::{self, Gate};
use crate::policy::{Pack, Policy, Profile, Workspace};
use crate::{AnalysisRules, ChangeRules, ContractRules};
use probity_evidence::{AmendPolicy, SignatureRule};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A profile as it is written, without its name: a misspelt obligation would be none, so it is refused.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProfileForm {
    #[serde(default = "gate::default_tier")]
    tier: String,
    pack_cap: Option<u64>,
    #[serde(default)]
    signature: SignatureRule,
}

impl ProfileForm {
    /// The profile of this name.
    pub(crate) fn named(self, id: String) -> Profile {
        Profile { id, tier: self.tier, pack_cap: self.pack_cap, signature: self.signature }
    }
}

/// All that a policy file says.
#[derive(Debug, Default)]
pub(crate) struct PolicyForm {
    pub(crate) versions: Map<String, Value>,
    pub(crate) packs: Vec<Pack>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) profiles: Vec<Profile>,
    pub(crate) sections: PolicySections,
}

/// What both files write in the same way.
#[derive(Debug, Default)]
pub(crate) struct PolicySections {
    pub(crate) workspace: Workspace,
    pub(crate) amend: AmendPolicy,
    pub(crate) contract: ContractRules,
    pub(crate) analysis: AnalysisRules,
    pub(crate) change: ChangeRules,
}

impl From<PolicyForm> for Policy {
    /// A policy that names no profile has the default one.
    fn from(form: PolicyForm) -> Self {
        let PolicySections { workspace, amend, contract, analysis, change } = form.sections;
        let profiles = if form.profiles.is_empty() { Self::default().profiles } else { form.profiles };
        Self {
            versions: form.versions,
            packs: form.packs,
            gates: form.gates,
            profiles,
            workspace,
            amend,
            contract,
            analysis,
            change,
        }
    }
}
