//! The files of a change: the tree of its paths, and a card with the differences of each.

use super::diff::{DiffSource, diff};
use super::fence::fate_marks;
use super::{PageFrame, change_address, plus_minus};
use crate::review_context::ReviewContext;
use crate::untrusted_text::{Untrusted, glyph, path_text};
use maud::{Markup, html};
use probity_api::review::{ChangeReview, PathFate, ReviewPath};
use probity_core::ReasonCode;
use probity_core::text::count;
use probity_evidence::ChangeKind;
use probity_paths::RepoPath;
use probity_review::FileSides;
use probity_workspace::{ServiceError, Workspace};

/// Rows of files that come with the page; the other files are loaded when they come near.
const MAX_ROWS_AT_ONCE: usize = 240;
/// Files that come with the page.
const MAX_FILES_AT_ONCE: usize = 8;
/// Letters of a digest that name what was shown.
const SHOWN_PREFIX_LETTERS: usize = 16;
/// More paths beside the files are joined by directory; outside paths never are.
const MAX_TREE_PATHS: usize = 200;

/// Returns both contents of the file with this number.
pub(crate) fn sides_of(
    workspace: &Workspace,
    context: &ReviewContext,
    file: usize,
) -> Result<FileSides, ServiceError> {
    let row = context.review.paths.get(file).ok_or_else(|| {
        ServiceError::refused(ReasonCode::PathInvalid, format!("the change has no file number {file}"))
    })?;
    if row.fate == PathFate::Exempt {
        let lost = probity_runner::recorded_contents::SideContent::Lost;
        return Ok(FileSides { before: lost.clone(), after: lost });
    }
    context.contents.sides(workspace, &row.path)
}

/// Returns the contents of the files that come with the page: outside paths first, then in order.
pub(crate) fn first_files(
    workspace: &Workspace,
    context: &ReviewContext,
) -> Result<Vec<(usize, FileSides)>, ServiceError> {
    let mut order: Vec<(usize, &ReviewPath)> = context.review.paths.iter().enumerate().collect();
    order.sort_by_key(|(index, path)| (path.fate != PathFate::Outside, *index));
    let mut n_rows = 0;
    let mut first = Vec::new();
    let is_shown = |path: &ReviewPath| path.folded.is_none() && path.fate != PathFate::Exempt;
    for (index, path) in order.into_iter().filter(|(_, path)| is_shown(path)) {
        let rows = path.lines_added + path.lines_removed;
        if first.len() >= MAX_FILES_AT_ONCE || n_rows + rows > MAX_ROWS_AT_ONCE {
            break;
        }
        n_rows += rows;
        first.push((index, &path.path));
    }
    let paths: Vec<&RepoPath> = first.iter().map(|(_, path)| *path).collect();
    let sides = context.contents.all_sides(workspace, &paths)?;
    Ok(first.iter().map(|(index, _)| *index).zip(sides).collect())
}

/// The tree of paths and the cards of the files.
pub(super) fn work(context: &ReviewContext, files: &[(usize, FileSides)], is_split: bool) -> Markup {
    let review = &context.review;
    let address = change_address(&review.change);
    html! {
        div.work {
            nav.card.tree aria-label="Changed paths" {
                header { h2 { (count(review.paths.len(), "path")) } span.grow {} span.dim.num id="seen" {} }
                (path_tree(review))
            }
            div.stack id="files" data-files={ (address) "/f/" } data-query={ "?view=" (if is_split { "split" } else { "unified" }) "&v=" (shown_prefix(context)) } {
                div.pagehead {
                    h2 { "Files" }
                    span.grow {}
                    div.seg.views role="group" aria-label="How a diff is shown" {
                        a href={ (address) "?view=split" } data-view="split" aria-current=[is_split.then_some("true")] { "Side by side" }
                        a href={ (address) "?view=unified" } data-view="unified" aria-current=[(!is_split).then_some("true")] { "Unified" }
                    }
                }
                @for (index, path) in review.paths.iter().enumerate() {
                    @let sides = files.iter().find(|(file, _)| *file == index).map(|(_, sides)| sides);
                    (file_card(context, index, path, sides, is_split, false))
                }
            }
        }
    }
}

