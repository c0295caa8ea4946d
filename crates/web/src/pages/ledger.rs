//! The ledger: what is in force, what changed since a position, contradictions, and the chain from an item to the words
//! that were said and to the changes made under it.

use super::{PageFrame, change_address};
use crate::untrusted_text::{Untrusted, glyph};
use crate::url_text::encode;
use maud::{Markup, html};
use probity_api::ledger::{ChangedItemsAnswer, ItemExplanation, ItemListAnswer, LedgerItem};
use probity_core::bytes::bare_shell_word;
use probity_core::text::{count, short_id};
use probity_ledger::ItemKind;
use probity_review::{ContradictionRequest, LedgerContradiction, superseding_delta};
use std::collections::BTreeSet;

/// Items on one page.
const MAX_LISTED_ITEMS: usize = 500;

/// What a reader asks the ledger for.
#[derive(Debug, Clone, Default)]
pub(crate) struct LedgerQuestion {
    pub(crate) kind: Option<ItemKind>,
    pub(crate) stream: Option<String>,
    pub(crate) since: Option<i64>,
    pub(crate) all: bool,
}

impl LedgerQuestion {
    /// The address of the same question with another kind, stream or extent.
    fn address(&self, kind: Option<ItemKind>, stream: Option<&str>, all: bool) -> String {
        let mut parts = Vec::new();
        parts.extend(kind.map(|kind| format!("kind={kind}")));
        parts.extend(stream.map(|stream| format!("stream={}", encode(stream.as_bytes()))));
        parts.extend(self.since.map(|since| format!("since={since}")));
        parts.extend(all.then(|| "all=1".to_owned()));
        format!("/ledger?{}", parts.join("&"))
    }

    fn item_address(&self, handle: &str) -> String {
        let stream = self.stream.as_deref().map(|stream| format!("?stream={}", encode(stream.as_bytes())));
        format!("/ledger/{}{}", encode(handle.as_bytes()).replace('/', "%2F"), stream.unwrap_or_default())
    }
}

/// Draws the ledger; `listed` has every kind, so that the counts beside the kinds are true.
pub(crate) fn ledger(
    frame: &PageFrame,
    question: &LedgerQuestion,
    listed: &ItemListAnswer,
    changed: Option<&ChangedItemsAnswer>,
) -> Markup {
    let is_wanted = |item: &&LedgerItem| question.kind.is_none_or(|kind| item.kind == kind);
    let shown: Vec<&LedgerItem> = listed.items.iter().filter(is_wanted).collect();
    let clashing: BTreeSet<&str> = listed.contradictions.iter().flatten().map(String::as_str).collect();
    let gone: Vec<&LedgerItem> = changed
        .map(|changed| changed.items.iter().filter(|item| !item.status.is_live()).filter(is_wanted).collect())
        .unwrap_or_default();
    let content = html! {
        div.pagehead id="ledger" {
            div { h1 { "Ledger" } p { (count(listed.items.len(), "item")) @if question.all { " in all" } @else { " in force" } " at position " (listed.seq) ". " @match listed.contradictions.len() { 0 => "No contradiction waits.", 1 => "1 contradiction waits.", n => { (n) " contradictions wait." } } } }
            span.grow {}
            div.seg role="group" aria-label="What" {
                a href=(question.address(question.kind, question.stream.as_deref(), false)) aria-current=[(!question.all).then_some("true")] { "In force" }
                a href=(question.address(question.kind, question.stream.as_deref(), true)) aria-current=[question.all.then_some("true")] { "All" }
            }
        }
        @for notice in &listed.notices { div.notice { p { (Untrusted(notice)) } } }
        div.ledger.wide {
            (facets(question, listed))
            div.stack {
                @for pair in &listed.contradictions { (contradiction(frame, question, listed, pair)) }
                section.card aria-labelledby="items-h" {
                    header { h2 id="items-h" { @if question.all { "Everything" } @else { "What is in force" } } span.grow {}
                        @if let Some(changed) = changed { span.dim { "marks show what changed since position " (changed.since) } } }
                    (since_form(question, listed.seq))
                    ul {
                        @for item in shown.iter().take(MAX_LISTED_ITEMS) { li { (item_row(question, item, changed, &clashing)) } }
                        @if !question.all { @for item in &gone { li { (item_row(question, item, changed, &clashing)) } } }
                    }
                    @if shown.is_empty() && gone.is_empty() { p.quiet { "Nothing is in force here." } }
                    @if shown.len() > MAX_LISTED_ITEMS { p.quiet { "and " (shown.len() - MAX_LISTED_ITEMS) " more: " code { "probity ledger show" } } }
                }
                @if !listed.pending_turns.is_empty() { p.quiet { (count(listed.pending_turns.len(), "turn")) " not read for candidates yet." } }
            }
        }
        p.mid { "The same on the command line: " code { "probity ledger show" } ", " code { "probity ledger changed --since N" } }
    };
    frame.page("Ledger", content)
}

