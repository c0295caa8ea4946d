//! Names found by hash. The hash has a fixed key, so that two runs behave alike. Hashes are never shown, and a snapshot
//! with different hashes is rebuilt.

use foldhash::fast::FixedState;
use probity_collections::HashIndex;
use std::hash::{BuildHasher, Hasher};

/// Hashes bytes for a lookup; the caller always compares what it finds.
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(bytes);
    hasher.finish()
}

/// Converts a length to an id. Ids stay below `u32::MAX` because every input adds a bounded number of entries and the
/// ledger refuses inputs long before (see `Ledger::check_room`).
pub(crate) fn count(len: usize) -> u32 {
    u32::try_from(len).expect("the ledger refuses inputs before ids run out")
}

/// Names with ids in order of arrival, and a value for each. The value is stored next to the offset of the name, so
/// that looking up both takes one memory access.
#[derive(Debug, Clone)]
pub(crate) struct NameTable<T> {
    bytes: String,
    /// The end of each name (it begins at the end of the one before), and its value.
    entries: Vec<(usize, T)>,
    index: HashIndex,
}

impl<T> Default for NameTable<T> {
    fn default() -> Self {
        Self { bytes: String::new(), entries: Vec::new(), index: HashIndex::default() }
    }
}

impl<T> NameTable<T> {
    pub(crate) fn len(&self) -> u32 {
        count(self.entries.len())
    }

    pub(crate) fn name(&self, id: u32) -> &str {
        let at = id as usize;
        let start = if at == 0 { 0 } else { self.entries[at - 1].0 };
        &self.bytes[start..self.entries[at].0]
    }

    pub(crate) fn value(&self, id: u32) -> &T {
        &self.entries[id as usize].1
    }

    pub(crate) fn value_mut(&mut self, id: u32) -> &mut T {
        &mut self.entries[id as usize].1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        (0..self.len()).map(|id| (self.name(id), self.value(id)))
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.index.find(hash_of(name.as_bytes()), |id| self.name(id) == name)
    }

    /// Adds a name that is not in the table yet.
    pub(crate) fn add(&mut self, name: &str, value: T) -> u32 {
        let id = self.len();
        self.bytes.push_str(name);
        self.entries.push((self.bytes.len(), value));
        self.index.insert(hash_of(name.as_bytes()), id);
        id
    }

    /// Removes all names from index `len` on.
    pub(crate) fn truncate(&mut self, len: u32) {
        for id in len..self.len() {
            self.index.remove(hash_of(self.name(id).as_bytes()), id);
        }
        self.entries.truncate(len as usize);
        self.bytes.truncate(self.entries.last().map_or(0, |entry| entry.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_were_truncated_are_gone() {
        let mut names = NameTable::default();
        for n in 0..100 {
            names.add(&format!("n{n}"), n);
        }
        names.truncate(50);
        assert_eq!(names.find("n49"), Some(49));
        assert_eq!(names.find("n50"), None);
        assert_eq!(names.add("n99", 7), 50);
        assert_eq!((names.name(50), names.value(50)), ("n99", &7));
    }
}
