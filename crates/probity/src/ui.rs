//! Terminal output: colors, marks, and all writing to stdout and stderr.
//!
//! A command's answer goes to stdout; diagnostics, errors, progress and the root go to stderr. With `--json` the answer
//! is one document on stdout, and its text is not printed. `probity run` reports on stderr: stdout belongs to the
//! command that it runs. Color appears on a terminal, or where `CLICOLOR_FORCE` asks for it, and never with `NO_COLOR`.
//! A closed pipe ends the output quietly: the reader does not want the rest. On a terminal, rows and sentences are
//! wrapped between words; commands to copy are not.

use crate::progress::write_undisturbed;
pub(crate) use crate::terminal_text::TerminalText;
use crate::terminal_text::{TextStyle, styled};
use serde::Serialize;
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Indent of further lines in text that is printed as one line.
const CONTINUATION_INDENT: usize = 4;

/// Writes a line to stderr.
pub(crate) fn eprint(line: impl Display) {
    eprint_text(&TerminalText::of_line(line, CONTINUATION_INDENT));
}

fn eprint_text(text: &TerminalText) {
    let _ = write_undisturbed(|| writeln!(anstream::stderr(), "{text}"));
}

static STDOUT_IS_DATA: AtomicBool = AtomicBool::new(false);

/// Reserves stdout for one JSON document, which has everything that would be printed.
pub(crate) fn keep_stdout_for_json() {
    STDOUT_IS_DATA.store(true, Ordering::Relaxed);
}

pub(crate) fn stdout_is_for_json() -> bool {
    STDOUT_IS_DATA.load(Ordering::Relaxed)
}

/// Writes a line of the answer to stdout, unless it is reserved for a JSON document.
pub(crate) fn print(line: impl Display) {
    print_text(&TerminalText::of_line(line, CONTINUATION_INDENT));
}

/// Writes an answer that is a document itself, such as Markdown or a policy.
pub(crate) fn print_document(text: &str) {
    print_text(&TerminalText::of_document(text));
}

/// Writes an answer that is a JSON text; unlike [`print_json`] it is not the document of `--json`.
pub(crate) fn print_json_text(text: &str) {
    print_text(&TerminalText::of_json(text));
}

fn print_text(text: &TerminalText) {
    let mut collected = COLLECTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(lines) = collected.as_mut() {
        lines.extend(text.lines());
    } else if !STDOUT_IS_DATA.load(Ordering::Relaxed) {
        write_out(text);
    }
}

/// Lines of an answer that is drawn as a whole; `None` while lines are written directly.
static COLLECTED: Mutex<Option<Vec<TerminalText>>> = Mutex::new(None);

/// Collects the lines that `show` prints instead of writing them.
pub(crate) fn collect_lines(show: impl FnOnce()) -> Vec<TerminalText> {
    let replace =
        |with| std::mem::replace(&mut *COLLECTED.lock().unwrap_or_else(PoisonError::into_inner), with);
    replace(Some(Vec::new()));
    show();
    replace(None).unwrap_or_default()
}

