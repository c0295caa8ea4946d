//! Collects what a policy seals for a run.

use crate::Policy;
use probity_core::Digest;
use probity_evidence::{EnforcementLevel, GateSettings, GlobList, Plan, SealContents, SignatureRule};

impl Policy {
    /// Returns what the policy says about a run under `plan`, ready to be sealed.
    pub fn seal_contents(&self, plan: Plan, run_id: &str, sealed_at: &str, root: Digest) -> SealContents {
        let settings = |id: &str| {
            let gate = self.gate(id)?;
            let settings = GateSettings {
                env: gate.env.clone(),
                outputs: gate.outputs.clone(),
                declared_inputs: gate.inputs.clone(),
                ..GateSettings::default()
            };
            Some((gate.id.clone(), settings))
        };
        SealContents {
            run_id: run_id.into(),
            sealed_at: sealed_at.into(),
            policy_digest: self.digest(),
            root,
            start: None,
            build_outputs: self.workspace.build_outputs.clone(),
            recognize_outputs: self.workspace.recognize_outputs,
            protected: self.workspace.protected.clone(),
            grants: GlobList::default(),
            refs: self.workspace.refs,
            gate_settings: plan.gates.iter().filter_map(|gate| settings(&gate.id)).collect(),
            signature: self.profile(&plan.profile).map_or_else(SignatureRule::default, |it| it.signature),
            amend: self.amend,
            enforcement: EnforcementLevel::default(),
            confinement: None,
            intent_id: None,
            agent: None,
            log: None,
            plan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PlanRequest, compute_plan};

    const POLICY: &str = r#"
[workspace]
build_outputs = ["target/**"]
[[gate]]
id = "lint"
run = ["ruff"]
env = ["CI"]
outputs = [".ruff_cache/**"]
[[gate]]
id = "deep"
run = ["deep"]
tier = "T9"
[profile.team]
signature = "required"
"#;

    #[test]
    fn takes_what_the_policy_says_about_the_plan() {
        let policy = Policy::from_toml(POLICY).expect("a policy");
        let request = PlanRequest {
            profile: "team".into(),
            scope: GlobList::new(["src/**"]),
            ..PlanRequest::default()
        };
        let plan = compute_plan(&policy, &request).expect("a plan");
        let contents = policy.seal_contents(plan, "run-1", "2026-03-01T10:00:00Z", Digest::of(b"tree"));
        assert_eq!(contents.signature, SignatureRule::Required);
        assert_eq!(contents.build_outputs, GlobList::new(["target/**"]));
        assert_eq!(contents.gate_settings["lint"].env, ["CI"]);
        assert!(!contents.gate_settings.contains_key("deep"), "a skipped gate needs no settings");
    }
}
