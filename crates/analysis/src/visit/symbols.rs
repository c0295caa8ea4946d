//! The names of a file, each once.
//!
//! The table answers by equality alone and is never iterated: the order of the names is that of their appearance.

use crate::hash;
use probity_collections::{HashIndex, StringArena};

#[derive(Debug, Default)]
pub(super) struct SymbolTable {
    texts: StringArena,
    hashes: Vec<u64>,
    /// Indices, by the fingerprints of their names.
    table: HashIndex,
}

impl SymbolTable {
    /// Returns the index of a name, and the fingerprint of its text.
    pub(super) fn intern(&mut self, text: &[u8]) -> (u32, u64) {
        let fingerprint = hash::of_bytes(text);
        let Self { texts, hashes, table } = self;
        if let Some(index) = table.find(fingerprint, |index| hashes[index as usize] == fingerprint) {
            return (index, fingerprint);
        }
        let index = texts.push(&String::from_utf8_lossy(text));
        hashes.push(fingerprint);
        table.insert(fingerprint, index);
        (index, fingerprint)
    }

    pub(super) fn text(&self, index: u32) -> &str {
        self.texts.get(index)
    }

    pub(super) fn into_texts(self) -> StringArena {
        self.texts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_index_however_many_follow() {
        let mut symbols = SymbolTable::default();
        let names: Vec<String> = (0..1000).map(|number| format!("name{number}")).collect();
        for (index, name) in names.iter().enumerate() {
            assert_eq!(symbols.intern(name.as_bytes()).0 as usize, index);
        }
        assert_eq!(symbols.intern(b"name7").0, 7);
        assert_eq!(symbols.text(7), "name7");
        assert_eq!(symbols.into_texts(), names.iter().map(String::as_str).collect());
    }
}
