//! The health of the code: the newest stored analysis, how it got there, and what moved since the one before.

use super::PageFrame;
use crate::untrusted_text::{Untrusted, glyph, path_text};
use crate::url_text::encode;
use maud::{Markup, html};
use probity_analysis::{
    AnalysisComparison, CodeLocation, ComparisonVerdict, Confidence, Finding, FindingFamily, Severity,
};
use probity_api::quality::AnalysisRunAnswer;
use probity_core::text::count;
use probity_quality::analysis_store::AnalysisListing;
use std::fmt::Write as _;

/// Findings on one page.
pub(crate) const MAX_LISTED_FINDINGS: usize = 300;
/// Stored analyses that the trend is drawn from.
pub(crate) const MAX_TREND_POINTS: usize = 100;
/// Findings that moved, of each kind.
const MAX_MOVED_FINDINGS: usize = 50;

/// What the page is drawn from.
#[derive(Debug)]
pub(crate) struct CodeFacts {
    pub(crate) answer: AnalysisRunAnswer,
    /// Newest first.
    pub(crate) listed: Vec<AnalysisListing>,
    /// What moved since the analysis before, if there is one of the same analyzer and settings.
    pub(crate) moved: Option<AnalysisComparison>,
}

pub(crate) fn nothing_stored(frame: &PageFrame) -> Markup {
    let content = html! {
        h1 { "Code" }
        section.card id="code" { p.quiet { "No analysis is stored in this repository yet. This makes one:" } div.body-s { code.cmd tabindex="0" { "probity analyze" } } }
    };
    frame.page("Code", content)
}

pub(crate) fn code(frame: &PageFrame, facts: &CodeFacts, family: Option<FindingFamily>) -> Markup {
    let run = &facts.answer.run;
    let files = &facts.answer.files;
    let newest = facts.listed.first();
    let is_wanted = |finding: &Finding| family.is_none_or(|family| finding.family == family);
    let shown: Vec<&Finding> =
        run.findings.iter().map(|listed| &listed.finding).filter(|finding| is_wanted(finding)).collect();
    let content = html! {
        div.pagehead id="code" {
            div { h1 { "Code" } p {
                @match (run.health.score, run.health.grade) { (Some(score), Some(grade)) => { "Health " b { (score) } ", grade " b { (grade) } }, _ => "No file was analyzed" }
                ", analysis " code { (run.run_id) } @if let Some(newest) = newest { " of " (newest.saved_at()) }
                ": " (count(files.analyzed, "file")) ", " (run.n_lines) " lines, " (files.skipped) " skipped, " (files.failed) " given up."
            } }
        }
        div.two {
            (trend(&facts.listed))
            section.card { header { h2 { "By dimension" } } dl.kv.num { @for (dimension, points) in &run.health.dimensions { dt { (dimension.label()) } dd { (points) } } } }
        }
        @if let Some(moved) = &facts.moved { (moved_card(moved)) }
        div.two {
            section.card { header { h2 { "Files with the worst health" } }
                table.list { thead { tr { th { "File" } th.r { "Health" } th.r.hide-s { "Lines" } th.r { "Findings" } } }
                    tbody { @for spot in &run.hot_spots { tr { td { (path_text(&spot.path)) } td.r.num { @match spot.health { Some(health) => (health), None => "none" } } td.r.num.hide-s { (spot.n_lines) } td.r.num { (spot.n_findings) } } } } }
                @if run.hot_spots.is_empty() { p.quiet { "Every file is as healthy as can be." } }
            }
            section.card { header { h2 { "Languages" } } dl.kv.num { @for (language, n_files) in &run.languages { dt { (Untrusted(language)) } dd { (count(*n_files, "file")) } }
                @for (why, n_files) in &files.not_analyzed { dt { "not analyzed: " (Untrusted(why)) } dd { (n_files) } } } }
        }
        section.card aria-labelledby="findings-h" {
            header { h2 id="findings-h" { "Findings" } span.dim { (run.n_findings) " in all" } span.grow {}
                div.seg.wrap role="group" aria-label="Kind of finding" {
                    a href="/code" aria-current=[family.is_none().then_some("true")] { "All" }
                    @for (one, n) in &run.findings_by_family { @if *n > 0 { a href={ "/code?family=" (one) } aria-current=[(family == Some(*one)).then_some("true")] { (one) " " (n) } } }
                }
            }
            table.list { thead { tr { th { "Finding" } th { "Place" } th.r.hide-s { "Certainty" } } }
                tbody { @for finding in &shown { (finding_row(finding, None)) } } }
            @if shown.is_empty() { p.quiet { "No finding." } }
            @if run.findings.len() < run.n_findings { p.quiet { "The " (run.findings.len()) " most severe of " (run.n_findings) " are here: " code { "probity analyze --html report.html" } " has all of them." } }
        }
        p.mid { "The same on the command line: " code { "probity analyze" } ", " code { "probity runs list" } ", " code { "probity runs compare BEFORE AFTER" } }
    };
    frame.page("Code", content)
}