/// Returns whether stdout is a terminal whose cursor can be moved.
pub(crate) fn stdout_can_be_drawn_on() -> bool {
    !stdout_is_for_json()
        && std::io::stdout().is_terminal()
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Writes a drawn page to stdout. It is not filtered, because cursor movements must survive even without colors: it
/// consists of [`TerminalText`] and fixed sequences.
pub(crate) fn draw(text: &str) {
    let mut out = std::io::stdout();
    let written = write_undisturbed(|| out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    if written.is_err() {
        OUTPUT_LOST.store(true, Ordering::Relaxed);
    }
}

/// Strips the colors of a line if stdout does not want them.
pub(crate) fn as_shown(line: &TerminalText) -> String {
    match anstream::AutoStream::choice(&std::io::stdout()) {
        anstream::ColorChoice::Never => anstream::adapter::strip_str(line.as_str()).to_string(),
        _ => line.as_str().to_owned(),
    }
}

/// Ends what a governed command may have left on: an unfinished sequence, another character set, colors, margins,
/// a hidden cursor, the alternate screen, held-back output, mouse reports.
const TERMINAL_RESET: &str =
    "\x18\x1b\\\x0f\x1b(B\x1b[0m\x1b[!p\x1b[?7h\x1b[?25h\x1b[?47l\x1b[?2026l\x1b[?1000;1002;1003;1006;2004l";

/// Makes the terminal show again what is written to it, so that the command cannot make the verdict unreadable.
pub(crate) fn reset_terminal() {
    if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
        return;
    }
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let terminal: &mut dyn Write = match (err.is_terminal(), out.is_terminal()) {
        (true, _) => &mut err,
        (false, true) => &mut out,
        (false, false) => return,
    };
    let _ =
        write_undisturbed(|| terminal.write_all(TERMINAL_RESET.as_bytes()).and_then(|()| terminal.flush()));
}

pub(crate) fn print_json(document: &impl Serialize) {
    if let Ok(text) = serde_json::to_string_pretty(document) {
        write_out(&TerminalText::of_json(&text));
    }
}

/// Writes a document to stderr on one line, so that a program finds it among the words for people.
pub(crate) fn eprint_json(document: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(document) {
        eprint_text(&TerminalText::of_json(&text));
    }
}

/// Writes bytes as they are; a terminal gets them as visible text.
pub(crate) fn print_bytes(bytes: &[u8]) {
    let mut out = std::io::stdout();
    if out.is_terminal() {
        return print_document(&String::from_utf8_lossy(bytes));
    }
    note_lost_output(write_undisturbed(|| out.write_all(bytes).and_then(|()| out.flush())));
}

/// Set when output could not be written, for example because the disk is full.
static OUTPUT_LOST: AtomicBool = AtomicBool::new(false);

pub(crate) fn output_arrived() -> bool {
    !OUTPUT_LOST.load(Ordering::Relaxed)
}

fn write_out(text: &TerminalText) {
    let mut out = anstream::stdout();
    note_lost_output(write_undisturbed(|| writeln!(out, "{text}").and_then(|()| out.flush())));
}

fn note_lost_output(written: std::io::Result<()>) {
    // A reader that closed the pipe has read enough; every other error loses output.
    if written.is_err_and(|error| error.kind() != std::io::ErrorKind::BrokenPipe) {
        OUTPUT_LOST.store(true, Ordering::Relaxed);
    }
}

pub(crate) fn bold(text: impl Display) -> String {
    styled(TextStyle::Bold, text)
}

/// Secondary text.
pub(crate) fn dim(text: impl Display) -> String {
    styled(TextStyle::Dim, text)
}

pub(crate) fn good(text: impl Display) -> String {
    styled(TextStyle::Good, text)
}

pub(crate) fn bad(text: impl Display) -> String {
    styled(TextStyle::Bad, text)
}

pub(crate) fn warn(text: impl Display) -> String {
    styled(TextStyle::Warn, text)
}

/// A command to type.
pub(crate) fn code(text: impl Display) -> String {
    styled(TextStyle::Code, text)
}

/// Formats a number with separators: `1,204`.
pub(crate) fn format_number(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count: `1 change`, `2 changes`.
pub(crate) fn count_of(number: usize, thing: &str) -> String {
    probity_core::text::count(number, thing)
}

/// Names the first of some things, and how many more there are.
pub(crate) fn first_and_more<T: std::fmt::Display>(things: impl ExactSizeIterator<Item = T>) -> String {
    let n_more = things.len().saturating_sub(1);
    match (things.take(1).next(), n_more) {
        (None, _) => "nothing".to_owned(),
        (Some(first), 0) => format!("`{first}`"),
        (Some(first), n_more) => format!("`{first}` and {n_more} more"),
    }
}

/// Formats the space that files take, rounded up: `13 kB`, `148 MB`.
pub(crate) fn disk_space(bytes: u64) -> String {
    const MEGABYTE: u64 = 1_000_000;
    if bytes < 10 * MEGABYTE {
        format!("{} kB", bytes.div_ceil(1000))
    } else {
        format!("{} MB", bytes.div_ceil(MEGABYTE))
    }
}

/// Chooses the verb form for a count: `1 file needs`, `2 files need`.
pub(crate) const fn agreeing_verb(
    number: usize,
    singular: &'static str,
    plural: &'static str,
) -> &'static str {
    if number == 1 { singular } else { plural }
}

/// Returns the columns and rows of the terminal; `None` if stdout is not a terminal.
pub(crate) fn terminal_size() -> Option<(usize, usize)> {
    size_of(&std::io::stdout())
}

fn size_of(stream: &(impl IsTerminal + AsFd)) -> Option<(usize, usize)> {
    if !stream.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some((size.ws_col.into(), size.ws_row.into())).filter(|(columns, rows)| *columns > 0 && *rows > 0)
}

/// Truncates text without styles to the rest of a terminal line after `used` columns; unchanged if stdout is not a
/// terminal.
pub(crate) fn fit_to_terminal(text: &str, used: usize) -> String {
    match terminal_size() {
        Some((columns, _)) => truncate(TerminalText::of_line(text, 0).as_str(), columns.saturating_sub(used)),
        None => text.to_owned(),
    }
}

/// Truncates text to `room` characters, ending with an ellipsis if anything is cut.
fn truncate(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// Column in which the values of rows begin.
const VALUE_COLUMN: usize = 12;
/// Indent of the continuation lines of a sentence.
const SENTENCE_INDENT: usize = 2;

/// Writes a label and its value to stderr, in the columns that all reports share.
pub(crate) fn eprint_row(label: &str, value: impl Display) {
    eprint_text(&fitted(&std::io::stderr(), labeled_row(label, value), VALUE_COLUMN));
}

/// Like [`eprint_row`], for a hash: cut at the end of a terminal line, because half of it on the next one helps nobody.
/// Files and pipes get it whole.
pub(crate) fn eprint_hash_row(label: &str, hash: impl Display) {
    let hash = hash.to_string();
    let shown = match size_of(&std::io::stderr()) {
        Some((columns, _)) => truncate(&hash, columns.saturating_sub(VALUE_COLUMN)),
        None => hash,
    };
    eprint_row(label, dim(shown));
}

/// Like [`eprint_row`], for the answer on stdout.
pub(crate) fn print_row(label: &str, value: impl Display) {
    print_text(&fitted(&std::io::stdout(), labeled_row(label, value), VALUE_COLUMN));
}

pub(crate) fn say_sentence(sentence: impl Display) {
    eprint_text(&fitted(&std::io::stderr(), sentence, SENTENCE_INDENT));
}

pub(crate) fn print_sentence(sentence: impl Display) {
    print_text(&fitted(&std::io::stdout(), sentence, SENTENCE_INDENT));
}

/// Renders a line and wraps it for a terminal; files and pipes get it whole.
fn fitted(stream: &(impl IsTerminal + AsFd), line: impl Display, indent: usize) -> TerminalText {
    let text = TerminalText::of_line(line, indent.max(CONTINUATION_INDENT));
    match size_of(stream) {
        Some((columns, _)) => text.map(|line| wrap(line, columns, indent)),
        None => text,
    }
}

/// Breaks a line longer than `columns` between words, and indents the continuation.
fn wrap(line: &str, columns: usize, indent: usize) -> String {
    let mut text = String::new();
    let mut used = 0;
    for piece in pieces(line) {
        let word = piece.trim_start_matches(' ');
        let n_blanks = piece.len() - word.len();
        let n_shown = shown_width(word);
        if used + n_blanks > indent && used + n_blanks + n_shown > columns {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            text.push_str(word);
            used = indent + n_shown;
        } else {
            text.push_str(piece);
            used += n_blanks + n_shown;
        }
    }
    text
}

/// Counts the columns of a text; escape sequences take none.
fn shown_width(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().chars().count()
}

/// Splits a line into words, each with the spaces before it. A command, colored as one or between backticks, is one
/// word, so that it can be copied whole.
fn pieces(line: &str) -> Vec<&str> {
    let color = TextStyle::Code.ansi().render().to_string();
    let mut pieces = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(next) = line[at..].chars().next() {
        let rest = &line[at..];
        let is_behind_word = !line[start..at].trim_start_matches(' ').is_empty();
        if next == ' ' && is_behind_word {
            pieces.push(&line[start..at]);
            start = at;
        }
        let command = if rest.starts_with(&color) {
            rest[color.len()..].find('\u{1b}').map(|end| color.len() + end)
        } else if next == '`' {
            rest[1..].find('`').map(|end| 1 + end)
        } else {
            None
        };
        at += command.unwrap_or_else(|| next.len_utf8()).max(1);
        // The closing backtick belongs to the word and opens nothing.
        if command.is_some() && next == '`' {
            at += 1;
        }
    }
    pieces.push(&line[start..]);
    pieces
}

/// Formats a row. A label wider than its column still has a space after it.
fn labeled_row(label: &str, value: impl Display) -> String {
    format!("  {} {value}", dim(format_args!("{label:<9}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_to_its_room() {
        assert_eq!(
            (truncate("häuser", 6), truncate("häuser", 4), truncate("a", 0)),
            ("häuser".into(), "häu…".into(), "…".into())
        );
    }

    #[test]
    fn a_long_line_is_wrapped_at_words() {
        let row = "  next      edit inside the declared scope only, then finish";
        assert_eq!(
            wrap(row, 30, VALUE_COLUMN),
            "  next      edit inside the\n            declared scope\n            only, then finish"
        );
        assert_eq!(wrap(row, 80, VALUE_COLUMN), row);
        // A word that fits nowhere is not broken.
        assert_eq!(wrap("  hash      0123456789abcdef", 20, VALUE_COLUMN), "  hash      0123456789abcdef");
        assert_eq!(wrap("", 10, 2), "");
    }

    #[test]
    fn a_command_to_copy_is_never_wrapped() {
        let quoted = "  next      type `probity finish 0199c2 --strict` when you are done";
        assert_eq!(
            wrap(quoted, 40, VALUE_COLUMN),
            "  next      type\n            `probity finish 0199c2 --strict`\n            when you are done"
        );
        let colored = labeled_row("revert", code("probity revert 0199c2 README.md"));
        let colored = TerminalText::of_line(colored, VALUE_COLUMN).to_string();
        assert_eq!(wrap(&colored, 30, VALUE_COLUMN), colored);
        // A lone backtick is not a command.
        assert_eq!(wrap("a ` b c", 4, 1), "a `\n b c");
    }

    #[test]
    fn colors_take_no_room() {
        let line = TerminalText::of_line(format_args!("{} {}", bad("FAIL"), dim("a b")), 2).to_string();
        assert_eq!(wrap(&line, 8, 2), line);
    }

    #[test]
    fn a_label_never_runs_into_its_value() {
        let plain = |label| {
            let row = TerminalText::of_line(labeled_row(label, "value"), VALUE_COLUMN).to_string();
            anstream::adapter::strip_str(&row).to_string()
        };
        assert_eq!(plain("next"), "  next      value");
        assert_eq!(plain("implements"), "  implements value");
        assert_eq!(plain("not allowed"), "  not allowed value");
    }
}
