//! The interactive merge review: choose for each conflict or finding, preview the result, write it.
//!
//! [`screen`] is the state and its key handling; [`draw`] shows it. This file connects them to a real terminal and to
//! the document store, [`git_merge`] to the audit of a git merge: these decide and write.

mod draw;
mod git_merge;
mod screen;

pub(crate) use git_merge::review_git_merge;

use probity_document_store::merge::{AnalyzedMerge, ReconcileRequest, ReconciledMerge, reconcile};
use probity_document_store::{CommitStore, op_text};
use probity_documents::{ConflictChoice, ConflictVerdict, GivenResolution, MergeSide, path_text};
use probity_workspace::ServiceError;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use screen::{KeyPress, ReviewEffect, ReviewItem, ReviewOffer, ReviewScreen};

/// Says what choices would write, and writes them.
trait DecisionWriter {
    type Written;

    fn preview(&self, screen: &ReviewScreen) -> Result<Vec<String>, String>;

    fn write(&self, screen: &ReviewScreen, label: String, why: String)
    -> Result<Self::Written, ServiceError>;
}

/// Runs the review of a merge of documents; `None` if the user left without writing.
pub(crate) fn review(
    store: &CommitStore,
    found: &AnalyzedMerge,
    request: &ReconcileRequest,
) -> Result<Option<ReconciledMerge>, ServiceError> {
    run(screen_of(found), &DocumentDecisions { store, request })
}

fn run<W: DecisionWriter>(mut screen: ReviewScreen, writer: &W) -> Result<Option<W::Written>, ServiceError> {
    let fault = |source| ServiceError::System { what: "the terminal cannot be used".into(), source };
    let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let mut terminal = ratatui::try_init().map_err(fault)?;
    let answer = loop {
        if let Err(source) = terminal.draw(|frame| draw::draw(frame, &screen, color)) {
            break Err(fault(source));
        }
        let key = match event::read() {
            Ok(Event::Key(event)) => key_of(event),
            Ok(_) => None,
            Err(source) => break Err(fault(source)),
        };
        match key.map_or(ReviewEffect::None, |key| screen.press(key)) {
            ReviewEffect::None => {}
            ReviewEffect::Quit => break Ok(None),
            ReviewEffect::Preview => screen.preview(writer.preview(&screen)),
            ReviewEffect::Write { label, why } => match writer.write(&screen, label, why) {
                Ok(written) => break Ok(Some(written)),
                Err(refused @ ServiceError::Refused { .. }) => screen.refuse(refused.to_string()),
                Err(fault) => break Err(fault),
            },
        }
    };
    ratatui::try_restore().map_err(fault)?;
    answer
}

fn screen_of(found: &AnalyzedMerge) -> ReviewScreen {
    let analysis = &found.analysis;
    let short = |id| probity_document_store::short_id(&id);
    let title = format!(
        "merge {} = {} + {}",
        short(analysis.merge()),
        short(analysis.ours()),
        short(analysis.theirs())
    );
    let items = (0..analysis.conflicts().len()).map(|index| review_item(found, index)).collect();
    ReviewScreen::new(title, items, !analysis.is_two_way())
}

