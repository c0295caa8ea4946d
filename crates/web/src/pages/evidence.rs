//! The evidence of a run, check by check, and the proof that the log has it.

use super::change::n_flawed;
use super::{PageFrame, change_address};
use crate::untrusted_text::{Untrusted, glyph};
use maud::{Markup, html};
use probity_api::review::ChangeReview;
use probity_core::text::count;
use probity_evidence::{BundleCheck, CheckStatus, InclusionProof};

pub(crate) fn evidence(frame: &PageFrame, review: &ChangeReview, proof: Option<&InclusionProof>) -> Markup {
    let content = html! {
        div { p.crumb { a href="/board" { "Board" } " / " a href=(change_address(&review.change)) { (Untrusted(&review.title)) } } h1 { "Evidence" }
            p.mid { "Two facts, not one: whether the evidence is sound, and whether the change passed. The change is " b { (review.state) } "." } }
        (checks_card(&review.checks))
        (proof_card(review, proof))
    };
    frame.page("Evidence", content)
}

/// The checks, one row each.
pub(crate) fn checks_card(checks: &[BundleCheck]) -> Markup {
    let n_flaws = n_flawed(checks);
    let n_with = |status| checks.iter().filter(|check| check.status == status).count();
    html! {
        section.card id="checks" {
            header { h2 { "Checks" } span.dim { (n_with(CheckStatus::Passed)) " passed, " (n_flaws) " failed, " (n_with(CheckStatus::Failed) - n_flaws) " on the verdict of the run, " (n_with(CheckStatus::Skipped)) " not demanded" } }
            ul.rows {
                @for check in checks {
                    li {
                        @match check.status {
                            CheckStatus::Passed => (glyph("ok", "in")),
                            CheckStatus::Failed => (glyph("no", "out")),
                            CheckStatus::Skipped => (glyph("skip", "mute")),
                        }
                        span { b { (check.name) } @for code in &check.codes { " " code { (Untrusted(code)) } } }
                        span.dim {
                            @match check.status {
                                CheckStatus::Passed => "passed",
                                CheckStatus::Failed if n_flawed(std::slice::from_ref(check)) == 0 => "sound; the run did not pass",
                                CheckStatus::Failed => "failed",
                                CheckStatus::Skipped => "not demanded",
                            }
                        }
                        @if !check.detail.is_empty() { span.more { (Untrusted(&check.detail)) } }
                    }
                }
            }
            @if checks.is_empty() { p.quiet { "There is no evidence to check." } }
        }
    }
}

pub(crate) fn proof_card(review: &ChangeReview, proof: Option<&InclusionProof>) -> Markup {
    html! {
        section.card id="proof" {
            header { h2 { "In the log" } @if let Some(proof) = proof { span.dim { "entry " (proof.index) ", " (count(proof.hashes.len(), "hash")) " lead to the root" } } }
            @match proof {
                None => p.quiet { "No entry of the log of bundles names this change." },
                Some(proof) => {
                    ol.hashes {
                        li { span.in { "entry" } code { (proof.leaf.hash().to_hex()) } }
                        @for hash in &proof.hashes { li { span.acc { "given" } code { (hash.to_hex()) } } }
                    }
                    div.body {
                        p.mid { "The hashes prove that this bundle is in the log under this checkpoint. They do not prove that the log is complete, nor that the change is good; and a page that this program serves vouches for itself. Check it elsewhere:" }
                        @let bundle = review.bundle.as_deref().unwrap_or(&review.change);
                        code.cmd tabindex="0" { "probity evidence prove " (bundle) " -o proof.json\nprobity evidence verify " (bundle) " --proof proof.json" }
                        pre.note-text { (Untrusted(&proof.checkpoint)) }
                    }
                },
            }
        }
    }
}
