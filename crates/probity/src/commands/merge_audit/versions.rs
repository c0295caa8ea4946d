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
        let telling = finding.lost.iter().filter(|line| !line.trim().is_empty());
        for line in telling.take(MAX_SHOWN_LINES) {
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
    let shown = |index: usize, room: usize| shown_version(&texts, index, &finding.lost, room);
    if per_row == 1 {
        let room = columns.saturating_sub(INDENT.len() + 9);
        (0..texts.len()).for_each(|index| print_below(&shown(index, room)));
        return;
    }
    let room = columns.saturating_sub(INDENT.len() + GUTTER.chars().count() * (per_row - 1));
    for first in (0..texts.len()).step_by(per_row) {
        let row = first..first + per_row;
        // What a version needs is known when it is laid out without a limit.
        let wanted: Vec<usize> = row.clone().map(|index| shown(index, usize::MAX).width()).collect();
        let widths = fair_widths(&wanted, room);
        let row: Vec<ShownVersion> =
            row.zip(&widths).map(|(index, width)| shown(index, width.saturating_sub(2))).collect();
        print_beside(&row, &widths);
    }
}

/// Distributes the columns of a row: who wants no more than a fair part gets it, the others share the rest.
fn fair_widths(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&index| wanted[index]);
    let mut widths = vec![0; wanted.len()];
    let mut left = room;
    for (n_done, index) in order.into_iter().enumerate() {
        widths[index] = wanted[index].min(left / (wanted.len() - n_done));
        left -= widths[index];
    }
    widths
}

impl ShownVersion {
    /// Returns the columns that the version takes, its heading included.
    fn width(&self) -> usize {
        let widest = self.lines.iter().map(|(_, width)| *width).max().unwrap_or(0);
        widest.max(self.name.len() + 2)
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

fn print_beside(row: &[ShownVersion], widths: &[usize]) {
    let head = |(version, width): (&ShownVersion, &usize)| {
        format!("  {:<1$}", version.name, width.saturating_sub(2))
    };
    let heads: Vec<String> = row.iter().zip(widths).map(head).collect();
    ui::print(format_args!("{INDENT}{}", ui::dim(heads.join(GUTTER).trim_end())));
    let n_lines = row.iter().map(|version| version.lines.len()).max().unwrap_or(0);
    for index in 0..n_lines {
        let mut line = String::new();
        for (column, version) in row.iter().enumerate() {
            let (text, used) =
                version.lines.get(index).map_or(("", 0), |(text, used)| (text.as_str(), *used));
            line.push_str(text);
            if column + 1 < row.len() {
                line.extend(std::iter::repeat_n(' ', widths[column].saturating_sub(used)));
                line.push_str(&ui::dim(GUTTER));
            }
        }
        ui::print(format_args!("{INDENT}{line}"));
    }
}

#[cfg(test)]
mod tests {
    use super::fair_widths;

    #[test]
    fn narrow_versions_leave_their_columns_to_wide_ones() {
        assert_eq!(fair_widths(&[9, 9, 90, 90], 100), [9, 9, 41, 41]);
        assert_eq!(fair_widths(&[90, 90, 90, 90], 100), [25, 25, 25, 25]);
        assert_eq!(fair_widths(&[10, 20, 12, 20], 100), [10, 20, 12, 20]);
    }
}