fn review_item(found: &AnalyzedMerge, index: usize) -> ReviewItem {
    let conflict = found.analysis.conflicts()[index].clone();
    let history = &found.histories[index];
    let sides: Vec<&str> =
        conflict.lost.iter().map(|side| if *side == MergeSide::Ours { "ours" } else { "theirs" }).collect();
    let authors = &found.authors[index];
    let by = if authors.is_empty() { String::new() } else { format!(" ({})", authors.join(", ")) };
    let note =
        history.resolved_by.as_ref().map(|record| format!("resolved by {}: {}", record.by, record.why));
    let before = history.proposal.as_ref().map(|_| "the same values were decided before: r".to_owned());
    let overridden = history.overrides.first().map(|record| format!("overrides a decision by {}", record.by));
    let ruled = match &found.rulings.conflicts[index].verdict {
        ConflictVerdict::Decided(chosen) => Some(chosen.clone()),
        _ => None,
    };
    ReviewItem {
        place: format!("{}/{} {}", conflict.attachment, conflict.key, path_text(&conflict.path)),
        lost: format!("{}{by}", sides.join(" and ")),
        note: note.or(overridden).or(before),
        proposal: history.proposal.clone(),
        ruled,
        chosen: None,
        values: [&conflict.base, &conflict.ours, &conflict.theirs, &conflict.merged]
            .map(|reading| reading.0.as_ref().map(|value| format!("{value:#}"))),
        typed: conflict.merged.0.as_ref().map(ToString::to_string),
        offer: ReviewOffer::AnyValue,
        id: conflict.id,
    }
}

/// Decisions about a merge of documents.
struct DocumentDecisions<'a> {
    store: &'a CommitStore,
    request: &'a ReconcileRequest,
}

fn reconcile_request(screen: &ReviewScreen, request: &ReconcileRequest) -> ReconcileRequest {
    let resolutions = screen
        .choices()
        .map(|(id, chosen)| GivenResolution::Named { conflict: id.to_owned(), choose: chosen.clone() });
    ReconcileRequest { resolutions: resolutions.collect(), ..request.clone() }
}

impl DecisionWriter for DocumentDecisions<'_> {
    type Written = ReconciledMerge;

    fn preview(&self, screen: &ReviewScreen) -> Result<Vec<String>, String> {
        let request = ReconcileRequest { dry_run: true, ..reconcile_request(screen, self.request) };
        let outcome = reconcile(self.store, &request).map_err(|fault| fault.to_string())?;
        let mut lines: Vec<String> = outcome.ops.iter().map(op_text).collect();
        if lines.is_empty() {
            lines.push("nothing: the merge stands as it is".into());
        }
        let violations = outcome.violations.iter();
        lines.extend(violations.map(|v| format!("violates: {}/{} {}", v.attachment, v.key, v.why)));
        Ok(lines)
    }

    fn write(
        &self,
        screen: &ReviewScreen,
        label: String,
        why: String,
    ) -> Result<ReconciledMerge, ServiceError> {
        let mut request = ReconcileRequest { why, ..reconcile_request(screen, self.request) };
        request.by.label = Some(label);
        reconcile(self.store, &request)
    }
}

fn key_of(event: KeyEvent) -> Option<KeyPress> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    if event.modifiers.contains(KeyModifiers::CONTROL) {
        return (event.code == KeyCode::Char('c')).then_some(KeyPress::Escape);
    }
    Some(match event.code {
        KeyCode::Char(letter) => KeyPress::Char(letter),
        KeyCode::Up => KeyPress::Up,
        KeyCode::Down => KeyPress::Down,
        KeyCode::PageUp => KeyPress::PageUp,
        KeyCode::PageDown => KeyPress::PageDown,
        KeyCode::Home => KeyPress::Home,
        KeyCode::End => KeyPress::End,
        KeyCode::Enter => KeyPress::Enter,
        KeyCode::Esc => KeyPress::Escape,
        KeyCode::Backspace => KeyPress::Backspace,
        KeyCode::Tab => KeyPress::Tab,
        _ => return None,
    })
}

pub(crate) fn chosen_text(chosen: &ConflictChoice) -> String {
    match chosen {
        ConflictChoice::Ours => "ours".into(),
        ConflictChoice::Theirs => "theirs".into(),
        ConflictChoice::Base => "base".into(),
        ConflictChoice::Merged => "as merged".into(),
        ConflictChoice::Value(value) if value.is_null() => "absent".into(),
        ConflictChoice::Value(value) => format!("the value {}", value.get("some").unwrap_or(value)),
        ConflictChoice::Unknown(json) => json.to_string(),
    }
}
