//! Why a line is there: the line among its neighbors, and the chain from it to the log.

use super::{PageFrame, change_address};
use crate::untrusted_text::{SentenceWithCode, Untrusted, glyph};
use crate::url_text::encode;
use maud::{Markup, html};
use probity_api::review::{LineOriginAnswer, OriginKnowledge, OriginStep, OriginStepKind};

/// Lines around the line that was asked about.
pub(crate) const LINES_AROUND: usize = 14;

fn question(step: OriginStepKind) -> &'static str {
    match step {
        OriginStepKind::Commit => "Which commit brought it?",
        OriginStepKind::Change => "Which change made it?",
        OriginStepKind::Clause => "What let it in?",
        OriginStepKind::Amendment => "Was the scope widened for it?",
        OriginStepKind::Process => "What wrote it?",
        OriginStepKind::Gates => "What looked at it?",
        OriginStepKind::Merges => "What did merges do with it?",
        OriginStepKind::Ledger => "Under which decision?",
        OriginStepKind::Proof => "Who can prove it?",
    }
}

/// Draws the page; `lines` are those around the line, from number `first` on.
pub(crate) fn why(frame: &PageFrame, answer: &LineOriginAnswer, first: usize, lines: &[String]) -> Markup {
    let revision = encode(answer.revision.as_bytes());
    let path = encode(answer.path.as_bytes());
    let shown_revision = answer.revision.get(..12).unwrap_or(&answer.revision);
    let content = html! {
        div { p.crumb { a href="/board" { "Board" } " / " span { "why" } } h1 { code.big { (answer.path.to_string()) ":" (answer.line) } } p.mid { @if answer.revision == "worktree" { "as the file is now" } @else { "at " code { (Untrusted(shown_revision)) } } } }
        div.whygrid {
            section.card aria-label="The line" {
                header { h2 { "The line" } span.dim { "click a number to ask about another" } }
                table.src { tbody {
                    @for (index, text) in lines.iter().enumerate() {
                        @let number = first + index;
                        tr.sel[number == answer.line] {
                            td.n { a href={ "/why/" (revision) "?path=" (path) "&line=" (number) } aria-label={ "Why line " (number) } { (number) } }
                            td.x { (Untrusted(text)) }
                        }
                    }
                } }
            }
            section.card id="why" aria-label="Why it is there" {
                p.answer { (Untrusted(&answer.answer)) "." }
                ol.chain { @for step in &answer.steps { (chain_step(step)) } }
                div.body-s { code.cmd tabindex="0" { "probity why " (answer.path.to_string()) ":" (answer.line) @if answer.revision != "worktree" { " --at " (shown_revision) } } }
            }
        }
    };
    frame.page(&format!("Why {}:{}", answer.path, answer.line), content)
}

fn chain_step(step: &OriginStep) -> Markup {
    let (class, symbol) = match step.knowledge {
        OriginKnowledge::Known => ("", "ok"),
        OriginKnowledge::Alarming => ("warn", "no"),
        OriginKnowledge::Unknown => ("unk", "unk"),
        OriginKnowledge::None => ("unk", "skip"),
    };
    let link = match (step.step, &step.name) {
        (OriginStepKind::Change, Some(name)) => Some(change_address(name)),
        (OriginStepKind::Commit, Some(name)) => Some(change_address(&format!("{name}^..{name}"))),
        _ => None,
    };
    html! {
        li class=(class) {
            span.dot { (glyph(symbol, "")) }
            div {
                p.q { (question(step.step)) }
                p.a { @match &link { Some(link) => a href=(link) { (Untrusted(&step.answer)) }, None => (Untrusted(&step.answer)) } @if step.knowledge == OriginKnowledge::Unknown { span.sr { " (not known)" } } }
                @if !step.detail.is_empty() { p.d { (SentenceWithCode(&step.detail)) } }
            }
        }
    }
}
