//! What merges lost: the list of merges, and their addresses.

use super::PageFrame;
use crate::untrusted_text::{Untrusted, glyph};
use crate::url_text::encode;
use maud::{Markup, html};
use probity_api::merge_audit::{AuditOutcome, MergeAuditAnswer, MergeAuditRangeAnswer};
use probity_api::merges::MergeAnalysisAnswer;
use probity_core::text::count;
use probity_review::lost_intents::{DocumentMerges, MAX_AUDITED_MERGES, WORKING_MERGE};

/// The heads of the document store that are not merged.
pub(super) const HEADS_ADDRESS: &str = "/merge/heads";

pub(super) fn short(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// The address of a git merge.
pub(super) fn merge_address(merge: Option<&str>) -> String {
    format!("/merge/{}", encode(merge.unwrap_or(WORKING_MERGE).as_bytes()))
}

pub(super) fn document_merge_address(merge: &MergeAnalysisAnswer) -> String {
    format!("/merge/documents/{}", merge.merge)
}

/// The list of merges that lost something.
pub(crate) fn merges(
    frame: &PageFrame,
    range: &MergeAuditRangeAnswer,
    working: Option<&MergeAuditAnswer>,
    documents: &DocumentMerges,
) -> Markup {
    let n_open = range.audits.iter().flat_map(|audit| &audit.findings).filter(|it| it.is_undecided()).count();
    let content = html! {
        div.pagehead { div { h1 { "Lost intent" }
            p { @if range.merges == 0 { "The current commit has no merge." } @else { "The newest " (count(range.merges, "merge")) " of the current commit: " (range.proven) " equal a clean merge of their parents, " (count(n_open, "edit")) " lost and not decided." } } } }
        @if let Some(audit) = working {
            section.card aria-label="Merge in progress" { header { h2 { "In progress" } span.dim { "not committed yet" } } ul.loci { li { (audit_row(audit)) } } }
        }
        section.card aria-label="Merges of git" {
            header { h2 { "Merges of git" } span.dim { "those with findings, newest first; at most " (MAX_AUDITED_MERGES) " are looked at" } }
            ul.loci { @for audit in &range.audits { li { (audit_row(audit)) } } }
            @if range.audits.is_empty() { p.quiet { "Every edit of either side is in its merge, or somebody decided that the merge stands." } }
        }
        section.card aria-label="Merges of documents" {
            header { h2 { "Merges of documents" } }
            ul.loci {
                @for merge in &documents.pending { li { (document_row(merge, true)) } }
                @for merge in &documents.written { li { (document_row(merge, false)) } }
            }
            @if documents.pending.is_empty() && documents.written.is_empty() { p.quiet { "No merge of typed documents lost anything here." } }
        }
        p.mid { "The same on the command line: " code { "probity merge audit HEAD~50..HEAD" } ", " code { "probity merge analyze --heads" } }
    };
    frame.page("Lost intent", content)
}

fn outcome_marks(outcome: AuditOutcome) -> (&'static str, &'static str, &'static str) {
    match outcome {
        AuditOutcome::Lost => ("lost", "lost", "lost"),
        AuditOutcome::Contested => ("stale", "held", "contested"),
        AuditOutcome::Clean => ("ok", "in", "decided"),
    }
}

fn audit_row(audit: &MergeAuditAnswer) -> Markup {
    let n_open = audit.findings.iter().filter(|finding| finding.is_undecided()).count();
    // What was restored on a branch is lost here until that branch is merged.
    let is_restored = n_open == 0 && audit.outcome == AuditOutcome::Lost;
    let (symbol, class, word) =
        if is_restored { ("ok", "held", "restored on a branch") } else { outcome_marks(audit.outcome) };
    html! {
        a href=(merge_address(audit.merge.as_deref())) {
            (glyph(symbol, class))
            span { b { (merge_title(audit)) } " " span class={ "chip " (class) } { (word) } }
            small { (count(audit.findings.len(), "finding")) ", " (n_open) " open" @if let Some(by) = &audit.merged_by { " · merged by " (Untrusted(&by.author)) } }
        }
    }
}

pub(super) fn merge_title(audit: &MergeAuditAnswer) -> Markup {
    match (&audit.merge, &audit.merged_by) {
        (Some(merge), Some(by)) => html! { (Untrusted(&by.subject)) " " code { (short(merge)) } },
        (Some(merge), None) => html! { "merge " code { (short(merge)) } },
        (None, _) => html! { "The merge in the working tree" },
    }
}

fn document_row(merge: &MergeAnalysisAnswer, is_pending: bool) -> Markup {
    let (symbol, class) = if merge.open > 0 { ("lost", "lost") } else { ("ok", "in") };
    let words = html! {
        (glyph(symbol, class))
        span { b { (count(merge.conflicts.len(), "conflict")) " in " (count(merge.documents.len(), "document")) } }
        small { @if is_pending { "between heads that are not merged yet" } @else { "merge " code { (short(&merge.merge.to_string())) } ", " (merge.open) " open" } }
    };
    let address = if is_pending { HEADS_ADDRESS.to_owned() } else { document_merge_address(merge) };
    html! { a href=(address) { (words) } }
}
