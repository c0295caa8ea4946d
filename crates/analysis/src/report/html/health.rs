//! The head of the page: the dial, the dimensions, the languages, and what changed.

use super::{PageSection, grade_class, labels, more, path_html, table};
use crate::compare::{AnalysisComparison, ComparisonVerdict, RunMismatch};
use crate::health::{DimensionScore, HealthDimension};
use crate::run::AnalysisRun;
use maud::{Markup, html};
use std::collections::BTreeMap;

const MAX_LISTED_REGRESSIONS: usize = 50;

pub(super) fn section(run: &AnalysisRun, against: Option<&AnalysisComparison>) -> PageSection {
    let delta = against.and_then(|comparison| comparison.health_delta_milli);
    let body = html! {
        div.top {
            (health_gauge(run, delta))
            div.dimensions { @for part in &run.health.dimensions { (dimension(*part)) } }
        }
        (languages(run))
    };
    PageSection { id: "health", title: "Health", lead: Markup::default(), body }
}

fn health_gauge(run: &AnalysisRun, delta: Option<i32>) -> Markup {
    let (Some(score), Some(grade)) = (run.health.score(), run.health.grade()) else {
        return html! { p.lead { (labels::health(run)) } };
    };
    html! {
        svg class={ "dial grade-" (grade_class(run.health.score_milli)) } viewBox="0 0 120 120" role="img"
            aria-label={ "Health " (score) " of 100, grade " (grade) } {
            circle.track cx="60" cy="60" r="52" {}
            circle.value cx="60" cy="60" r="52" pathLength="100" stroke-dasharray={ (score) " 100" }
                transform="rotate(-90 60 60)" {}
            text.score x="60" y="62" { (score) }
            text.grade x="60" y="79" { "grade " (grade) }
            @if let Some(delta) = delta {
                text class={ "delta " (if delta < 0 { "worse" } else { "better" }) } x="60" y="94" {
                    (labels::format_health_delta(delta))
                }
            }
        }
    }
}

fn dimension(part: DimensionScore) -> Markup {
    let score = labels::format_milli(part.score_milli);
    html! {
        div.dimension {
            b { (labels::dimension(part.dimension)) }
            span.says { (meaning(part.dimension)) }
            svg class={ "bar grade-" (grade_class(part.score_milli)) } viewBox="0 0 100 4"
                preserveAspectRatio="none" aria-hidden="true" {
                rect.track width="100" height="4" {}
                rect.value width=(score) height="4" {}
            }
            span.n { (score) }
            span.weight { (part.dimension.weight()) " % of the whole" }
        }
    }
}

const fn meaning(dimension: HealthDimension) -> &'static str {
    match dimension {
        HealthDimension::Duplication => "code that repeats other code",
        HealthDimension::Complexity => "functions that are hard to follow",
        HealthDimension::Structure => "long or deep functions, split classes",
        HealthDimension::Dependencies => "cycles, missing files, wide coupling",
        HealthDimension::DeadCode => "code that nothing uses",
        HealthDimension::Readability => "places that do not parse",
    }
}

fn languages(run: &AnalysisRun) -> Markup {
    let mut sizes: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
    for file in run.files.iter().filter(|file| file.is_analyzed()) {
        let size = sizes.entry(file.language.map_or("", crate::Language::name)).or_default();
        *size = (size.0 + 1, size.1 + u64::from(file.n_lines));
    }
    let mut sizes: Vec<_> = sizes.into_iter().collect();
    sizes.sort_by_key(|(name, (_, n_lines))| (u64::MAX - n_lines, *name));
    html! {
        ul.languages {
            @for (name, (n_files, n_lines)) in &sizes {
                li {
                    b { (name) } " " (labels::format_number(*n_lines)) " lines in " (labels::format_count(*n_files, "file"))
                }
            }
        }
    }
}

/// What changed since the other run.
pub(super) fn changes(against: Option<&AnalysisComparison>) -> Option<PageSection> {
    let comparison = against?;
    let (id, title) = ("changes", "Changes");
    if comparison.verdict == ComparisonVerdict::Incomparable {
        let why: Vec<&str> = comparison.incomparable_because.iter().map(|why| mismatch_text(*why)).collect();
        let lead = html! { "The two runs do not compare: " (why.join(", ")) "." };
        return Some(PageSection { id, title, lead, body: Markup::default() });
    }
    let is_worse = matches!(comparison.verdict, ComparisonVerdict::Regressed | ComparisonVerdict::Mixed);
    let lead = html! {
        strong class={ "verdict " (if is_worse { "worse" } else { "better" }) } { (verdict(comparison.verdict)) }
        " " (labels::format_count(comparison.regressions.len(), "finding")) " new, "
        (labels::format_number(comparison.improvements.len() as u64)) " gone, "
        (labels::format_number(u64::from(comparison.unchanged))) " as before."
    };
    Some(PageSection { id, title, lead, body: html! { (worsened(comparison)) (breaks(comparison)) } })
}

const fn mismatch_text(why: RunMismatch) -> &'static str {
    match why {
        RunMismatch::DifferentSettings => "they looked for different things",
        RunMismatch::DifferentAnalyser => "different analyzers made them",
    }
}

const fn verdict(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Improved => "Improved.",
        ComparisonVerdict::Regressed => "Regressed.",
        ComparisonVerdict::Mixed => "Better and worse.",
        ComparisonVerdict::Stable => "Stable.",
        ComparisonVerdict::Incomparable => "Incomparable.",
    }
}

fn worsened(comparison: &AnalysisComparison) -> Markup {
    let rows = comparison.worsened.iter().take(MAX_LISTED_REGRESSIONS).map(|worse| {
        html! {
            tr {
                td { code { (path_html(&worse.path)) } }
                td { code { (worse.symbol) } }
                td { (format!("{:?}", worse.metric).to_lowercase()) }
                td.n { (worse.before) }
                td.n { (worse.after) }
            }
        }
    });
    html! {
        @if !comparison.worsened.is_empty() {
            h3 { "Symbols that measure worse" }
            (table(&["File", "Symbol", "Measure", "#Before", "#After"], rows))
            (more(comparison.worsened.len(), MAX_LISTED_REGRESSIONS))
        }
    }
}

fn breaks(comparison: &AnalysisComparison) -> Markup {
    let rows = comparison.api_breaks.iter().take(MAX_LISTED_REGRESSIONS).map(|found| {
        html! {
            tr {
                td { code { (path_html(&found.path)) } }
                td { code { (found.symbol) } }
                td { (found.change.description()) }
            }
        }
    });
    html! {
        @if !comparison.api_breaks.is_empty() {
            h3 { "Breaks of the public interface" }
            (table(&["File", "Symbol", "Change"], rows))
            (more(comparison.api_breaks.len(), MAX_LISTED_REGRESSIONS))
        }
    }
}
