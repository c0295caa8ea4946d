//! One change: the decision, declared against done, and the facts.

use super::change_files::work;
use super::fence::fence;
use super::findings::findings_sum;
use super::{PageFrame, change_address, face, plus_minus, time_text};
use crate::review_context::ReviewContext;
use crate::untrusted_text::{SentenceWithCode, Untrusted, glyph};
use maud::{Markup, html};
use probity_api::review::{
    ChangeReview, DecisionAction, DecisionOption, PathFate, ReviewState, ReviewedKind,
};
use probity_core::text::{count, short_id};
use probity_evidence::{BundleCheck, CheckStatus};
use probity_review::FileSides;
use probity_runner::bundles;

pub(crate) fn change(
    frame: &PageFrame,
    context: &ReviewContext,
    files: &[(usize, FileSides)],
    is_split: bool,
) -> Markup {
    let review = &context.review;
    let markup = html! {
        (head(context))
        (decision_bar(frame, review))
        div.top2 { (fence(review, context.notes())) (facts(context)) }
        (details(context))
        (work(context, files, is_split))
    };
    frame.page(&review.title, markup)
}

/// The title and who, when, from where.
pub(crate) fn head(context: &ReviewContext) -> Markup {
    let review = &context.review;
    let kind = match review.kind {
        ReviewedKind::Run => "run",
        ReviewedKind::Intent => "intent",
        ReviewedKind::Range => "range",
        ReviewedKind::Worktree => "working tree",
    };
    html! {
        div data-shown=(review.shown.to_hex()) data-change=(review.change) data-log=(context.log_size) id="change" {
            p.crumb { a href="/board" { "Board" } " / " span { (kind) @if review.kind != ReviewedKind::Worktree { " " (Untrusted(&shortened(&review.change))) } } }
            h1 { (Untrusted(&review.title)) }
            div.facts-line {
                @if let Some(agent) = &review.agent {
                    span { (face(Some(agent))) (Untrusted(agent)) @if let Some(machine) = &review.machine { " on " (Untrusted(machine)) } }
                }
                @if let Some(began) = &review.began_at {
                    span.num { (time_text(began)) @if let Some(ended) = &review.ended_at { " to " (time_text(ended)) } }
                }
                @if let Some(base) = &review.base { span { "from " code { (base.get(..8).unwrap_or(base)) } } }
                @for item in &review.decisions_cited { span { "under " code { (Untrusted(item)) } } }
                @let (added, removed) = review.lines();
                span { (count(review.paths.len(), "path")) " " (plus_minus(added, removed)) }
            }
        }
    }
}

fn shortened(change: &str) -> String {
    match change.split_once("..") {
        Some((base, head)) => format!("{}..{}", base.get(..8).unwrap_or(base), head.get(..8).unwrap_or(head)),
        None => short_id(change).to_owned(),
    }
}

/// The state in words: symbol, class, title, sentence.
fn state_words(review: &ChangeReview) -> (&'static str, &'static str, String, String) {
    let n_outside = review.n_with(PathFate::Outside);
    let reason = review.reasons.first();
    let why = reason.map_or_else(String::new, |reason| reason.meaning.clone());
    match review.state {
        ReviewState::Held if n_outside > 0 => {
            let is = if n_outside == 1 { "is" } else { "are" };
            (
                "held",
                "held",
                format!("Held: {} {is} outside the scope", count(n_outside, "path")),
                held_sentence(review),
            )
        }
        ReviewState::Held => ("held", "held", format!("Held: {why}"), held_sentence(review)),
        ReviewState::Ready => (
            "ok",
            "in",
            "Passed, ready to land".into(),
            "Everything is inside the scope. The tree does not have it yet.".into(),
        ),
        ReviewState::Landed if !review.reasons.is_empty() => (
            "ok",
            "held",
            "A part of it landed".into(),
            "What landed was judged as a whole of its own. The rest was dropped.".into(),
        ),
        ReviewState::Landed => {
            ("ok", "in", "Passed, and in the tree".into(), "Nothing waits for a decision.".into())
        }
        ReviewState::Failed => (
            "no",
            "out",
            format!("Did not pass: {why}"),
            reason.map_or_else(String::new, |reason| reason.next_step.clone()),
        ),
        ReviewState::Undone => (
            "skip",
            "mute",
            if review.kind == ReviewedKind::Intent { "Given up" } else { "Undone or dropped" }.into(),
            "The tree does not have it any more, or never had it.".into(),
        ),
        ReviewState::Editing => (
            "run",
            "in",
            "Being made".into(),
            "Its agent still works on it. The page says so when there is something newer.".into(),
        ),
        ReviewState::Queued => ("queue", "mute", "Queued".into(), "Others hold its paths.".into()),
        ReviewState::Recoverable => (
            "unk",
            "held",
            "Its owner is gone".into(),
            "The process that made the claim has ended. Take it over, or clear it.".into(),
        ),
        ReviewState::Unjudged if review.kind == ReviewedKind::Worktree => {
            let sentence = review.notes.first().cloned().unwrap_or_default();
            ("exempt", "mute", "Work in progress, not judged yet".into(), sentence)
        }
        ReviewState::Unjudged => {
            ("unk", "mute", "Nobody judged this".into(), review.notes.first().cloned().unwrap_or_default())
        }
    }
}

