//! What a person might want to do next about the ledger. Suggestions are advice: nothing follows from them by itself.

use crate::ledger::Ledger;
use crate::record::ItemId;
use crate::words::{Confidence, ItemKind, Status};
use std::collections::BTreeSet;

probity_core::word_enum! {
    /// What is suggested.
    pub enum Advice {
        /// Two items contradict each other: supersede one of them.
        Settle = "settle",
        /// A choice is still open: resolve it.
        Decide = "decide",
        /// A guess has gathered support: promote or withdraw it.
        Confirm = "confirm",
        /// It held up in several turns: write it where every session reads it.
        Remember = "remember",
    }
}

/// One suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What to do.
    pub advice: Advice,
    /// The items that it is about.
    pub items: Vec<ItemId>,
    /// The number of turns that speak for it.
    pub n_turns: usize,
}

/// How many turns must support something before it is worth remembering or confirming.
const ENOUGH_TURNS: usize = 2;

impl Ledger {
    /// Everything worth doing: contradictions first, then open choices, guesses, and what is worth remembering.
    pub fn suggestions(&self) -> Vec<Suggestion> {
        let conflicts = self.open_conflicts().map(|conflict| Suggestion {
            advice: Advice::Settle,
            items: vec![conflict.older, conflict.newer],
            n_turns: self.n_turns(conflict.older) + self.n_turns(conflict.newer),
        });
        let single = self.ids().filter_map(|item| {
            let advice = self.advice_on(item)?;
            Some(Suggestion { advice, items: vec![item], n_turns: self.n_turns(item) })
        });
        let mut all: Vec<_> = conflicts.chain(single).collect();
        all.sort_by_key(|suggestion| suggestion.advice);
        all
    }

    fn advice_on(&self, item: ItemId) -> Option<Advice> {
        let record = self.record(item);
        let is_supported = || self.n_turns(item) >= ENOUGH_TURNS;
        match (record.kind, record.status) {
            (ItemKind::Branch, Status::Tentative) => Some(Advice::Decide),
            (ItemKind::Hypothesis, Status::Tentative) => is_supported().then_some(Advice::Confirm),
            (ItemKind::Task, _) => None,
            (_, Status::Active) => {
                let is_sure = record.confidence >= Confidence::High;
                let is_contested = self.contradictions_of(item).next().is_some();
                (is_sure && !is_contested && is_supported()).then_some(Advice::Remember)
            }
            _ => None,
        }
    }

    /// How many different turns support an item.
    fn n_turns(&self, item: ItemId) -> usize {
        let turns: BTreeSet<u32> =
            self.sources.of_item(self.record(item)).map(|source| source.turn).collect();
        turns.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BatchMode, Proposal};
    use serde_json::{Value, json};

    fn propose(ledger: &mut Ledger, turn: &str, mut delta: Value) {
        ledger.add_turn(turn);
        delta["sources"] = json!([{ "turn": turn }]);
        ledger.reconcile("me", BatchMode::BestEffort, &[Proposal::read(&delta)]).expect("there is room");
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
            [(Advice::Settle, vec!["no", "yes"]), (Advice::Decide, vec!["b"]), (Advice::Remember, vec!["a"]),]
        );
    }
}
