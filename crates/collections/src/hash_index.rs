//! An open-addressing hash table that maps hashes to ids.
//!
//! Why not a `BTreeMap`: at a million entries each look-up walks some twenty cache lines. Why not `HashMap`: its order is
//! random. This table has no order at all: it is asked, never iterated, so nothing can depend on it. It keeps no keys
//! either: the caller knows what stands under a number, and compares.
//!
//! Why not `hashbrown::HashTable`: a hit there touches two cache lines and here one. Reconciling a million deltas took
//! 1,458 ms with it and 1,380 ms without (medians of 15 alternating runs of `cargo bench -p probity-ledger`; the best
//! runs 1,259 and 1,140 ms), and that benchmark has nothing to spare.

/// A multimap from hash to id.
#[derive(Debug, Clone, Default)]
pub struct HashIndex {
    /// Each slot holds the low half of the hash, shifted left by 32 bits, plus the id plus one; zero is a
    /// free slot. The length is a power of two.
    slots: Vec<u64>,
    len: usize,
}

const MIN_SLOTS: usize = 16;

impl HashIndex {
    /// Returns the first id with this hash for which `is_it` holds.
    pub fn find(&self, hash: u64, mut is_it: impl FnMut(u32) -> bool) -> Option<u32> {
        let tag = tag_of(hash);
        let mut at = self.home(tag)?;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return None;
            }
            if tag_in(slot) == tag && is_it(id_in(slot)) {
                return Some(id_in(slot));
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    pub fn insert(&mut self, hash: u64, id: u32) {
        // At most half full: a lookup of an absent key, the common case, then inspects about two slots instead of ten.
        if (self.len + 1) * 2 > self.slots.len() {
            self.grow();
        }
        self.place(slot_for(hash, id));
        self.len += 1;
    }

    pub fn remove(&mut self, hash: u64, id: u32) {
        let Some(mut hole) = self.slot_of(hash, id) else {
            return;
        };
        let mask = self.slots.len() - 1;
        // Moves later entries up, so that no probe stops at the hole before reaching them.
        let mut at = (hole + 1) & mask;
        while self.slots[at] != 0 {
            let start = tag_in(self.slots[at]) as usize & mask;
            if (at.wrapping_sub(start) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.slots[hole] = self.slots[at];
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.slots[hole] = 0;
        self.len -= 1;
    }

    fn slot_of(&self, hash: u64, id: u32) -> Option<usize> {
        let wanted = slot_for(hash, id);
        let mut at = self.home(tag_of(hash))?;
        while self.slots[at] != 0 {
            if self.slots[at] == wanted {
                return Some(at);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        None
    }

    fn home(&self, tag: u32) -> Option<usize> {
        (!self.slots.is_empty()).then(|| tag as usize & (self.slots.len() - 1))
    }

    fn place(&mut self, slot: u64) {
        let mask = self.slots.len() - 1;
        let mut at = tag_in(slot) as usize & mask;
        while self.slots[at] != 0 {
            at = (at + 1) & mask;
        }
        self.slots[at] = slot;
    }

    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(MIN_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![0; slots]);
        for slot in old.into_iter().filter(|&slot| slot != 0) {
            self.place(slot);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a tag is the low half of a hash")]
fn tag_of(hash: u64) -> u32 {
    hash as u32
}

fn slot_for(hash: u64, id: u32) -> u64 {
    (u64::from(tag_of(hash)) << 32) | (u64::from(id) + 1)
}

fn tag_in(slot: u64) -> u32 {
    tag_of(slot >> 32)
}

fn id_in(slot: u64) -> u32 {
    tag_of(slot) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Few hashes and many ids produce long chains, wrap-around and holes.
        #[test]
        fn behaves_like_a_set(steps in prop::collection::vec((any::<bool>(), 0u64..6, 0u32..40), 0..200)) {
            let mut index = HashIndex::default();
            let mut model = BTreeSet::new();
            for (is_insert, hash, id) in steps {
                if is_insert && model.insert((hash, id)) {
                    index.insert(hash, id);
                } else if !is_insert {
                    model.remove(&(hash, id));
                    index.remove(hash, id);
                }
            }
            for hash in 0..6 {
                for id in 0..40 {
                    let found = index.find(hash, |found| found == id);
                    prop_assert_eq!(found.is_some(), model.contains(&(hash, id)));
                }
            }
        }
    }
}
