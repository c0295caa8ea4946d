//! Finds the open intents that may overlap a scope without scanning all of them.

use crate::record::IntentId;
use crate::scope::{IntentScope, ScopeEntry, ancestors};
use std::collections::{BTreeMap, BTreeSet};

/// Open intents, by the entries of their scopes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct OverlapIndex {
    by_entry: BTreeMap<ScopeEntry, BTreeSet<IntentId>>,
}

impl OverlapIndex {
    pub(super) fn insert(&mut self, id: &IntentId, scope: &IntentScope) {
        for entry in scope.entries() {
            self.by_entry.entry(entry.clone()).or_default().insert(id.clone());
        }
    }

    pub(super) fn remove(&mut self, id: &IntentId, scope: &IntentScope) {
        for entry in scope.entries() {
            if let Some(ids) = self.by_entry.get_mut(entry) {
                ids.remove(id);
                if ids.is_empty() {
                    self.by_entry.remove(entry);
                }
            }
        }
    }

    /// Returns every intent with an entry equal to, above or below an entry of `scope`.
    pub(super) fn candidates(&self, scope: &IntentScope) -> BTreeSet<&IntentId> {
        let mut found = BTreeSet::new();
        for entry in scope.entries() {
            let name = entry.as_bytes();
            found.extend(ancestors(name).filter_map(|above| self.by_entry.get(above)).flatten());
            let below = ScopeEntry::new([name, b"/"].concat());
            let inside = self.by_entry.range(below..).take_while(|(other, _)| entry.covers(other.as_bytes()));
            found.extend(inside.flat_map(|(_, ids)| ids));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relations::overlap;
    use proptest::prelude::*;

    fn scopes() -> impl Strategy<Value = IntentScope> {
        proptest::collection::btree_set("(a|b|a/a|a/b|a/b/c|ab|a0|a.b)", 1..4).prop_map(|set| IntentScope {
            allowed_files: set.iter().map(ScopeEntry::new).collect(),
            ..IntentScope::default()
        })
    }

    proptest! {
        #[test]
        fn misses_no_overlap(known in proptest::collection::vec(scopes(), 0..6), asked in scopes()) {
            let mut index = OverlapIndex::default();
            let ids: Vec<IntentId> =
                (0..known.len()).map(|n| IntentId::parse(format!("i{n}")).expect("an id")).collect();
            for (id, scope) in ids.iter().zip(&known) {
                index.insert(id, scope);
            }
            let found = index.candidates(&asked);
            for (id, scope) in ids.iter().zip(&known) {
                prop_assert_eq!(found.contains(id), overlap(&asked, scope));
            }
            for (id, scope) in ids.iter().zip(&known) {
                index.remove(id, scope);
            }
            prop_assert_eq!(index, OverlapIndex::default());
        }
    }
}
