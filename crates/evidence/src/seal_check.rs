//! Compares a finished run with its seal: same plan, same policy, every gate run, nothing outside the scope.

use crate::amend::amended_scope;
use crate::{Amendment, GlobList};
use probity_core::{Digest, ReasonCode, json};
use probity_paths::RepoPath;
use serde::Deserialize;
use serde_json::Value;

probity_core::word_enum! {
    /// How a gate ended.
    pub enum GateStatus {
        /// It ran and was content.
        Pass = "pass",
        /// It ran and was not.
        Fail = "fail",
        /// It did not run.
        Skip = "skip",
    }
}

/// The facts of a run that the seal is compared with.
#[derive(Debug, Clone, Copy)]
pub struct RunObservation<'a> {
    /// The plan the run claims to have followed, exactly as read.
    pub plan: &'a Value,
    /// The policy versions the run claims.
    pub policy_versions: &'a Value,
    /// Gate ids with their outcomes.
    pub gate_results: &'a [(String, GateStatus)],
    /// Changed paths (D).
    pub workspace_delta_paths: &'a [Vec<u8>],
    pub amendments: &'a [Amendment],
}

/// How a run departs from its seal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SealCheck {
    /// Reason codes, sorted by their text; empty if the run kept to its seal.
    pub codes: Vec<ReasonCode>,
    /// Sealed gates that did not run, in plan order.
    pub missing_gates: Vec<String>,
    /// Paths outside the sealed scope and its amendments, in delta order.
    pub scope_violations: Vec<Vec<u8>>,
}

/// The fields of a sealed plan that the check needs; the hash covers the rest.
#[derive(Deserialize)]
struct SealedPlan {
    gates: Vec<SealedGate>,
    scope: GlobList,
    policy_versions: Value,
}

#[derive(Deserialize)]
struct SealedGate {
    id: String,
}

pub fn seal_check(sealed_plan: &Value, plan_hash: Digest, observed: &RunObservation<'_>) -> SealCheck {
    let mut check = SealCheck::default();
    if Digest::of_json(observed.plan) != plan_hash || Digest::of_json(sealed_plan) != plan_hash {
        check.codes.push(ReasonCode::SealPlanMismatch);
    }
    match SealedPlan::deserialize(sealed_plan) {
        Ok(sealed) => check.compare(&sealed, observed),
        Err(_) => check.codes.push(ReasonCode::SealDamaged),
    }
    check.codes.sort_by_key(|reason| reason.as_str());
    check
}

impl SealCheck {
    fn compare(&mut self, sealed: &SealedPlan, observed: &RunObservation<'_>) {
        if json::canonical(&sealed.policy_versions) != json::canonical(observed.policy_versions) {
            self.codes.push(ReasonCode::SealPolicyDrift);
        }
        let ran = |id: &str| {
            observed.gate_results.iter().any(|(gate, status)| gate == id && *status != GateStatus::Skip)
        };
        self.missing_gates =
            sealed.gates.iter().filter(|gate| !ran(&gate.id)).map(|gate| gate.id.clone()).collect();
        if !self.missing_gates.is_empty() {
            self.codes.push(ReasonCode::SealMissingGates);
        }
        self.compare_scope(&sealed.scope, observed);
    }

    fn compare_scope(&mut self, sealed: &GlobList, observed: &RunObservation<'_>) {
        let scope = match amended_scope(sealed, observed.amendments) {
            Ok(scope) => scope,
            Err(error) => return self.codes.push(error.reason),
        };
        // A path that is not valid in a tree is outside every scope.
        let is_inside = |path: &[u8]| RepoPath::parse(path).is_ok_and(|path| scope.contains(&path));
        self.scope_violations =
            observed.workspace_delta_paths.iter().filter(|path| !is_inside(path)).cloned().collect();
        if !self.scope_violations.is_empty() {
            self.codes.push(ReasonCode::SealScopeViolation);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(sealed: &Value, amendments: &[Amendment], delta: &[Vec<u8>]) -> SealCheck {
        let observed = RunObservation {
            plan: sealed,
            policy_versions: &json!({}),
            gate_results: &[],
            workspace_delta_paths: delta,
            amendments,
        };
        seal_check(sealed, Digest::of_json(sealed), &observed)
    }

    #[test]
    fn a_bad_pattern_is_never_a_pass() {
        let plan = json!({"gates": [], "scope": ["src/"], "policy_versions": {}});
        assert_eq!(check(&plan, &[], &[]).codes, [ReasonCode::ScopeTrailingSlash]);
    }

    #[test]
    fn what_is_no_path_is_outside() {
        let plan = json!({"gates": [], "scope": ["**"], "policy_versions": {}});
        let check = check(&plan, &[], &[b"../x".to_vec(), b"a".to_vec()]);
        assert_eq!(check.scope_violations, [b"../x".to_vec()]);
    }

    #[test]
    fn a_seal_without_a_plan_is_damaged() {
        assert_eq!(check(&json!({}), &[], &[]).codes, [ReasonCode::SealDamaged]);
    }
}
