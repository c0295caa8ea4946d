//! The parts that `probity.toml` and `probity.json` have in common. Both use the same words with the same
//! meaning; only the names of the lists differ.

use crate::gate::{self, Gate};
use crate::policy::{Policy, PolicyPack, PolicyProfile, WorkspaceRules};
use crate::{AnalysisRules, ChangeRules, ContractRules, EnforceRules, GitRules, HookRules, TeamRules};
use probity_evidence::{AmendPolicy, SignatureRule};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A profile as written, without its name. Unknown fields are refused: a misspelled obligation would not be enforced.
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
    pub(crate) fn into_profile(self, id: String) -> PolicyProfile {
        PolicyProfile { id, tier: self.tier, pack_cap: self.pack_cap, signature: self.signature }
    }
}

/// The contents of a policy file.
#[derive(Debug, Default)]
pub(crate) struct PolicyForm {
    pub(crate) versions: Map<String, Value>,
    pub(crate) packs: Vec<PolicyPack>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) profiles: Vec<PolicyProfile>,
    pub(crate) sections: PolicySections,
}

/// Sections that both files write in the same way.
#[derive(Debug, Default)]
pub(crate) struct PolicySections {
    pub(crate) workspace: WorkspaceRules,
    pub(crate) amend: AmendPolicy,
    pub(crate) contract: ContractRules,
    pub(crate) analysis: AnalysisRules,
    pub(crate) change: ChangeRules,
    pub(crate) enforce: EnforceRules,
    pub(crate) git: GitRules,
    pub(crate) hook: HookRules,
    pub(crate) team: TeamRules,
}

impl From<PolicyForm> for Policy {
    /// A policy without profiles gets the default one.
    fn from(form: PolicyForm) -> Self {
        let PolicySections { workspace, amend, contract, analysis, change, enforce, git, hook, team } =
            form.sections;
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
            enforce,
            git,
            hook,
            team,
        }
    }
}
