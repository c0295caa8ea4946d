//! GitLab: new findings as a code quality report.

use super::{NewFinding, VerdictSummary};
use probity_core::Digest;
use probity_policy::Severity;
use serde::Serialize;

/// One entry of the report.
#[derive(Serialize)]
struct CodeQualityIssue<'a> {
    check_name: &'a str,
    description: &'a str,
    fingerprint: String,
    location: IssueLocation,
    severity: &'static str,
}

#[derive(Serialize)]
struct IssueLocation {
    lines: IssueLines,
    path: String,
}

#[derive(Serialize)]
struct IssueLines {
    begin: u32,
}

/// Renders the report, a JSON list. Findings without a file are omitted because GitLab rejects them; the
/// other formats include them.
pub fn gitlab(review: &VerdictSummary) -> String {
    let findings = review.findings.iter().filter(|finding| finding.path.is_some()).map(issue);
    let scope = review.out_of_scope.iter().map(|path| CodeQualityIssue {
        check_name: "scope_violation",
        description: "this path was not declared",
        fingerprint: Digest::of(format!("scope_violation {path}").as_bytes()).to_hex(),
        location: IssueLocation { lines: IssueLines { begin: 1 }, path: path.to_string() },
        severity: "blocker",
    });
    let all: Vec<CodeQualityIssue<'_>> = scope.chain(findings).collect();
    serde_json::to_string_pretty(&all).expect("text and numbers always serialize") + "\n"
}

fn issue(finding: &NewFinding) -> CodeQualityIssue<'_> {
    CodeQualityIssue {
        check_name: &finding.rule,
        description: &finding.message,
        fingerprint: Digest::of(finding.id.as_bytes()).to_hex(),
        location: IssueLocation { lines: IssueLines { begin: finding.lines.0 }, path: finding.shown_path() },
        severity: match finding.severity {
            Severity::Info => "info",
            Severity::Warning => "minor",
            Severity::Critical => "critical",
        },
    }
}
