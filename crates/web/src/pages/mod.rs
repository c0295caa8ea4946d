//! The pages: functions from answers to markup.

pub(crate) mod board;
pub(crate) mod change;
pub(crate) mod change_files;
pub(crate) mod code;
pub(crate) mod diff;
pub(crate) mod entry;
pub(crate) mod evidence;
pub(crate) mod fence;
pub(crate) mod findings;
pub(crate) mod gate_log;
pub(crate) mod ledger;
pub(crate) mod lists;
pub(crate) mod merge;
pub(crate) mod merge_decision;
pub(crate) mod merge_place;
pub(crate) mod preview;
mod symbols;
pub(crate) mod why;

pub(crate) use symbols::sprite;

use crate::assets::{ICON_ASSET, SCRIPT_ASSET, STYLE_ASSET};
use crate::ui_state::{TreeSummary, UiState};
use crate::untrusted_text::{SentenceWithCode, Untrusted, glyph};
use crate::url_text::encode;
use maud::{DOCTYPE, Markup, html};
use probity_workspace::ServiceError;

/// What every page shows around its content.
#[derive(Debug, Clone)]
pub(crate) struct PageFrame {
    /// Which entry of the navigation is current.
    pub(crate) current: &'static str,
    pub(crate) person: String,
    pub(crate) read_only: bool,
    pub(crate) theme: Option<String>,
    pub(crate) tree: TreeSummary,
}

/// Entries of the navigation: key, address, name, and the key that leads there.
const NAVIGATION: &[(&str, &str, &str, &str)] = &[
    ("board", "/board", "Board", "b"),
    ("changes", "/c", "Changes", "c"),
    ("worktree", "/c/worktree", "Uncommitted", "u"),
    ("merge", "/merge", "Lost intent", "i"),
    ("ledger", "/ledger", "Ledger", "l"),
    ("code", "/code", "Code", "h"),
    ("log", "/log", "Log", "e"),
];

impl PageFrame {
    pub(crate) fn new(state: &UiState, current: &'static str) -> Self {
        Self {
            current,
            person: state.person.clone(),
            read_only: state.read_only,
            theme: None,
            tree: state.summary(),
        }
    }

    /// Puts content into the frame.
    #[allow(clippy::needless_pass_by_value, reason = "the content is made for this call alone")]
    pub(crate) fn page(&self, title: &str, content: Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" data-theme=[self.theme.as_deref()] {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { (Untrusted(title)) " · Probity" }
                    link rel="icon" href=(ICON_ASSET.address) type="image/svg+xml";
                    link rel="stylesheet" href=(STYLE_ASSET.address);
                    script src=(SCRIPT_ASSET.address) defer {}
                }
                body {
                    (sprite())
                    a.skip href="#main" { "Skip to the content" }
                    (self.top())
                    main id="main" tabindex="-1" {
                        @if self.read_only {
                            div.notice { p { b { "Read-only. " } "This page was started with " code { "--read-only" } ": decide on the command line." } }
                        }
                        (content)
                    }
                    (keys_dialog())
                    dialog id="act" aria-label="Decide" {}
                }
            }
        }
    }

    /// How much waits behind an entry of the navigation.
    fn badge(&self, key: &str) -> Markup {
        let (n, class, words) = match key {
            "board" => (self.tree.n_needs, "", "wait for you"),
            "merge" => (self.tree.n_lost, "hot", "not decided"),
            "ledger" => (self.tree.n_contradictions, "hot", "contradictions"),
            _ => return html! {},
        };
        html! { b class=(class) id={ "n-" (key) } hidden[n == 0] { (n) span.sr { " " (words) } } }
    }

    fn top(&self) -> Markup {
        let letters: String =
            self.person.split_whitespace().filter_map(|word| word.chars().next()).take(2).collect();
        html! {
            header.top {
                a.brand href="/board" {
                    svg viewBox="0 0 20 20" aria-hidden="true" {
                        rect x="2" y="2" width="16" height="16" rx="4.5" fill="none" stroke="currentColor" stroke-width="2" {}
                        circle.dot cx="10" cy="10" r="3.4" {}
                    }
                    "Probity"
                }
                span.repo { (Untrusted(&self.tree.name)) @if let Some(head) = &self.tree.head { code { (head.get(..8).unwrap_or(head)) } } }
                nav.nav aria-label="Pages" {
                    @for (key, address, name, letter) in NAVIGATION {
                        a href=(address) data-go=(letter) aria-current=[(*key == self.current).then_some("page")] { (name) (self.badge(key)) }
                    }
                }
                span.grow {}
                form.find role="search" action="/find" {
                    label.sr for="q" { "Go to a change, a range, or a path and line" }
                    input id="q" name="q" placeholder="change, BASE..HEAD, path:line" autocomplete="off";
                    kbd aria-hidden="true" { "/" }
                }
                span.live.off role="status" id="live" { i {} span { "Not live" } }
                button.iconbtn type="button" data-act="theme" aria-label="Light or dark" {
                    svg viewBox="0 0 16 16" aria-hidden="true" {
                        circle cx="8" cy="8" r="5.6" {}
                        path d="M8 2.4A5.6 5.6 0 0 1 8 13.6Z" fill="currentColor" {}
                    }
                }
                button.iconbtn type="button" data-act="help" aria-label="Keys" { "?" }
                span.who { span.face aria-hidden="true" { (Untrusted(&letters)) } span { (Untrusted(&self.person)) } }
            }
        }
    }
}