fn since_form(question: &LedgerQuestion, head: u64) -> Markup {
    html! {
        form.pos action="/ledger" {
            label.dim for="since" { "changed since position" }
            input id="since" name="since" type="number" min="0" max=(head) value=[question.since];
            @if let Some(kind) = question.kind { input type="hidden" name="kind" value=(kind); }
            @if let Some(stream) = &question.stream { input type="hidden" name="stream" value=(stream); }
            button.btn.s type="submit" { "Mark" }
            span.dim { "of " (head) }
        }
    }
}

fn facets(question: &LedgerQuestion, listed: &ItemListAnswer) -> Markup {
    let n_of = |kind: ItemKind| listed.items.iter().filter(|item| item.kind == kind).count();
    let stream = question.stream.as_deref();
    html! {
        nav.facet aria-label="Filters" {
            h2 { "Kind" }
            ul {
                li { a href=(question.address(None, stream, question.all)) aria-current=[question.kind.is_none().then_some("true")] { span { "Every kind" } span.num { (listed.items.len()) } } }
                @for kind in ItemKind::ALL { @if n_of(*kind) > 0 {
                    li { a href=(question.address(Some(*kind), stream, question.all)) aria-current=[(question.kind == Some(*kind)).then_some("true")] { span { (kind) } span.num { (n_of(*kind)) } } }
                } }
            }
            @if !listed.streams.is_empty() || stream.is_some() {
                h2 { "Streams" }
                ul {
                    li { a href=(question.address(question.kind, None, question.all)) aria-current=[stream.is_none().then_some("true")] { span { "the ledger" } span.num { (listed.seq) } } }
                    @for (name, n_batches) in &listed.streams {
                        li { a href=(question.address(question.kind, Some(name), question.all)) aria-current=[(stream == Some(name.as_str())).then_some("true")] { span { (Untrusted(name)) } span.num { (n_batches) } } }
                    }
                }
            }
        }
    }
}

fn contradiction(
    frame: &PageFrame,
    question: &LedgerQuestion,
    listed: &ItemListAnswer,
    pair: &[String; 2],
) -> Markup {
    let side = |handle: &String, other: &String| {
        let item = listed.items.iter().find(|item| item.handle == *handle);
        html! {
            div {
                b { @match item { Some(item) => (Untrusted(&item.summary)), None => (Untrusted(handle)) } }
                small { a href=(question.item_address(handle)) { (Untrusted(handle)) } @if let Some(item) = item { " · " (author_of(item)) } }
                // A stream is settled when it is merged.
                @if !frame.read_only && question.stream.is_none() { p { a.btn.s href=(keep_address(handle, other)) data-act="dialog" { "Keep this one" span.sr { ", " (Untrusted(handle)) } } } }
            }
        }
    };
    html! {
        section.card.contradiction aria-label="A contradiction" {
            header { (glyph("lost", "lost")) h2 { "A contradiction" } span.dim { "both are in force" } }
            div.clashbox { (side(&pair[0], &pair[1])) span aria-hidden="true" { "≠" } (side(&pair[1], &pair[0])) }
        }
    }
}

/// The address at which one side of a contradiction is kept.
fn keep_address(keep: &str, drop: &str) -> String {
    let keep = encode(keep.as_bytes()).replace('/', "%2F");
    format!("/ledger/{keep}/do/keep?over={}", encode(drop.as_bytes()))
}

