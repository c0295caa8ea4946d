//! GitHub: the summary of a job as Markdown, and workflow commands that annotate changed files.

use super::{NewFinding, VerdictSummary};
use crate::claims::{GateFact, GateOutcome};
use crate::markdown::health_change;
use crate::profile::CheckResult;
use crate::status::ContractStatus;
use probity_core::markup::{markdown_code as code, markdown_text as plain};
use probity_policy::Severity;
use std::fmt::Write;

const MAX_LISTED_ITEMS: usize = 20;

/// GitHub shows fewer, and a log with thousands helps no one.
const MAX_ANNOTATIONS: usize = 50;

/// Renders the summary of a review, for `$GITHUB_STEP_SUMMARY` or a comment.
pub fn github_summary(review: &VerdictSummary) -> String {
    let mark = match review.status {
        ContractStatus::Accepted | ContractStatus::AcceptedWithExternalChanges => "✅",
        ContractStatus::Violated => "❌",
        ContractStatus::Unverified | ContractStatus::Expired => "⚠️",
    };
    let mut page = format!("## {mark} Probity: {}\n\n", review.status.label());
    if let Some(reason) = &review.reason {
        let _ = writeln!(page, "**Because:** {}  ", plain(reason.meaning()));
    }
    if let Some(step) = review.next_step {
        let _ = writeln!(page, "**Next:** {step}  ");
    }
    facts(&mut page, review);
    let ours: Vec<&NewFinding> = review.findings.iter().filter(|finding| finding.is_ours).collect();
    let others: Vec<&NewFinding> = review.findings.iter().filter(|finding| !finding.is_ours).collect();
    write_list(&mut page, "New findings of this change", &ours, |finding| finding_line(finding));
    write_list(&mut page, "Not declared", &review.out_of_scope, |path| code(&path.to_string()));
    write_list(&mut page, "Gates", &review.gates, gate_line);
    write_list(&mut page, "Claims that do not hold", &review.refuted_claims, |claim| {
        format!(
            "**{}** {}: {}",
            claim.verdict.as_str(),
            plain(&claim.quote()),
            plain(&claim.objection_summary())
        )
    });
    write_list(&mut page, "Breaks of the public interface", &review.api_breaks, |symbol| code(symbol));
    write_list(&mut page, "Let through", &review.let_through, |what| plain(what));
    write_list(&mut page, "New findings outside the declared scope", &others, |finding| {
        finding_line(finding)
    });
    page
}

fn facts(page: &mut String, review: &VerdictSummary) {
    let health = match review.health {
        (Some(before), Some(after)) => health_change(before, after),
        _ => "not known".into(),
    };
    let run = |id: &Option<String>| id.as_ref().map_or_else(|| "none".into(), |id| code(id));
    let _ = write!(page, "\n| | |\n|---|---|\n| Kind | {} |\n", plain(&review.profile));
    let _ = writeln!(page, "| Runs | {} → {} |", run(&review.runs.0), run(&review.runs.1));
    let _ = writeln!(page, "| Health | {health} |");
    for CheckResult { check, outcome } in &review.checks {
        let _ = writeln!(page, "| {} | {} |", sentence_case(check.description()), outcome.words());
    }
}

fn sentence_case(words: &str) -> String {
    words[..1].to_ascii_uppercase() + &words[1..]
}

fn gate_line(gate: &GateFact) -> String {
    let optional = if gate.required { "" } else { " (not required)" };
    let why = if gate.detail.is_empty() { String::new() } else { format!(": {}", plain(&gate.detail)) };
    format!("{} **{}**{optional}{why}", code(&gate.id), gate.result.label())
}

fn finding_line(finding: &NewFinding) -> String {
    let place = match &finding.path {
        Some(path) => format!(" {}", code(&format!("{path}:{}", finding.lines.0))),
        None => String::new(),
    };
    let passed = if finding.is_let_through { " (let through)" } else { "" };
    format!("{} **{}**{place} {}{passed}", finding.severity, plain(&finding.rule), plain(&finding.message))
}

