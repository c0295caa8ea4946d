//! The review in a terminal: conflicts, four values side by side, choose, see what will be written, write.
//!
//! [`screen`] is the state and what keys do to it; [`draw`] shows it. This file joins them with a real terminal and
//! with the document store, which decides and writes.

mod draw;
mod screen;

use probity_document_store::merge::{Analyzed, ReconcileRequest, Reconciled, reconcile};
use probity_document_store::{CommitStore, op_text};
use probity_documents::{Chosen, GivenResolution, Side, Verdict, path_text};
use probity_workspace::Fault;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use screen::{Effect, Item, Key, Screen};

/// Lets a person decide; none when they left without writing.
pub(crate) fn review(
    store: &CommitStore,
    found: &Analyzed,
    request: &ReconcileRequest,
) -> Result<Option<Reconciled>, Fault> {
    let fault = |source| Fault::System { what: "the terminal cannot be used".into(), source };
    let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut screen = screen_of(found);
    let mut terminal = ratatui::try_init().map_err(fault)?;
    let answer = loop {
        if let Err(source) = terminal.draw(|frame| draw::draw(frame, &screen, colour)) {
            break Err(fault(source));
        }
        let key = match event::read() {
            Ok(Event::Key(event)) => key_of(event),
            Ok(_) => None,
            Err(source) => break Err(fault(source)),
        };
        match key.map_or(Effect::None, |key| screen.press(key)) {
            Effect::None => {}
            Effect::Quit => break Ok(None),
            Effect::Preview => screen.preview(preview(store, &screen, request)),
            Effect::Write { label, why } => match write(store, &screen, request, label, why) {
                Ok(reconciled) => break Ok(Some(reconciled)),
                Err(refused @ Fault::Refused { .. }) => screen.refuse(refused.to_string()),
                Err(fault) => break Err(fault),
            },
        }
    };
    ratatui::try_restore().map_err(fault)?;
    answer
}

fn screen_of(found: &Analyzed) -> Screen {
    let analysis = &found.analysis;
    let short = |id| probity_document_store::short(&id);
    let title = format!(
        "merge {} = {} + {}",
        short(analysis.merge()),
        short(analysis.ours()),
        short(analysis.theirs())
    );
    let items = (0..analysis.conflicts().len()).map(|index| item(found, index)).collect();
    Screen::new(title, items, !analysis.two_way())
}

fn item(found: &Analyzed, index: usize) -> Item {
    let conflict = found.analysis.conflicts()[index].clone();
    let history = &found.histories[index];
    let sides: Vec<&str> =
        conflict.lost.iter().map(|side| if *side == Side::Ours { "ours" } else { "theirs" }).collect();
    let authors = &found.authors[index];
    let by = if authors.is_empty() { String::new() } else { format!(" ({})", authors.join(", ")) };
    let note =
        history.resolved_by.as_ref().map(|record| format!("resolved by {}: {}", record.by, record.why));
    let before = history.proposal.as_ref().map(|_| "the same values were decided before: r".to_owned());
    let overridden = history.overrides.first().map(|record| format!("overrides a decision by {}", record.by));
    let ruled = match &found.rulings.conflicts[index].verdict {
        Verdict::Decided(chosen) => Some(chosen.clone()),
        _ => None,
    };
    Item {
        place: format!("{}/{} {}", conflict.attachment, conflict.key, path_text(&conflict.path)),
        lost: format!("{}{by}", sides.join(" and ")),
        note: note.or(overridden).or(before),
        proposal: history.proposal.clone(),
        ruled,
        chosen: None,
        conflict,
    }
}

fn requested(screen: &Screen, request: &ReconcileRequest) -> ReconcileRequest {
    let resolutions = screen
        .choices()
        .map(|(id, chosen)| GivenResolution::Named { conflict: id.to_owned(), choose: chosen.clone() });
    ReconcileRequest { resolutions: resolutions.collect(), ..request.clone() }
}

fn preview(store: &CommitStore, screen: &Screen, request: &ReconcileRequest) -> Result<Vec<String>, String> {
    let request = ReconcileRequest { dry_run: true, ..requested(screen, request) };
    let outcome = reconcile(store, &request).map_err(|fault| fault.to_string())?;
    let mut lines: Vec<String> = outcome.ops.iter().map(op_text).collect();
    if lines.is_empty() {
        lines.push("nothing: the merge stands as it is".into());
    }
    lines
        .extend(outcome.violations.iter().map(|v| format!("violates: {}/{} {}", v.attachment, v.key, v.why)));
    Ok(lines)
}

fn write(
    store: &CommitStore,
    screen: &Screen,
    request: &ReconcileRequest,
    label: String,
    why: String,
) -> Result<Reconciled, Fault> {
    let mut request = ReconcileRequest { why, ..requested(screen, request) };
    request.by.label = Some(label);
    reconcile(store, &request)
}

fn key_of(event: KeyEvent) -> Option<Key> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    if event.modifiers.contains(KeyModifiers::CONTROL) {
        return (event.code == KeyCode::Char('c')).then_some(Key::Escape);
    }
    Some(match event.code {
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        _ => return None,
    })
}

/// What was chosen, in words.
pub(crate) fn chosen_text(chosen: &Chosen) -> String {
    match chosen {
        Chosen::Ours => "ours".into(),
        Chosen::Theirs => "theirs".into(),
        Chosen::Base => "base".into(),
        Chosen::Merged => "as merged".into(),
        Chosen::Value(value) if value.is_null() => "absent".into(),
        Chosen::Value(value) => format!("the value {}", value.get("some").unwrap_or(value)),
        Chosen::Unknown(json) => json.to_string(),
    }
}
