//! The policy in `probity.toml`. Nothing is ignored: an unknown key is an error with its line and a suggestion.

use crate::gate::Gate;
use crate::policy::{Policy, PolicyPack, WorkspaceRules};
use crate::policy_forms::{PolicyForm, PolicySections, ProfileForm};
use crate::{
    AnalysisRules, ChangeRules, ContractRules, EnforceRules, GitRules, HookRules, TeamRules, suggest,
};
use probity_core::ReasonCode;
use probity_evidence::AmendPolicy;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}{}", suggestion_hint(.suggestion.as_deref()))]
pub struct ConfigError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
    pub message: String,
    pub suggestion: Option<String>,
}

fn suggestion_hint(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct PolicyFile {
    versions: BTreeMap<String, String>,
    workspace: WorkspaceRules,
    pack: Vec<PolicyPack>,
    gate: Vec<Gate>,
    profile: BTreeMap<String, ProfileForm>,
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
    pub fn from_toml(text: &str) -> Result<Self, ConfigError> {
        let file: PolicyFile = toml::from_str(text).map_err(|error| ConfigError::new(text, &error))?;
        let versions = file.versions.into_iter().map(|(part, version)| (part, Value::String(version)));
        let profiles = file.profile.into_iter().map(|(id, form)| form.into_profile(id));
        Ok(Self::from(PolicyForm {
            versions: versions.collect(),
            packs: file.pack,
            gates: file.gate,
            profiles: profiles.collect(),
            sections: PolicySections {
                workspace: file.workspace,
                amend: file.amend,
                contract: file.contract,
                analysis: file.analysis,
                change: file.change,
                enforce: file.enforce,
                git: file.git,
                hook: file.hook,
                team: file.team,
            },
        }))
    }
}

/// Returns the line and column of a byte offset, both from 1; the column counts characters.
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

impl ConfigError {
    fn new(text: &str, error: &toml::de::Error) -> Self {
        let at = error.span().map_or(0, |span| span.start);
        let (line, column) = line_and_column(text, at);
        Self { line, column, message: error.message().to_owned(), suggestion: suggestion(error.message()) }
    }

    pub const fn reason(&self) -> ReasonCode {
        ReasonCode::ConfigInvalid
    }
}

/// Returns the nearest known word if the message reads "unknown field `x`, expected one of `a`, `b`" or similar.
pub(crate) fn suggestion(message: &str) -> Option<String> {
    if let Some((unknown, known)) =
        message.strip_prefix('`').and_then(|rest| rest.split_once("` is not one of "))
    {
        return suggest::nearest(unknown, known.split(", ")).map(str::to_owned);
    }
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut quoted = message.split('`').skip(1).step_by(2);
    let unknown = quoted.next()?;
    suggest::nearest(unknown, quoted).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_evidence::{AmendPermission, GlobList, RefsRule, SignatureRule};

    const WHOLE: &str = r#"
[versions]
packs = "1.4.0"

[workspace]
build_outputs = ["target/**"]
protected     = [".github/workflows/**"]
refs = "protect"

[amend]
during = "deny"

[[pack]]
id = "BP-PACK-CODE"
when  = ["src/**", "tests/**"]
scope = ["src/**", "tests/**", "pyproject.toml", "package.json"]
gates = ["lint", "test"]

[[gate]]
id = "lint"
run = ["ruff", "check", "src/"]
tier = "T0"
timeout = "30s"
required = true

[[gate]]
id = "test"
run = ["pytest"]
env = ["CI"]
outputs = [".pytest_cache/**"]

[profile.team]
tier = "T1"
signature = "required"
"#;

    fn error(text: &str) -> ConfigError {
        Policy::from_toml(text).expect_err("should be refused")
    }

    #[test]
    fn reads_all_of_a_policy() {
        let policy = Policy::from_toml(WHOLE).expect("a policy");
        assert_eq!(policy.check(), Ok(()));
        assert_eq!(policy.workspace.build_outputs, GlobList::new(["target/**"]));
        assert_eq!(policy.workspace.refs, RefsRule::Protect);
        assert_eq!(
            (policy.amend.during, policy.amend.after),
            (AmendPermission::Deny, AmendPermission::Allow)
        );
        assert_eq!(policy.gates[0].timeout_ms, 30_000);
        assert_eq!(policy.gates[1].env, ["CI"]);
        assert_eq!(policy.default_profile(), Some("team"));
        assert_eq!(policy.profiles[0].signature, SignatureRule::Required);
    }

    #[test]
    fn a_policy_that_only_demands_lets_nothing_pass_and_survives_being_kept() {
        let lax = "[change]\nstrict = true\nallow_skip_gates = true\n[contract]\nstrictness = \"relaxed\"\n\
                   severity_floor = \"critical\"\n[analysis]\nexclude = [\"src/**\"]\n";
        let policy = Policy::from_toml(&format!("{WHOLE}\n{lax}")).expect("a policy").demands_only();
        assert_eq!(policy.check(), Ok(()));
        assert_eq!(policy.workspace.build_outputs, GlobList::default());
        assert_eq!(
            (&policy.analysis, &policy.contract),
            (&AnalysisRules::default(), &ContractRules::default())
        );
        assert_eq!((policy.change.strict, policy.change.allow_skip_gates), (true, false));
        assert_eq!(
            (policy.gates.len(), policy.packs.len(), policy.workspace.protected.is_empty()),
            (2, 1, false)
        );
        assert_eq!(Policy::from_json(&policy.to_json()), Ok(policy));
    }

    #[test]
    fn an_empty_file_is_the_default_policy() {
        assert_eq!(Policy::from_toml(""), Ok(Policy::default()));
        assert_eq!(Policy::default().default_profile(), Some("default"));
    }

    #[test]
    fn an_unknown_key_is_an_error_with_its_line_and_a_suggestion() {
        let error = error("[workspace]\nprotected = []\nbuild_output = []\n");
        assert_eq!((error.line, error.column), (3, 1));
        assert_eq!(error.suggestion.as_deref(), Some("build_outputs"));
        assert!(error.to_string().contains("did you mean `build_outputs`?"), "{error}");
    }

    #[test]
    fn unknown_tables_words_and_nested_keys_are_errors_too() {
        assert_eq!(error("[[packs]]\nid = \"a\"\n").suggestion.as_deref(), Some("pack"));
        assert_eq!(error("[workspace]\nrefs = \"protected\"\n").suggestion.as_deref(), Some("protect"));
        let nested = error("[[gate]]\nid = \"a\"\nrun = [\"x\"]\nrequird = false\n");
        assert_eq!((nested.line, nested.suggestion.as_deref()), (4, Some("required")));
        let profile = error("[profile.team]\nsignatur = \"required\"\n");
        assert_eq!((profile.line, profile.suggestion.as_deref()), (2, Some("signature")));
        let change = error("[change]\nstrickt = true\n");
        assert_eq!((change.line, change.suggestion.as_deref()), (2, Some("strict")));
        let analysis = error("[analysis]\ncyclomatik = 9\n");
        assert_eq!((analysis.line, analysis.suggestion.as_deref()), (2, Some("cyclomatic")));
        assert_eq!(error("[amend]\nbefore = \"deny\"\n").line, 2);
        let strictness = error("[contract]\nstrictness = \"relax\"\n");
        assert_eq!((strictness.line, strictness.suggestion.as_deref()), (2, Some("relaxed")));
    }

    #[test]
    fn wrong_values_say_where_they_stand() {
        assert_eq!(error("[[gate]]\nid = \"a\"\nrun = [\"x\"]\ntimeout = \"soon\"\n").line, 4);
        assert_eq!(error("[workspace]\nprotected = 5\n").line, 2);
        assert_eq!(error("a = \n").line, 1);
    }
}
