//! The policy as a JSON document: packs, gates and profiles in lists, as other tools write them.
//!
//! Packs may say `scopes` for `scope`. Keys that only describe are passed over; any other unknown key is an error,
//! because a misspelt obligation would be none. Profiles may carry settings that a plan does not need.

use crate::config::suggestion;
use crate::gate::Gate;
use crate::policy::{Pack, Policy, Profile, Workspace};
use crate::{AnalysisRules, ChangeRules, ContractRules, gate};
use canon::Reason;
use evidence::{AmendPolicy, SignatureRule};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Keys that describe a pack or a gate and decide nothing.
const DESCRIPTIVE: &[&str] = &[
    "about",
    "coverage_tags",
    "description",
    "kind",
    "name",
    "owner",
    "path",
    "replacement",
    "status",
    "version",
];

/// Why a JSON policy cannot be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}{}", .suggestion.as_ref().map_or_else(String::new, |word| format!("; did you mean `{word}`?")))]
pub struct PolicyFormError {
    /// The list and position, as `packs[2]`.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// The word that was probably meant.
    pub suggestion: Option<String>,
}

impl PolicyFormError {
    fn new(place: &str, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        Self { place: place.into(), suggestion: suggestion(&message), message }
    }

    /// The stable code.
    pub const fn reason(&self) -> Reason {
        Reason::ConfigInvalid
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Document {
    versions: Map<String, Value>,
    packs: Vec<Value>,
    gates: Vec<Value>,
    profiles: Vec<Value>,
    workspace: Workspace,
    amend: AmendPolicy,
    contract: ContractRules,
    analysis: AnalysisRules,
    change: ChangeRules,
}

#[derive(Deserialize)]
struct ProfileForm {
    id: String,
    #[serde(default = "gate::default_tier")]
    tier: String,
    pack_cap: Option<u64>,
    #[serde(default)]
    signature: SignatureRule,
}

impl Policy {
    /// Reads a policy from a JSON value.
    pub fn from_json(value: &Value) -> Result<Self, PolicyFormError> {
        let document: Document = read("the policy", value)?;
        let profiles: Vec<ProfileForm> = read_list("profiles", &document.profiles)?;
        Ok(Self {
            versions: document.versions,
            packs: read_list::<Pack>("packs", &document.packs)?,
            gates: read_list::<Gate>("gates", &document.gates)?,
            profiles: profiles.into_iter().map(profile).collect(),
            workspace: document.workspace,
            amend: document.amend,
            contract: document.contract,
            analysis: document.analysis,
            change: document.change,
        })
    }
}

fn profile(form: ProfileForm) -> Profile {
    Profile { id: form.id, tier: form.tier, pack_cap: form.pack_cap, signature: form.signature }
}

fn read_list<T: DeserializeOwned>(name: &str, list: &[Value]) -> Result<Vec<T>, PolicyFormError> {
    list.iter().enumerate().map(|(index, item)| read(&format!("{name}[{index}]"), item)).collect()
}

fn read<T: DeserializeOwned>(place: &str, value: &Value) -> Result<T, PolicyFormError> {
    let mut members = value.as_object().cloned().ok_or_else(|| PolicyFormError {
        place: place.into(),
        message: "this must be an object".into(),
        suggestion: None,
    })?;
    members.retain(|key, _| !DESCRIPTIVE.contains(&key.as_str()));
    serde_json::from_value(Value::Object(members)).map_err(|error| PolicyFormError::new(place, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence::Globs;
    use serde_json::json;

    #[test]
    fn reads_packs_in_either_spelling_and_passes_over_descriptions() {
        let policy = Policy::from_json(&json!({"packs": [
            {"id": "a", "scope": ["src/**"]},
            {"id": "b", "scopes": ["docs/**"], "owner": "docs team", "status": "active", "coverage_tags": []},
        ]}));
        let packs = policy.expect("a policy").packs;
        assert_eq!(packs[0].scope, Globs::new(["src/**"]));
        assert_eq!(packs[1].scope, Globs::new(["docs/**"]));
    }

    #[test]
    fn a_misspelt_obligation_is_an_error() {
        let error = Policy::from_json(&json!({"packs": [{"id": "a", "scope": [], "gate": ["lint"]}]}))
            .expect_err("should be refused");
        assert_eq!((error.place.as_str(), error.suggestion.as_deref()), ("packs[0]", Some("gates")));
        assert!(Policy::from_json(&json!({"pack": []})).is_err());
        assert!(Policy::from_json(&json!([])).is_err());
    }

    #[test]
    fn a_profile_may_have_settings_of_others() {
        let policy = Policy::from_json(&json!({"profiles": [{"id": "team", "retention_days": 30}]}));
        assert_eq!(policy.expect("a policy").default_profile(), Some("team"));
    }

    #[test]
    fn both_forms_of_one_policy_have_one_digest() {
        let toml =
            "[[gate]]\nid = \"lint\"\nrun = [\"ruff\"]\ntimeout = \"30s\"\n[profile.team]\ntier = \"T1\"\n";
        let json = json!({
            "gates": [{"id": "lint", "tier": "T0", "run": ["ruff"], "timeout_ms": 30000}],
            "profiles": [{"id": "team", "tier": "T1"}],
        });
        let from_toml = Policy::from_toml(toml).expect("a policy");
        let from_json = Policy::from_json(&json).expect("a policy");
        assert_eq!(from_toml.digest(), from_json.digest());
        assert_ne!(from_toml.digest(), Policy::default().digest());
    }
}
