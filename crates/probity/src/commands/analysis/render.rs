//! Renders analyses and their comparisons for people.

use super::on_baseline;
use crate::ui;
use probity_analysis::report::format_health_delta;
use probity_analysis::{ComparisonVerdict, FileNote, Finding, GateReport, RunFile, RunMismatch, Severity};
use probity_api::quality::{FileSummary, HealthSummary, HotSpot, RunComparison, RunSummary};
use probity_quality::analyze::TreeAnalysis;
use probity_quality::analyze::answers::{self, MAX_SHOWN_FINDINGS};

/// Maximum number of files in a list.
const MAX_LISTED_FILES: usize = 10;

pub(crate) fn print_analysis(analysis: &TreeAnalysis) {
    let TreeAnalysis { answer, files, listed } = analysis;
    run(&answer.run, &answer.files.files, files, listed);
    if let Some(said) = on_baseline(&answer.baseline) {
        ui::print_row("baseline", said);
    }
    let files = &answer.files;
    if !files.left_out.is_empty() {
        let folders: Vec<String> = files.left_out.iter().map(ToString::to_string).collect();
        ui::print_row("left out", ui::dim(format_args!("{} (made by tools)", shortened_list(&folders))));
    }
    for path in &files.unreadable {
        ui::print_row("unread", ui::bad(format_args!("{path}: the system did not let it be read")));
    }
    if let Some(since) = &answer.changed {
        ui::print("");
        ui::print(format_args!(
            "{} {}: {}",
            ui::bold("since"),
            since.revision,
            ui::count_of(since.changed_files.len(), "changed source file")
        ));
        print_comparison(&since.comparison);
    }
    print_gates(&answer.gates);
    for path in &answer.written {
        ui::print_row("written", path.0.display());
    }
}

/// Prints the summary of an analysis with these files and, if they are that many, its ten most severe findings.
pub(crate) fn run(summary: &RunSummary, files: &FileSummary, all: &[RunFile], listed: &[Finding]) {
    if let Some((score, grade)) = summary.health.score.zip(summary.health.grade) {
        print_health(&summary.health, score, grade);
    } else {
        let skipped = match files.skipped + files.failed {
            0 => String::new(),
            n_files => format!("; {} skipped", ui::count_of(n_files, "file")),
        };
        ui::print(format_args!("{}: no file in a known language{skipped}", ui::warn("nothing to analyze")));
    }
    ui::print_row(
        "run",
        format_args!(
            "{} of {}, {}",
            ui::code(&summary.run_id),
            ui::count_of(files.analyzed, "file"),
            ui::count_of(usize::try_from(summary.n_lines).unwrap_or(usize::MAX), "line")
        ),
    );
    let mut families: Vec<(&str, usize)> =
        summary.findings_by_family.iter().map(|(family, n)| (family.as_str(), *n)).collect();
    families.sort_unstable();
    let families: Vec<String> = families
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .map(|(family, n)| format!("{n} {}", family.replace('_', " ")))
        .collect();
    ui::print_row("findings", format_args!("{}  {}", summary.n_findings, ui::dim(families.join(" · "))));
    hot_spots(&summary.hot_spots);
    print_top_findings(listed, summary.n_findings);
    print_unanalyzed_files(files, all);
}

fn print_health(health: &HealthSummary, score: u32, grade: char) {
    let shown = format!("{score} {grade}");
    let shown = match grade {
        'A' | 'B' => ui::good(shown),
        'C' => ui::warn(shown),
        _ => ui::bad(shown),
    };
    let parts = health.dimensions.iter().map(|(dimension, points)| format!("{} {points}", dimension.label()));
    let parts: Vec<String> = parts.collect();
    ui::print(format_args!("{} {shown}  {}", ui::bold("health"), ui::dim(parts.join(" · "))));
}

fn hot_spots(spots: &[HotSpot]) {
    if spots.is_empty() {
        return;
    }
    ui::print(format_args!("{}", ui::bold("hot spots")));
    for spot in spots.iter().take(MAX_LISTED_FILES / 2) {
        ui::print(format_args!(
            "  {:>3}  {}  {}",
            spot.health.unwrap_or(0),
            spot.path,
            ui::dim(format_args!(
                "{} in {}",
                ui::count_of(spot.n_findings, "finding"),
                ui::count_of(spot.n_lines as usize, "line")
            ))
        ));
    }
}

fn print_top_findings(listed: &[Finding], n_findings: usize) {
    if n_findings == 0 {
        return;
    }
    ui::print(format_args!("{}", ui::bold("most severe findings")));
    for found in listed.iter().take(MAX_SHOWN_FINDINGS) {
        print_finding(found);
    }
    if n_findings > MAX_SHOWN_FINDINGS {
        let rest = format!("… {} more: `--json --limit N`, `--html FILE`", n_findings - MAX_SHOWN_FINDINGS);
        ui::print(format_args!("  {}", ui::dim(rest)));
    }
}

