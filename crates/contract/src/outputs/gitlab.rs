//! GitLab: new findings as a code quality report.

use super::{NewFinding, Review};
use probity_core::Digest;
use probity_policy::Severity;
use serde_json::{Value, json};

/// Renders the report, a JSON list. Findings without a file are omitted because GitLab rejects them; the
/// other formats include them.
pub fn gitlab(review: &Review) -> String {
    let findings = review.findings.iter().filter(|finding| finding.path.is_some()).map(issue);
    let scope = review.out_of_scope.iter().map(|path| {
        let fingerprint = Digest::of(format!("scope_violation {path}").as_bytes()).to_hex();
        entry("this path was not declared", "scope_violation", &fingerprint, "blocker", &path.to_string(), 1)
    });
    let all: Vec<Value> = scope.chain(findings).collect();
    serde_json::to_string_pretty(&all).expect("text and numbers always serialise") + "\n"
}

fn issue(finding: &NewFinding) -> Value {
    let severity = match finding.severity {
        Severity::Info => "info",
        Severity::Warning => "minor",
        Severity::Critical => "critical",
    };
    let fingerprint = Digest::of(finding.id.as_bytes()).to_hex();
    entry(&finding.message, &finding.rule, &fingerprint, severity, &finding.shown_path(), finding.lines.0)
}

fn entry(words: &str, rule: &str, fingerprint: &str, severity: &str, path: &str, line: u32) -> Value {
    json!({
        "description": words,
        "check_name": rule,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": { "path": path, "lines": { "begin": line } },
    })
}