/// Where the changes of a held run are.
fn held_sentence(review: &ChangeReview) -> String {
    let n_landed = review.paths.iter().filter(|path| path.in_tree == Some(true)).count();
    if n_landed == 0 {
        return "Your tree is as it was: the changes are kept aside until you decide.".into();
    }
    format!(
        "{} of {} in your tree already; the rest is kept aside until you decide.",
        n_landed,
        if n_landed == 1 {
            format!("{} is", count(review.paths.len(), "path"))
        } else {
            format!("{} are", count(review.paths.len(), "path"))
        }
    )
}

fn key_of(action: DecisionAction) -> Option<&'static str> {
    match action {
        DecisionAction::Land | DecisionAction::LandInScope => Some("L"),
        DecisionAction::Amend => Some("E"),
        DecisionAction::LandOnly => Some("S"),
        DecisionAction::Revert | DecisionAction::Discard => Some("R"),
        _ => None,
    }
}

fn decision_bar(frame: &PageFrame, review: &ChangeReview) -> Markup {
    let (symbol, class, title, sentence) = state_words(review);
    html! {
        section class={ "decide " (class) "-edge" } aria-label="Decide" id="decide" {
            div.say { b { (glyph(symbol, class)) (Untrusted(&title)) } span { (SentenceWithCode(&sentence)) } }
            @for option in &review.options {
                @if frame.read_only { code.cmd { (Untrusted(&option.command)) } } @else { (option_button(review, option)) }
            }
        }
        div.notice id="newer" hidden { (glyph("stale", "held")) p { "Something newer stands since you loaded this page. A decision on what you see is refused." } a.btn href=(change_address(&review.change)) { "Load it" } }
    }
}

fn option_button(review: &ChangeReview, option: &DecisionOption) -> Markup {
    html! {
        a.btn.main[option.is_main] href={ (change_address(&review.change)) "/do/" (option.action) } data-act="dialog" data-key=[key_of(option.action)] {
            (Untrusted(&option.label)) @if let Some(key) = key_of(option.action) { " " kbd { (key) } }
        }
    }
}

fn facts(context: &ReviewContext) -> Markup {
    let review = &context.review;
    let n_passed = |status| review.checks.iter().filter(|check| check.status == status).count();
    let n_gates = review.gates.iter().filter(|gate| gate.passed).count();
    let n_false = review.claims.iter().filter(|claim| claim.holds == Some(false)).count();
    html! {
        section.card aria-labelledby="facts-h" {
            header { h2 id="facts-h" { "Verdict and facts" } }
            dl.kv {
                dt { "State" }
                dd { @let (symbol, class, _, _) = state_words(review); span class=(class) { (glyph(symbol, "")) " " b { (review.state) } }
                    @for reason in &review.reasons { small { code { (Untrusted(&reason.code)) } " " (Untrusted(&reason.meaning)) } } }
                @if !matches!(review.kind, ReviewedKind::Range | ReviewedKind::Worktree) { dt { "Enforced by" }
                dd { @match &review.enforcement { Some(level) => (Untrusted(level)), None => span.dim { "known when it ends" } } } }
                dt { "Gates" }
                dd {
                    @if review.gates.is_empty() { span.dim { "none were sealed" } }
                    @else if n_gates == review.gates.len() { span.in { (glyph("ok", "")) " " (n_gates) " of " (review.gates.len()) " passed" } }
                    @else { span.out { (glyph("no", "")) " " (n_gates) " of " (review.gates.len()) " passed" } }
                }
                dt { "Claims" }
                dd {
                    @if review.claims.is_empty() { span.dim { "none were checked" } }
                    @else if n_false > 0 { span.out { (glyph("no", "")) " " (n_false) " false" } " of " (review.claims.len()) }
                    @else { (review.claims.len()) " checked, none false" }
                }
                dt { "Findings" }
                dd id="findings-dd" { @match &context.findings {
                    Some(found) => { (findings_sum(found)) @if !found.findings.is_empty() { small { a href={ (change_address(&review.change)) "/findings" } { "all" } } } },
                    None if review.findings_known => { (review.findings.len()) " new" },
                    None if review.paths.is_empty() => span.dim { "nothing to compare" },
                    None => span.dim { "not compared yet" small { a id="compare" href={ (change_address(&review.change)) "/findings" } { "compare" } } },
                } }
                @if let Some((before, after)) = review.health.or_else(|| context.findings.as_ref()?.health) { dt { "Health" } dd.num { (before) " → " (after) } }
                dt { "Evidence" }
                dd {
                    @if review.checks.is_empty() { span.dim { "there is none yet" } } @else {
                        @let n_flaws = n_flawed(&review.checks);
                        @if n_flaws == 0 { span.in { (glyph("ok", "")) " sound: " (count(n_passed(CheckStatus::Passed), "check")) " passed" } }
                        @else { span.out { (glyph("no", "")) " not sound: " (count(n_flaws, "check")) " failed" } }
                        @let n_verdict = n_passed(CheckStatus::Failed) - n_flaws;
                        @if n_verdict > 0 { small { (count(n_verdict, "check")) " " @if n_verdict == 1 { "says" } @else { "say" } " that the run did not pass" } }
                        small { (n_passed(CheckStatus::Skipped)) " not demanded, " a href={ (change_address(&review.change)) "/evidence" } { "look" } }
                    }
                }
                @if let Some(index) = review.log_index { dt { "In the log" } dd.num { a href={ (change_address(&review.change)) "/evidence" } { "#" (index) } } }
                @for decision in &context.decisions {
                    dt { "Decided" }
                    dd { (decision.action.phrase()) small { (Untrusted(&decision.by)) ", " (time_text(&decision.at)) @if let Some(why) = &decision.why { ": " q { (Untrusted(why)) } } } }
                }
            }
        }
    }
}

