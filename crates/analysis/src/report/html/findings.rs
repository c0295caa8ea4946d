//! All findings, by family. Without a script they can be read and opened; with it they can be filtered and sorted.

use super::{PageSection, labels, more, path_html, table_of_class};
use crate::compare::AnalysisComparison;
use crate::finding::{CodeLocation, Confidence, Finding, FindingFamily, FindingId, Severity};
use crate::run::AnalysisRun;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// How many findings of a family are shown.
const MAX_FINDINGS_PER_FAMILY: usize = 250;
const MAX_FINDING_LOCATIONS: usize = 6;

pub(super) fn section(run: &AnalysisRun, against: Option<&AnalysisComparison>) -> PageSection {
    let new = super::super::new_ids(against);
    let body = html! {
        @if run.findings.is_empty() {
            p { "None." }
        } @else {
            (filters(against.is_some()))
            @for family in FindingFamily::ALL { (family_html(run, *family, &new)) }
        }
    };
    let lead =
        html! { (labels::format_count(run.findings.len(), "finding")) " by kind, what matters most first." };
    PageSection { id: "findings", title: "Findings", lead, body }
}

fn filters(compares: bool) -> Markup {
    html! {
        form class="filters script" {
            label { "Filter " input type="search" name="text" placeholder="path, symbol or words"; }
            @for name in ["critical", "warning", "info"] {
                label { input type="checkbox" name="severity" value=(name) checked; " " (name) }
            }
            @if compares { label { input type="checkbox" name="new"; " only new" } }
            output name="count" {}
        }
    }
}

fn family_html(run: &AnalysisRun, family: FindingFamily, new: &BTreeSet<&FindingId>) -> Markup {
    let mut found: Vec<&Finding> = run.findings.iter().filter(|finding| finding.family == family).collect();
    if found.is_empty() {
        return Markup::default();
    }
    found.sort_by_key(|finding| (!new.contains(&finding.id), labels::rank(finding)));
    let counts = [Severity::Critical, Severity::Warning, Severity::Info]
        .map(|severity| (severity, found.iter().filter(|finding| finding.severity == severity).count()));
    let rows =
        found.iter().take(MAX_FINDINGS_PER_FAMILY).map(|finding| row(finding, new.contains(&finding.id)));
    html! {
        details.family open[found[0].severity == Severity::Critical] {
            summary {
                b { (labels::family(family)) }
                @for (severity, n) in counts.into_iter().filter(|(_, n)| *n > 0) {
                    @let word = labels::severity(severity);
                    " " span class={ "badge " (word) } { (labels::format_number(n as u64)) " " (word) }
                }
            }
            p.quiet { (labels::family_meaning(family)) }
            (table_of_class("sortable stacked", &["Severity", "What", "Where"], rows))
            (more(found.len(), MAX_FINDINGS_PER_FAMILY))
        }
    }
}

fn row(finding: &Finding, is_new: bool) -> Markup {
    let severity = labels::severity(finding.severity);
    let is_copy = matches!(finding.family, FindingFamily::Clone | FindingFamily::CloneBlock);
    html! {
        tr data-severity=(severity) data-new[is_new] title=(finding.id) {
            td data-sort=(finding.severity as u8) {
                span class={ "badge " (severity) } { (severity) }
                @if is_new { " " span.badge.new { "new" } }
            }
            td {
                @if let Some(rule) = &finding.rule { code { (rule) } " " }
                (finding.message)
                @match finding.confidence {
                    Confidence::High => {}
                    Confidence::Medium => { " " span.quiet { "(fairly sure)" } }
                    Confidence::Low => { " " span.quiet { "(not sure)" } }
                }
            }
            td { (places(&finding.locations, if is_copy { 2 } else { MAX_FINDING_LOCATIONS })) }
        }
    }
}

fn places(places: &[CodeLocation], n_shown: usize) -> Markup {
    html! {
        @for place in places.iter().take(n_shown) {
            div {
                code { (path_html(&place.path)) ":" (place.range.start_line) }
                @if !place.symbol.is_empty() { " " (place.symbol) }
            }
        }
        @if places.len() > n_shown { div.quiet { "and " (places.len() - n_shown) " more" } }
    }
}
