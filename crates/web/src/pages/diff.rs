//! The diff of one file: side by side or unified.

use super::findings::finding_marks;
use crate::diff_rows::{DiffCell, DiffHunk, DiffRow, diff_hunks};
use crate::line_colors::LineColors;
use crate::untrusted_text::{Untrusted, glyph, own_markup, push_text};
use crate::url_text::encode;
use maud::{Markup, html};
use probity_api::review::{FindingChange, FindingNote, ReviewPath};
use probity_core::text::count;
use std::fmt::Write as _;

/// Rows of a file that are shown at first.
pub(crate) const MAX_FIRST_ROWS: usize = 400;
/// Rows of a file that are shown at all.
const MAX_ROWS: usize = 20_000;
/// Bytes of a line that are shown.
const MAX_LINE_BYTES: usize = 4_000;
/// Letters of a commit in the address behind each line.
const COMMIT_LETTERS: usize = 16;

/// What the diff of a file is drawn from.
pub(crate) struct DiffSource<'a> {
    pub(crate) before: &'a [u8],
    pub(crate) after: &'a [u8],
    pub(crate) path: &'a ReviewPath,
    pub(crate) findings: Vec<&'a FindingNote>,
    /// The revision that a line of the new side is asked about; `None` without links.
    pub(crate) revision: Option<&'a str>,
    pub(crate) is_split: bool,
    pub(crate) is_whole: bool,
    /// The address of the whole file.
    pub(crate) whole: Option<String>,
}

/// The colors of both sides, as far as they are known.
struct SideColors {
    before: LineColors,
    after: LineColors,
}

/// Draws a diff; returns it with the number of its rows.
pub(crate) fn diff(source: &DiffSource<'_>) -> (Markup, usize) {
    let color = |text| LineColors::of(&source.path.path, text);
    let colors = SideColors { before: color(source.before), after: color(source.after) };
    let hunks = diff_hunks(source.before, source.after);
    let n_rows: usize = hunks.iter().map(|hunk| hunk.rows.len()).sum();
    let most = if source.is_whole { MAX_ROWS } else { MAX_FIRST_ROWS };
    let mut left = most;
    let mut body = String::new();
    for hunk in &hunks {
        if left == 0 {
            break;
        }
        push_hunk(&mut body, source, &colors, hunk, &mut left);
    }
    let class = if source.is_split { "diff sbs" } else { "diff uni" };
    let markup = html! {
        @if hunks.is_empty() { p.quiet { "The content is the same on both sides." } }
        table class=(class) {
            @if source.is_split {
                colgroup { col.n; col; col.n; col; }
            } @else {
                colgroup { col.n; col.n; col; }
            }
            tbody {
                // What has no line in the shown rows stands above them.
                @for finding in &source.findings { @if finding.line.is_none() { (finding_row(finding, if source.is_split { 4 } else { 3 }, None)) } }
                (own_markup(body))
            }
        }
        @if n_rows > most {
            div.fold {
                span { (count(n_rows - most, "row")) " more" }
                @if let Some(whole) = source.whole.as_ref().filter(|_| !source.is_whole) { a.btn.s href=(whole) { "Open the whole file" } }
            }
        }
    };
    (markup, n_rows.min(most))
}

fn push_hunk(
    page: &mut String,
    source: &DiffSource<'_>,
    colors: &SideColors,
    hunk: &DiffHunk,
    left: &mut usize,
) {
    let first = hunk.rows.iter().find_map(|row| row.after.as_ref().or(row.before.as_ref()));
    let number = first.map_or(0, |cell| cell.number);
    let n_columns = if source.is_split { 4 } else { 3 };
    let hidden = if hunk.n_hidden == 0 {
        String::new()
    } else {
        format!("{} the same · ", count(hunk.n_hidden, "line"))
    };
    let _ =
        write!(page, "<tr class=\"hunk\"><td colspan=\"{n_columns}\"><a>{hidden}line {number}</a></td></tr>");
    if source.is_split {
        for row in &hunk.rows {
            if *left == 0 {
                return;
            }
            *left -= 1;
            push_split_row(page, source, colors, row);
        }
        return;
    }
    // Unified: the removed lines of a place, then the added ones.
    let mut rows = hunk.rows.iter().peekable();
    while let Some(row) = rows.next() {
        if *left == 0 {
            return;
        }
        *left = left.saturating_sub(1);
        if row.is_equal {
            push_unified(page, source, colors, row.before.as_ref(), row.after.as_ref(), "");
            continue;
        }
        let mut block: Vec<&DiffRow> = vec![row];
        while let Some(next) = rows.next_if(|next| !next.is_equal) {
            block.push(next);
            *left = left.saturating_sub(1);
        }
        for cell in block.iter().filter_map(|row| row.before.as_ref()) {
            push_unified(
                page,
                source,
                colors,
                Some(cell),
                None,
                if cell.moved.is_some() { "mov" } else { "del" },
            );
        }
        for cell in block.iter().filter_map(|row| row.after.as_ref()) {
            push_unified(
                page,
                source,
                colors,
                None,
                Some(cell),
                if cell.moved.is_some() { "mov" } else { "add" },
            );
        }
    }
}

fn push_split_row(page: &mut String, source: &DiffSource<'_>, colors: &SideColors, row: &DiffRow) {
    page.push_str(if row.is_equal { "<tr class=\"ctx\">" } else { "<tr>" });
    let class = |cell: Option<&DiffCell>, changed: &'static str| match cell {
        _ if row.is_equal => "",
        Some(cell) if cell.moved.is_some() => "mov",
        Some(_) => changed,
        None => "void",
    };
    let (before, after) = (row.before.as_ref(), row.after.as_ref());
    push_number(page, source, before, class(before, "del"), false);
    push_code(page, before, &colors.before, class(before, "del"), "removed: ");
    push_number(page, source, after, class(after, "add"), true);
    push_code(page, after, &colors.after, class(after, "add"), "added: ");
    page.push_str("</tr>");
    push_findings(page, source, before, after, 4);
}

