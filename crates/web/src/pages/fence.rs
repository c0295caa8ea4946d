//! The fence: what was declared on the left, what was done on the right, and a thread from each path to the clause that
//! let it in.

use super::plus_minus;
use crate::untrusted_text::{Untrusted, glyph, path_text};
use maud::{Markup, html};
use probity_api::review::{
    ChangeReview, FindingChange, FindingNote, PathFate, ReviewClause, ReviewPath, ReviewState, ReviewedKind,
};
use probity_core::text::count;

const CLAUSE_HEIGHT: usize = 44;
const PATH_HEIGHT: usize = 30;
const GROUP_HEIGHT: usize = 32;
/// More paths inside are counted, with a way to the list; outside paths are never folded.
const MAX_INSIDE_ROWS: usize = 40;

/// A row on the right side.
enum DoneRow<'r> {
    Group(&'static str, bool),
    Path(usize, &'r ReviewPath),
    More(usize),
}

fn done_rows(review: &ChangeReview) -> Vec<DoneRow<'_>> {
    let is_shared = review.kind == ReviewedKind::Worktree;
    let outside =
        if is_shared { "Outside the scope of the run that left it" } else { "Outside: no clause lets it in" };
    let inside = if is_shared { "Left by a run, inside its scope" } else { "Inside" };
    let unjudged = if is_shared { "Nobody claims it" } else { "Not judged: nothing was declared" };
    let groups: &[(PathFate, bool, &'static str)] = &[
        (PathFate::Outside, false, outside),
        (PathFate::Inside, false, inside),
        (PathFate::Gate, false, "Written by a gate"),
        (PathFate::Exempt, false, "Not judged: build outputs"),
        (PathFate::Unjudged, false, unjudged),
        (PathFate::Unjudged, true, "Claimed, judged when its owner finishes"),
    ];
    let mut rows = Vec::new();
    for (fate, is_claimed, title) in groups {
        let is_outside = *fate == PathFate::Outside;
        let is_in_group = |path: &ReviewPath| {
            path.fate == *fate && (*fate != PathFate::Unjudged || path.clause.is_some() == *is_claimed)
        };
        let all = review.paths.iter().enumerate().filter(|(_, path)| is_in_group(path));
        let paths: Vec<(usize, &ReviewPath)> = all.collect();
        if paths.is_empty() {
            continue;
        }
        rows.push(DoneRow::Group(title, is_outside));
        let most = if is_outside { paths.len() } else { MAX_INSIDE_ROWS };
        rows.extend(paths.iter().take(most).map(|(index, path)| DoneRow::Path(*index, path)));
        if paths.len() > most {
            rows.push(DoneRow::More(paths.len() - most));
        }
    }
    rows
}

/// The symbol and the class of a fate.
pub(crate) fn fate_marks(fate: PathFate) -> (&'static str, &'static str, &'static str) {
    match fate {
        PathFate::Inside => ("in", "in", "inside"),
        PathFate::Outside => ("out", "out", "outside"),
        PathFate::Gate => ("gate", "gate", "written by a gate"),
        PathFate::Exempt => ("exempt", "mute", "exempt"),
        PathFate::Unjudged => ("exempt", "mute", "not judged"),
    }
}

pub(crate) fn fence(review: &ChangeReview, notes: &[FindingNote]) -> Markup {
    let rows = done_rows(review);
    let n_judged =
        review.n_with(PathFate::Inside) + review.n_with(PathFate::Outside) + review.n_with(PathFate::Gate);
    let n_inside = n_judged - review.n_with(PathFate::Outside);
    let height_left = review.clauses.len() * CLAUSE_HEIGHT + 8;
    let height_right: usize = rows.iter().map(row_height).sum();
    let height = height_left.max(height_right).max(60);
    let most_lines =
        review.paths.iter().map(|path| path.lines_added + path.lines_removed).max().unwrap_or(1).max(1);
    html! {
        section.card aria-labelledby="fence-h" {
            header {
                h2 id="fence-h" { "Declared and done" }
                span.dim {
                    @if review.kind == ReviewedKind::Worktree { "who claims which of the uncommitted paths" } @else if review.clauses.is_empty() { "nothing was declared" } @else if n_judged == 0 { "no path was changed" } @else { (n_inside) " of the " (n_judged) " judged paths are inside" }
                }
                span.grow {}
                @for fate in [PathFate::Outside, PathFate::Inside, PathFate::Gate, PathFate::Exempt, PathFate::Unjudged] {
                    @let n = review.n_with(fate);
                    @if n > 0 {
                        @let (symbol, class, words) = fate_marks(fate);
                        span class={ "chip " (class) } { (glyph(symbol, "")) (n) " " (words) }
                    }
                }
            }
            div.fence {
                div.colhead.l { b { "Declared" } }
                div.colhead.mid-h {}
                div.colhead { b { "Done" } @if let Some(at) = &review.ended_at { ", read " (super::time_text(at)) } }
                ul.rlist aria-label="Clauses of the scope" {
                    @for clause in &review.clauses { li { (clause_box(review, clause)) } }
                    @if review.clauses.is_empty() && review.kind == ReviewedKind::Worktree { li.tip { "No open intent claims a path of this tree." } } @else if review.clauses.is_empty() { li.tip { "No scope was declared, so nothing can be inside or outside of it." } }
                    (slack(review))
                }
                svg height=(height) viewBox={ "0 0 100 " (height) } preserveAspectRatio="none" aria-hidden="true" { (threads(review, &rows)) }
                ul.dlist aria-label="Changed paths" {
                    @for row in &rows { (done_row(review, notes, row, most_lines)) }
                    @if rows.is_empty() { li.grp { "No path was changed." } }
                }
            }
        }
    }
}

fn row_height(row: &DoneRow<'_>) -> usize {
    match row {
        DoneRow::Group(..) => GROUP_HEIGHT,
        DoneRow::Path(..) | DoneRow::More(_) => PATH_HEIGHT,
    }
}

fn clause_box(review: &ChangeReview, clause: &ReviewClause) -> Markup {
    let amendment = clause.amendment.and_then(|index| review.amendments.get(index));
    let class = match (clause.excludes, amendment, clause.n_decided) {
        (true, _, _) => "clause not",
        (_, Some(_), _) => "clause amd",
        (_, None, 0) => "clause unused",
        _ => "clause",
    };
    html! {
        div class=(class) {
            code { (Untrusted(&clause.pattern)) }
            small {
                @if let Some(amendment) = amendment {
                    "amended by " (Untrusted(&amendment.by)) ": \u{201c}" (Untrusted(&amendment.why)) "\u{201d}"
                } @else if clause.excludes {
                    "taken out: " (count(clause.n_decided, "path")) " kept out"
                } @else if let Some(owner) = &clause.owner {
                    (Untrusted(owner)) ", " (count(clause.n_decided, "path")) " changed"
                } @else if clause.n_decided == 0 {
                    "nothing changed here"
                } @else {
                    (count(clause.n_decided, "path")) " changed"
                }
            }
        }
    }
}

/// Says which clauses nobody needed.
fn slack(review: &ChangeReview) -> Markup {
    let including: Vec<&ReviewClause> = review.clauses.iter().filter(|clause| !clause.excludes).collect();
    let n_unused = including.iter().filter(|clause| clause.n_decided == 0).count();
    let is_done = !matches!(
        review.state,
        ReviewState::Editing | ReviewState::Queued | ReviewState::Recoverable | ReviewState::Unjudged
    );
    if n_unused == 0 || review.paths.is_empty() || !is_done {
        return html! {};
    }
    html! {
        li.tip {
            (n_unused) " of " (count(including.len(), "clause")) " " @if n_unused == 1 { "was" } @else { "were" } " not needed. Enough next time: "
            @for clause in including.iter().filter(|clause| clause.n_decided > 0) { code { (Untrusted(&clause.pattern)) } " " }
        }
    }
}

fn threads(review: &ChangeReview, rows: &[DoneRow<'_>]) -> Markup {
    let mut y = 0;
    let mut lines = Vec::new();
    for row in rows {
        let height = row_height(row);
        if let DoneRow::Path(index, path) = row {
            lines.push((*index, *path, y + height / 2));
        }
        y += height;
    }
    html! {
        @for (index, path, y) in lines {
            @match path.clause.filter(|_| path.fate != PathFate::Outside) {
                Some(clause) => {
                    @let from = clause * CLAUSE_HEIGHT + CLAUSE_HEIGHT / 2;
                    @let amended = review.clauses.get(clause).is_some_and(|clause| clause.amendment.is_some());
                    path id={ "th" (index) } class=(if amended { "thread amd" } else { "thread" }) vector-effect="non-scaling-stroke"
                        d={ "M0 " (from) "C50 " (from) " 50 " (y) " 100 " (y) } {}
                },
                None if path.fate == PathFate::Outside => {
                    path.thread.cut vector-effect="non-scaling-stroke" d={ "M72 " (y) "H100" } {}
                    path.thread.cut vector-effect="non-scaling-stroke" d={ "M72 " (y - 6) "V" (y + 6) } {}
                },
                None => {},
            }
        }
    }
}

fn done_row(review: &ChangeReview, notes: &[FindingNote], row: &DoneRow<'_>, most_lines: usize) -> Markup {
    match row {
        DoneRow::Group(title, is_outside) => html! { li.grp.o[*is_outside] { (title) } },
        DoneRow::More(n) => html! { li.grp { "and " (n) " more, in the list below" } },
        DoneRow::Path(index, path) => {
            let (symbol, class, words) = fate_marks(path.fate);
            let n_findings = notes
                .iter()
                .filter(|note| note.path == path.path && note.change != FindingChange::Fixed)
                .count();
            let clause = path.clause.and_then(|clause| review.clauses.get(clause));
            html! {
                li.o[path.fate == PathFate::Outside] {
                    a href={ "#f-" (index) } data-thread={ "th" (index) } {
                        (glyph(symbol, class))
                        span.sr { (words) ": " }
                        (path_text(&path.path))
                        @if n_findings > 0 { span.chip { (glyph("find", "")) (count(n_findings, "finding")) } }
                        @if let Some(clause) = clause { span.by { "by " code { (Untrusted(&clause.pattern)) } } }
                        (plus_minus(path.lines_added, path.lines_removed))
                        (spark(path.lines_added, path.lines_removed, most_lines))
                    }
                }
            }
        }
    }
}

/// A small bar of added and removed lines.
fn spark(added: usize, removed: usize, most: usize) -> Markup {
    const WIDTH: usize = 44;
    let width = |lines: usize| (lines * WIDTH).div_ceil(most.max(1)).min(WIDTH);
    let (a, d) = (width(added), width(removed));
    html! {
        svg.spark aria-hidden="true" {
            rect.z width="44" height="6" y="2" rx="1" {}
            rect.a width=(a) height="6" y="2" {}
            rect.d x=(a) width=(d.min(WIDTH.saturating_sub(a))) height="6" y="2" {}
        }
    }
}
