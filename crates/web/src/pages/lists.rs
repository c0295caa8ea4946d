//! Lists: the changes that ended, and the log.

use super::board::log_line;
use super::{PageFrame, change_address, day_and_time};
use crate::untrusted_text::{Untrusted, glyph};
use maud::{Markup, html};
use probity_api::review::{BoardAnswer, BoardLane, LaneState, LogFeedLine, ReviewedKind};
use probity_core::text::{count, short_id};

pub(crate) const MAX_LISTED_CHANGES: usize = 200;
/// Entries on one page of the log.
pub(crate) const LOG_PAGE_LINES: u64 = 200;

pub(crate) fn changes(frame: &PageFrame, finished: &[BoardLane], board: &BoardAnswer) -> Markup {
    let content = html! {
        div.pagehead { div { h1 { "Changes" } p { (count(board.lanes.len(), "change")) " in progress on the " a href="/board" { "board" } ", " "the newest " (count(finished.len(), "change")) " that ended or wait here." } } }
        section.card aria-label="Changes" {
            table.list {
                thead { tr { th { "Change" } th { "State" } th.hide-s { "Agent" } th.r.hide-s { "Paths" } th.r { "Ended" } } }
                tbody { @for lane in finished { (row(lane)) } }
            }
            @if finished.is_empty() { p.quiet { "No change has ended in this repository yet." } }
        }
    };
    frame.page("Changes", content)
}

fn row(lane: &BoardLane) -> Markup {
    let (symbol, class, words) = match lane.state {
        LaneState::Held => ("held", "held", "held"),
        LaneState::Ready => ("ok", "in", "ready to land"),
        LaneState::Landed if lane.reason.is_some() => ("ok", "held", "a part is in the tree"),
        LaneState::Landed => ("ok", "in", "in the tree"),
        LaneState::Failed => ("no", "out", "did not pass"),
        LaneState::Undone if lane.kind == ReviewedKind::Run => ("skip", "mute", "undone or dropped"),
        _ => ("skip", "mute", "given up"),
    };
    html! {
        tr {
            td { a.item-link href=(change_address(&lane.change)) { (Untrusted(&lane.title)) } br; span.dim.mono { (Untrusted(short_id(&lane.change))) } }
            td { span class={ "chip " (class) } { (glyph(symbol, class)) (words) } @if let Some(why) = &lane.reason_words { " " span.dim.hide-s { (Untrusted(why)) } } }
            td.hide-s { @if let Some(agent) = &lane.agent { (Untrusted(agent)) } @else { span.dim { "not recorded" } } }
            td.r.num.hide-s { (lane.n_paths) @if lane.n_outside > 0 { " " span.out { (lane.n_outside) " outside" } } }
            td.r.dim.nowrap { @if let Some(since) = &lane.since { span.num { (day_and_time(since)) } } }
        }
    }
}

pub(crate) fn log(frame: &PageFrame, size: u64, from: u64, lines: &[LogFeedLine]) -> Markup {
    let end = from + lines.len() as u64;
    let content = html! {
        div.pagehead {
            div { h1 { "Log" } p { "Entries " (from) " to " (end.saturating_sub(1)) " of " (size) ". Every entry is a leaf of one hash tree: " code { "probity log show" } " checks it." } }
            span.grow {}
            div.seg {
                @if from > 0 { a href={ "/log?from=" (from.saturating_sub(LOG_PAGE_LINES)) } { "Older" } }
                @if end < size { a href={ "/log?from=" (end) } { "Newer" } }
            }
        }
        section.card aria-label="Entries" { ul.feed { @for line in lines.iter().rev() { (log_line(line)) } } }
    };
    frame.page("Log", content)
}
