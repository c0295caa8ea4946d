//! The names of a file, each once.
//!
//! A small hash table without iteration: indices follow the order of appearance.

use crate::facts::count;
use crate::hash;
use crate::texts::Texts;

#[derive(Debug, Default)]
pub(super) struct Symbols {
    texts: Texts,
    hashes: Vec<u64>,
    /// Indices plus one, at the slot of their hash or after it; 0 is free.
    table: Vec<u32>,
}

impl Symbols {
    /// Returns the index of a name, and the fingerprint of its text.
    pub(super) fn intern(&mut self, text: &[u8]) -> (u32, u64) {
        if (self.texts.len() + 1) * 2 > self.table.len() {
            self.grow();
        }
        let fingerprint = hash::of_bytes(text);
        let mask = self.table.len() - 1;
        let mut place = usize::try_from(fingerprint & mask as u64).unwrap_or(0);
        loop {
            match self.table[place] {
                0 => break,
                index if self.hashes[index as usize - 1] == fingerprint => return (index - 1, fingerprint),
                _ => place = (place + 1) & mask,
            }
        }
        let index = count(self.texts.len());
        self.texts.push(&String::from_utf8_lossy(text));
        self.hashes.push(fingerprint);
        self.table[place] = index + 1;
        (index, fingerprint)
    }

    pub(super) fn text(&self, index: u32) -> &str {
        self.texts.get(index)
    }

    pub(super) fn into_texts(self) -> Texts {
        self.texts
    }

    fn grow(&mut self) {
        let size = (self.table.len() * 2).max(256);
        self.table = vec![0; size];
        for (index, &fingerprint) in self.hashes.iter().enumerate() {
            let mut place = usize::try_from(fingerprint & (size - 1) as u64).unwrap_or(0);
            while self.table[place] != 0 {
                place = (place + 1) & (size - 1);
            }
            self.table[place] = count(index) + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_index_however_many_follow() {
        let mut symbols = Symbols::default();
        let names: Vec<String> = (0..1000).map(|number| format!("name{number}")).collect();
        for (index, name) in names.iter().enumerate() {
            assert_eq!(symbols.intern(name.as_bytes()).0 as usize, index);
        }
        assert_eq!(symbols.intern(b"name7").0, 7);
        assert_eq!(symbols.text(7), "name7");
        assert_eq!(symbols.into_texts(), names.iter().map(String::as_str).collect());
    }
}
