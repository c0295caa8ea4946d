//! Draws the review: the list, the four values side by side, the notes, and the keys. It fits 80×24; on a narrower
//! terminal the values form two columns and the keys take more lines.

use super::chosen_text;
use super::screen::{ReviewItem, ReviewMode, ReviewScreen};
use crate::ui;
use probity_core::bytes::is_deceptive_text;
use probity_documents::ConflictChoice;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Block, Clear, List, ListItem, ListState, Paragraph, Wrap};

const MAX_VALUE_LINES: usize = 200;

/// On narrower terminals, four values side by side are unreadable.
const MIN_FOUR_COLUMN_WIDTH: u16 = 64;

pub(crate) fn draw(frame: &mut Frame<'_>, screen: &ReviewScreen, color: bool) {
    let paint = ReviewPalette { has_color: color };
    let keys = key_lines(&screen.mode, frame.area().width, frame.area().height);
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(2),
        Constraint::Fill(3),
        Constraint::Length(2),
        Constraint::Length(u16::try_from(keys.len()).unwrap_or(2)),
    ]);
    let [title, list, values, about, help] = rows.areas(frame.area());
    let counts = format!("{}, {} open", ui::count_of(screen.items.len(), "conflict"), screen.n_open());
    let heading = Line::from(vec![
        Span::styled(counts, Style::new().add_modifier(Modifier::BOLD)),
        Span::raw("  "),
        Span::styled(screen.title.clone(), paint.dim()),
    ]);
    frame.render_widget(heading, title);
    draw_list(frame, list, screen, paint);
    if let Some(item) = screen.current_item() {
        draw_values(frame, values, item, paint);
        draw_about(frame, about, screen, item, paint);
    }
    let keys: Vec<Line<'_>> = keys.into_iter().map(|line| Line::styled(line, paint.dim())).collect();
    frame.render_widget(Paragraph::new(keys), help);
    draw_over(frame, screen, paint);
    hide_deceptive_characters(frame);
}

/// Replaces what would reorder or hide its neighbors: values and names come from anyone.
fn hide_deceptive_characters(frame: &mut Frame<'_>) {
    for cell in &mut frame.buffer_mut().content {
        if is_deceptive_text(cell.symbol()) {
            cell.set_symbol("\u{fffd}");
        }
    }
}

#[derive(Clone, Copy)]
struct ReviewPalette {
    has_color: bool,
}

impl ReviewPalette {
    fn of(self, color: Color) -> Style {
        if self.has_color { Style::new().fg(color) } else { Style::new() }
    }

    fn dim(self) -> Style {
        self.of(Color::DarkGray).add_modifier(if self.has_color { Modifier::empty() } else { Modifier::DIM })
    }

    fn good(self) -> Style {
        self.of(Color::Green).add_modifier(Modifier::BOLD)
    }

    fn warn(self) -> Style {
        self.of(Color::Yellow)
    }
}

fn draw_list(frame: &mut Frame<'_>, area: Rect, screen: &ReviewScreen, paint: ReviewPalette) {
    let rows = screen.items.iter().map(|item| {
        let (mark, style) = choice_mark(item, paint);
        ListItem::new(Line::from(vec![
            Span::styled(format!("{mark:<8}"), style),
            Span::raw(item.place.clone()),
            Span::styled(format!("  lost {}", item.lost), paint.dim()),
        ]))
    });
    let list = List::new(rows)
        .block(Block::bordered().title(" what the merge lost "))
        .highlight_style(Style::new().add_modifier(Modifier::REVERSED));
    let mut state = ListState::default().with_selected(Some(screen.at));
    frame.render_stateful_widget(list, area, &mut state);
}

fn choice_mark(item: &ReviewItem, paint: ReviewPalette) -> (&'static str, Style) {
    let word = |chosen: &ConflictChoice| match chosen {
        ConflictChoice::Ours => "ours",
        ConflictChoice::Theirs => "theirs",
        ConflictChoice::Base => "base",
        ConflictChoice::Merged => "merged",
        ConflictChoice::Value(value) if value.is_null() => "absent",
        ConflictChoice::Value(_) | ConflictChoice::Unknown(_) => "value",
    };
    match (&item.chosen, &item.ruled) {
        (Some(chosen), _) => (word(chosen), paint.good()),
        (None, Some(_)) => ("policy", paint.of(Color::Cyan)),
        (None, None) => ("·", paint.warn()),
    }
}

