//! `JUnit`: every check and new finding as a test case, for services that read no other format.

use super::{NewFinding, Review};
use crate::claims::{CheckedClaim, ClaimVerdict, GateFact, GateOutcome};
use crate::profile::{Check, CheckOutcome};
use probity_core::markup::xml_attribute as text;
use std::fmt::Write;

/// Renders the report. A check that does not apply is skipped, never passed (law 6).
pub fn junit(review: &Review) -> String {
    let checks: Vec<Case> = review.checks.iter().map(|it| of_check(it.check, it.outcome, review)).collect();
    let findings: Vec<Case> = review.findings.iter().map(of_finding).collect();
    let gates: Vec<Case> = review.gates.iter().map(of_gate).collect();
    let claims: Vec<Case> = review.refuted_claims.iter().map(of_claim).collect();
    let mut page =
        String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"probity\">\n");
    for (name, cases) in
        [("checks", checks), ("gates", gates), ("new findings", findings), ("claims", claims)]
    {
        suite(&mut page, name, &cases);
    }
    page.push_str("</testsuites>\n");
    page
}

struct Case {
    name: String,
    end: End,
}

enum End {
    Passed,
    Failed(String),
    Skipped(String),
}

fn of_check(check: Check, outcome: CheckOutcome, review: &Review) -> Case {
    let end = match outcome {
        CheckOutcome::Passed => End::Passed,
        CheckOutcome::Reported => End::Skipped("reported, and not judged".into()),
        CheckOutcome::Failed => End::Failed(review.blocking.join(", ")),
        CheckOutcome::NotApplicable => End::Skipped("does not apply to this change".into()),
        CheckOutcome::Skipped => End::Skipped("left out".into()),
        CheckOutcome::NotReached => End::Failed(format!("{}: not verified", review.status.as_str())),
    };
    Case { name: check.as_str().to_owned(), end }
}

fn of_claim(claim: &CheckedClaim) -> Case {
    let words = format!("{}: {}", claim.quote(), claim.because());
    let end = match claim.verdict {
        ClaimVerdict::True => End::Passed,
        ClaimVerdict::False => End::Failed(words),
        ClaimVerdict::Unverified => End::Skipped(format!("unverified: {words}")),
    };
    Case { name: claim.claim.word().to_owned(), end }
}

fn of_gate(gate: &GateFact) -> Case {
    let end = match gate.result {
        GateOutcome::Passed => End::Passed,
        GateOutcome::Failed if gate.required => End::Failed(gate.detail.clone()),
        _ => End::Skipped(format!("{}: {}", gate.result, gate.detail)),
    };
    Case { name: gate.id.clone(), end }
}

fn of_finding(finding: &NewFinding) -> Case {
    let words = format!("{}:{} {}", finding.shown_path(), finding.lines.0, finding.message);
    let end = if finding.blocks() { End::Failed(words) } else { End::Skipped(words) };
    Case { name: finding.id.clone(), end }
}

fn suite(page: &mut String, name: &str, cases: &[Case]) {
    let failures = cases.iter().filter(|case| matches!(case.end, End::Failed(_))).count();
    let skipped = cases.iter().filter(|case| matches!(case.end, End::Skipped(_))).count();
    let _ = writeln!(
        page,
        "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\">",
        cases.len()
    );
    for case in cases {
        let head = format!(
            "    <testcase classname=\"probity.{}\" name=\"{}\"",
            name.replace(' ', "_"),
            text(&case.name)
        );
        let _ = match &case.end {
            End::Passed => writeln!(page, "{head}/>"),
            End::Failed(why) => writeln!(page, "{head}><failure message=\"{}\"/></testcase>", text(why)),
            End::Skipped(why) => writeln!(page, "{head}><skipped message=\"{}\"/></testcase>", text(why)),
        };
    }
    page.push_str("  </testsuite>\n");
}
