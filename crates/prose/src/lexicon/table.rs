//! The English lexicon as a table: every first word with its own sections and the phrases that begin with it.

use super::WordClass;
use probity_collections::HashIndex;
use std::collections::BTreeMap;
use std::sync::LazyLock;

const ENGLISH: &str = include_str!("../../lexicon/english.txt");

#[derive(Debug, Default)]
pub(super) struct LexiconEntry {
    /// The sections that list the word alone.
    pub(super) class: WordClass,
    /// The phrases that begin with it: the other words, and their sections.
    pub(super) phrases: Vec<(Vec<&'static str>, WordClass)>,
}

struct LexiconTable {
    words: Vec<(&'static str, LexiconEntry)>,
    index: HashIndex,
}

static TABLE: LazyLock<LexiconTable> = LazyLock::new(|| {
    let mut entries: BTreeMap<&'static str, LexiconEntry> = BTreeMap::new();
    for (section, phrase) in phrases_in(ENGLISH) {
        let class = super::section(section).unwrap_or(WordClass::NONE);
        let mut words = words_of(phrase);
        let Some(first) = words.next() else { continue };
        let entry = entries.entry(first).or_default();
        let rest: Vec<_> = words.collect();
        if rest.is_empty() {
            entry.class = entry.class | class;
        } else {
            entry.phrases.push((rest, class));
        }
    }
    let mut table = LexiconTable { words: entries.into_iter().collect(), index: HashIndex::default() };
    for (id, (word, _)) in (0_u32..).zip(&table.words) {
        table.index.insert(hash_of(word.as_bytes()), id);
    }
    table
});

/// Returns the sections that list a word alone, in any case.
pub fn class_of(word: &str) -> WordClass {
    entry_of(word).map_or(WordClass::NONE, |entry| entry.class)
}

/// Splits a lexicon entry into words, as a text would be split.
pub fn words_of(phrase: &str) -> impl Iterator<Item = &str> {
    let bare = |word| str::strip_suffix(word, "'s").unwrap_or(word);
    phrase.split(' ').filter(|word| !word.is_empty()).map(bare)
}

pub(super) fn entry_of(word: &str) -> Option<&'static LexiconEntry> {
    let mut buffer = [0; 24];
    if let Some(lower) = buffer.get_mut(..word.len()).filter(|_| word.is_ascii()) {
        lower.copy_from_slice(word.as_bytes());
        lower.make_ascii_lowercase();
        return find(lower);
    }
    find(word.to_lowercase().as_bytes())
}

fn find(lower: &[u8]) -> Option<&'static LexiconEntry> {
    let is_it = |id: u32| TABLE.words[id as usize].0.as_bytes() == lower;
    let id = TABLE.index.find(hash_of(lower), is_it)?;
    Some(&TABLE.words[id as usize].1)
}

/// Returns the entries of a lexicon file, each with the name of its section.
pub(crate) fn phrases_in(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut section = "";
    file.lines().filter(|line| !line.starts_with('#')).flat_map(move |line| {
        if let Some((name, _)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            section = name;
        }
        let entries = if line.starts_with('[') { "" } else { line };
        let here = section;
        entries.split(" | ").filter(|entry| !entry.trim().is_empty()).map(move |entry| (here, entry.trim()))
    })
}

/// FNV-1a: words are short, and the order of the table is never visible.
fn hash_of(word: &[u8]) -> u64 {
    word.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::super::{NOTHING, SECTIONS, TEST};
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_section_has_a_constant_and_every_constant_a_section() {
        let listed: BTreeSet<_> = phrases_in(ENGLISH).map(|(section, _)| section.to_uppercase()).collect();
        let known: BTreeSet<_> = SECTIONS.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(listed, known);
    }

    #[test]
    fn entries_are_in_lower_case_and_stand_once_in_a_section() {
        let mut seen = BTreeSet::new();
        for (section, entry) in phrases_in(ENGLISH) {
            assert_eq!(entry, entry.to_lowercase());
            assert!(seen.insert((section, entry)), "[{section}] {entry}");
        }
    }

    #[test]
    fn words_are_found_in_any_case() {
        assert!(class_of("TESTS").is(TEST) && class_of("Nothing").is(NOTHING));
        assert_eq!(class_of("anextraordinarilylongwordthatnobodyknows"), WordClass::NONE);
    }
}
