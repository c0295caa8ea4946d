//! Four versions of a place: side by side where the terminal is wide enough, below each other where it is not.

use crate::ui;
use probity_api::merge_audit::MergeFinding;
use probity_merges::changed_words;

/// Longer versions of a place are cut in the report; `--json` has more.
const MAX_SHOWN_LINES: usize = 12;
const DEFAULT_COLUMNS: usize = 80;
/// Four columns of code are readable from here on, two from there on.
const MIN_COLUMNS_FOR_FOUR: usize = 160;
const MIN_COLUMNS_FOR_TWO: usize = 100;
const INDENT: &str = "    ";
const GUTTER: &str = " \u{2502} ";

/// One version, ready to be shown.
struct ShownVersion {
    name: &'static str,
    /// Styled text and its width in columns.
    lines: Vec<(String, usize)>,
}

pub(super) fn print_versions(finding: &MergeFinding) {
    let columns = ui::terminal_size().map_or(DEFAULT_COLUMNS, |(columns, _)| columns);
    let texts = [
        ("base", &finding.base),
        ("ours", &finding.ours),
        ("theirs", &finding.theirs),
        ("merged", &finding.merged),
    ]
    .map(|(name, version)| (name, version.as_ref().map(|version| version.text.as_str())));
    if texts.iter().all(|(_, text)| text.is_none()) {
        for line in finding.lost.iter().take(MAX_SHOWN_LINES) {
            ui::print(format_args!("{INDENT}{}", ui::fit_to_terminal(line, INDENT.len())));
        }
        if finding.lost.len() > MAX_SHOWN_LINES {
            let n_more = ui::count_of(finding.lost.len() - MAX_SHOWN_LINES, "more line");
            ui::print(ui::dim(format_args!("{INDENT}and {n_more}")));
        }
        return;
    }
    let per_row = match columns {
        MIN_COLUMNS_FOR_FOUR.. => 4,
        MIN_COLUMNS_FOR_TWO.. => 2,
        _ => 1,
    };
    let gutters = GUTTER.chars().count() * (per_row - 1);
    let room = match per_row {
        1 => columns.saturating_sub(INDENT.len() + 9),
        _ => columns.saturating_sub(INDENT.len() + gutters) / per_row - 2,
    };
    let shown: Vec<ShownVersion> =
        (0..texts.len()).map(|index| shown_version(&texts, index, &finding.lost, room)).collect();
    if per_row == 1 {
        shown.iter().for_each(print_below);
    } else {
        shown.chunks(per_row).for_each(|row| print_beside(row, room + 2));
    }
}

fn shown_version(
    texts: &[(&'static str, Option<&str>); 4],
    index: usize,
    lost: &[String],
    room: usize,
) -> ShownVersion {
    let (name, text) = texts[index];
    let remark = |words: String| {
        let width = words.chars().count() + 2;
        ShownVersion { name, lines: vec![(format!("  {}", ui::dim(words)), width)] }
    };
    let Some(text) = text else { return remark("nothing".to_owned()) };
    if let Some((same, _)) = texts[..index].iter().find(|(_, other)| *other == Some(text)) {
        return remark(format!("as {same}"));
    }
    let base = texts[0].1.filter(|_| index > 0);
    let changed = base.map(|base| changed_words(base, text)).unwrap_or_default();
    let all: Vec<&str> = text.split('\n').collect();
    let indents = all.iter().filter(|line| !line.trim().is_empty());
    let indent = indents.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let mut lines = Vec::new();
    let mut at = 0;
    for line in all.iter().take(MAX_SHOWN_LINES) {
        let is_lost = lost.iter().any(|one| one == line);
        let from = at + line.get(..indent).map_or(0, str::len);
        lines.push(marked_line(text, from..at + line.len(), &changed, is_lost, room));
        at += line.len() + 1;
    }
    if all.len() > MAX_SHOWN_LINES {
        let more = format!("  and {}", ui::count_of(all.len() - MAX_SHOWN_LINES, "more line"));
        lines.push((ui::dim(&more), more.chars().count()));
    }
    ShownVersion { name, lines }
}

/// Styles one line: a mark if it is lost, and its changed words bold. Tabs take four columns.
fn marked_line(
    text: &str,
    range: std::ops::Range<usize>,
    changed: &[std::ops::Range<usize>],
    is_lost: bool,
    room: usize,
) -> (String, usize) {
    let mut styled = if is_lost { ui::bad("> ") } else { "  ".to_owned() };
    let mut width = 0;
    let mut run = String::new();
    let mut is_bold = false;
    let flush = |run: &mut String, is_bold: bool, styled: &mut String| {
        if !run.is_empty() {
            styled.push_str(&if is_bold { ui::bold(&*run) } else { run.clone() });
            run.clear();
        }
    };
    let is_cut =
        text[range.clone()].chars().map(|letter| if letter == '\t' { 4 } else { 1 }).sum::<usize>() > room;
    for (at, letter) in text[range.clone()].char_indices() {
        let place = range.start + at;
        let letter_is_bold = changed.iter().any(|word| word.contains(&place));
        if letter_is_bold != is_bold {
            flush(&mut run, is_bold, &mut styled);
            is_bold = letter_is_bold;
        }
        let shown = if letter == '\t' { "    ".to_owned() } else { letter.to_string() };
        let n_columns = shown.chars().count();
        if width + n_columns + usize::from(is_cut) > room {
            break;
        }
        width += n_columns;
        run.push_str(&shown);
    }
    flush(&mut run, is_bold, &mut styled);
    if is_cut {
        styled.push('\u{2026}');
        width += 1;
    }
    (styled, width + 2)
}

fn print_below(version: &ShownVersion) {
    for (index, (line, _)) in version.lines.iter().enumerate() {
        let label = if index == 0 { version.name } else { "" };
        ui::print(format_args!("{INDENT}{} {line}", ui::dim(format_args!("{label:<6}"))));
    }
}

fn print_beside(row: &[ShownVersion], width: usize) {
    let heads: Vec<String> = row.iter().map(|version| format!("  {:<1$}", version.name, width - 2)).collect();
    ui::print(format_args!("{INDENT}{}", ui::dim(heads.join(GUTTER).trim_end())));
    let n_lines = row.iter().map(|version| version.lines.len()).max().unwrap_or(0);
    for index in 0..n_lines {
        let mut line = String::new();
        for (column, version) in row.iter().enumerate() {
            let (text, used) =
                version.lines.get(index).map_or(("", 0), |(text, used)| (text.as_str(), *used));
            line.push_str(text);
            if column + 1 < row.len() {
                line.extend(std::iter::repeat_n(' ', width.saturating_sub(used)));
                line.push_str(&ui::dim(GUTTER));
            }
        }
        ui::print(format_args!("{INDENT}{line}"));
    }
}