fn write_list<T>(page: &mut String, heading: &str, items: &[T], show: impl Fn(&T) -> String) {
    if items.is_empty() {
        return;
    }
    let _ = write!(page, "\n**{heading}** ({})\n\n", items.len());
    for item in items.iter().take(MAX_LISTED_ITEMS) {
        let _ = writeln!(page, "- {}", show(item));
    }
    if items.len() > MAX_LISTED_ITEMS {
        let _ = writeln!(page, "- and {} more", items.len() - MAX_LISTED_ITEMS);
    }
}

/// Renders workflow commands that annotate new findings and undeclared files, one per line; the verdict comes first.
pub fn github_annotations(review: &VerdictSummary) -> String {
    let mut lines = Vec::new();
    let level = match review.status {
        ContractStatus::Accepted | ContractStatus::AcceptedWithExternalChanges => "notice",
        ContractStatus::Violated => "error",
        ContractStatus::Unverified | ContractStatus::Expired => "warning",
    };
    let because = review.reason.map_or_else(String::new, |reason| format!(" ({})", reason.meaning()));
    let verdict = format!("{}{because}", review.status.label());
    lines.push(format!("::{level} title=Probity::{}", data(&verdict)));
    for path in &review.out_of_scope {
        let file = property(&path.to_string());
        lines.push(format!("::error file={file},title=Probity scope::this path was not declared"));
    }
    let is_told = |gate: &&GateFact| {
        matches!(gate.result, GateOutcome::Failed | GateOutcome::Unverified)
            || !gate.changed_inputs.is_empty()
    };
    for gate in review.gates.iter().filter(is_told) {
        let is_error = gate.required && gate.result == GateOutcome::Failed;
        let level = if is_error { "error" } else { "warning" };
        let title = property(&format!("Probity gate {}", gate.id));
        lines.push(format!("::{level} title={title}::{}", data(&gate.detail)));
    }
    lines.extend(review.findings.iter().map(annotation));
    let more = lines.len().saturating_sub(MAX_ANNOTATIONS);
    lines.truncate(MAX_ANNOTATIONS);
    if more > 0 {
        lines.push(format!(
            "::notice title=Probity::and {more} more; the summary and the SARIF file have all"
        ));
    }
    lines.join("\n") + "\n"
}

/// Renders findings alone as workflow commands, one per line.
pub fn finding_annotations(findings: &[NewFinding]) -> String {
    let mut lines: Vec<String> = findings.iter().take(MAX_ANNOTATIONS).map(annotation).collect();
    if findings.len() > MAX_ANNOTATIONS {
        lines.push(format!("::notice title=Probity::and {} more", findings.len() - MAX_ANNOTATIONS));
    }
    lines.join("\n")
}

fn annotation(finding: &NewFinding) -> String {
    // The level is the severity of the finding. The first line says whether the change is accepted.
    let level = match finding.severity {
        _ if !finding.is_ours => "notice",
        Severity::Info => "notice",
        Severity::Critical if finding.blocks() => "error",
        Severity::Warning | Severity::Critical => "warning",
    };
    let (first, last) = finding.lines;
    let place = match &finding.path {
        Some(path) => format!("file={},line={first},endLine={last},", property(&path.to_string())),
        None => String::new(),
    };
    let title = property(&format!("Probity {}", finding.rule));
    format!("::{level} {place}title={title}::{}", data(&finding.message))
}

/// Escapes the text of a command: a line break would start another command.
fn data(words: &str) -> String {
    words.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property value of a command, which commas and colons would end.
fn property(words: &str) -> String {
    data(words).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_tree_cannot_begin_another_command() {
        assert_eq!(data("a\n::error::b%"), "a%0A::error::b%25");
        assert_eq!(property("x,line=1:2"), "x%2Cline=1%3A2");
    }
}