/// What it means to keep one side of a contradiction.
pub(crate) fn preview(frame: &PageFrame, about: &LedgerContradiction, token: &str) -> Markup {
    let (keep, drop) = (&about.keep, &about.drop);
    let delta = superseding_delta(&keep.handle, &drop.handle, "…");
    let command =
        format!("echo {} | probity ledger propose --said '…'", bare_shell_word(delta.to_string().as_bytes()));
    let content = html! {
        div { p.crumb { a href="/ledger" { "Ledger" } " / " span { "a contradiction" } } h1 { "Keep " (Untrusted(&keep.handle)) } }
        form.card.preview id="preview" method="post" action=(keep_address(&keep.handle, &drop.handle)) autocomplete="off" {
            input type="hidden" name="token" value=(token);
            input type="hidden" name="over" value=(drop.handle);
            input type="hidden" name="shown" value=(about.shown);
            header { h2 { "What happens: keep " (Untrusted(&keep.handle)) } }
            div.body {
                ul.effects {
                    li { (glyph("ok", "in")) span { "Stays in force: " q { (Untrusted(&keep.summary)) } } }
                    li { (glyph("skip", "mute")) span { "Is replaced by it, and stays in the history: " q { (Untrusted(&drop.summary)) } } }
                    li { (glyph("run", "in")) span { "The ledger takes it as a proposal of yours, with your reason as its source; its rules may refuse it." } }
                }
                label { "Why (kept with the decision)" input type="text" name="why" required maxlength="2000"; }
                p.mid { "The same on the command line:" }
                code.cmd tabindex="0" { (Untrusted(&command)) }
            }
            footer {
                span.dim { "recorded as " (Untrusted(&frame.person)) }
                a.btn href="/ledger" data-act="close" { "Cancel" }
                @if frame.read_only { span.dim { "read-only" } } @else { button.btn.main type="submit" { "Keep " (Untrusted(&keep.handle)) } }
            }
        }
    };
    frame.page("Keep one side", content)
}

/// The contradiction is settled.
pub(crate) fn settled(frame: &PageFrame, done: &ContradictionRequest) -> Markup {
    let content = html! {
        div { p.crumb { a href="/ledger" { "Ledger" } } h1 { "Done" } }
        section.card id="decided" { ul.rows {
            li { (glyph("ok", "in")) span { b { (Untrusted(&done.keep)) } " stays in force" } }
            li { (glyph("skip", "mute")) span { b { (Untrusted(&done.drop)) } " is replaced by it: " q { (Untrusted(&done.why)) } } }
        } }
        p { a.btn.main href="/ledger" { "Back to the ledger" } " " a.btn href="/board" { "To the board" } }
    };
    frame.page("Done", content)
}

fn author_of(item: &LedgerItem) -> Markup {
    html! { @match item.versions.last() { Some(version) => (Untrusted(&version.author)), None => "nobody known" } }
}

fn item_row(
    question: &LedgerQuestion,
    item: &LedgerItem,
    changed: Option<&ChangedItemsAnswer>,
    clashing: &BTreeSet<&str>,
) -> Markup {
    let is_changed = changed.is_some_and(|changed| item.last_seq.get() > changed.since);
    let is_new = is_changed
        && item.versions.first().zip(changed).is_some_and(|(first, changed)| first.seq.get() > changed.since);
    let (class, word) = match () {
        () if clashing.contains(item.handle.as_str()) => ("lost", Some("contradicted")),
        () if !item.status.is_live() => ("", Some(item.status.as_str())),
        () if is_new => ("in", Some("new")),
        () if is_changed => ("held", Some("revised")),
        () => ("", None),
    };
    html! {
        a.item.gone[!item.status.is_live()] href=(question.item_address(&item.handle)) {
            span.kind { (item.kind) " " (Untrusted(&item.handle)) }
            span.say { (Untrusted(&item.summary)) }
            @match word { Some(word) => span class={ "chip " (class) } { (word) }, None => span {} }
            small { "position " (item.last_seq.get()) @if item.hard { " · hard" } " · " (author_of(item)) }
        }
    }
}

/// A step of the chain of an item.
struct ChainStep {
    class: &'static str,
    symbol: &'static str,
    question: &'static str,
    answer: Markup,
    detail: Markup,
}

