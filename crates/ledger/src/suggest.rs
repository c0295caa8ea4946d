//! Suggests next steps to a person. Suggestions are advice and change nothing.

use crate::item_record::ItemId;
use crate::ledger::Ledger;
use crate::vocabulary::{ConfidenceLevel, ItemKind, ItemStatus};
use std::collections::BTreeSet;

probity_core::word_enum! {
    pub enum SuggestionKind {
        /// Two items contradict each other: supersede one of them.
        Settle = "settle",
        /// A choice is still open: resolve it.
        Decide = "decide",
        /// A hypothesis has gathered support: promote or withdraw it.
        Confirm = "confirm",
        /// Several turns support it: write it where every session reads it.
        Remember = "remember",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerSuggestion {
    pub advice: SuggestionKind,
    pub items: Vec<ItemId>,
    /// The number of turns that support it.
    pub n_turns: usize,
}

/// Turns that must support an item before it is suggested for confirming or remembering.
const MIN_SUPPORTING_TURNS: usize = 2;

impl Ledger {
    /// Returns all suggestions: contradictions first, then open choices, hypotheses, and items worth remembering.
    pub fn suggestions(&self) -> Vec<LedgerSuggestion> {
        let conflicts = self.open_conflicts().map(|conflict| LedgerSuggestion {
            advice: SuggestionKind::Settle,
            items: vec![conflict.older, conflict.newer],
            n_turns: self.n_turns(conflict.older) + self.n_turns(conflict.newer),
        });
        let single = self.ids().filter_map(|item| {
            let advice = self.advice_on(item)?;
            Some(LedgerSuggestion { advice, items: vec![item], n_turns: self.n_turns(item) })
        });
        let mut all: Vec<_> = conflicts.chain(single).collect();
        all.sort_by_key(|suggestion| suggestion.advice);
        all
    }

    fn advice_on(&self, item: ItemId) -> Option<SuggestionKind> {
        let record = self.record(item);
        let is_supported = || self.n_turns(item) >= MIN_SUPPORTING_TURNS;
        match (record.kind, record.status) {
            (ItemKind::Branch, ItemStatus::Tentative) => Some(SuggestionKind::Decide),
            (ItemKind::Hypothesis, ItemStatus::Tentative) => {
                is_supported().then_some(SuggestionKind::Confirm)
            }
            (ItemKind::Task, _) => None,
            (_, ItemStatus::Active) => {
                let is_sure = record.confidence >= ConfidenceLevel::High;
                let is_contested = self.contradictions_of(item).next().is_some();
                (is_sure && !is_contested && is_supported()).then_some(SuggestionKind::Remember)
            }
            _ => None,
        }
    }

    /// Counts the distinct turns that support an item.
    fn n_turns(&self, item: ItemId) -> usize {
        let turns: BTreeSet<u32> =
            self.sources.of_item(self.record(item)).map(|source| source.turn).collect();
        turns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchMode, DeltaProposal};
    use serde_json::{Value, json};

    fn propose(ledger: &mut Ledger, turn: &str, mut delta: Value) {
        ledger.add_turn(turn);
        delta["sources"] = json!([{ "turn": turn }]);
        ledger.reconcile("me", BatchMode::BestEffort, &[DeltaProposal::read(&delta)]).expect("there is room");
    }

    fn decision(handle: &str, summary: &str) -> Value {
        json!({ "kind": "decision_made", "handle": handle, "summary": summary, "confidence": "high" })
    }

    #[test]
    fn suggests_what_is_open_and_what_held_up() {
        let mut ledger = Ledger::new();
        propose(&mut ledger, "t1", decision("a", "Use A"));
        propose(&mut ledger, "t2", decision("a2", "use a."));
        propose(&mut ledger, "t1", decision("once", "Use B"));
        propose(
            &mut ledger,
            "t1",
            json!({ "kind": "branch_created", "handle": "b", "alternatives": ["X", "Y"] }),
        );
        propose(&mut ledger, "t1", decision("no", "Do not use C"));
        propose(&mut ledger, "t2", decision("yes", "Use C"));
        let found: Vec<_> = ledger
            .suggestions()
            .into_iter()
            .map(|it| (it.advice, it.items.iter().map(|&item| ledger.handle(item)).collect::<Vec<_>>()))
            .collect();
        assert_eq!(
            found,
            [
                (SuggestionKind::Settle, vec!["no", "yes"]),
                (SuggestionKind::Decide, vec!["b"]),
                (SuggestionKind::Remember, vec!["a"]),
            ]
        );
    }
}
