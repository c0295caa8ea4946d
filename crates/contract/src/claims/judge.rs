//! Judges claims against the facts, by fixed rules.

use super::{ChangeFacts, Claim, GateFact, GateOutcome};
use crate::profile::{ContractCheck, FileClass, classify_file};
use crate::status::ContractStatus;
use probity_intents::{ScopeEntry, ScopeEntrySet, covered};
use probity_policy::GateKind;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

probity_core::code_enum! {
    /// Why a claim does not hold, or is weaker than it sounds. In alphabetical order.
    pub enum ObjectionCode {
        ApiBroken = "api_broken",
            "a public name was removed or changed",
            "restore it, or withdraw the claim";
        ApiExtended = "api_extended",
            "a public name was added",
            "withdraw the claim that nothing was added";
        CheckNotApplicable = "check_not_applicable",
            "the check behind the claim does not apply to this kind of change",
            "leave the claim out";
        ClaimedPathUntouched = "claimed_path_untouched",
            "a path that the claim names was not changed",
            "correct the list of paths";
        ContractViolated = "contract_violated",
            "the contract is violated",
            "fix the violations first";
        ExternalRegressionsPresent = "external_regressions_present",
            "there are new findings outside the scope",
            "say that they are not part of this change";
        FindingStillPresent = "finding_still_present",
            "the finding that the claim calls fixed is still there",
            "fix it, or withdraw the claim";
        FindingUnknown = "finding_unknown",
            "no analysis knows the finding that the claim names",
            "`probity runs show` lists the findings";
        GateFailed = "gate_failed",
            "a gate behind the claim failed",
            "fix what makes the gate fail";
        GateNotRun = "gate_not_run",
            "the gate that would prove the claim was not run",
            "run the gate";
        HealthRegressed = "health_regressed",
            "the health score fell",
            "raise it again, or withdraw the claim";
        NonDocumentationTouched = "non_documentation_touched",
            "more than documentation was changed",
            "withdraw the claim";
        NotVerified = "not_verified",
            "there is no verdict to support the claim",
            "verify the change first";
        RegressionsPresent = "regressions_present",
            "the change adds findings",
            "fix them, or withdraw the claim";
        TestsLost = "tests_lost",
            "tests were removed or are skipped",
            "say which, and why they are not needed";
        TouchedOtherPaths = "touched_other_paths",
            "paths were changed that the claim does not name",
            "name them, or revert them";
    }
}

impl ObjectionCode {
    /// Returns true if the facts contradict the claim. Otherwise they are missing: the claim is unproven, not
    /// false (law 6).
    pub const fn contradicts(self) -> bool {
        !matches!(self, Self::CheckNotApplicable | Self::GateNotRun | Self::NotVerified)
    }
}

/// An objection to a claim.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct ClaimObjection {
    /// The word of the claim.
    pub claim: &'static str,
    /// The problem with it.
    pub code: ObjectionCode,
    /// The ids, checks or paths concerned.
    pub detail: BTreeSet<ScopeEntry>,
}

/// The judgment on a set of claims.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ClaimJudgment {
    /// Claims that are false or unproven.
    pub violations: BTreeSet<ClaimObjection>,
    /// Claims that are weaker than they sound.
    pub warnings: BTreeSet<ClaimObjection>,
}

impl ClaimJudgment {
    pub fn is_valid(&self) -> bool {
        self.violations.is_empty()
    }

    pub fn has_false_claim(&self) -> bool {
        self.violations.iter().any(|objection| objection.code.contradicts())
    }
}

pub fn judge_claims<'a>(claims: impl IntoIterator<Item = &'a Claim>, facts: &ChangeFacts) -> ClaimJudgment {
    let mut judgment = ClaimJudgment::default();
    for claim in claims {
        let mut judge = ClaimJudge { claim: claim.as_str(), facts, judgment: &mut judgment };
        match claim {
            Claim::NoRegressions => judge.no_regressions(),
            Claim::Verified => judge.verified(),
            Claim::AllChecksPassed => judge.all_checks_passed(),
            Claim::TestsPass { gate } => judge.tests_pass(gate.as_deref()),
            Claim::OnlyTouched { paths } => judge.only_touched(paths),
            Claim::Fixed { finding } => judge.fixed(finding),
            Claim::DocsOnly => judge.docs_only(),
            Claim::NoApiChange => judge.no_api_change(),
        }
    }
    judgment
}

struct ClaimJudge<'a> {
    claim: &'static str,
    facts: &'a ChangeFacts,
    judgment: &'a mut ClaimJudgment,
}

