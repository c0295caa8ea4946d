//! The board: who is where, what needs a person, whose the uncommitted paths are.

use super::{PageFrame, change_address, face, first_capital, plus_minus, time_ago, time_text};
use crate::untrusted_text::{SentenceWithCode, Untrusted, attribute, glyph, path_text};
use maud::{Markup, html};
use probity_api::review::{
    BoardAnswer, BoardLane, BoardNeed, DirtyPathClass, LanePath, LaneState, LogFeedLine, NeedKind, PathFate,
    ReviewedKind,
};
use probity_core::text::{count, short_id};

/// A lease with less left than this is drawn as low.
const LOW_LEASE_PERCENT: u32 = 25;
const LANE_HEIGHT: u32 = 66;
/// The top and the height of a lot.
const LOT_TOP: u32 = 13;
const LOT_HEIGHT: u32 = 40;
/// Half the height of the mark of a path outside of the scope, with a gap to its bar.
const DIAMOND_HEIGHT: u32 = 7;
/// A bar up to this height leaves room for words above its diamond.
const LOW_BAR_HEIGHT: u32 = 18;
/// The height of the largest bar.
const MAX_BAR_HEIGHT: u32 = 36;

pub(crate) fn board(frame: &PageFrame, board: &BoardAnswer) -> Markup {
    let n_agents = board
        .lanes
        .iter()
        .filter_map(|lane| lane.agent.as_ref())
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    let n_lanes = board.lanes.len() + board.lanes_left_out;
    let n_needs = board.needs.len() + board.needs_left_out;
    let title = if n_needs == 0 { "Board".to_owned() } else { format!("({n_needs}) Board") };
    let content = html! {
        div.pagehead {
            div {
                h1 { "Board" }
                p id="board-sum" {
                    (count(n_lanes, "change")) " in progress, " (count(n_agents, "agent")) " at work, "
                    @if n_needs == 0 { "nothing needs you." } @else { (count(n_needs, "thing")) " " @if n_needs == 1 { "needs" } @else { "need" } " you." }
                }
            }
            span.grow {}
            button.btn.s type="button" id="waiting" data-act="fresh" hidden { "new" }
            div.seg role="group" aria-label="Which changes" {
                a href="/board" aria-current="true" { "In progress" }
                a href="/c" { "Ended" }
            }
        }
        div id="board" data-log=(board.log_size) {
            (needs(frame, board))
            (map(frame, board))
            div.two {
                (dirty(board))
                (log_card(&board.log, board.log_size))
            }
        }
    };
    frame.page(&title, content)
}

fn needs(frame: &PageFrame, board: &BoardAnswer) -> Markup {
    if board.needs.is_empty() {
        return html! {};
    }
    html! {
        section.needs aria-labelledby="nd-h" {
            h2.sr id="nd-h" { "Needs you" }
            @for need in &board.needs { (need_card(frame, need)) }
            @if board.needs_left_out > 0 { p.mid { "and " (board.needs_left_out) " more, on the map below" } }
        }
    }
}

/// Where a thing that waits is decided.
fn need_address(need: &BoardNeed) -> String {
    match need.kind {
        NeedKind::Lost if need.change.is_empty() => "/merge".to_owned(),
        NeedKind::Lost => format!("/merge/{}", need.change),
        NeedKind::Contradiction => "/ledger".to_owned(),
        _ => change_address(&need.change),
    }
}

fn need_card(frame: &PageFrame, need: &BoardNeed) -> Markup {
    let (class, symbol, title, verb) = match need.kind {
        NeedKind::Outside => ("out", "out", "Outside its scope", "Decide"),
        NeedKind::Failed => ("out", "no", "Did not pass", "Decide"),
        NeedKind::Ready => ("in", "ok", "Ready to land", "Look"),
        NeedKind::Recoverable => ("held", "unk", "Owner is gone", "Decide"),
        NeedKind::Stale => ("held", "stale", "Stale base", "Look"),
        NeedKind::Lost => ("lost", "lost", "Lost intent", "Decide"),
        NeedKind::Contradiction => ("lost", "lost", "Contradiction", "Decide"),
    };
    let is_main = verb == "Decide";
    html! {
        article class={ "need " (class) } {
            h3 { (glyph(symbol, "")) (title) @if let Some(since) = &need.since { (time_ago(since)) } }
            p {
                b { (Untrusted(&need.who)) } " " (SentenceWithCode(&need.sentence))
                @for (index, path) in need.paths.iter().take(2).enumerate() {
                    @if index > 0 { "," } " " code { (path.to_string()) }
                }
                @if need.paths.len() > 2 { " and " (need.paths.len() - 2) " more" }
                "."
            }
            footer {
                @if let Some(action) = need.action.filter(|_| !frame.read_only) {
                    a.btn.s.main href={ (need_address(need)) "/do/" (action) } data-act="dialog" { (first_capital(action.phrase())) span.sr { ", " (Untrusted(&need.who)) } }
                    a.btn.s href=(need_address(need)) { "Look" span.sr { " at " (Untrusted(&need.who)) } }
                } @else {
                    a.btn.s.main[is_main] href=(need_address(need)) { (verb) span.sr { " about " (Untrusted(&need.who)) } }
                }
                span.dim { (need.note) }
            }
        }
    }
}