/// The health of the stored analyses, oldest on the left.
fn trend(listed: &[AnalysisListing]) -> Markup {
    let mut points: Vec<(u32, String)> = listed
        .iter()
        .take(MAX_TREND_POINTS)
        .filter(|listing| listing.about.n_files > 0)
        .map(|listing| (listing.about.health_milli, listing.saved_at()))
        .collect();
    points.reverse();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return html! {} };
    let lowest = points.iter().map(|(health, _)| *health).min().unwrap_or(0).saturating_sub(2_000);
    let highest = points.iter().map(|(health, _)| *health).max().unwrap_or(100_000).min(98_000) + 2_000;
    let span = u64::from(highest.saturating_sub(lowest)).max(1);
    let last_index = (points.len() - 1).max(1) as u64;
    let mut line = String::new();
    for (index, (health, _)) in points.iter().enumerate() {
        let x = index as u64 * 920 / last_index;
        let y = 140 - u64::from(health.saturating_sub(lowest)) * 130 / span;
        let _ = write!(line, "{}{x} {y}", if index == 0 { "M" } else { " L" });
    }
    if points.len() == 1 {
        line.push_str(" H920");
    }
    let words = format!(
        "Health went from {} to {} in {}",
        first.0 / 1000,
        last.0 / 1000,
        count(points.len(), "stored analysis").replace("analysiss", "analyses")
    );
    html! {
        section.card { header { h2 { "Health" } span.dim { "one point for each stored analysis, " (points.len()) " of them" } }
            svg.river viewBox="0 0 920 150" preserveAspectRatio="none" role="img" aria-label=(words) { path.o vector-effect="non-scaling-stroke" d=(line) {} }
            div.fold { span.dim { (first.1.get(..10).unwrap_or_default()) ", " (first.0 / 1000) } span.grow {} span.dim { (last.1.get(..10).unwrap_or_default()) ", " (last.0 / 1000) } }
        }
    }
}

fn moved_card(moved: &AnalysisComparison) -> Markup {
    html! {
        section.card id="moved" {
            header { h2 { "Since the analysis before" } span.dim { (verdict_word(moved.verdict)) @if let Some(delta) = moved.health_delta_milli { ", health " (probity_analysis::report::format_health_delta(delta)) } ", " (moved.unchanged) " unchanged" } }
            @if moved.regressions.is_empty() && moved.improvements.is_empty() { p.quiet { "No finding came or went." } } @else {
                table.list { thead { tr { th { "Finding" } th { "Place" } th.r { "State" } } } tbody {
                    @for regression in moved.regressions.iter().take(MAX_MOVED_FINDINGS) { (finding_row(&regression.finding, Some(("out", "new")))) }
                    @for finding in moved.improvements.iter().take(MAX_MOVED_FINDINGS) { (finding_row(finding, Some(("in", "fixed")))) }
                } }
            }
        }
    }
}

fn verdict_word(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Improved => "improved",
        ComparisonVerdict::Regressed => "regressed",
        ComparisonVerdict::Mixed => "better in some ways, worse in others",
        ComparisonVerdict::Stable => "neither better nor worse",
        ComparisonVerdict::Incomparable => "not comparable",
    }
}

fn confidence_word(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low",
        Confidence::Medium => "medium",
        Confidence::High => "high",
    }
}

fn finding_row(finding: &Finding, state: Option<(&str, &str)>) -> Markup {
    let class = match finding.severity {
        Severity::Critical => "out",
        _ => "held",
    };
    html! {
        tr {
            td { (glyph("find", class)) " " b { (Untrusted(&finding.message)) } br; span.dim { (finding.severity) ", " (finding.family) @if let Some(rule) = &finding.rule { ", " (Untrusted(rule)) } } }
            td { @if let Some(place) = finding.locations.first() { (place_link(place)) } @if finding.locations.len() > 1 { span.dim { " and " (finding.locations.len() - 1) " more" } } }
            @match state { Some((class, word)) => td.r { span class={ "chip " (class) } { (word) } }, None => td.r.hide-s.dim { (confidence_word(finding.confidence)) } }
        }
    }
}

fn place_link(place: &CodeLocation) -> Markup {
    let line = place.range.start_line;
    html! { a.item-link href={ "/why/worktree?path=" (encode(place.path.as_bytes())) "&line=" (line.max(1)) } { (path_text(&place.path)) ":" (line) @if !place.symbol.is_empty() { " " code { (Untrusted(&place.symbol)) } } } }
}