/// The changed paths by directory. In a large change a directory is one row that leads to its first file.
fn path_tree(review: &ChangeReview) -> Markup {
    let is_large = review.paths.len() > MAX_TREE_PATHS;
    let paths: Vec<(usize, &ReviewPath)> = review.paths.iter().enumerate().collect();
    let directories = paths.chunk_by(|(_, one), (_, next)| one.path.parent() == next.path.parent());
    html! {
        ul {
            @for files in directories {
                @let (joined, alone): (Vec<_>, Vec<_>) = files.iter().copied().partition(|(_, path)| is_large && path.fate != PathFate::Outside);
                @if let Some((first, path)) = joined.first() {
                    @let lines: usize = joined.iter().map(|(_, path)| path.lines_added + path.lines_removed).sum();
                    li { a href={ "#f-" (first) } { span {} span { (directory_text(&path.path)) } span.pm { (count(joined.len(), "file")) ", " (lines) } } }
                } @else if let Some((_, path)) = alone.first().filter(|(_, path)| path.path.parent().is_some()) {
                    li { span.dir { (directory_text(&path.path)) } }
                }
                @for (index, path) in alone { (path_row(index, path)) }
            }
        }
    }
}

fn path_row(index: usize, path: &ReviewPath) -> Markup {
    let (symbol, class, words) = fate_marks(path.fate);
    let shown = path.path.to_string();
    let name = shown.rsplit('/').next().unwrap_or(&shown);
    html! {
        li { a href={ "#f-" (index) } { (glyph(symbol, class)) span { (name) } @if path.fate != PathFate::Inside { span.sr { (words) } } span.pm { (path.lines_added + path.lines_removed) } } }
    }
}

fn directory_text(path: &RepoPath) -> String {
    path.parent().map_or_else(|| "./".to_owned(), |directory| format!("{directory}/"))
}

fn kind_words(path: &ReviewPath) -> &'static str {
    match path.change {
        ChangeKind::Added if path.renamed_from.is_some() => "moved",
        ChangeKind::Added => "new",
        ChangeKind::Deleted => "deleted",
        ChangeKind::Modified => "changed",
    }
}

/// One file with its header; its rows if they are at hand, else a place for them.
fn file_card(
    context: &ReviewContext,
    index: usize,
    path: &ReviewPath,
    sides: Option<&FileSides>,
    is_split: bool,
    is_whole: bool,
) -> Markup {
    let review = &context.review;
    let (symbol, class, words) = fate_marks(path.fate);
    let clause = path.clause.and_then(|clause| review.clauses.get(clause));
    if sides.is_none() && path.folded.is_none() {
        return waiting_card(index, path);
    }
    let view = if is_split { "split" } else { "unified" };
    let source =
        format!("{}/f/{index}?view={view}&v={}", change_address(&review.change), shown_prefix(context));
    html! {
        section.card.file.o[path.fate == PathFate::Outside] id={ "f-" (index) } tabindex="-1" {
            header {
                (glyph(symbol, class))
                (path_text(&path.path))
                span class={ "chip " (class) } { (words) }
                @if let Some(clause) = clause { span.dim.hide-s { "by " code { (Untrusted(&clause.pattern)) } } }
                @if let Some(owner) = &path.owner { span.dim.hide-s { @if path.fate == PathFate::Unjudged { "held by " } @else { "left by " } (Untrusted(owner)) } }
                span.dim.hide-s { (kind_words(path)) @if let Some(from) = &path.renamed_from { " from " code { (from.to_string()) } } }
                @if path.in_tree == Some(false) { span.chip.held.hide-s { (glyph("held", "")) "not in the tree" } }
                span.grow {}
                (plus_minus(path.lines_added, path.lines_removed))
                label.viewed { input type="checkbox" data-seen=(index); "Seen" }
            }
            @match sides {
                Some(sides) => (file_body(context, path, sides, is_split, is_whole, &source)),
                None => div.fold {
                    @if let Some(why) = &path.folded { span { (Untrusted(why)) } }
                    a.btn.s href=(source) data-load="1" { "Show" }
                },
            }
        }
    }
}

