//! What a change did to the findings of the tree: new, worse, fixed.

use super::diff::finding_row;
use super::{PageFrame, change_address};
use crate::untrusted_text::{Untrusted, glyph, path_text};
use maud::{Markup, html};
use probity_api::review::{ChangeFindings, ChangeReview, FindingChange, FindingNote};
use probity_core::text::count;

/// The symbol, the class and the word of what a change did to a finding.
pub(crate) fn finding_marks(change: FindingChange) -> (&'static str, &'static str, &'static str) {
    match change {
        FindingChange::New => ("find", "held", "new"),
        FindingChange::Worse => ("find", "held", "worse"),
        FindingChange::Fixed => ("ok", "in", "fixed"),
    }
}

/// The counts in words.
pub(crate) fn findings_sum(found: &ChangeFindings) -> Markup {
    let n = |change| found.n_with(change);
    let (new, worse, fixed) = (n(FindingChange::New), n(FindingChange::Worse), n(FindingChange::Fixed));
    html! {
        @if found.findings.is_empty() { @if found.notes.is_empty() { span.in { (glyph("ok", "")) " none new, none fixed" } } @else { span.dim { "not compared" } } }
        @else {
            @if new + worse > 0 { span.held { (glyph("find", "")) " " (new) " new" @if worse > 0 { " · " (worse) " worse" } } } @else { span.in { (glyph("ok", "")) " none new" } }
            @if fixed > 0 { " · " (fixed) " fixed" }
        }
    }
}

pub(crate) fn findings(frame: &PageFrame, review: &ChangeReview, found: &ChangeFindings) -> Markup {
    let address = change_address(&review.change);
    let content = html! {
        div { p.crumb { a href="/board" { "Board" } " / " a href=(address) { (Untrusted(&review.title)) } } h1 { "Findings" }
            p.mid { "The tree as it is, once with the old contents of the changed paths and once with the new ones." } }
        (findings_card(review, found, true))
        // The script of the change page puts these beside their lines.
        div hidden {
            span id="findings-sum" { (findings_sum(found)) @if let Some((before, after)) = found.health { small { "health " (before) " \u{2192} " (after) } } }
            table id="finding-rows" { tbody { @for note in &found.findings { @if let Some(file) = file_of(review, note) { (finding_row(note, 4, Some(file))) } } } }
        }
    };
    frame.page("Findings", content)
}

fn file_of(review: &ChangeReview, note: &FindingNote) -> Option<usize> {
    review.paths.iter().position(|row| row.path == note.path)
}

/// All findings of a change; `has_links` where the page of the change is at hand.
pub(crate) fn findings_card(review: &ChangeReview, found: &ChangeFindings, has_links: bool) -> Markup {
    html! {
        section.card id="findings" aria-labelledby="findings-h" {
            header { h2 id="findings-h" { "Findings" } span.dim { (findings_sum(found)) @if let Some((before, after)) = found.health { ", health " (before) " \u{2192} " (after) } } }
            ul.rows {
                @for note in &found.findings {
                    @let (symbol, class, word) = finding_marks(note.change);
                    li {
                        (glyph(symbol, class))
                        span { b { (Untrusted(&note.message)) } }
                        span class={ "chip " (class) } { (word) }
                        span.more {
                            @match file_of(review, note).filter(|_| has_links) {
                                Some(file) => a href={ (change_address(&review.change)) "?file=" (file) } { (path_text(&note.path)) },
                                None => (path_text(&note.path)),
                            }
                            @if let Some(line) = note.line { ", line " (line) @if note.change == FindingChange::Fixed { " before" } }
                            ", " (Untrusted(&note.severity))
                            @if file_of(review, note).is_none() { ", in a file that the change does not touch" }
                        }
                    }
                }
            }
            @if found.findings.is_empty() { p.quiet { "The change made no finding, made nothing worse, and fixed none." } }
            @if found.left_out > 0 { p.quiet { "and " (count(found.left_out, "more finding")) } }
            @for note in &found.notes { p.quiet { (Untrusted(note)) } }
        }
    }
}