/// Counts the checks that failed because of the evidence itself, and not because the run did not pass.
pub(crate) fn n_flawed(checks: &[BundleCheck]) -> usize {
    let failed = checks.iter().filter(|check| check.status == CheckStatus::Failed);
    failed.filter(|check| check.codes.iter().any(|code| bundles::is_flaw(code))).count()
}

/// Gates, claims and amendments.
pub(crate) fn details(context: &ReviewContext) -> Markup {
    let review = &context.review;
    if matches!(review.kind, ReviewedKind::Range | ReviewedKind::Worktree) {
        return undeclared_notes(review);
    }
    let (_, _, _, sentence) = state_words(review);
    html! {
        div.three {
            section.card { header { h2 { "Gates" } span.dim { "sealed before the run" } }
                ul.rows {
                    @for (index, gate) in review.gates.iter().enumerate() {
                        li {
                            @if gate.passed { (glyph("ok", "in")) } @else if gate.status == "skip" { (glyph("skip", "mute")) } @else { (glyph("no", "out")) }
                            span { b { (Untrusted(&gate.id)) } " " code.dim { (Untrusted(&gate.detail)) } }
                            span.dim.num { @if let Some(ms) = gate.duration_ms { (ms / 1000) "." (ms % 1000 / 100) " s" } }
                            span.more { (Untrusted(&gate.status)) @if !gate.required { ", not required" } @if !gate.logs.is_empty() { " · " a href={ (change_address(&review.change)) "/log/" (index) } { "log" } } }
                        }
                    }
                }
                @if review.gates.is_empty() { p.quiet { "No gate looked at this change." } }
            }
            section.card { header { h2 { "Claims" } span.dim { "what the agent says" } }
                ul.rows {
                    @for claim in &review.claims {
                        li {
                            @match claim.holds { Some(true) => (glyph("ok", "in")), Some(false) => (glyph("no", "out")), None => (glyph("unk", "mute")) }
                            q { (Untrusted(&claim.sentence)) }
                            span class=(match claim.holds { Some(true) => "in", Some(false) => "out", None => "dim" }) { (Untrusted(&claim.verdict)) }
                            @if !claim.facts.is_empty() { span.more { @for fact in &claim.facts { (Untrusted(fact)) " " } } }
                        }
                    }
                }
                @if review.claims.is_empty() { p.quiet { "Nobody claimed anything that was checked." } }
            }
            section.card { header { h2 { "Amendments" } span.dim { "appended, never rewritten" } }
                ul.rows {
                    @for (index, amendment) in review.amendments.iter().enumerate() {
                        li {
                            (glyph("ask", "held"))
                            span { b { (index + 1) } " adds " @for pattern in &amendment.added { code { (Untrusted(pattern)) } " " } }
                            span.dim { (time_text(&amendment.at)) }
                            span.more { (Untrusted(&amendment.by)) ": " q { (Untrusted(&amendment.why)) } }
                        }
                    }
                }
                @if review.amendments.is_empty() { p.quiet { "The scope is the one that was declared." } }
                @for note in review.notes.iter().filter(|note| **note != sentence) { p.quiet { (Untrusted(note)) } }
            }
        }
    }
}

/// What is known of a change that nobody declared: it has no gates, claims or amendments.
fn undeclared_notes(review: &ChangeReview) -> Markup {
    let (_, _, _, sentence) = state_words(review);
    html! { @for note in review.notes.iter().filter(|note| **note != sentence) { p.mid { (Untrusted(note)) "." } } }
}

/// The verdict as it stands, for an export.
pub(crate) fn exported_verdict(context: &ReviewContext) -> Markup {
    let (symbol, class, title, sentence) = state_words(&context.review);
    html! {
        section class={ "decide " (class) "-edge" } { div.say { b { (glyph(symbol, class)) (Untrusted(&title)) } span { (Untrusted(&sentence)) } } }
        div.top2 { (fence(&context.review, context.notes())) (facts(context)) }
    }
}