fn print_finding(finding: &Finding) {
    let weight = match finding.severity {
        Severity::Critical => ui::bad("critical"),
        Severity::Warning => ui::warn("warning "),
        Severity::Info => ui::dim("info    "),
    };
    let place = finding.locations.first().map_or_else(String::new, |place| {
        let symbol = if place.symbol.is_empty() { String::new() } else { format!(" {}", place.symbol) };
        format!("{}:{}{symbol}", place.path, place.range.start_line)
    });
    ui::print(format_args!("  {weight} {}  {}", ui::bold(place), finding.message));
}

/// Lists the files that were not analyzed, and why: not applicable is not passed (law 6).
fn print_unanalyzed_files(files: &FileSummary, all: &[RunFile]) {
    let n_files = files.skipped + files.failed;
    if n_files == 0 {
        return;
    }
    let reasons: Vec<String> =
        files.not_analyzed.iter().map(|(reason, n)| format!("{n} {}", reason.replace('_', " "))).collect();
    let unread = answers::unread_extensions(all);
    let unread: Vec<String> = unread.iter().map(|(extension, n)| format!("{n} .{extension}")).collect();
    let languages = if unread.is_empty() { String::new() } else { format!(" ({})", shortened_list(&unread)) };
    ui::print_row(
        "not read",
        format_args!("{}: {}{languages}", ui::count_of(n_files, "file"), reasons.join(", ")),
    );
    for note in [FileNote::Binary, FileNote::TooLarge, FileNote::TooHard] {
        let names: Vec<String> = answers::files_with_notes(all, usize::MAX)
            .filter(|file| file.notes.contains(&note))
            .map(|file| file.path.to_string())
            .collect();
        if !names.is_empty() {
            ui::print_row(
                "",
                format_args!("{}: {}", note.as_str().replace('_', " "), shortened_list(&names)),
            );
        }
    }
}

/// Joins a list on one line, counting the items that do not fit.
fn shortened_list(list: &[String]) -> String {
    let shown = list.iter().take(MAX_LISTED_FILES).cloned().collect::<Vec<_>>().join(", ");
    if list.len() > MAX_LISTED_FILES {
        format!("{shown} and {} more", list.len() - MAX_LISTED_FILES)
    } else {
        shown
    }
}

pub(crate) fn print_comparison(comparison: &RunComparison) {
    let verdict = match comparison.verdict {
        ComparisonVerdict::Improved => ui::good("improved"),
        ComparisonVerdict::Stable => ui::good("stable"),
        ComparisonVerdict::Mixed => ui::warn("mixed"),
        ComparisonVerdict::Regressed => ui::bad("regressed"),
        ComparisonVerdict::Incomparable => ui::bad("incomparable"),
    };
    let delta = comparison
        .health_delta_milli
        .map_or_else(String::new, |milli| format!(", health {}", format_health_delta(milli)));
    ui::print(format_args!(
        "  {verdict}{delta}: {} new, {} gone, {} unchanged",
        comparison.regressions.len(),
        comparison.improvements.len(),
        comparison.unchanged
    ));
    for reason in &comparison.incomparable_because {
        let words = match reason {
            RunMismatch::DifferentSettings => "they were made with different settings",
            RunMismatch::DifferentAnalyser => "different versions of the analyzer made them",
        };
        ui::print_row("because", words);
    }
    for new in &comparison.regression_findings {
        print_finding(&new.finding);
    }
    for gone in &comparison.improvement_findings {
        ui::print(format_args!("  {} {}", ui::good("gone    "), gone.message));
    }
    // One line per symbol, with every metric that got worse.
    for worse in comparison.worsened_symbols.chunk_by(|a, b| (&a.path, &a.symbol) == (&b.path, &b.symbol)) {
        let measures = worse.iter().map(|by| format!("{} {} → {}", by.metric.as_str(), by.before, by.after));
        ui::print(format_args!(
            "  {} {} {}  {}",
            ui::warn("worse   "),
            ui::bold(&worse[0].path),
            worse[0].symbol,
            measures.collect::<Vec<_>>().join(", ")
        ));
    }
    for broken in &comparison.api_breaks {
        let place = format!("{} {}", broken.path, broken.symbol);
        ui::print(format_args!(
            "  {} {}  {}",
            ui::warn("api     "),
            ui::bold(place),
            broken.change.description()
        ));
    }
}

fn print_gates(report: &GateReport) {
    for reason in &report.reasons {
        ui::print(format_args!("  {} {:<18} {}", ui::bad("fail"), reason.gate, reason.message));
    }
    if !report.passed.is_empty() {
        ui::print(format_args!("  {} {}", ui::good("ok  "), report.passed.join(", ")));
    }
}
