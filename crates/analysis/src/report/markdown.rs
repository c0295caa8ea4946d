//! A run as Markdown, short enough for a comment on a pull request.

use super::{ReportSubject, labels};
use crate::compare::{AnalysisComparison, ComparisonVerdict};
use crate::finding::{Finding, FindingFamily, Severity};
use crate::run::AnalysisRun;
use probity_core::markup::{markdown_code as code, markdown_text as text};
use std::collections::{BTreeMap, BTreeSet};

const MAX_LISTED_ENTRIES: usize = 20;

/// Renders the run. With a comparison that ends in this run, the changes come first.
pub fn markdown(run: &AnalysisRun, against: Option<&AnalysisComparison>, subject: &ReportSubject) -> String {
    let mut parts = vec![head(run, against, subject)];
    parts.extend(against.map(changes));
    parts.push(dimensions(run));
    parts.push(counts(run));
    parts.extend(worst(run, against));
    parts.extend(hot_spots(run));
    parts.extend(not_analyzed(run));
    parts.extend(joined(run));
    parts.join("\n") + "\n"
}

/// Names the tree, if known.
fn subject_line(subject: &ReportSubject) -> String {
    let project = subject.project.as_ref().map(|name| text(name));
    let commit = subject.commit_words().map(|words| text(&words));
    let known: Vec<String> = project.into_iter().chain(commit).collect();
    if known.is_empty() { String::new() } else { known.join(" · ") + "\n\n" }
}

fn head(run: &AnalysisRun, against: Option<&AnalysisComparison>, subject: &ReportSubject) -> String {
    let health = labels::health(run);
    let delta = against.and_then(|comparison| comparison.health_delta_milli);
    let delta = delta.map_or(String::new(), |delta| format!(" ({})", labels::format_health_delta(delta)));
    let (n_analyzed, n_skipped, n_failed) = run.file_counts();
    let n_lines: u64 = run.files.iter().map(|file| u64::from(file.n_lines)).sum();
    format!(
        "# {health}{delta}\n\n{}Run `{}` · {} analyzed, {} left out, {} given up · {} lines · {}\n",
        subject_line(subject),
        run.id.short(),
        labels::format_count(n_analyzed, "file"),
        labels::format_number(n_skipped as u64),
        labels::format_number(n_failed as u64),
        labels::format_number(n_lines),
        labels::format_count(run.findings.len(), "finding"),
    )
}

fn changes(comparison: &AnalysisComparison) -> String {
    if comparison.verdict == ComparisonVerdict::Incomparable {
        return "## Changes\n\nThe two runs were made differently and do not compare.\n".to_owned();
    }
    let verdict = match comparison.verdict {
        ComparisonVerdict::Improved => "Improved",
        ComparisonVerdict::Regressed => "Regressed",
        ComparisonVerdict::Mixed => "Better and worse",
        ComparisonVerdict::Stable | ComparisonVerdict::Incomparable => "Stable",
    };
    let mut text = format!(
        "## {verdict}: {} new, {} gone, {} as before\n",
        comparison.regressions.len(),
        comparison.improvements.len(),
        comparison.unchanged
    );
    let new: Vec<&Finding> = comparison.regressions.iter().map(|new| &new.finding).collect();
    text.push_str(&finding_list("New", new));
    text.push_str(&finding_list("Gone", comparison.improvements.iter().collect()));
    let breaks: Vec<String> = comparison
        .api_breaks
        .iter()
        .map(|found| {
            format!(
                "- {} in {}: {}",
                code(&found.symbol),
                code(&found.path.to_string()),
                found.change.description()
            )
        })
        .collect();
    text.push_str(&bounded_list("Breaks of the public interface", &breaks));
    text
}

fn dimensions(run: &AnalysisRun) -> String {
    let rows = run.health.dimensions.iter().map(|part| {
        let name = labels::dimension(part.dimension);
        format!("| {name} | {} | {} % |\n", labels::format_milli(part.score_milli), part.dimension.weight())
    });
    format!("## Dimensions\n\n| Dimension | Score | Weight |\n|---|---:|---:|\n{}", rows.collect::<String>())
}

