//! The policy as a JSON document, with packs, gates and profiles in lists, as other tools write them.
//!
//! Packs may say `scopes` for `scope`. Purely descriptive keys are skipped; any other unknown key is an
//! error, because a misspelled obligation would not be enforced.

use crate::config::suggestion;
use crate::policy::{Policy, PolicyProfile, WorkspaceRules};
use crate::policy_forms::{PolicyForm, PolicySections, ProfileForm};
use crate::{AnalysisRules, ChangeRules, ContractRules, EnforceRules, GitRules, HookRules, TeamRules};
use probity_core::ReasonCode;
use probity_evidence::AmendPolicy;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Keys that describe a part of a policy without any effect.
const DESCRIPTIVE_KEYS: &[&str] =
    &["about", "coverage_tags", "description", "name", "owner", "path", "replacement", "status", "version"];

/// Further descriptive keys of packs. Not of gates: the `kind` of a gate decides which claims it proves.
const DESCRIPTIVE_PACK_KEYS: &[&str] = &["kind"];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}{}", .suggestion.as_ref().map_or_else(String::new, |word| format!("; did you mean `{word}`?")))]
pub struct PolicyFormError {
    /// The list and position, such as `packs[2]`.
    pub place: String,
    pub message: String,
    pub suggestion: Option<String>,
}

impl PolicyFormError {
    fn new(place: &str, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        Self { place: place.into(), suggestion: suggestion(&message), message }
    }

    pub const fn reason(&self) -> ReasonCode {
        ReasonCode::ConfigInvalid
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct PolicyDocument {
    versions: Map<String, Value>,
    packs: Vec<Value>,
    gates: Vec<Value>,
    profiles: Vec<Value>,
    workspace: WorkspaceRules,
    amend: AmendPolicy,
    contract: ContractRules,
    analysis: AnalysisRules,
    change: ChangeRules,
    enforce: EnforceRules,
    git: GitRules,
    hook: HookRules,
    team: TeamRules,
}

impl Policy {
    pub fn from_json(value: &Value) -> Result<Self, PolicyFormError> {
        let document: PolicyDocument = read("the policy", value, &[])?;
        Ok(Self::from(PolicyForm {
            versions: document.versions,
            packs: read_list("packs", &document.packs, DESCRIPTIVE_PACK_KEYS)?,
            gates: read_list("gates", &document.gates, &[])?,
            profiles: document.profiles.iter().enumerate().map(read_profile).collect::<Result<_, _>>()?,
            sections: PolicySections {
                workspace: document.workspace,
                amend: document.amend,
                contract: document.contract,
                analysis: document.analysis,
                change: document.change,
                enforce: document.enforce,
                git: document.git,
                hook: document.hook,
                team: document.team,
            },
        }))
    }
}

/// Reads a profile; in JSON its id is one of its members.
fn read_profile((index, value): (usize, &Value)) -> Result<PolicyProfile, PolicyFormError> {
    let place = format!("profiles[{index}]");
    let mut members = members(&place, value)?;
    let Some(Value::String(id)) = members.remove("id") else {
        let message = "missing field `id`: the name of the profile".to_owned();
        return Err(PolicyFormError { place, message, suggestion: None });
    };
    Ok(read::<ProfileForm>(&place, &Value::Object(members), &[])?.into_profile(id))
}

fn read_list<T: DeserializeOwned>(
    name: &str,
    list: &[Value],
    descriptions: &[&str],
) -> Result<Vec<T>, PolicyFormError> {
    list.iter()
        .enumerate()
        .map(|(index, item)| read(&format!("{name}[{index}]"), item, descriptions))
        .collect()
}

/// Deserializes an object without its descriptive keys: [`DESCRIPTIVE_KEYS`] and the given ones.
fn read<T: DeserializeOwned>(
    place: &str,
    value: &Value,
    descriptions: &[&str],
) -> Result<T, PolicyFormError> {
    let mut members = members(place, value)?;
    let describes = |key: &str| DESCRIPTIVE_KEYS.contains(&key) || descriptions.contains(&key);
    members.retain(|key, _| !describes(key));
    serde_json::from_value(Value::Object(members)).map_err(|error| PolicyFormError::new(place, &error))
}

fn members(place: &str, value: &Value) -> Result<Map<String, Value>, PolicyFormError> {
    value.as_object().cloned().ok_or_else(|| PolicyFormError {
        place: place.into(),
        message: "this must be an object".into(),
        suggestion: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GateKind;
    use probity_evidence::GlobList;
    use serde_json::json;

    #[test]
    fn reads_packs_in_either_spelling_and_passes_over_descriptions() {
        let policy = Policy::from_json(&json!({"packs": [
            {"id": "a", "scope": ["src/**"]},
            {"id": "b", "scopes": ["docs/**"], "owner": "docs team", "status": "active", "coverage_tags": []},
        ]}));
        let packs = policy.expect("a policy").packs;
        assert_eq!(packs[0].scope, GlobList::new(["src/**"]));
        assert_eq!(packs[1].scope, GlobList::new(["docs/**"]));
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
    fn a_profile_may_be_described_and_a_misspelt_obligation_of_it_is_an_error() {
        let policy = Policy::from_json(&json!({"profiles": [{"id": "team", "owner": "the team"}]}));
        assert_eq!(policy.expect("a policy").default_profile(), Some("team"));
        let error = Policy::from_json(&json!({"profiles": [{"id": "team", "signatur": "required"}]}))
            .expect_err("should be refused");
        assert_eq!((error.place.as_str(), error.suggestion.as_deref()), ("profiles[0]", Some("signature")));
        assert!(Policy::from_json(&json!({"profiles": [{"tier": "T1"}]})).is_err());
    }

    #[test]
    fn the_kind_of_a_gate_counts_in_both_forms() {
        let toml = "[[gate]]\nid = \"all\"\nrun = [\"make\"]\nkind = \"test\"\n";
        let json = json!({"gates": [{"id": "all", "run": ["make"], "kind": "test"}]});
        let from_toml = Policy::from_toml(toml).expect("a policy");
        let from_json = Policy::from_json(&json).expect("a policy");
        assert_eq!(from_json.gates[0].kind(), GateKind::Test);
        assert_eq!(from_toml, from_json);
        let unknown = json!({"gates": [{"id": "all", "run": ["make"], "kind": "tset"}]});
        assert!(Policy::from_json(&unknown).is_err());
    }

    #[test]
    fn a_policy_without_profiles_has_the_default_one_in_both_forms() {
        let policy = Policy::from_json(&json!({})).expect("a policy");
        assert_eq!(policy, Policy::default());
        assert_eq!(policy, Policy::from_toml("").expect("a policy"));
        assert_eq!(policy.default_profile(), Some("default"));
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
