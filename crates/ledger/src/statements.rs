//! Finds the live items that make the same statement, or the opposite one.
//!
//! For each neutral statement (without its negations) one live item is the *leader* and is in the hash index; the
//! others, which are rare, are in an ordered set. No result depends on which item leads.

use crate::identity::{Polarity, StatementKey};
use crate::item_record::{ItemId, ItemRecord};
use crate::name_table::count;
use probity_collections::HashIndex;
use std::collections::BTreeSet;

/// The most statements with one neutral form that are searched for an opposite.
const MAX_RELATED_ITEMS: usize = 64;

#[derive(Debug, Clone, Default)]
pub(crate) struct StatementIndex {
    leaders: HashIndex,
    twins: BTreeSet<(u64, u64, ItemId)>,
}

impl StatementIndex {
    /// Adds a live item. `records` must hold its meaning.
    pub(crate) fn list(&mut self, item: ItemId, records: &[ItemRecord]) {
        let meaning = records[item.at()].meaning;
        if self.leader(meaning.neutral, records).is_some() {
            self.twins.insert((meaning.neutral, meaning.full, item));
        } else {
            self.leaders.insert(meaning.neutral, count(item.at()));
        }
    }

    /// Removes an item that has become final or is about to be reworded.
    pub(crate) fn unlist(&mut self, item: ItemId, records: &[ItemRecord]) {
        let StatementKey { neutral, full, .. } = records[item.at()].meaning;
        if self.twins.remove(&(neutral, full, item)) {
            return;
        }
        self.leaders.remove(neutral, count(item.at()));
        if self.twins.is_empty() {
            return;
        }
        let heir = self.twins.range((neutral, 0, ItemId::new(0))..).next().copied();
        if let Some(heir) = heir.filter(|heir| heir.0 == neutral) {
            self.twins.remove(&heir);
            self.leaders.insert(neutral, count(heir.2.at()));
        }
    }

    /// Returns the oldest live item with this meaning whose words `says_it` confirms.
    pub(crate) fn find(
        &self,
        meaning: StatementKey,
        records: &[ItemRecord],
        mut says_it: impl FnMut(ItemId) -> bool,
    ) -> Option<ItemId> {
        let StatementKey { neutral, full, .. } = meaning;
        let leader = self.leader(neutral, records)?;
        let leader = (records[leader.at()].meaning.full == full && says_it(leader)).then_some(leader);
        let twin = self
            .twins
            .range((neutral, full, ItemId::new(0))..)
            .take_while(|twin| (twin.0, twin.1) == (neutral, full))
            .map(|twin| twin.2)
            .find(|&twin| says_it(twin));
        leader.into_iter().chain(twin).min()
    }

    /// Returns the items of opposite polarity: the first of each statement.
    pub(crate) fn opposites(&self, meaning: StatementKey, records: &[ItemRecord]) -> Vec<ItemId> {
        if meaning.polarity() == Polarity::Unclear {
            return Vec::new();
        }
        let Some(leader) = self.leader(meaning.neutral, records) else {
            return Vec::new();
        };
        let mut found = vec![leader];
        let mut from = 0;
        for _ in 0..MAX_RELATED_ITEMS {
            let next = self.twins.range((meaning.neutral, from, ItemId::new(0))..).next();
            let Some(&(_, full, item)) = next.filter(|twin| twin.0 == meaning.neutral) else {
                break;
            };
            found.push(item);
            let Some(after) = full.checked_add(1) else {
                break;
            };
            from = after;
        }
        found.retain(|item| records[item.at()].meaning.polarity().is_opposite_of(meaning.polarity()));
        found.sort_unstable();
        found
    }

    fn leader(&self, neutral: u64, records: &[ItemRecord]) -> Option<ItemId> {
        let is_it = |at: u32| records[at as usize].meaning.neutral == neutral;
        self.leaders.find(neutral, is_it).map(ItemId::new)
    }
}