impl ClaimJudge<'_> {
    fn violation(&mut self, code: ObjectionCode, detail: BTreeSet<ScopeEntry>) {
        self.judgment.violations.insert(ClaimObjection { claim: self.claim, code, detail });
    }

    fn warning(&mut self, code: ObjectionCode, detail: BTreeSet<ScopeEntry>) {
        self.judgment.warnings.insert(ClaimObjection { claim: self.claim, code, detail });
    }

    fn violation_if_any(&mut self, code: ObjectionCode, detail: BTreeSet<ScopeEntry>) {
        if !detail.is_empty() {
            self.violation(code, detail);
        }
    }

    fn no_regressions(&mut self) {
        if self.facts.status.is_open() {
            self.violation(ObjectionCode::NotVerified, BTreeSet::new());
        } else if self.delta_not_applicable() {
            self.warning(ObjectionCode::CheckNotApplicable, entry_set(["structural_delta"]));
        } else {
            self.violation_if_any(
                ObjectionCode::RegressionsPresent,
                entry_set(&self.facts.intent_regressions),
            );
            if !self.facts.external_regressions.is_empty() {
                let external = entry_set(&self.facts.external_regressions);
                self.warning(ObjectionCode::ExternalRegressionsPresent, external);
            }
        }
        self.health();
    }

    fn verified(&mut self) {
        if self.facts.status == ContractStatus::Violated {
            self.violation(ObjectionCode::ContractViolated, BTreeSet::new());
        } else if self.facts.status.is_open() {
            self.violation(ObjectionCode::NotVerified, BTreeSet::new());
        } else if self.delta_not_applicable() {
            self.violation(ObjectionCode::CheckNotApplicable, entry_set(["structural_delta"]));
        }
        self.health();
    }

    fn all_checks_passed(&mut self) {
        if self.facts.status == ContractStatus::Violated {
            self.violation(ObjectionCode::ContractViolated, BTreeSet::new());
        }
        if self.facts.status.is_open() {
            self.violation(ObjectionCode::NotVerified, BTreeSet::new());
        }
        let gates: Vec<&GateFact> = self.facts.gates.iter().collect();
        self.violation_if_any(ObjectionCode::GateFailed, ids(&gates, &[GateOutcome::Failed]));
        self.violation_if_any(ObjectionCode::GateNotRun, ids(&gates, NOT_RUN_OUTCOMES));
        let skipped = self.facts.checks_not_applicable.iter().map(|check| check_entry(*check)).collect();
        self.violation_if_any(ObjectionCode::CheckNotApplicable, skipped);
        self.health();
    }

    /// Objects to a claim that nothing got worse if the health fell.
    fn health(&mut self) {
        if self.facts.health_delta.is_some_and(|delta| delta < 0) {
            self.violation(ObjectionCode::HealthRegressed, BTreeSet::new());
            self.warning(ObjectionCode::HealthRegressed, BTreeSet::new());
        }
    }

    fn tests_pass(&mut self, gate: Option<&str>) {
        let lost: BTreeSet<ScopeEntry> = self.facts.tests_lost.iter().map(ScopeEntry::from).collect();
        if !lost.is_empty() {
            self.warning(ObjectionCode::TestsLost, lost);
        }
        let meant = |fact: &&GateFact| match gate {
            Some(gate) => fact.id == gate,
            None => fact.kind == GateKind::Test,
        };
        let gates: Vec<&GateFact> = self.facts.gates.iter().filter(meant).collect();
        let failed = ids(&gates, &[GateOutcome::Failed]);
        let passed = ids(&gates, &[GateOutcome::Passed]);
        let not_run = ids(&gates, NOT_RUN_OUTCOMES);
        let some_ran = !failed.is_empty() || !passed.is_empty();
        if some_ran && !not_run.is_empty() {
            self.warning(ObjectionCode::GateNotRun, not_run.clone());
        }
        if !failed.is_empty() {
            self.violation(ObjectionCode::GateFailed, failed);
        } else if passed.is_empty() {
            // A gate that the policy does not have did not run either.
            let named = gate.filter(|_| not_run.is_empty()).map_or(not_run, |gate| entry_set([gate]));
            self.violation(ObjectionCode::GateNotRun, named);
        }
    }

    fn only_touched(&mut self, claimed: &ScopeEntrySet) {
        let delta = &self.facts.delta;
        let others =
            delta.iter().filter(|path| !covered(claimed, path.as_bytes())).map(ScopeEntry::from).collect();
        let untouched: BTreeSet<ScopeEntry> = claimed
            .iter()
            .filter(|entry| !delta.iter().any(|path| entry.covers(path.as_bytes())))
            .cloned()
            .collect();
        self.violation_if_any(ObjectionCode::TouchedOtherPaths, others);
        if !untouched.is_empty() {
            self.warning(ObjectionCode::ClaimedPathUntouched, untouched);
        }
    }

    fn fixed(&mut self, finding: &str) {
        let detail = entry_set([finding]);
        if self.facts.after_findings.contains(finding) {
            self.violation(ObjectionCode::FindingStillPresent, detail);
        } else if !self.facts.before_findings.contains(finding) {
            self.violation(ObjectionCode::FindingUnknown, detail);
        } else if self.facts.status.is_open() {
            self.violation(ObjectionCode::NotVerified, BTreeSet::new());
        }
    }

    fn docs_only(&mut self) {
        let is_other =
            |path: &&probity_paths::RepoPath| classify_file(path.as_bytes()) != FileClass::Documentation;
        let others = self.facts.delta.iter().filter(is_other).map(ScopeEntry::from).collect();
        self.violation_if_any(ObjectionCode::NonDocumentationTouched, others);
    }

    /// Without changed source files no interface can have changed, compared or not.
    fn no_api_change(&mut self) {
        let is_source =
            |path: &probity_paths::RepoPath| matches!(classify_file(path.as_bytes()), FileClass::Source(_));
        match &self.facts.api {
            Some(api) => {
                self.violation_if_any(ObjectionCode::ApiBroken, entry_set(&api.breaks));
                if !api.additions.is_empty() {
                    self.warning(ObjectionCode::ApiExtended, entry_set(&api.additions));
                }
            }
            None if self.facts.delta.iter().any(is_source) => {
                self.violation(ObjectionCode::NotVerified, BTreeSet::new());
            }
            None => {}
        }
    }

    fn delta_not_applicable(&self) -> bool {
        self.facts.checks_not_applicable.contains(&ContractCheck::StructuralDelta)
    }
}