fn push_unified(
    page: &mut String,
    source: &DiffSource<'_>,
    colors: &SideColors,
    before: Option<&DiffCell>,
    after: Option<&DiffCell>,
    class: &'static str,
) {
    page.push_str("<tr>");
    push_number(page, source, before, class, false);
    push_number(page, source, after, class, true);
    let word = if before.is_some() { "removed: " } else { "added: " };
    let side = if after.is_some() { &colors.after } else { &colors.before };
    push_code(page, after.or(before), side, class, if class.is_empty() { "" } else { word });
    page.push_str("</tr>");
    push_findings(page, source, before, after, 3);
}

fn push_cell(page: &mut String, kind: &str, class: &str) {
    let space = if class.is_empty() { "" } else { " " };
    let _ = write!(page, "<td class=\"{kind}{space}{class}\">");
}

fn push_number(
    page: &mut String,
    source: &DiffSource<'_>,
    cell: Option<&DiffCell>,
    class: &str,
    is_after: bool,
) {
    push_cell(page, "n", class);
    if let Some(cell) = cell {
        let number = cell.number;
        match source.revision.filter(|_| is_after) {
            Some(revision) => {
                let path = encode(source.path.path.as_bytes());
                // A commit is known by less: the address stands on every line.
                let is_commit = revision.len() >= 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
                let revision = if is_commit { &revision[..COMMIT_LETTERS] } else { revision };
                let revision = encode(revision.as_bytes()).replace('/', "%2F");
                let _ = write!(
                    page,
                    "<a href=\"/why/{revision}?path={path}&amp;line={number}\"><span class=\"sr\">Why line </span>{number}</a>"
                );
            }
            None => page.push_str(&number.to_string()),
        }
    }
    page.push_str("</td>");
}

fn push_code(page: &mut String, cell: Option<&DiffCell>, colors: &LineColors, class: &str, word: &str) {
    push_cell(page, "x", class);
    if let Some(cell) = cell {
        if !class.is_empty() {
            let _ =
                write!(page, "<span class=\"sr\">{}</span>", if class == "mov" { "moved: " } else { word });
        }
        push_marked(page, cell, colors);
        if let Some(other) = cell.moved {
            let _ = write!(page, "<span class=\"from\">moved, other end is line {other}</span>");
        }
    }
    page.push_str("</td>");
}

/// Appends a line with its differing words marked and its kinds of words in color.
fn push_marked(page: &mut String, cell: &DiffCell, colors: &LineColors) {
    let end = cut(&cell.text);
    let spans = colors.line(cell.number, &cell.text);
    let mut edges: Vec<usize> = vec![0, end];
    edges.extend(cell.marked.iter().flat_map(|range| [range.start, range.end]));
    edges.extend(spans.iter().flat_map(|(range, _)| [range.start, range.end]));
    edges.retain(|edge| *edge <= end && cell.text.is_char_boundary(*edge));
    edges.sort_unstable();
    edges.dedup();
    let mut is_marked = false;
    for part in edges.windows(2) {
        let (from, to) = (part[0], part[1]);
        let marks = cell.marked.iter().any(|range| range.end <= end && range.contains(&from));
        if marks != is_marked {
            page.push_str(if marks { "<mark>" } else { "</mark>" });
            is_marked = marks;
        }
        let class = spans.iter().find(|(range, _)| range.contains(&from)).map(|(_, class)| class);
        if let Some(class) = class {
            let _ = write!(page, "<span class=\"{class}\">");
        }
        push_text(page, &cell.text[from..to]);
        if class.is_some() {
            page.push_str("</span>");
        }
    }
    if is_marked {
        page.push_str("</mark>");
    }
    if end < cell.text.len() {
        let _ = write!(page, "<span class=\"from\">{} more bytes on this line</span>", cell.text.len() - end);
    }
}

/// The end of what is shown of a line, between two characters.
fn cut(text: &str) -> usize {
    let mut end = text.len().min(MAX_LINE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    end
}

/// Puts findings below their line; a fixed one below the line that had it.
fn push_findings(
    page: &mut String,
    source: &DiffSource<'_>,
    before: Option<&DiffCell>,
    after: Option<&DiffCell>,
    n_columns: usize,
) {
    for finding in &source.findings {
        let cell = if finding.change == FindingChange::Fixed { before } else { after };
        let number = cell.and_then(|cell| u32::try_from(cell.number).ok());
        if number.is_some() && finding.line == number {
            page.push_str(&finding_row(finding, n_columns, None).into_string());
        }
    }
}

/// A finding as a row of a diff; `file` where a script has to find its place.
pub(crate) fn finding_row(finding: &FindingNote, n_columns: usize, file: Option<usize>) -> Markup {
    let (symbol, class, word) = finding_marks(finding.change);
    html! {
        tr.note data-file=[file] data-line=[finding.line.filter(|_| file.is_some())] data-side=[file.map(|_| if finding.change == FindingChange::Fixed { "before" } else { "after" })] {
            td colspan=(n_columns) {
                div.box.ok[finding.change == FindingChange::Fixed] { (glyph(symbol, class)) span { b { (word) ", " (Untrusted(&finding.severity)) } " · " (Untrusted(&finding.message)) } }
            }
        }
    }
}
