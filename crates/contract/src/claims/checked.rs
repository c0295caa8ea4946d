//! Each claim with its verdict, the sentence that makes it, and the supporting or contradicting facts in plain words.

use super::{AssertedClaim, ChangeFacts, Claim, ClaimJudgment, ClaimObjection, ObjectionCode, judge_claims};
use probity_intents::ScopeEntry;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

probity_core::word_enum! {
    /// The verdict on a claim.
    pub enum ClaimVerdict {
        /// The facts support it.
        True = "true",
        /// The facts that would support it are missing: neither true nor false (law 6).
        Unverified = "unverified",
        /// The facts contradict it.
        False = "false",
    }
}

impl ClaimVerdict {
    fn of(judgment: &ClaimJudgment, facts: &ChangeFacts) -> Self {
        // Without a verdict there may be no analysis from before the change, and then its findings are unknown.
        let contradicts = |objection: &ClaimObjection| match objection.code {
            ObjectionCode::FindingUnknown => !facts.status.is_open(),
            code => code.contradicts(),
        };
        if judgment.violations.iter().any(contradicts) {
            Self::False
        } else if judgment.violations.is_empty() {
            Self::True
        } else {
            Self::Unverified
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedClaim {
    pub claim: Claim,
    /// The sentence that makes it; `None` if it was given as a structured claim.
    pub sentence: Option<String>,
    pub verdict: ClaimVerdict,
    /// What contradicts it, in plain words.
    pub objections: Vec<String>,
    /// What makes it weaker than it sounds, in plain words.
    pub reservations: Vec<String>,
}

impl CheckedClaim {
    /// Returns the claim in document form: its own members and the verdict.
    pub fn report(&self) -> ClaimReport {
        let (mut finding, mut gate, mut paths) = (None, None, None);
        match &self.claim {
            Claim::Fixed { finding: id } => finding = Some(id.clone()),
            Claim::TestsPass { gate: id } => gate.clone_from(id),
            Claim::OnlyTouched { paths: touched } => paths = Some(touched.clone()),
            Claim::AllChecksPassed
            | Claim::DocsOnly
            | Claim::NoApiChange
            | Claim::NoRegressions
            | Claim::Verified => {}
        }
        ClaimReport {
            claim: self.claim.as_str(),
            finding,
            gate,
            paths,
            sentence: self.sentence.clone(),
            verdict: self.verdict,
            objections: self.objections.clone(),
            reservations: self.reservations.clone(),
        }
    }

    /// Returns the author's sentence, or the word of the claim if there is none.
    pub fn quote(&self) -> String {
        match &self.sentence {
            Some(sentence) => format!("\"{sentence}\""),
            None => self.claim.as_str().to_owned(),
        }
    }

    pub fn objection_summary(&self) -> String {
        let all: Vec<&str> = self.objections.iter().chain(&self.reservations).map(String::as_str).collect();
        all.join("; ")
    }
}

/// A claim in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClaimReport {
    /// The word of the claim.
    pub claim: &'static str,
    /// The finding claimed to be gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The gate the claim is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<String>,
    /// The paths claimed to be the only changed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paths: Option<BTreeSet<ScopeEntry>>,
    /// The author's sentence; null if it was given as a structured claim.
    pub sentence: Option<String>,
    /// The verdict.
    pub verdict: ClaimVerdict,
    /// What contradicts it, in plain words.
    pub objections: Vec<String>,
    /// What makes it weaker than it sounds, in plain words.
    pub reservations: Vec<String>,
}

/// Checks each claim separately. `finding` describes a finding by id, such as `src/a.py:3 unused function f`.
pub fn check_each(
    given: &[Claim],
    asserted: Vec<AssertedClaim>,
    facts: &ChangeFacts,
    finding: &dyn Fn(&str) -> Option<String>,
) -> Vec<CheckedClaim> {
    let given = given.iter().map(|claim| (claim.clone(), None));
    let asserted = asserted.into_iter().map(|it| (it.claim, Some(it.sentence)));
    let mut checked: Vec<CheckedClaim> = Vec::new();
    for (claim, sentence) in given.chain(asserted) {
        // A claim made twice is judged once; a sentence is more telling than the bare word.
        if let Some(known) = checked.iter_mut().find(|known| known.claim == claim) {
            known.sentence = known.sentence.take().or(sentence);
            continue;
        }
        let judgment = judge_claims([&claim], facts);
        let words = |objection: &ClaimObjection| objection_text(objection, facts, finding);
        let is_new = |warning: &&ClaimObjection| !judgment.violations.contains(*warning);
        checked.push(CheckedClaim {
            sentence,
            verdict: ClaimVerdict::of(&judgment, facts),
            objections: judgment.violations.iter().map(words).collect(),
            reservations: judgment.warnings.iter().filter(is_new).map(words).collect(),
            claim,
        });
    }
    checked
}

const MAX_LISTED_NAMES: usize = 5;

/// Describes an objection by the fact that contradicts the claim.
fn objection_text(
    objection: &ClaimObjection,
    facts: &ChangeFacts,
    finding: &dyn Fn(&str) -> Option<String>,
) -> String {
    let names = || joined_names(objection.detail.iter().map(ToString::to_string));
    let findings = || {
        joined_names(objection.detail.iter().map(|id| {
            let id = id.to_string();
            finding(&id).unwrap_or(id)
        }))
    };
    let is_one = objection.detail.len() == 1;
    let was = if is_one { "was" } else { "were" };
    match objection.code {
        ObjectionCode::ApiBroken => format!("callers can no longer rely on {}", names()),
        ObjectionCode::ApiExtended => format!("the public interface grew by {}", names()),
        ObjectionCode::CheckNotApplicable => {
            format!("{} {} not apply to this change", names(), if is_one { "does" } else { "do" })
        }
        ObjectionCode::ClaimedPathUntouched => format!("{} {was} not changed", names()),
        ObjectionCode::ContractViolated => "the change is violated".to_owned(),
        ObjectionCode::ExternalRegressionsPresent => {
            format!("new outside the declared scope: {}", findings())
        }
        ObjectionCode::FindingStillPresent => format!("still there: {}", findings()),
        ObjectionCode::FindingUnknown => format!("no finding {} is known from before the change", names()),
        ObjectionCode::GateFailed => format!("{} {} failed", if is_one { "gate" } else { "gates" }, names()),
        ObjectionCode::GateNotRun if objection.detail.is_empty() => not_run(objection.claim, facts),
        ObjectionCode::GateNotRun => {
            format!("{} {} did not run", if is_one { "gate" } else { "gates" }, names())
        }
        ObjectionCode::HealthRegressed => match facts.health_delta {
            Some(delta) => format!("the health fell by {}", delta.unsigned_abs()),
            None => "the health fell".to_owned(),
        },
        ObjectionCode::NonDocumentationTouched | ObjectionCode::TouchedOtherPaths => {
            format!("{} {was} changed too", names())
        }
        ObjectionCode::NotVerified => format!("the change is {}", facts.status.as_str()),
        ObjectionCode::RegressionsPresent => format!("new: {}", findings()),
        ObjectionCode::TestsLost => format!("tests were removed from or are skipped in {}", names()),
    }
}

/// Explains why no gate ran that could prove a claim.
fn not_run(claim: &str, facts: &ChangeFacts) -> String {
    let kind = if claim == "tests_pass" { "gate that runs tests" } else { "gate" };
    if facts.gates.is_empty() {
        format!("the policy has no {kind}, so nothing was run")
    } else {
        format!("no {kind} ran")
    }
}

fn joined_names(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(MAX_LISTED_NAMES);
    let mut shown: Vec<String> = names.take(MAX_LISTED_NAMES).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{GateFact, GateOutcome, recognize};
    use crate::status::ContractStatus;
    use probity_paths::RepoPath;
    use probity_policy::GateKind;

    fn facts(gates: Vec<GateFact>) -> ChangeFacts {
        ChangeFacts {
            status: ContractStatus::Accepted,
            health_delta: Some(0),
            intent_regressions: [].into(),
            external_regressions: [].into(),
            gates,
            delta: ["src/a.go", "context_test.go"]
                .map(|path| RepoPath::parse(path.as_bytes()).expect("a path"))
                .into(),
            before_findings: [].into(),
            after_findings: [].into(),
            checks_not_applicable: [].into(),
            api: None,
            tests_lost: BTreeSet::new(),
        }
    }

    fn check(text: &str, facts: &ChangeFacts) -> Vec<(&'static str, String)> {
        let recognition = recognize(text, &facts.known_names());
        let checked = check_each(&[], recognition.claims, facts, &|_| None);
        checked
            .iter()
            .map(|it| (it.verdict.as_str(), format!("{}  {}", it.quote(), it.objection_summary())))
            .collect()
    }

    #[test]
    fn a_claim_is_shown_with_its_sentence_and_the_fact_behind_its_verdict() {
        let checked = check("Lovely. I only touched src/. All tests pass!", &facts(Vec::new()));
        let expected = [
            ("false", "\"I only touched src/.\"  context_test.go was changed too".to_owned()),
            (
                "unverified",
                "\"All tests pass!\"  the policy has no gate that runs tests, so nothing was run".to_owned(),
            ),
        ];
        assert_eq!(checked, expected);
    }

    #[test]
    fn a_gate_that_failed_makes_a_claim_false_and_one_that_did_not_run_leaves_it_unverified() {
        let gate = |result| GateFact {
            id: "unit".into(),
            kind: GateKind::Test,
            result,
            required: true,
            detail: String::new(),
            changed_inputs: BTreeSet::new(),
        };
        for (outcome, verdict, because) in [
            (GateOutcome::Failed, "false", "gate unit failed"),
            (GateOutcome::NotRun, "unverified", "gate unit did not run"),
            (GateOutcome::Skipped, "unverified", "gate unit did not run"),
            (GateOutcome::Passed, "true", ""),
        ] {
            let checked = check("All tests pass.", &facts(vec![gate(outcome)]));
            assert_eq!(checked, [(verdict, format!("\"All tests pass.\"  {because}"))]);
        }
    }

    #[test]
    fn a_claim_that_is_given_and_said_is_checked_once_and_shows_its_sentence() {
        let facts = facts(Vec::new());
        let recognition = recognize("Only docs were changed.", &facts.known_names());
        let checked = check_each(&[Claim::DocsOnly], recognition.claims, &facts, &|_| None);
        assert_eq!(checked.len(), 1);
        assert_eq!(checked[0].sentence.as_deref(), Some("Only docs were changed."));
    }
}