const NOT_RUN_OUTCOMES: &[GateOutcome] =
    &[GateOutcome::Skipped, GateOutcome::NotRun, GateOutcome::Unverified];

fn ids(gates: &[&GateFact], outcomes: &[GateOutcome]) -> BTreeSet<ScopeEntry> {
    gates
        .iter()
        .filter(|gate| outcomes.contains(&gate.result))
        .map(|gate| ScopeEntry::new(&gate.id))
        .collect()
}

fn entry_set(items: impl IntoIterator<Item = impl AsRef<[u8]>>) -> BTreeSet<ScopeEntry> {
    items.into_iter().map(ScopeEntry::new).collect()
}

fn check_entry(check: ContractCheck) -> ScopeEntry {
    ScopeEntry::new(check.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::ApiDelta;

    fn facts(delta: &str, api: Option<ApiDelta>) -> ChangeFacts {
        ChangeFacts {
            status: ContractStatus::Accepted,
            health_delta: Some(0),
            intent_regressions: BTreeSet::new(),
            external_regressions: BTreeSet::new(),
            gates: Vec::new(),
            delta: [probity_paths::RepoPath::parse(delta.as_bytes()).expect("a path")].into(),
            before_findings: BTreeSet::new(),
            after_findings: BTreeSet::new(),
            checks_not_applicable: BTreeSet::new(),
            api,
            tests_lost: BTreeSet::new(),
        }
    }

    fn codes(facts: &ChangeFacts) -> (Vec<ObjectionCode>, Vec<ObjectionCode>) {
        let judgment = judge_claims(&[Claim::NoApiChange], facts);
        let codes = |from: &BTreeSet<ClaimObjection>| from.iter().map(|it| it.code).collect();
        (codes(&judgment.violations), codes(&judgment.warnings))
    }

    #[test]
    fn an_interface_is_unchanged_only_if_it_was_compared() {
        let with = |breaks: &[&str], additions: &[&str]| ApiDelta {
            breaks: breaks.iter().map(|&it| it.to_owned()).collect(),
            additions: additions.iter().map(|&it| it.to_owned()).collect(),
        };
        assert_eq!(codes(&facts("a.py", None)), (vec![ObjectionCode::NotVerified], vec![]));
        assert_eq!(codes(&facts("docs/a.md", None)), (vec![], vec![]));
        assert_eq!(codes(&facts("a.py", Some(with(&[], &[])))), (vec![], vec![]));
        let broken = codes(&facts("a.py", Some(with(&["a.py::f"], &["a.py::g"]))));
        assert_eq!(broken, (vec![ObjectionCode::ApiBroken], vec![ObjectionCode::ApiExtended]));
    }
}
