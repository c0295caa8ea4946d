//! What a decision will do, before it is done; and what it did.

use super::{PageFrame, change_address, first_capital, time_text};
use crate::untrusted_text::{SentenceWithCode, Untrusted, glyph};
use maud::{Markup, html};
use probity_api::review::{ChangeReview, DecisionAction, DecisionAnswer, DecisionOption, PathFate};

/// Paths that are listed one by one.
const MAX_LISTED_PATHS: usize = 200;

pub(crate) fn preview(
    frame: &PageFrame,
    review: &ChangeReview,
    option: &DecisionOption,
    token: &str,
    id: &str,
) -> Markup {
    let address = change_address(&review.change);
    let content = html! {
        div { p.crumb { a href="/board" { "Board" } " / " a href=(address) { (Untrusted(&review.title)) } } h1 { (Untrusted(&option.label)) } }
        form.card.preview id="preview" method="post" action={ (address) "/do/" (option.action) } autocomplete="off" {
            input type="hidden" name="token" value=(token);
            input type="hidden" name="change" value=(review.change);
            input type="hidden" name="shown" value=(review.shown);
            input type="hidden" name="id" value=(id);
            header { h2 { "What happens: " (Untrusted(&option.label)) } }
            div.body {
                ul.effects { @for effect in &option.effects { li { (glyph("run", "in")) span { (SentenceWithCode(effect)) } } } }
                (path_choice(review, option))
                @if option.action == DecisionAction::Amend {
                    label { "What the scope gains, one pattern or path on each line"
                        textarea name="add" rows=(option.patterns.len().clamp(2, 8)) required { (option.patterns.join("\n")) } }
                }
                @if option.needs_why {
                    label { "Why (kept with the decision)" input type="text" name="why" required maxlength="2000"; }
                }
                p.mid { "The same on the command line:" }
                code.cmd tabindex="0" { (Untrusted(&option.command)) }
            }
            footer {
                span.dim { "recorded as " (Untrusted(&frame.person)) }
                a.btn href=(address) data-act="close" { "Cancel" }
                @if frame.read_only { span.dim { "read-only" } } @else { button.btn.main type="submit" { (Untrusted(&option.label)) } }
            }
        }
    };
    frame.page(&option.label, content)
}

fn path_choice(review: &ChangeReview, option: &DecisionOption) -> Markup {
    let is_choice = option.action == DecisionAction::LandOnly;
    let fate = |path: &probity_paths::RepoPath| {
        review.paths.iter().find(|row| row.path == *path).map(|row| row.fate)
    };
    html! {
        @if !option.paths.is_empty() {
            // A list that scrolls must be reachable by the keys.
            ul.choice aria-label="Paths" tabindex=[(!is_choice).then_some("0")] {
                @for path in option.paths.iter().take(MAX_LISTED_PATHS) {
                    @let is_inside = fate(path).is_some_and(|fate| fate != PathFate::Outside);
                    li {
                        @if is_choice {
                            label.plain { input type="checkbox" name="path" value=(raw_text(path)) checked[is_inside]; " " code { (path.to_string()) } @if !is_inside { " " span.out { "outside" } } }
                        } @else { code { (path.to_string()) } @if fate(path) == Some(PathFate::Outside) { " " span.out { "outside" } } }
                    }
                }
                @if option.paths.len() > MAX_LISTED_PATHS { li { "and " (option.paths.len() - MAX_LISTED_PATHS) " more" } }
            }
        }
    }
}

/// The path as a form sends it. A name that is no text cannot be chosen here: the command line can.
fn raw_text(path: &probity_paths::RepoPath) -> String {
    String::from_utf8_lossy(path.as_bytes()).into_owned()
}

pub(crate) fn decided(frame: &PageFrame, name: &str, answer: &DecisionAnswer) -> Markup {
    let (symbol, class, title) =
        if answer.is_done { ("ok", "in", "Done") } else { ("no", "out", "Decided, but not done") };
    let content = html! {
        div { p.crumb { a href="/board" { "Board" } } h1 { (title) } }
        section.card id="decided" {
            header { (glyph(symbol, class)) h2 { (first_capital(answer.record.action.phrase())) } span.dim { "by " (Untrusted(&answer.record.by)) ", " (time_text(&answer.record.at)) } }
            ul.rows { @for effect in &answer.effects { li { (glyph(symbol, class)) span { (SentenceWithCode(effect)) } } } }
            p.quiet { "The log of the repository has the decision as " code { (answer.digest.to_string()) } "." }
        }
        p { a.btn.main href={ "/c/" (name) } { "Back to the change" } " " a.btn href="/board" { "To the board" } }
    };
    frame.page(title, content)
}
