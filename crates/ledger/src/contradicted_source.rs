//! Whether a proposal says the opposite of the words that it cites.
//!
//! Only a clear case counts: a sentence of the source that speaks of the same things with the opposite polarity, and no
//! sentence that says it the way the proposal does. Everything else is for people to read.

use crate::candidate::{DeltaProposal, ItemDelta};
use probity_prose::normal_form::count_negations;
use probity_prose::sentences::{SemicolonRole, sentences};
use probity_prose::stems::stems;

/// The most bytes of a source that are compared.
const MAX_COMPARED_BYTES: usize = 64 << 10;

impl DeltaProposal<'_> {
    /// Compares the summary with the words of its sources, as far as `text_of` knows the text of a turn.
    #[must_use]
    pub fn compared_with_sources<'t>(mut self, text_of: impl Fn(&str) -> Option<&'t str>) -> Self {
        let Some(summary) = self.summary() else { return self };
        let cited = self.sources.iter().flatten().filter_map(|source| {
            let text = text_of(source.turn)?;
            let (start, end) = source.range.unwrap_or((0, u64::MAX));
            let place = |at: u64| text.floor_char_boundary(usize::try_from(at).unwrap_or(usize::MAX));
            text.get(place(start)..place(end))
        });
        self.contradicts_source = is_contradicted(summary, cited);
        self
    }

    fn summary(&self) -> Option<&str> {
        let delta: &ItemDelta<'_> = self.delta.as_ref().ok()?;
        let mut summary = None;
        delta.each_text(&mut |name, text| {
            if name == "summary" {
                summary = Some(text);
            }
        });
        summary
    }
}

fn is_contradicted<'t>(summary: &str, cited: impl Iterator<Item = &'t str>) -> bool {
    let subject = stems(summary);
    let denies = |text: &str| count_negations(text) > 0;
    let is_denial = denies(summary);
    let mut is_opposed = false;
    for text in cited {
        let text = &text[..text.floor_char_boundary(MAX_COMPARED_BYTES)];
        for sentence in sentences(text, SemicolonRole::EndsSentence).into_iter().map(|range| &text[range]) {
            let n_shared = stems(sentence).intersection(&subject).count();
            if n_shared == 0 || n_shared * 2 < subject.len() {
                continue;
            }
            if denies(sentence) == is_denial {
                return false;
            }
            is_opposed = true;
        }
    }
    is_opposed
}

#[cfg(test)]
mod tests {
    use super::is_contradicted;

    fn contradicts(summary: &str, source: &str) -> bool {
        is_contradicted(summary, [source].into_iter())
    }

    #[test]
    fn the_opposite_of_the_source_is_seen() {
        let source = "Never push to production without review.";
        assert!(contradicts("Agents may push to production without review", source));
        assert!(contradicts("Do not use Postgres for orders", "We use Postgres for orders."));
        assert!(!contradicts("Never push to production without review", source));
    }

    #[test]
    fn other_words_and_mixed_words_are_no_contradiction() {
        assert!(!contradicts("No GPL", "We use Postgres for orders."));
        assert!(!contradicts("Use Redis", "Do not use Kafka. Use Redis for sessions."));
        assert!(!contradicts("Use Redis", "We do not use Kafka for that."));
        assert!(!contradicts("", ""));
    }
}