/// The beginning of the digest of what is shown, for the addresses of files: enough to name one of the kept reviews.
fn shown_prefix(context: &ReviewContext) -> String {
    context.review.shown.to_hex().chars().take(SHOWN_PREFIX_LETTERS).collect()
}

/// A file whose rows are loaded when it comes near: as small as can be, there may be a thousand. The script knows the
/// address from the page; without one, the link opens the file alone.
fn waiting_card(index: usize, path: &ReviewPath) -> Markup {
    let (symbol, class, _) = fate_marks(path.fate);
    let is_outside = path.fate == PathFate::Outside;
    html! {
        section.card.file.wait.o[is_outside] id={ "f-" (index) } {
            @if is_outside { (glyph(symbol, class)) } a href={ "?file=" (index) } { (path.path.to_string()) } " " (path.lines_added + path.lines_removed)
        }
    }
}

fn file_body(
    context: &ReviewContext,
    path: &ReviewPath,
    sides: &FileSides,
    is_split: bool,
    is_whole: bool,
    source: &str,
) -> Markup {
    let revision = context.revision();
    match sides.texts() {
        Err(why) => html! { div.fold { span { (Untrusted(&why)) } } },
        Ok((before, after)) => {
            let findings = context.notes().iter().filter(|finding| finding.path == path.path).collect();
            let drawn = diff(&DiffSource {
                before,
                after,
                path,
                findings,
                revision: revision.as_deref().filter(|_| path.in_tree != Some(false)),
                is_split,
                is_whole,
                whole: Some(format!("{source}&all=1")),
            });
            drawn.0
        }
    }
}

/// One file alone: a page, and what the script takes from it.
pub(crate) fn one_file(
    frame: &PageFrame,
    context: &ReviewContext,
    index: usize,
    sides: &FileSides,
    is_split: bool,
    is_whole: bool,
) -> Markup {
    let review = &context.review;
    let Some(path) = review.paths.get(index) else {
        return frame.page("No such file", html! { h1 { "No such file" } });
    };
    let markup = html! {
        div { p.crumb { a href="/board" { "Board" } " / " a href=(change_address(&review.change)) { (Untrusted(&review.title)) } } h1 { (path_text(&path.path)) } }
        (file_card(context, index, path, Some(sides), is_split, is_whole))
    };
    frame.page(&path.path.to_string(), markup)
}

/// All files of a change, whole, for an export.
pub(crate) fn all_files(context: &ReviewContext, files: &[(usize, FileSides)]) -> Markup {
    html! {
        @for (index, path) in context.review.paths.iter().enumerate() {
            @let sides = files.iter().find(|(file, _)| *file == index).map(|(_, sides)| sides);
            (exported_file(context, index, path, sides))
        }
    }
}

fn exported_file(
    context: &ReviewContext,
    index: usize,
    path: &ReviewPath,
    sides: Option<&FileSides>,
) -> Markup {
    let (symbol, class, words) = fate_marks(path.fate);
    html! {
        section.card.file.o[path.fate == PathFate::Outside] id={ "f-" (index) } {
            header { (glyph(symbol, class)) (path_text(&path.path)) span class={ "chip " (class) } { (words) } span.dim { (kind_words(path)) } span.grow {} (plus_minus(path.lines_added, path.lines_removed)) }
            @match sides.map(FileSides::texts) {
                Some(Ok((before, after))) => {
                    @let findings = context.notes().iter().filter(|finding| finding.path == path.path).collect();
                    (diff(&DiffSource { before, after, path, findings, revision: None, is_split: false, is_whole: true, whole: None }).0)
                },
                Some(Err(why)) => div.fold { span { (Untrusted(&why)) } },
                None => div.fold { span { @match &path.folded { Some(why) => (Untrusted(why)), None => "not part of this file" } } },
            }
        }
    }
}