/// A place on the map in percent.
fn percent(place: u32) -> String {
    format!("{}.{:02}%", place / 100, place % 100)
}

fn map(frame: &PageFrame, board: &BoardAnswer) -> Markup {
    html! {
        section.card.map id="map" aria-label="Who works where" {
            div.axis {
                span { "Change" }
                svg height="34" aria-hidden="true" {
                    (grid(board, 34))
                    @for area in &board.areas {
                        svg x=(percent(area.start)) width=(percent(area.width)) height="34" {
                            text x="8" y="21" {
                                @if area.name.is_empty() { "·" } @else { (Untrusted(short_area(&area.name))) }
                            }
                        }
                    }
                }
                span { "State" }
            }
            @for lane in &board.lanes { (lane_row(frame, board, lane)) }
            @if board.lanes.is_empty() { (nobody_works()) }
            @if board.lanes_left_out > 0 { p.more { "and " (board.lanes_left_out) " more: " code { "probity status" } } }
            (legend())
        }
    }
}

/// The last part of a directory: a column is narrow.
fn short_area(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn nobody_works() -> Markup {
    html! {
        div.empty {
            h3 { "Nobody is changing this tree" }
            p { "No intent is open, no run goes on, and nothing waits for a decision." }
            code.cmd { "probity run --scope 'src/**' -- YOUR-AGENT" }
        }
    }
}

fn grid(board: &BoardAnswer, height: u32) -> Markup {
    html! {
        @for area in board.areas.iter().filter(|area| area.start > 0) {
            line.grid-l x1=(percent(area.start)) x2=(percent(area.start)) y1="0" y2=(height) {}
        }
    }
}

fn lane_row(frame: &PageFrame, board: &BoardAnswer, lane: &BoardLane) -> Markup {
    html! {
        div.lane data-change=(attribute(&lane.change)) {
            a.label href=(change_address(&lane.change)) {
                (face(lane.agent.as_deref()))
                span { span.t { (Untrusted(&lane.title)) } span.m { (lane_words(lane)) } }
            }
            svg role="img" aria-label=(attribute(&lane_sentence(lane))) { (lane_drawing(board, lane)) }
            div.facts { (lane_facts(lane)) (lane_actions(frame, lane)) }
        }
    }
}

fn lane_words(lane: &BoardLane) -> Markup {
    let kind = match lane.kind {
        ReviewedKind::Intent => "intent",
        _ => "run",
    };
    html! {
        @if let Some(agent) = &lane.agent { (Untrusted(agent)) " · " }
        @if let Some(machine) = &lane.machine { (Untrusted(machine)) " · " }
        (kind) " " (Untrusted(short_id(&lane.change)))
        @if lane.has_view { " · private view" }
        @if !lane.is_here { " · another worktree" }
    }
}

/// What the drawing shows, in a sentence.
fn lane_sentence(lane: &BoardLane) -> String {
    let scope = lane.scope.iter().take(4).cloned().collect::<Vec<_>>().join(", ");
    let more = lane.scope.len().saturating_sub(4);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let outside = if lane.n_outside == 0 { String::new() } else { format!(", {} outside", lane.n_outside) };
    format!("Scope: {scope}{more}. {} changed{outside}.", count(lane.n_paths, "path"))
}

fn lane_drawing(board: &BoardAnswer, lane: &BoardLane) -> Markup {
    let lot_class = if lane.state == LaneState::Queued { "lot wait" } else { "lot" };
    let clashes = board.overlaps.iter().filter(|overlap| overlap.changes.contains(&lane.change));
    let outside: Vec<_> = lane.paths.iter().filter(|path| path.fate == PathFate::Outside).collect();
    html! {
        (grid(board, LANE_HEIGHT))
        @for (start, width) in &lane.lots {
            rect class=(lot_class) x=(percent(*start)) width=(percent(*width)) y=(LOT_TOP) height=(LOT_HEIGHT) rx="4" {}
        }
        @for overlap in clashes {
            rect.clash x=(percent(overlap.start)) width=(percent(overlap.width.max(60))) y="0" height=(LANE_HEIGHT) {
                title { "two want " (Untrusted(&overlap.paths.join(", "))) }
            }
        }
        @for path in &lane.paths {
            @let height = bar_height(path.lines);
            @let class = match path.fate { PathFate::Outside => "bar-out", PathFate::Gate => "bar-gate", _ => "bar-in" };
            rect class=(class) x=(percent(path.at)) width="5" y=(LOT_TOP + LOT_HEIGHT - height) height=(height) rx="1.5" {
                title { (path.path.to_string()) ", " (count(path.lines, "line")) }
            }
        }
        @for path in &outside {
            // The diamond stands on its bar.
            svg x=(percent(path.at)) y=(LOT_TOP + LOT_HEIGHT - bar_height(path.lines) - DIAMOND_HEIGHT) width="12" height="12" overflow="visible" {
                path.bar-out d="M2.5 -5.5 8 0 2.5 5.5 -3 0Z" {}
            }
        }
        @if let Some((first, last)) = outside_ends(&outside) {
            // Above low bars, else beside the diamonds on the side that has room.
            @let is_low = outside.iter().all(|path| bar_height(path.lines) <= LOW_BAR_HEIGHT);
            @let is_left = last > 8_200;
            @let shift = if is_low { if is_left { "6" } else { "-3" } } else if is_left { "-8" } else { "14" };
            svg x=(percent(if is_left == is_low { last } else { first })) y="0" width="1" height="20" overflow="visible" {
                text.tx-out x=(shift) y="11" text-anchor=(if is_left { "end" } else { "start" }) { (lane.n_outside) " outside" }
            }
        }
        @if let Some(moved) = lane.base_moved.first().filter(|_| lane.state != LaneState::Held) {
            @let (start, is_left) = lane.lots.first().map_or((100, false), |(start, width)| if *start > 6_000 { (start + width, true) } else { (*start, false) });
            svg x=(percent(start)) y="0" width="1" height="20" overflow="visible" {
                text.tx-held x="0" y="10" text-anchor=(if is_left { "end" } else { "start" }) { (file_name(moved)) " changed below it" }
            }
        }
    }
}

/// The last part of a path.
fn file_name(path: &probity_paths::RepoPath) -> String {
    let shown = path.to_string();
    shown.rsplit('/').next().unwrap_or(&shown).to_owned()
}

/// The places of the first and the last path outside of the scope.
fn outside_ends(outside: &[&LanePath]) -> Option<(u32, u32)> {
    let places = || outside.iter().map(|path| path.at);
    Some((places().min()?, places().max()?))
}

/// A bar grows with the logarithm of the changed lines.
fn bar_height(lines: usize) -> u32 {
    let doublings = usize::BITS - (lines + 1).leading_zeros();
    (4 + 4 * doublings).min(MAX_BAR_HEIGHT)
}

fn lane_facts(lane: &BoardLane) -> Markup {
    let (symbol, class, words) = match lane.state {
        LaneState::Editing if lane.base_behind.is_some() => {
            ("stale", "held", format!("Editing, base {} behind", lane.base_behind.unwrap_or(0)))
        }
        LaneState::Editing => ("run", "in", "Editing".to_owned()),
        LaneState::Queued => (
            "queue",
            "mid",
            lane.queue_position.map_or("Queued".to_owned(), |place| format!("Queued, place {place}")),
        ),
        LaneState::Held if lane.n_in_tree > 0 => ("held", "held", "Rest held, waits for you".to_owned()),
        LaneState::Held => ("held", "held", "Held, waits for you".to_owned()),
        LaneState::Ready => ("ok", "in", "Passed, ready to land".to_owned()),
        LaneState::Silent => ("unk", "held", "Silent, lease over".to_owned()),
        LaneState::Recoverable => ("unk", "held", "Owner gone, recoverable".to_owned()),
        LaneState::Landed => ("ok", "in", "In the tree".to_owned()),
        LaneState::Failed => ("no", "out", "Failed, in the tree".to_owned()),
        LaneState::Undone => ("skip", "mute", "Undone or given up".to_owned()),
    };
    html! {
        span.state { (glyph(symbol, class)) span class=(class) { (words) } }
        @if lane.n_paths == 0 { span.dim { "no changes yet" } } @else {
            @if lane.lines_added + lane.lines_removed > 0 { (plus_minus(lane.lines_added, lane.lines_removed)) }
            span.dim.num { (count(lane.n_paths, "path")) }
        }
        @if let Some(left) = lane.lease_left_seconds {
            @if let Some(share) = lane.lease_share {
                svg.lease.low[share <= LOW_LEASE_PERCENT] aria-hidden="true" { rect width="44" height="6" rx="3" {} rect width=(share * 44 / 100) height="6" rx="3" {} }
            }
            span.dim.num title="what is left of the lease: its agent renews it while it works" { span.sr { "lease " } span data-left=(left) { (left / 60) ":" (format!("{:02}", left % 60)) } }
        } @else if let Some(since) = &lane.since {
            span.dim { "since " (time_text(since)) }
        }
    }
}

/// The decisions about a change, each with a preview.
fn lane_actions(frame: &PageFrame, lane: &BoardLane) -> Markup {
    if frame.read_only || lane.actions.is_empty() {
        return html! {};
    }
    html! {
        details.acts {
            summary { "Decide" span.sr { " about " (Untrusted(&lane.title)) } }
            ul { @for action in &lane.actions {
                li { a href={ (change_address(&lane.change)) "/do/" (action) } data-act="dialog" { (first_capital(action.phrase())) " …" } }
            } }
        }
    }
}

fn legend() -> Markup {
    html! {
        div.legend {
            span { svg aria-hidden="true" { rect.lot x="1" y="1" width="14" height="10" rx="2" {} } "declared scope" }
            span { svg aria-hidden="true" { rect.bar-in x="6" y="1" width="4" height="10" rx="1" {} } "change inside, height is its size" }
            span { (glyph("out", "out")) "change outside" }
            span { svg aria-hidden="true" { rect.lot.wait x="1" y="1" width="14" height="10" rx="2" {} } "queued" }
            span { svg aria-hidden="true" { rect.clash x="3" y="0" width="10" height="12" {} } "two want the same path" }
        }
    }
}

fn dirty(board: &BoardAnswer) -> Markup {
    html! {
        section.card id="dirty" {
            header { h2 { "Uncommitted in the shared tree" } span.dim { "by owner" } span.grow {} @if board.n_dirty > 0 { a href="/c/worktree" { "All " (board.n_dirty) } } }
            @if board.dirty.is_empty() {
                p.quiet { "Nothing differs from the commit." }
            } @else {
                table.list {
                    thead { tr { th { "Path" } th.hide-s { "Owner" } th { "Class" } } }
                    tbody {
                        @for row in &board.dirty {
                            @let (symbol, class, words) = match row.class {
                                DirtyPathClass::Claimed => ("in", "in", "in a scope"),
                                DirtyPathClass::Landed => ("in", "in", "landed"),
                                DirtyPathClass::Outside => ("out", "out", "outside"),
                                DirtyPathClass::Finished => ("ok", "in", "finished"),
                                DirtyPathClass::Abandoned => ("unk", "held", "abandoned"),
                                DirtyPathClass::Unclaimed => ("unk", "held", "unattributed"),
                            };
                            tr {
                                td { (glyph(symbol, class)) " " (path_text(&row.path)) }
                                td.hide-s { @match &row.owner { Some(owner) => (Untrusted(owner)), None => span.dim { "nobody claims it" } } }
                                td { span class={ "chip " (class) } { (words) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The newest entries of the log.
fn log_card(lines: &[LogFeedLine], size: u64) -> Markup {
    html! {
        section.card {
            header { h2 { "Log" } span.dim { "newest first" } span.grow {} a href="/log" { "All " (size) } }
            ul.feed id="feed" { @for line in lines { (log_line(line)) } }
            @if lines.is_empty() { p.quiet { "The log is empty: nothing was run, started or proposed." } }
        }
    }
}

/// One entry of the log.
pub(crate) fn log_line(line: &LogFeedLine) -> Markup {
    html! {
        li data-index=(line.index) {
            @match &line.at { Some(at) => (time_text(at)), None => span {} }
            span.seq { "#" (line.index) }
            span {
                @if let Some(who) = &line.who { b { (Untrusted(who)) } " " }
                @match &line.change {
                    Some(change) => a href=(change_address(change)) { (Untrusted(&line.words)) },
                    None => (Untrusted(&line.words)),
                }
            }
        }
    }
}
