//! What happens, as server-sent events: entries of the log, and signs that a view grows.
//!
//! One task of the server looks for new entries while somebody listens, and every open page hears of them. The number
//! of an event is the number of entries in the log, so a page that reconnects misses nothing.

use crate::page_event::PageEvent;
use crate::ui_state::UiState;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream, StreamExt as _};
use probity_api::review::LogFeedLine;
use probity_workspace::{ServiceError, Workspace, held_layers};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

/// How often the log is asked for new entries while somebody listens; otherwise once a second.
const LOG_INTERVAL: Duration = Duration::from_millis(50);
/// The views are looked at once for this number of looks at the log.
const LOOKS_PER_VIEW: u32 = 20;
/// A page that missed more entries loads itself again.
pub(crate) const MAX_MISSED_ENTRIES: u64 = 4_096;
const PING_INTERVAL: Duration = Duration::from_secs(15);

/// Looks for news while somebody listens.
pub(crate) fn watch(state: Arc<UiState>) {
    tokio::spawn(async move {
        let mut known = None;
        let mut views = 0;
        let mut merges: Option<JoinHandle<Result<bool, ServiceError>>> = None;
        for look in 0_u32.. {
            tokio::time::sleep(LOG_INTERVAL).await;
            let is_heard = state.events.receiver_count() > 0;
            if !is_heard && look % LOOKS_PER_VIEW != 0 {
                continue;
            }
            if look % LOOKS_PER_VIEW == 0 {
                // Audits of merges take long: news about them comes when it comes.
                if let Some(done) = merges.take_if(|audit| audit.is_finished())
                    && matches!(done.await, Ok(Ok(true)))
                {
                    state.forget_board();
                    let _ = state.events.send(PageEvent::Views { size: known.unwrap_or(0) });
                }
                let shared = Arc::clone(&state);
                merges.get_or_insert_with(|| tokio::task::spawn_blocking(move || shared.refresh_undecided()));
            }
            let (before, root) = (known, state.root.clone());
            let looks_at_views = look % LOOKS_PER_VIEW == 0;
            let seen = tokio::task::spawn_blocking(move || news(&root, before, looks_at_views)).await;
            let Ok(Ok(seen)) = seen else { continue };
            known = Some(seen.size);
            if !seen.lines.is_empty() {
                state.forget_board();
                // A page that connects now reads the log itself, and knows an entry that it hears of twice.
                let lines = Arc::new(seen.lines);
                let _ = state.events.send(PageEvent::Log { size: seen.size, lines });
            }
            if let Some(bytes) = seen.view_bytes.filter(|bytes| *bytes != views) {
                views = bytes;
                state.forget_board();
                let _ = state.events.send(PageEvent::Views { size: seen.size });
            }
        }
    });
}

struct News {
    size: u64,
    lines: Vec<LogFeedLine>,
    /// What the views in use hold together; `None` if nobody looked.
    view_bytes: Option<u64>,
}

fn news(root: &std::path::Path, known: Option<u64>, looks_at_views: bool) -> Result<News, ServiceError> {
    let workspace = Workspace::find(Some(root), root)?;
    let size = probity_review::log_size(&workspace)?;
    let lines = match known {
        Some(known) if size > known => {
            let missed = usize::try_from((size - known).min(MAX_MISSED_ENTRIES)).unwrap_or(0);
            probity_review::log_feed(&workspace, known, missed)?
        }
        _ => Vec::new(),
    };
    let view_bytes = if looks_at_views {
        let layers = held_layers::held_layers(&workspace)?;
        let used = layers.iter().filter(|layer| layer.is_in_use);
        Some(used.map(|layer| layer.size.bytes + layer.size.n_entries).sum())
    } else {
        None
    };
    Ok(News { size, lines, view_bytes })
}

/// The events from entry `from` on, for one page.
pub(crate) fn stream(
    missed: &PageEvent,
    events: Receiver<PageEvent>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<>> {
    let first = stream::iter(to_events(missed));
    let later = stream::unfold(events, |mut events| async move {
        match events.recv().await {
            Ok(event) => Some((to_events(&event), events)),
            Err(RecvError::Lagged(_)) => Some((to_events(&PageEvent::Resync { size: 0 }), events)),
            Err(RecvError::Closed) => None,
        }
    });
    let all = first.chain(later.flat_map(stream::iter)).map(Ok);
    Sse::new(all).keep_alive(KeepAlive::new().interval(PING_INTERVAL).text("ping"))
}

fn to_events(event: &PageEvent) -> Vec<Event> {
    match event {
        PageEvent::Log { size, lines } => lines
            .iter()
            .filter_map(|line| {
                let text = serde_json::to_string(line).ok()?;
                // A page that reconnects behind this entry asks for the next one.
                Some(Event::default().id((line.index + 1).to_string()).event("log").data(text))
            })
            .chain([board_event(*size)])
            .collect(),
        PageEvent::Views { size } => vec![board_event(*size)],
        PageEvent::Resync { size } => {
            vec![Event::default().id(size.to_string()).event("resync").data(size.to_string())]
        }
    }
}

fn board_event(size: u64) -> Event {
    Event::default().id(size.to_string()).event("board").data(size.to_string())
}
