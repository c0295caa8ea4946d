//! Copies side by side, with what differs marked.

use super::diff::{self, DiffRow};
use super::{PageSection, labels, more, path_html};
use crate::external_reports::SourceReader;
use crate::finding::{CloneType, CodeLocation, Finding, FindingFamily};
use crate::run::AnalysisRun;
use maud::{Markup, html};
use std::collections::BTreeSet;

const MAX_LISTED_CLONES: usize = 25;
const EXPANDED_CLONES: usize = 3;
/// The most lines that are shown of each side, and the most characters of each line.
const MAX_EXCERPT_LINES: usize = 80;
const MAX_EXCERPT_LINE_CHARS: usize = 240;
const MAX_OTHER_LOCATIONS: usize = 10;

pub(super) fn section(run: &AnalysisRun, sources: &SourceReader<'_>) -> Option<PageSection> {
    let is_clone =
        |finding: &&Finding| matches!(finding.family, FindingFamily::Clone | FindingFamily::CloneBlock);
    let mut found: Vec<&Finding> =
        run.findings.iter().filter(is_clone).filter(|found| found.locations.len() > 1).collect();
    if found.is_empty() {
        return None;
    }
    let n_found = found.len();
    found.sort_by_key(|finding| (u32::MAX - finding.value.unwrap_or(0), &finding.id));
    // The copies of one piece are one entry here: it lists them all.
    let mut seen = BTreeSet::new();
    found.retain(|finding| seen.insert(subject(finding)));
    let lead = html! {
        (labels::format_count(n_found, "finding")) " about " (labels::format_count(found.len(), "piece"))
        ", the largest first. What differs is " mark { "marked" } "."
    };
    let body = html! {
        @for (index, finding) in found.iter().take(MAX_LISTED_CLONES).enumerate() {
            (pair(finding, index < EXPANDED_CLONES, sources))
        }
        (more(found.len(), MAX_LISTED_CLONES))
    };
    Some(PageSection { id: "copies", title: "Copies", lead, body })
}

/// What all copies of one piece have in common: the id without its number.
fn subject(finding: &Finding) -> &str {
    finding.id.as_str().split('#').next().unwrap_or_default()
}

fn pair(finding: &Finding, is_open: bool, sources: &SourceReader<'_>) -> Markup {
    let (copy, original) = (&finding.locations[0], &finding.locations[1]);
    let kind = match finding.clone_type {
        Some(CloneType::Exact) => "exact",
        Some(CloneType::Renamed) => "renamed",
        Some(CloneType::Near) | None => "near",
    };
    html! {
        details.pair open[is_open] {
            summary {
                span class={ "badge " (kind) } { (kind) } " "
                (title(original)) " " span.arrow { "↔" } " " (title(copy)) " "
                span.quiet { (finding.value.unwrap_or(0)) " tokens" }
            }
            (code(original, copy, sources))
            (others(&finding.locations[2..]))
        }
    }
}

fn title(place: &CodeLocation) -> Markup {
    html! {
        code { (path_html(&place.path)) ":" (place.range.start_line) }
        @if !place.symbol.is_empty() { " " b { (place.symbol) } }
    }
}

fn others(places: &[CodeLocation]) -> Markup {
    html! {
        @if !places.is_empty() {
            p.quiet { "The same is also in:" }
            ul { @for place in places.iter().take(MAX_OTHER_LOCATIONS) { li { (title(place)) } } }
            (more(places.len(), MAX_OTHER_LOCATIONS))
        }
    }
}

/// The lines of a place, without the indentation that all have.
struct CodeExcerpt {
    first: u32,
    lines: Vec<String>,
    n_more: usize,
}

impl CodeExcerpt {
    fn of(place: &CodeLocation, sources: &SourceReader<'_>) -> Option<Self> {
        let bytes = sources(&place.path)?;
        let (first, last) = labels::lines(&place.range);
        let text = String::from_utf8_lossy(&bytes);
        let n_lines = (last + 1).saturating_sub(first) as usize;
        let all: Vec<&str> = text.lines().skip(first.saturating_sub(1) as usize).take(n_lines).collect();
        // The first line of a unit often has no indentation of its own in the range.
        let filled = all.iter().filter(|line| !line.trim().is_empty());
        let indent = filled.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        let cut = |line: &&str| {
            line.get(indent..)
                .unwrap_or_default()
                .replace('\t', "    ")
                .chars()
                .take(MAX_EXCERPT_LINE_CHARS)
                .collect()
        };
        Some(Self {
            first,
            lines: all.iter().take(MAX_EXCERPT_LINES).map(cut).collect(),
            n_more: all.len().saturating_sub(MAX_EXCERPT_LINES),
        })
    }

    fn number(&self, index: usize) -> u32 {
        self.first + crate::facts::count(index)
    }
}

fn code(original: &CodeLocation, copy: &CodeLocation, sources: &SourceReader<'_>) -> Markup {
    let (Some(left), Some(right)) = (CodeExcerpt::of(original, sources), CodeExcerpt::of(copy, sources))
    else {
        return html! { p.quiet { "The code is not at hand." } };
    };
    let left_lines: Vec<&str> = left.lines.iter().map(String::as_str).collect();
    let right_lines: Vec<&str> = right.lines.iter().map(String::as_str).collect();
    let n_more = left.n_more.max(right.n_more);
    html! {
        div.scroll {
            table.code {
                tbody { @for row in diff::align(&left_lines, &right_lines) { (row_html(row, &left, &right)) } }
            }
        }
        @if n_more > 0 { p.more { "and " (labels::format_number(n_more as u64)) " more lines" } }
    }
}

fn row_html(row: DiffRow, left: &CodeExcerpt, right: &CodeExcerpt) -> Markup {
    let none = || html! { td.l {} td.none {} };
    let alone = |piece: &CodeExcerpt, index: usize| {
        side(piece.number(index), &html! { mark { (piece.lines[index]) } }, "changed")
    };
    let [one, other] = match row {
        DiffRow::Left(index) => [alone(left, index), none()],
        DiffRow::Right(index) => [none(), alone(right, index)],
        DiffRow::Both(one, other) => {
            let (a, b) = (left.lines[one].as_str(), right.lines[other].as_str());
            let class = if a.trim() == b.trim() { "" } else { "changed" };
            let [a, b] =
                diff::diff_words(a, b).map(|pieces| highlight_differences(&pieces, class.is_empty()));
            [side(left.number(one), &a, class), side(right.number(other), &b, class)]
        }
    };
    html! { tr { (one) (other) } }
}

fn side(number: u32, content: &Markup, class: &str) -> Markup {
    html! { td.l { (number) } td class=(class) { (content) } }
}

fn highlight_differences(pieces: &[(&str, bool)], is_equal: bool) -> Markup {
    html! {
        @for (text, is_common) in pieces {
            @if *is_common || is_equal || text.trim().is_empty() { (text) } @else { mark { (text) } }
        }
    }
}
