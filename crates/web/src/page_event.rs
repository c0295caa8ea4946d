//! What an open page hears of.

use probity_api::review::LogFeedLine;
use std::sync::Arc;

/// Something that an open page hears of.
#[derive(Debug, Clone)]
pub(crate) enum PageEvent {
    /// New entries; `size` is the number of entries now.
    Log { size: u64, lines: Arc<Vec<LogFeedLine>> },
    /// A view that a run works in has other contents.
    Views { size: u64 },
    /// Too much happened: the page loads itself again.
    Resync { size: u64 },
}
