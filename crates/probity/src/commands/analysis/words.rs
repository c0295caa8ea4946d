//! What a person reads about runs.

use super::on_baseline;
use crate::ui;
use analysis::{Comparison, Finding, GateReport, Health, Note, Run, Severity, Verdict};
use control::analyze::{Analyzed, BaselineState, ChangedSince, documents};

/// How many findings and files a summary shows.
const SHOWN: usize = 10;

/// The summary of an analysis.
pub(crate) fn analyzed(analyzed: &Analyzed, since: Option<&ChangedSince>, baseline: &BaselineState) {
    run(&analyzed.run);
    if let Some(said) = on_baseline(baseline) {
        ui::print_row("baseline", said);
    }
    if !analyzed.left_out.is_empty() {
        let folders: Vec<String> = analyzed.left_out.iter().map(ToString::to_string).collect();
        ui::print_row("left out", ui::dim(format_args!("{} (made by tools)", some(&folders))));
    }
    for path in &analyzed.unreadable {
        ui::print_row("unread", ui::bad(format_args!("{path}: the system did not let it be read")));
    }
    if let Some(since) = since {
        ui::print("");
        ui::print(format_args!(
            "{} {}: {}",
            ui::bold("since"),
            since.revision,
            ui::count(since.changed.len(), "changed source file")
        ));
        comparison(&since.comparison);
    }
}

/// The summary of a run.
pub(crate) fn run(run: &Run) {
    let (analysed, skipped, failed) = run.file_counts();
    if let Some((score, grade)) = run.health.score().zip(run.health.grade()) {
        health(&run.health, score, grade);
    } else {
        let skipped = match skipped + failed {
            0 => String::new(),
            n_files => format!("; {} skipped", ui::count(n_files, "file")),
        };
        ui::print(format_args!("{}: no file in a known language{skipped}", ui::warn("nothing to analyze")));
    }
    let n_lines: u64 = run.files.iter().map(|file| u64::from(file.n_lines)).sum();
    ui::print_row(
        "run",
        format_args!("{} of {}, {n_lines} lines", ui::code(run.id.short()), ui::count(analysed, "file")),
    );
    let families = documents::by_family(run);
    let families: Vec<String> = families
        .iter()
        .filter(|(_, n)| **n > 0)
        .map(|(family, n)| format!("{n} {}", family.replace('_', " ")))
        .collect();
    ui::print_row("findings", format_args!("{}  {}", run.findings.len(), ui::dim(families.join(" · "))));
    hot_spots(run);
    top(run);
    not_analysed(run, skipped + failed);
}

fn health(health: &Health, score: u32, grade: char) {
    let shown = format!("{score} {grade}");
    let shown = match grade {
        'A' | 'B' => ui::good(shown),
        'C' => ui::warn(shown),
        _ => ui::bad(shown),
    };
    let parts: Vec<String> = health
        .dimensions
        .iter()
        .map(|part| {
            format!(
                "{} {}",
                format!("{:?}", part.dimension).to_lowercase().replace("deadcode", "dead code"),
                part.score_milli / 1000
            )
        })
        .collect();
    ui::print(format_args!("{} {shown}  {}", ui::bold("health"), ui::dim(parts.join(" · "))));
}

fn hot_spots(run: &Run) {
    let spots = documents::hot_spots(run);
    if spots.is_empty() {
        return;
    }
    ui::print(format_args!("{}", ui::bold("hot spots")));
    for (file, n_findings) in spots.iter().take(SHOWN / 2) {
        let health = file.health_milli.unwrap_or(0) / 1000;
        ui::print(format_args!(
            "  {health:>3}  {}  {}",
            file.path,
            ui::dim(format_args!("{} in {} lines", ui::count(*n_findings, "finding"), file.n_lines))
        ));
    }
}

fn top(run: &Run) {
    if run.findings.is_empty() {
        return;
    }
    ui::print(format_args!("{}", ui::bold("most severe findings")));
    for found in documents::gravest(run, SHOWN) {
        finding(found);
    }
    if run.findings.len() > SHOWN {
        let rest = format!("… {} more: `--json --limit N`, `--html FILE`", run.findings.len() - SHOWN);
        ui::print(format_args!("  {}", ui::dim(rest)));
    }
}

/// One finding: weight, place, what is wrong.
pub(crate) fn finding(finding: &Finding) {
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

/// What was not analysed, and why (law 6).
fn not_analysed(run: &Run, n_files: usize) {
    if n_files == 0 {
        return;
    }
    let reasons = documents::not_analyzed(run);
    let reasons: Vec<String> =
        reasons.iter().map(|(reason, n)| format!("{n} {}", reason.replace('_', " "))).collect();
    let unread = documents::unread_extensions(run);
    let unread: Vec<String> = unread.iter().map(|(extension, n)| format!("{n} .{extension}")).collect();
    let languages = if unread.is_empty() { String::new() } else { format!(" ({})", some(&unread)) };
    ui::print_row(
        "not read",
        format_args!("{}: {}{languages}", ui::count(n_files, "file"), reasons.join(", ")),
    );
    for note in [Note::Binary, Note::TooLarge, Note::TooHard] {
        let names: Vec<String> = documents::noted(run, usize::MAX)
            .filter(|file| file.notes.contains(&note))
            .map(|file| file.path.to_string())
            .collect();
        if !names.is_empty() {
            ui::print_row("", format_args!("{}: {}", note.as_str().replace('_', " "), some(&names)));
        }
    }
}

/// A list that stays on one line.
fn some(list: &[String]) -> String {
    let shown = list.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    if list.len() > SHOWN { format!("{shown} and {} more", list.len() - SHOWN) } else { shown }
}

/// What two runs say together.
pub(crate) fn comparison(comparison: &Comparison) {
    let verdict = match comparison.verdict {
        Verdict::Improved => ui::good("improved"),
        Verdict::Stable => ui::good("stable"),
        Verdict::Mixed => ui::warn("mixed"),
        Verdict::Regressed => ui::bad("regressed"),
        Verdict::Incomparable => ui::bad("incomparable"),
    };
    let delta = comparison.health_delta.map_or_else(String::new, |delta| format!(", health {delta:+}"));
    ui::print(format_args!(
        "  {verdict}{delta}: {} new, {} gone, {} unchanged",
        comparison.regressions.len(),
        comparison.improvements.len(),
        comparison.unchanged
    ));
    for reason in &comparison.incomparable_because {
        ui::print_row("because", format!("{reason:?}"));
    }
    for new in &comparison.regressions {
        finding(&new.finding);
    }
    for gone in &comparison.improvements {
        ui::print(format_args!("  {} {}", ui::good("gone    "), gone.message));
    }
    // A symbol is told once, with all that became worse of it.
    for worse in comparison.worsened.chunk_by(|a, b| (&a.path, &a.symbol) == (&b.path, &b.symbol)) {
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
        ui::print(format_args!("  {} {}  {}", ui::warn("api     "), ui::bold(place), broken.change.words()));
    }
}

/// What the gates say; nothing if the policy has none.
pub(crate) fn gates(report: &GateReport) {
    for reason in &report.reasons {
        ui::print(format_args!("  {} {:<18} {}", ui::bad("fail"), reason.gate, reason.message));
    }
    if !report.passed.is_empty() {
        ui::print(format_args!("  {} {}", ui::good("ok  "), report.passed.join(", ")));
    }
}
