//! A recording of the demo as an animated picture, made from the tour in the README.
//!
//! The lines of the whole session stand below each other in a window that shows some of them. A cover that moves down
//! reveals the first ones; then the lines move up, the way a terminal scrolls. A reader who asks for less motion sees the beginning.

use std::fmt::Write;

const N_COLUMNS: usize = 108;
const N_ROWS: usize = 32;
const COLUMN_WIDTH_PX: f64 = 7.83;
const ROW_HEIGHT_PX: usize = 18;
const MARGIN_PX: usize = 16;

/// Time until the next line appears.
const OUTPUT_LINE_MS: usize = 140;
const COMMENT_MS: usize = 1_600;
const COMMAND_MS: usize = 1_000;
/// Time that the end stays before the recording begins again.
const END_MS: usize = 6_000;

const STYLE: &str = "svg{background:#10141a;border-radius:8px}\
    text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d6dde6;white-space:pre}\
    .comment{fill:#8b97a7}.command{fill:#fff;font-weight:bold}.pass{fill:#5fd38a;font-weight:bold}\
    .fail{fill:#ff7b72;font-weight:bold}\
    .cover{fill:#10141a}@media(prefers-reduced-motion:reduce){.session{animation:none!important}.cover{display:none}}";

/// Returns the picture.
pub(crate) fn svg(tour: &str) -> String {
    let rows: Vec<&str> = tour.trim_end().lines().flat_map(wrap).collect();
    let width = (N_COLUMNS as f64).mul_add(COLUMN_WIDTH_PX, 2.0 * MARGIN_PX as f64).ceil();
    let height = N_ROWS * ROW_HEIGHT_PX + 2 * MARGIN_PX;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
         aria-label=\"A terminal: two agents are asked to fix a login, and one of them touches more\">\n<style>{STYLE}{}\
         </style>\n<clipPath id=\"window\"><rect y=\"{}\" width=\"100%\" height=\"{}\"/></clipPath>\n\
         <g clip-path=\"url(#window)\"><g class=\"session\">\n",
        motion(&rows),
        MARGIN_PX,
        N_ROWS * ROW_HEIGHT_PX
    );
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
        let y = MARGIN_PX + index * ROW_HEIGHT_PX + 13;
        let class = class_of(row).map_or_else(String::new, |class| format!(" class=\"{class}\""));
        // Writing into a text cannot fail.
        let _ = writeln!(svg, "<text x=\"{MARGIN_PX}\" y=\"{y}\"{class}>{}</text>", escape(row));
    }
    let _ = write!(
        svg,
        "</g><rect class=\"cover\" y=\"{MARGIN_PX}\" width=\"100%\" height=\"100%\"/></g>\n</svg>\n"
    );
    svg
}

/// The animation: each line that appears moves the cover down by one row or, once the window is full, the session up.
fn motion(rows: &[&str]) -> String {
    let duration_of = |row: &str| match class_of(row) {
        Some("comment") => COMMENT_MS,
        Some("command") => COMMAND_MS,
        _ => OUTPUT_LINE_MS,
    };
    let total = rows.iter().map(|row| duration_of(row)).sum::<usize>() + END_MS;
    let (mut cover, mut session) = (String::new(), String::new());
    let mut at = 0;
    for (index, row) in rows.iter().enumerate() {
        let n_shown = index + 1;
        let (frames, shift) = match n_shown.checked_sub(N_ROWS) {
            None | Some(0) => (&mut cover, (n_shown * ROW_HEIGHT_PX).to_string()),
            Some(n_above) => (&mut session, format!("-{}", n_above * ROW_HEIGHT_PX)),
        };
        let _ = write!(frames, "{:.3}%{{transform:translateY({shift}px)}}", 100.0 * at as f64 / total as f64);
        at += duration_of(row);
    }
    let end = N_ROWS * ROW_HEIGHT_PX;
    format!(
        "@keyframes cover{{{cover}to{{transform:translateY({end}px)}}}}@keyframes scroll{{from{{transform:none}}{session}}}\
         .cover{{animation:cover {total}ms step-end infinite}}.session{{animation:scroll {total}ms step-end infinite}}"
    )
}

fn class_of(row: &str) -> Option<&'static str> {
    match row.split(' ').next() {
        Some("#") => Some("comment"),
        Some("$") => Some("command"),
        Some("PASS") => Some("pass"),
        Some("FAIL") => Some("fail"),
        _ => None,
    }
}

/// Cuts a line into rows of the window, at any character as a terminal does.
fn wrap(line: &str) -> Vec<&str> {
    let mut rows = Vec::new();
    let mut rest = line;
    while let Some((at, _)) = rest.char_indices().nth(N_COLUMNS) {
        let (row, tail) = rest.split_at(at);
        rows.push(row);
        rest = tail;
    }
    rows.push(rest);
    rows
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::svg;

    #[test]
    fn every_line_of_a_session_is_in_the_picture_once() {
        let long = "x".repeat(130);
        let picture = svg(&format!("# A & B\n$ probity run -- a > b\nPASS done\n{long}\n"));
        assert_eq!(picture.matches("<text").count(), 5, "the long line takes two rows");
        assert!(picture.contains(" class=\"comment\"># A &amp; B</text>"));
        assert!(picture.contains(" class=\"command\">$ probity run -- a &gt; b</text>"));
        assert!(picture.contains(" class=\"pass\">PASS done</text>"));
    }
}
