//! `JUnit`: every check and new finding as a test case, for services that read no other format.

use super::{NewFinding, VerdictSummary};
use crate::claims::{CheckedClaim, ClaimVerdict, GateFact, GateOutcome};
use crate::profile::{CheckOutcome, CheckResult};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// Renders the report. A check that does not apply is skipped, never passed (law 6).
pub fn junit(review: &VerdictSummary) -> String {
    let suites = [
        write_suite("checks", review.checks.iter().map(|result| of_check(*result, review))),
        write_suite("gates", review.gates.iter().map(of_gate)),
        write_suite("new findings", review.findings.iter().map(of_finding)),
        write_suite("claims", review.refuted_claims.iter().map(of_claim)),
    ];
    let mut report = Report::new("probity");
    report.add_test_suites(suites);
    report.to_string().expect("a report of text and counts is always written")
}

fn write_suite(name: &str, cases: impl Iterator<Item = TestCase>) -> TestSuite {
    let class = format!("probity.{}", name.replace(' ', "_"));
    let mut suite = TestSuite::new(name);
    for mut case in cases {
        case.set_classname(class.as_str());
        suite.add_test_case(case);
    }
    suite
}

fn of_check(CheckResult { check, outcome }: CheckResult, review: &VerdictSummary) -> TestCase {
    let status = match outcome {
        CheckOutcome::Passed => TestCaseStatus::success(),
        CheckOutcome::Reported => skipped("reported, and not judged"),
        CheckOutcome::Failed => failed(&review.blocking.join(", ")),
        CheckOutcome::NotApplicable => skipped("does not apply to this change"),
        CheckOutcome::Skipped => skipped("left out"),
        CheckOutcome::NotReached => failed(&format!("{}: not verified", review.status.as_str())),
    };
    TestCase::new(check.as_str(), status)
}

fn of_claim(claim: &CheckedClaim) -> TestCase {
    let words = format!("{}: {}", claim.quote(), claim.objection_summary());
    let status = match claim.verdict {
        ClaimVerdict::True => TestCaseStatus::success(),
        ClaimVerdict::False => failed(&words),
        ClaimVerdict::Unverified => skipped(&format!("unverified: {words}")),
    };
    TestCase::new(claim.claim.as_str(), status)
}

fn of_gate(gate: &GateFact) -> TestCase {
    let status = match gate.result {
        GateOutcome::Passed => TestCaseStatus::success(),
        GateOutcome::Failed if gate.required => failed(&gate.detail),
        _ => skipped(&format!("{}: {}", gate.result, gate.detail)),
    };
    TestCase::new(gate.id.as_str(), status)
}

fn of_finding(finding: &NewFinding) -> TestCase {
    let words = format!("{}:{} {}", finding.shown_path(), finding.lines.0, finding.message);
    let status = if finding.blocks() { failed(&words) } else { skipped(&words) };
    TestCase::new(finding.id.as_str(), status)
}

fn failed(why: &str) -> TestCaseStatus {
    with_message(TestCaseStatus::non_success(NonSuccessKind::Failure), why)
}

fn skipped(why: &str) -> TestCaseStatus {
    with_message(TestCaseStatus::skipped(), why)
}

fn with_message(mut status: TestCaseStatus, message: &str) -> TestCaseStatus {
    status.set_message(message);
    status
}