fn draw_values(frame: &mut Frame<'_>, area: Rect, item: &ReviewItem, paint: ReviewPalette) {
    let [base, ours, theirs, merged] = &item.values;
    let effective = item.chosen.as_ref().or(item.ruled.as_ref());
    let values = [
        ("base", base, ConflictChoice::Base),
        ("ours", ours, ConflictChoice::Ours),
        ("theirs", theirs, ConflictChoice::Theirs),
        ("merged", merged, ConflictChoice::Merged),
    ];
    for (column, (name, value, choice)) in value_areas(area).into_iter().zip(values) {
        let is_chosen = effective == Some(&choice);
        let title = if is_chosen { format!(" ✓ {name} ") } else { format!(" {name} ") };
        let style = if is_chosen { paint.good() } else { Style::new() };
        let block = Block::bordered().title(title).border_style(style);
        let differs = choice != ConflictChoice::Merged && value != merged;
        let text = value_text(value.as_deref(), if differs { paint.warn() } else { Style::new() }, paint);
        frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: false }).block(block), column);
    }
}

/// Places the four values side by side, or in two columns.
fn value_areas(area: Rect) -> [Rect; 4] {
    if area.width >= MIN_FOUR_COLUMN_WIDTH {
        return Layout::horizontal([Constraint::Fill(1); 4]).areas(area);
    }
    let [above, below]: [Rect; 2] = Layout::vertical([Constraint::Fill(1); 2]).areas(area);
    let halves = |row: Rect| -> [Rect; 2] { Layout::horizontal([Constraint::Fill(1); 2]).areas(row) };
    let ([a, b], [c, d]) = (halves(above), halves(below));
    [a, b, c, d]
}

fn value_text(value: Option<&str>, style: Style, paint: ReviewPalette) -> Text<'static> {
    let Some(value) = value else {
        return Text::styled("absent", paint.dim());
    };
    let lines: Vec<Line<'static>> =
        value.lines().take(MAX_VALUE_LINES).map(|line| Line::styled(line.to_owned(), style)).collect();
    Text::from(lines)
}

fn draw_about(
    frame: &mut Frame<'_>,
    area: Rect,
    screen: &ReviewScreen,
    item: &ReviewItem,
    paint: ReviewPalette,
) {
    let chosen = match (&item.chosen, &item.ruled) {
        (Some(chosen), _) => Span::styled(format!("will be {}", chosen_text(chosen)), paint.good()),
        (None, Some(ruled)) => {
            Span::styled(format!("the policy decides {}", chosen_text(ruled)), paint.of(Color::Cyan))
        }
        (None, None) => Span::styled("open: stays as merged", paint.warn()),
    };
    let mut first = vec![chosen];
    if let Some(note) = &item.note {
        first.push(Span::styled(format!(" · {note}"), paint.dim()));
    }
    let second = Span::styled(screen.message.clone(), paint.warn());
    frame.render_widget(Paragraph::new(vec![Line::from(first), Line::from(second)]), area);
}

/// Describes the keys in as many lines as the width needs, up to a fifth of the height but at least two.
fn key_lines(mode: &ReviewMode, width: u16, height: u16) -> Vec<String> {
    let keys: &[&str] = match mode {
        // Essential keys come first: the last ones are dropped where there is no room.
        ReviewMode::Choosing => &[
            "o ours",
            "t theirs",
            "b base",
            "m merged",
            "v value",
            "x absent",
            "w write",
            "q leave",
            "↑↓ move",
            "p preview",
            "u undo",
            "Tab next open",
            "O T B M for all open",
            "r as before",
        ],
        ReviewMode::Typing { .. } => &["type a JSON value:", "Enter take it", "Esc back"],
        ReviewMode::Preview { .. } => &["this is what would be written:", "↑↓ scroll", "w write", "Esc back"],
        ReviewMode::Signing { .. } => {
            &["the decision is recorded with its reason:", "Tab other line", "Enter write", "Esc back"]
        }
        ReviewMode::Leaving => &["your choices are not written yet:", "y leave anyway", "any other key back"],
    };
    let mut lines: Vec<String> = Vec::new();
    for key in keys {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 2 + key.chars().count() <= usize::from(width) => {
                line.push_str("  ");
                line.push_str(key);
            }
            _ => lines.push((*key).to_owned()),
        }
    }
    lines.truncate(usize::from(height / 5).max(2));
    lines
}

