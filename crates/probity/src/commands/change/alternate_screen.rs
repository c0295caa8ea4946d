//! The terminal's alternate screen, redrawn in place.

use crate::ui::{self, TerminalText};
use std::fmt::Write;

/// Switches to the alternate screen and hides the cursor.
const ENTER_ALTERNATE_SCREEN: &str = "\x1b[?1049h\x1b[?25l";
const LEAVE_ALTERNATE_SCREEN: &str = "\x1b[?25h\x1b[?1049l";
const CURSOR_HOME: &str = "\x1b[H";
const ERASE_REST_OF_LINE: &str = "\x1b[K";
const ERASE_BELOW: &str = "\x1b[J";

/// The open alternate screen. Dropping it restores what the terminal showed before.
pub(super) struct AlternateScreen(());

impl AlternateScreen {
    /// Opens the screen; `None` if stdout cannot be drawn on.
    pub(super) fn open() -> Option<Self> {
        ui::stdout_can_be_drawn_on().then(|| {
            ui::draw(ENTER_ALTERNATE_SCREEN);
            Self(())
        })
    }

    /// Shows as many of the lines as fit, and `last` below them.
    #[expect(clippy::unused_self, reason = "only an open screen can be drawn on")]
    pub(super) fn show(&self, lines: &[TerminalText], last: &TerminalText) {
        let size = ui::terminal_size().unwrap_or((usize::MAX, usize::MAX));
        let lines: Vec<String> = lines.iter().map(ui::as_shown).collect();
        ui::draw(&render_page(&lines, &ui::as_shown(last), size));
    }
}

impl Drop for AlternateScreen {
    fn drop(&mut self) {
        ui::draw(LEAVE_ALTERNATE_SCREEN);
    }
}

/// Renders a page. The terminal wraps long lines, so one line may take several rows.
fn render_page(lines: &[String], last: &str, (columns, rows): (usize, usize)) -> String {
    let height = |line: &String| {
        anstream::adapter::strip_str(line).to_string().chars().count().div_ceil(columns).max(1)
    };
    let room = rows.saturating_sub(1);
    let is_whole = lines.iter().map(height).sum::<usize>() <= room;
    // The notice that lines are missing takes one row.
    let mut left = if is_whole { room } else { room.saturating_sub(1) };
    let mut page = CURSOR_HOME.to_owned();
    let mut shown = 0;
    for line in lines {
        let Some(rest) = left.checked_sub(height(line)) else { break };
        (left, shown) = (rest, shown + 1);
        let _ = write!(page, "{line}{ERASE_REST_OF_LINE}\r\n");
    }
    if shown < lines.len() {
        let _ = write!(page, "… and {} more{ERASE_REST_OF_LINE}\r\n", lines.len() - shown);
    }
    page + last + ERASE_REST_OF_LINE + ERASE_BELOW
}

#[cfg(test)]
mod tests {
    use super::render_page;

    #[test]
    fn a_page_has_no_more_rows_than_the_terminal() {
        let lines: Vec<String> = (0..10).map(|n| format!("line {n}")).collect();
        let whole = render_page(&lines, "q leaves", (80, 11));
        assert_eq!((whole.matches("\r\n").count(), whole.contains("line 9")), (10, true));
        let cut = render_page(&lines, "q leaves", (80, 6));
        assert_eq!(cut.matches("\r\n").count(), 5);
        assert!(cut.contains("line 3") && !cut.contains("line 4") && cut.contains("… and 6 more"), "{cut}");
        // Six characters take two rows of three columns.
        let narrow = render_page(&lines, "q", (3, 6));
        assert!(narrow.contains("line 1") && !narrow.contains("line 2"), "{narrow}");
    }
}