/// One item: from the words to the changes.
pub(crate) fn item(frame: &PageFrame, question: &LedgerQuestion, explained: &ItemExplanation) -> Markup {
    let item = &explained.item;
    let mut steps = word_steps(explained);
    steps.extend(wording_steps(item));
    steps.extend(fate_steps(question, explained));
    steps.push(change_step(explained));
    let content = html! {
        div {
            p.crumb { a href="/ledger" { "Ledger" } " / " span { (Untrusted(&item.handle)) } }
            h1 { (Untrusted(&item.summary)) }
            div.facts-line { span { (item.kind) } span { (item.status) } span { "confidence " (item.confidence) } @if item.hard { span.held { "hard constraint" } } span.num { "position " (item.last_seq.get()) " of " (explained.seq) } }
        }
        section.card id="item" aria-label="From words to changes" {
            header { h2 { (Untrusted(&item.handle)) } span.dim { "from words to changes" } }
            ol.chain { @for step in &steps {
                li class=(step.class) { span.dot { (glyph(step.symbol, "")) } div { p.q { (step.question) } p.a { (step.answer) } div.d { (step.detail) } } }
            } }
            div.body-s { code.cmd tabindex="0" { "probity ledger explain " (Untrusted(&item.handle)) } }
        }
    };
    frame.page(&item.handle, content)
}

fn word_steps(explained: &ItemExplanation) -> Vec<ChainStep> {
    let sources = explained.item.sources.iter().enumerate();
    let step = |(index, source): (usize, &probity_api::ledger::ItemSource)| {
        let quote = explained.quotes.get(index).and_then(Option::as_ref);
        ChainStep {
            class: if quote.is_some() { "" } else { "unk" },
            symbol: if quote.is_some() { "run" } else { "unk" },
            question: "The words",
            answer: html! { "turn " (Untrusted(&source.turn)) @if let Some((from, to)) = source.range { ", bytes " (from) " to " (to) } },
            detail: html! { @match quote { Some(quote) => p.cite { "\u{201c}" (Untrusted(quote)) "\u{201d}" }, None => "the text was not kept" } "proposed by " (Untrusted(&source.author)) " at position " (source.seq.get()) },
        }
    };
    let mut steps: Vec<ChainStep> = sources.map(step).collect();
    if steps.is_empty() {
        steps.push(ChainStep {
            class: "unk",
            symbol: "unk",
            question: "The words",
            answer: html! { "not known" },
            detail: html! { "the proposal named no turn" },
        });
    }
    steps
}

fn wording_steps(item: &LedgerItem) -> Vec<ChainStep> {
    let step = |(index, version): (usize, &probity_api::ledger::ItemVersion)| ChainStep {
        class: "",
        symbol: "ok",
        question: if index == 0 { "Accepted" } else { "Revised" },
        answer: html! { "position " (version.seq.get()) " by " (Untrusted(&version.author)) @if let Some(mode) = version.mode { ", " (mode) } },
        detail: html! { (Untrusted(&version.summary)) },
    };
    item.versions.iter().enumerate().map(step).collect()
}

fn fate_steps(question: &LedgerQuestion, explained: &ItemExplanation) -> Vec<ChainStep> {
    let item = &explained.item;
    let links = |handles: &[String]| html! { @for handle in handles { a href=(question.item_address(handle)) { (Untrusted(handle)) } " " } };
    let mut steps = Vec::new();
    let mut add = |class, symbol, name, answer, detail| {
        steps.push(ChainStep { class, symbol, question: name, answer, detail });
    };
    if !item.supersedes.is_empty() {
        add("", "ok", "Replaces", links(&item.supersedes), html! {});
    }
    if !explained.replaced_by.is_empty() {
        add("", "skip", "Replaced by", links(&explained.replaced_by), html! {});
    }
    if !explained.contradicts.is_empty() {
        add("warn", "lost", "Contradicts", links(&explained.contradicts), html! { "both are in force" });
    }
    if let Some(note) = &item.note {
        add("", "skip", "Closed", html! { (item.status) }, html! { (Untrusted(note)) });
    }
    if let Some(why) = &item.reopened_because {
        add("", "stale", "Opened again", html! { (item.status) }, html! { (Untrusted(why)) });
    }
    steps
}

fn change_step(explained: &ItemExplanation) -> ChainStep {
    let changes = &explained.changes;
    ChainStep {
        class: if changes.is_empty() { "unk" } else { "" },
        symbol: if changes.is_empty() { "skip" } else { "ok" },
        question: "Changes under it",
        answer: html! {
            @if changes.is_empty() { "none cites it" }
            @for citation in changes { a href=(change_address(&citation.change)) { (Untrusted(short_id(&citation.change))) } " by " (Untrusted(&citation.author)) ", at position " (citation.at.get()) br; }
        },
        detail: html! {},
    }
}