/// Draws the popup over the list: the value being typed, the preview, the signature.
fn draw_over(frame: &mut Frame<'_>, screen: &ReviewScreen, paint: ReviewPalette) {
    let (title, lines) = match &screen.mode {
        ReviewMode::Choosing => return,
        ReviewMode::Leaving => (" leave? ", vec![Line::raw("Leave without writing? y / n")]),
        ReviewMode::Typing { text } => (" value ", vec![Line::raw(format!("{text}▏"))]),
        ReviewMode::Preview { lines, top } => {
            (" what would be written ", lines.iter().skip(*top).map(|line| Line::raw(line.clone())).collect())
        }
        ReviewMode::Signing { label, why, in_why } => {
            let field = |name: &str, text: &str, is_here: bool| {
                let cursor = if is_here { "▏" } else { "" };
                Line::from(vec![
                    Span::styled(format!("{name:<6} "), paint.dim()),
                    Span::raw(format!("{text}{cursor}")),
                ])
            };
            (" write ", vec![field("label", label, !in_why), field("why", why, *in_why)])
        }
    };
    let area = popup_area(frame.area(), &screen.mode);
    frame.render_widget(Clear, area);
    let block = Block::bordered().title(title).border_style(paint.good());
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }).block(block), area);
}

/// Returns a centered box as high as its content needs.
fn popup_area(area: Rect, mode: &ReviewMode) -> Rect {
    let height = match mode {
        ReviewMode::Preview { .. } => area.height.saturating_sub(6),
        ReviewMode::Typing { .. } => 6,
        _ => 4,
    };
    let height = height.min(area.height);
    let width = area.width.saturating_sub(8);
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

#[cfg(test)]
mod tests {
    use super::super::screen::KeyPress;
    use super::super::screen::tests::screen;
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn drawn(screen: &ReviewScreen, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a terminal");
        terminal.draw(|frame| draw(frame, screen, false)).expect("draws");
        let buffer = terminal.backend().buffer();
        let line = |y: u16| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..height).map(|y| line(y) + "\n").collect()
    }

    #[test]
    fn everything_is_there_on_a_small_terminal() {
        let mut screen = screen(12);
        screen.press(KeyPress::Char('o'));
        let text = drawn(&screen, 80, 24);
        for part in [
            "merge 1",
            "12 conflicts, 11 open",
            "ours    ticket/t0 rank",
            "lost ours (ann)",
            "base",
            "✓ ours",
            "theirs",
            "merged",
            "11",
            "12",
            "will be ours",
            "o ours",
            "O T B M for all open",
            "w write",
            "q leave",
        ] {
            assert!(text.contains(part), "`{part}` is missing in\n{text}");
        }
    }

    #[test]
    fn a_narrow_terminal_shows_the_same_in_more_lines() {
        let text = drawn(&screen(2), 34, 24);
        for part in
            ["2 conflicts, 2 open", "base", "ours", "theirs", "merged", "p preview", "w write", "q leave"]
        {
            assert!(text.contains(part), "`{part}` is missing in\n{text}");
        }
    }

    #[test]
    fn the_present_conflict_is_always_in_sight() {
        let mut screen = screen(100);
        screen.press(KeyPress::End);
        assert!(drawn(&screen, 80, 24).contains("ticket/t99 rank"));
    }

    #[test]
    fn the_reason_is_asked_for_in_a_box() {
        let mut screen = screen(1);
        for key in [KeyPress::Char('t'), KeyPress::Char('w'), KeyPress::Char('h'), KeyPress::Char('i')] {
            screen.press(key);
        }
        let text = drawn(&screen, 80, 24);
        assert!(text.contains("why    hi▏") && text.contains("label  survival of decisions"), "{text}");
    }

    #[test]
    fn no_size_and_no_mode_panics() {
        let mut screen = screen(3);
        for keys in ["", "v", "^p", "^ow", "^q"] {
            for letter in keys.chars() {
                screen.press(if letter == '^' { KeyPress::Escape } else { KeyPress::Char(letter) });
            }
            for (width, height) in [(1, 1), (5, 3), (20, 8), (80, 24), (200, 60)] {
                drawn(&screen, width, height);
            }
        }
        screen.preview(Ok(vec!["document_update ticket/t0 rank 11".into()]));
        assert!(drawn(&screen, 80, 24).contains("document_update ticket/t0 rank 11"));
    }
}
