//! The amendments requested during a run, granted and refused (law 3).

use probity_core::{ReasonCode, bytes, json};
use probity_evidence::Amendment;
use probity_storage::durable;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The journal's name in the directory of the run.
pub const JOURNAL_FILE: &str = "amendments.json";
/// Refusals kept verbatim; further ones are only counted.
const MAX_KEPT_REFUSALS: usize = 100;
/// The part of a refused request that is kept.
const MAX_KEPT_REQUEST_BYTES: usize = 400;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AmendmentJournal {
    pub granted: Vec<Amendment>,
    refused: Vec<RefusedAmendment>,
    /// Refusals that were only counted.
    more: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RefusedAmendment {
    reason: ReasonCode,
    detail: String,
}

impl AmendmentJournal {
    /// Reads the journal of the run in `dir`; empty if it cannot be read.
    pub fn read(dir: &Path) -> Self {
        let read = durable::read(&dir.join(JOURNAL_FILE)).ok().flatten();
        let value = read.and_then(|bytes| json::parse(&bytes).ok());
        value.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
    }

    /// Records a refusal. Returns whether its details were kept, not just counted.
    pub fn refuse(&mut self, request: &[u8], reason: ReasonCode, why: &str) -> bool {
        if self.refused.len() >= MAX_KEPT_REFUSALS {
            self.more = self.more.saturating_add(1);
            return false;
        }
        let words = request.trim_ascii();
        let words = bytes::escape(words.get(..MAX_KEPT_REQUEST_BYTES).unwrap_or(words));
        self.refused.push(RefusedAmendment { reason, detail: format!("refused: {why}; asked: {words}") });
        true
    }

    /// Returns the refusals with their details.
    pub fn refusals(&self) -> Vec<(ReasonCode, String)> {
        let mut all: Vec<_> = self.refused.iter().map(|one| (one.reason, one.detail.clone())).collect();
        if self.more > 0 {
            all.push((ReasonCode::AmendNotAllowed, format!("{} more amendments were refused", self.more)));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_words_of_a_refused_request_on_one_line_and_bounded() {
        let mut asked = AmendmentJournal::default();
        assert!(asked.refuse(b"{\"by\":\"\x1b[31m\"}\n", ReasonCode::AmendFromInside, "no"));
        assert!(asked.refuse(&[b'x'; 10_000], ReasonCode::AmendFromInside, "no"));
        let refusals = asked.refusals();
        assert_eq!(refusals[0].1, "refused: no; asked: {\"by\":\"\\u{1b}[31m\"}");
        assert!(refusals[1].1.len() < 500);
    }

    #[test]
    fn a_flood_of_requests_is_counted() {
        let mut asked = AmendmentJournal::default();
        let kept = (0..150).filter(|_| asked.refuse(b"{}", ReasonCode::AmendFromInside, "no")).count();
        assert_eq!((kept, asked.refusals().len()), (MAX_KEPT_REFUSALS, MAX_KEPT_REFUSALS + 1));
        assert!(asked.refusals()[MAX_KEPT_REFUSALS].1.starts_with("50 more"));
    }
}
