//! Finds phrases among words: those of a lexicon section, or of a short list written at the call (`one | another`).

use super::WordClass;
use super::table::{class_of, entry_of, words_of};

/// An element of the sequence that is searched for phrases.
pub trait SpokenWord {
    fn text(&self) -> &str;

    /// Returns whether it is said, and not quoted or a name.
    fn is_said(&self) -> bool;
}

/// A set of phrases to search for.
pub trait PhraseSet: Copy {
    /// Returns how many leading words the longest matching phrase takes.
    fn match_length(self, words: &[impl SpokenWord]) -> Option<usize>;

    /// Returns whether the word alone is one of them.
    fn lists(self, word: &str) -> bool;
}

impl PhraseSet for WordClass {
    fn match_length(self, words: &[impl SpokenWord]) -> Option<usize> {
        crate::steps::count();
        let (first, behind) = words.split_first().filter(|(first, _)| first.is_said())?;
        let entry = entry_of(first.text())?;
        let phrases = entry
            .phrases
            .iter()
            .filter(|(rest, class)| class.is(self) && begins(behind, rest.iter().copied()));
        let longest = phrases.map(|(rest, _)| rest.len() + 1).max();
        longest.or(entry.class.is(self).then_some(1))
    }

    fn lists(self, word: &str) -> bool {
        class_of(word).is(self)
    }
}

impl PhraseSet for &str {
    fn match_length(self, words: &[impl SpokenWord]) -> Option<usize> {
        crate::steps::count();
        let fitting = self.split(" | ").filter(|phrase| begins(words, words_of(phrase)));
        fitting.map(|phrase| words_of(phrase).count()).max()
    }

    fn lists(self, word: &str) -> bool {
        self.split(" | ").any(|known| known == word)
    }
}

fn begins<'p>(words: &[impl SpokenWord], mut phrase: impl Iterator<Item = &'p str>) -> bool {
    let mut words = words.iter();
    phrase
        .all(|part| words.next().is_some_and(|word| word.is_said() && word.text().eq_ignore_ascii_case(part)))
}

/// Returns the words after the longest of `phrases` that they begin with.
pub fn strip<W: SpokenWord>(words: &[W], phrases: impl PhraseSet) -> Option<&[W]> {
    phrases.match_length(words).map(|length| &words[length..])
}

pub fn starts_with(words: &[impl SpokenWord], phrases: impl PhraseSet) -> bool {
    phrases.match_length(words).is_some()
}

/// Returns the start of the first of `phrases`.
pub fn position_of(words: &[impl SpokenWord], phrases: impl PhraseSet) -> Option<usize> {
    (0..words.len()).find(|&at| starts_with(&words[at..], phrases))
}

/// Returns the end of the first of `phrases`.
pub fn position_after(words: &[impl SpokenWord], phrases: impl PhraseSet) -> Option<usize> {
    (0..words.len()).find_map(|at| phrases.match_length(&words[at..]).map(|length| at + length))
}

pub fn contains(words: &[impl SpokenWord], phrases: impl PhraseSet) -> bool {
    position_of(words, phrases).is_some()
}

/// Returns whether a word alone is one of `phrases`.
pub fn is_among(phrases: impl PhraseSet, word: &str) -> bool {
    phrases.lists(word)
}