fn counts(run: &AnalysisRun) -> String {
    let mut counts: BTreeMap<FindingFamily, [usize; 3]> = BTreeMap::new();
    for finding in &run.findings {
        counts.entry(finding.family).or_default()[finding.severity as usize] += 1;
    }
    if counts.is_empty() {
        return "## Findings\n\nNone.\n".to_owned();
    }
    let rows = counts.iter().map(|(family, by_severity)| {
        let [info, warning, critical] =
            by_severity.map(|n| if n == 0 { String::new() } else { n.to_string() });
        format!("| {} | {critical} | {warning} | {info} |\n", labels::family(*family))
    });
    let head = "| Family | critical | warning | info |\n|---|---:|---:|---:|\n";
    format!("## Findings\n\n{head}{}", rows.collect::<String>())
}

/// Returns the most important findings, except those that the comparison already lists.
fn worst(run: &AnalysisRun, against: Option<&AnalysisComparison>) -> Option<String> {
    let new = super::new_ids(against);
    let mut found: Vec<&Finding> = run
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Info && !new.contains(&finding.id))
        .collect();
    found.sort_by_key(|finding| labels::rank(finding));
    (!found.is_empty()).then(|| finding_list("What matters most", found))
}

fn finding_list(title: &str, mut found: Vec<&Finding>) -> String {
    found.sort_by_key(|finding| labels::rank(finding));
    let lines: Vec<String> = found.into_iter().map(finding_line).collect();
    bounded_list(title, &lines)
}

fn finding_line(finding: &Finding) -> String {
    let place = finding.locations.first().map_or(String::new(), labels::format_location);
    let severity = labels::severity(finding.severity);
    format!("- **{severity}** {}: {}", code(&place), text(&finding.message))
}

fn bounded_list(title: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let n_more = lines.len().saturating_sub(MAX_LISTED_ENTRIES);
    let more = if n_more > 0 { format!("- and {n_more} more\n") } else { String::new() };
    format!("\n### {title}\n\n{}\n{more}", lines[..lines.len() - n_more].join("\n"))
}

fn hot_spots(run: &AnalysisRun) -> Option<String> {
    let hot = super::hard_callables(run).production;
    let rows = hot.iter().take(10).map(|unit| {
        let place = format!("{}:{} {}", run.path(unit.file), unit.line, unit.symbol);
        format!("| {} | {} | {} | {} |\n", table_cell(&place), unit.cyclomatic, unit.cognitive, unit.lines)
    });
    let rows: String = rows.collect();
    let head = "| Function | Cyclomatic | Cognitive | Lines |\n|---|---:|---:|---:|\n";
    (!rows.is_empty()).then(|| format!("## Hot spots\n\n{head}{rows}"))
}

/// Lists what was not analyzed, by reason.
fn not_analyzed(run: &AnalysisRun) -> Option<String> {
    let mut reasons: BTreeMap<&str, (usize, BTreeSet<String>)> = BTreeMap::new();
    for file in run.files.iter().filter(|file| !file.is_analyzed()) {
        for note in &file.notes {
            let reason = reasons.entry(note.label()).or_default();
            reason.0 += 1;
            if reason.1.len() < 3 {
                reason.1.insert(file.path.to_string());
            }
        }
    }
    let rows = reasons.iter().map(|(reason, (n_files, some))| {
        let some: Vec<String> = some.iter().map(|path| code(path)).collect();
        format!("- {} {reason}, such as {}\n", labels::format_count(*n_files, "file") + ":", some.join(", "))
    });
    let rows: String = rows.collect();
    (!rows.is_empty()).then(|| format!("## Not analyzed\n\n{rows}"))
}

fn joined(run: &AnalysisRun) -> Option<String> {
    let rows = run.joined.iter().map(|report| {
        let left: Vec<String> =
            report.left_out.iter().map(|(why, n)| format!("{n} {}", labels::omission_text(*why))).collect();
        let left = if left.is_empty() { String::new() } else { format!("; left out: {}", left.join(", ")) };
        let tools =
            if report.tools.is_empty() { report.format.as_str().to_owned() } else { report.tools.join(", ") };
        format!("- {}: {} taken{left}\n", text(&tools), report.n_taken)
    });
    let rows: String = rows.collect();
    (!rows.is_empty()).then(|| format!("## Reports that joined in\n\n{rows}"))
}

/// A code span in a table, where a bar ends the cell even inside code.
fn table_cell(text: &str) -> String {
    code(&text.replace('|', "\u{2502}"))
}
