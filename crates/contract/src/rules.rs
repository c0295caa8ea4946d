//! What a policy says about the contract: how strictly a verdict is taken, and what a false claim leads to.

use crate::run::{GatePreview, Run, Severity};
use crate::strictness::{Strictness, StrictnessProfile};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a false claim leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FalseClaims {
    /// It is reported beside the verdict.
    Report,
    /// It makes an accepted change violated.
    Violate,
}

/// The `[contract]` of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// The profile of strictness.
    pub strictness: StrictnessProfile,
    /// New findings below this severity do not block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity_floor: Option<Severity>,
    /// What a false claim leads to; by default it violates under `strict` and is reported otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub false_claims: Option<FalseClaims>,
    /// A gate: the health that a tree must have at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_floor: Option<u32>,
    /// A gate: how many findings of a severity a tree may have at most.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub max_findings: BTreeMap<Severity, u64>,
}

impl Rules {
    /// Whether nothing is said: then the policy is the same as one that was written before there was a contract.
    pub fn is_silent(&self) -> bool {
        *self == Self::default()
    }

    /// How strictly a verdict is taken.
    pub const fn strictness(&self) -> Strictness {
        Strictness { profile: self.strictness, severity_floor: self.severity_floor }
    }

    /// What the structural gates say of a run; `None` if there are none.
    pub fn gate_preview(&self, run: &Run) -> Option<GatePreview> {
        if self.health_floor.is_none() && self.max_findings.is_empty() {
            return None;
        }
        let floor = self.health_floor.map(i64::from);
        let too_ill = floor.is_some_and(|floor| run.health.is_none_or(|health| health < floor));
        let count = |severity| run.findings.iter().filter(|finding| finding.severity == severity).count();
        let too_many = self.max_findings.iter().any(|(severity, most)| count(*severity) as u64 > *most);
        Some(GatePreview { would_fail: too_ill || too_many })
    }

    /// What a false claim leads to.
    pub fn false_claims(&self) -> FalseClaims {
        let strict = self.strictness == StrictnessProfile::Strict;
        self.false_claims.unwrap_or(if strict { FalseClaims::Violate } else { FalseClaims::Report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Finding;

    fn run(health: Option<i64>, severities: &[Severity]) -> Run {
        let finding = |severity: &Severity| Finding { id: "f".into(), severity: *severity, paths: [].into() };
        Run {
            run_id: "r".into(),
            report_digest: None,
            settings: String::new(),
            analyser: String::new(),
            health,
            baseline_digest: None,
            findings: severities.iter().map(finding).collect(),
        }
    }

    #[test]
    fn gates_judge_a_tree_by_its_health_and_its_findings() {
        let rules = |health_floor, most: &[(Severity, u64)]| Rules {
            health_floor,
            max_findings: most.iter().copied().collect(),
            ..Rules::default()
        };
        let fails = |rules: &Rules, run: &Run| rules.gate_preview(run).map(|gate| gate.would_fail);
        let one = run(Some(80), &[Severity::Critical]);
        assert_eq!(fails(&Rules::default(), &one), None);
        assert_eq!(fails(&rules(Some(80), &[]), &one), Some(false));
        assert_eq!(fails(&rules(Some(81), &[]), &one), Some(true));
        assert_eq!(fails(&rules(Some(1), &[]), &run(None, &[])), Some(true));
        assert_eq!(fails(&rules(None, &[(Severity::Critical, 0)]), &one), Some(true));
        assert_eq!(fails(&rules(None, &[(Severity::Critical, 1)]), &one), Some(false));
        assert_eq!(fails(&rules(None, &[(Severity::Warning, 0)]), &one), Some(false));
    }

    #[test]
    fn a_false_claim_violates_where_the_policy_says_so_or_is_strict() {
        let strict = Rules { strictness: StrictnessProfile::Strict, ..Rules::default() };
        assert_eq!(Rules::default().false_claims(), FalseClaims::Report);
        assert_eq!(strict.false_claims(), FalseClaims::Violate);
        let said = Rules { false_claims: Some(FalseClaims::Report), ..strict };
        assert_eq!(said.false_claims(), FalseClaims::Report);
    }
}