/// A heading, and what each of its keys does.
type KeyGroup = (&'static str, &'static [(&'static str, &'static [&'static str])]);

fn keys_dialog() -> Markup {
    let rows: &[KeyGroup] = &[
        (
            "Everywhere",
            &[
                ("Board, changes, uncommitted, log", &["g b", "g c", "g u", "g e"]),
                ("Lost intent, ledger, code", &["g i", "g l", "g h"]),
                ("Find a change, a range, a line", &["/"]),
                ("Next, previous", &["j", "k"]),
                ("Open", &["Enter"]),
                ("Light or dark", &["\\"]),
                ("Show what waits", &["."]),
            ],
        ),
        (
            "A change",
            &[
                ("Next, previous file", &["]", "["]),
                ("Next, previous hunk", &["n", "p"]),
                ("Next path outside the scope", &["o"]),
                ("Seen, and on to the next", &["v"]),
                ("Side by side or unified", &["u"]),
                ("Why is the focused line here", &["w"]),
                ("Expand, land, split, revert or discard", &["E", "L", "S", "R"]),
            ],
        ),
        (
            "A merge",
            &[
                ("Next, previous place", &["]", "["]),
                ("Base, ours, theirs, the merge stands", &["1", "2", "3", "4"]),
            ],
        ),
    ];
    html! {
        dialog id="help" aria-labelledby="help-h" {
            header { h2 id="help-h" { "Keys" } }
            div.body {
                div.keys {
                    @for (title, keys) in rows {
                        h3 { (title) }
                        @for (what, keys) in *keys {
                            div { span { (what) } span { @for key in *keys { kbd { (key) } " " } } }
                        }
                    }
                }
            }
            footer {
                button.btn type="button" data-act="keys" id="keys-switch" { "Turn single keys off" }
                span.grow {}
                button.btn type="button" data-act="close" { "Close " kbd { "Esc" } }
            }
        }
    }
}

/// The address of a change.
pub(crate) fn change_address(change: &str) -> String {
    format!("/c/{}", encode(change.as_bytes()).replace('/', "%2F"))
}

/// A page that says why there is nothing else.
pub(crate) fn refusal(frame: &PageFrame, fault: &ServiceError) -> Markup {
    let is_late = fault.code() == "DECISION.TOO_LATE";
    let title = if is_late { "Too late" } else { "That did not work" };
    let content = html! {
        div { p.crumb { a href="/board" { "Board" } } h1 { (title) } }
        div.notice.bad id="refusal" {
            (glyph(if is_late { "stale" } else { "no" }, "out"))
            p { (SentenceWithCode(&fault.to_string())) " " code { (fault.code()) } br; span.mid { (SentenceWithCode(&fault.next_step())) } }
        }
        p { a.btn href="/board" { "To the board" } }
    };
    frame.page(title, content)
}

/// An action on a page that only shows.
pub(crate) fn read_only(frame: &PageFrame) -> Markup {
    frame.page(
        "Read-only",
        html! { h1 { "Nothing was done" } p { "The page was started with " code { "--read-only" } "." } },
    )
}

/// A form that this session did not get.
pub(crate) fn foreign_form(frame: &PageFrame) -> Markup {
    let content = html! {
        h1 { "Nothing was done" }
        p { "The form is not one that this page gave to you. Load the change again and decide there." }
    };
    frame.page("Not our form", content)
}

/// A phrase as the beginning of a sentence.
pub(crate) fn first_capital(phrase: &str) -> String {
    let mut letters = phrase.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// A time of an answer, as a person reads it: the clock time, and the whole in the title.
pub(crate) fn time_text(time: &str) -> Markup {
    let short = time.get(11..16).unwrap_or(time);
    let day = time.get(..10).unwrap_or_default();
    html! { time datetime=(time) title=(format!("{day} {short} UTC")) { (short) } }
}

/// A time with its day. The script shows both in the time zone of the reader.
pub(crate) fn day_and_time(time: &str) -> Markup {
    let (day, short) = (time.get(..10).unwrap_or_default(), time.get(11..16).unwrap_or(time));
    html! { time datetime=(time) title=(format!("{day} {short} UTC")) { (day) " " (short) } }
}

/// How long ago a time was, where the script runs; else the time.
pub(crate) fn time_ago(time: &str) -> Markup {
    let (day, short) = (time.get(..10).unwrap_or_default(), time.get(11..16).unwrap_or(time));
    html! { time datetime=(time) data-ago="1" title=(format!("{day} {short} UTC")) { (short) } }
}

/// Counts of added and removed lines.
pub(crate) fn plus_minus(added: usize, removed: usize) -> Markup {
    html! { span.pm.num { span.a { "+" (added) } span.d { "\u{2212}" (removed) } } }
}

/// Two letters for an agent.
pub(crate) fn face(agent: Option<&str>) -> Markup {
    let letters: String =
        agent.unwrap_or("run").chars().filter(|letter| letter.is_alphanumeric()).take(2).collect();
    let mut shown = letters.chars();
    let first: String = shown.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    let rest: String = shown.collect();
    html! { span.face.agent aria-hidden="true" { (Untrusted(&first)) (Untrusted(&rest)) } }
}
