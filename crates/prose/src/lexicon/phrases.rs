//! Finding phrases among words: those of a lexicon section, or a short list written where it is used (`one | another`).

use super::Class;
use super::table::{class_of, entry_of, words_of};

/// Something among which phrases are looked for.
pub trait Spoken {
    /// Its text.
    fn text(&self) -> &str;

    /// Whether it is said, and not quoted or a name.
    fn is_said(&self) -> bool;
}

/// Something that can be looked for among words.
pub trait Phrases: Copy {
    /// The number of words at the front that the longest fitting phrase takes.
    fn match_length(self, words: &[impl Spoken]) -> Option<usize>;

    /// Whether the word alone is one of them.
    fn lists(self, word: &str) -> bool;
}

impl Phrases for Class {
    fn match_length(self, words: &[impl Spoken]) -> Option<usize> {
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

impl Phrases for &str {
    fn match_length(self, words: &[impl Spoken]) -> Option<usize> {
        let fitting = self.split(" | ").filter(|phrase| begins(words, words_of(phrase)));
        fitting.map(|phrase| words_of(phrase).count()).max()
    }

    fn lists(self, word: &str) -> bool {
        self.split(" | ").any(|known| known == word)
    }
}

fn begins<'p>(words: &[impl Spoken], mut phrase: impl Iterator<Item = &'p str>) -> bool {
    let mut words = words.iter();
    phrase
        .all(|part| words.next().is_some_and(|word| word.is_said() && word.text().eq_ignore_ascii_case(part)))
}

/// What follows the longest of `phrases` that the words begin with.
pub fn strip<W: Spoken>(words: &[W], phrases: impl Phrases) -> Option<&[W]> {
    phrases.match_length(words).map(|length| &words[length..])
}

/// Whether the words begin with one of `phrases`.
pub fn starts_with(words: &[impl Spoken], phrases: impl Phrases) -> bool {
    phrases.match_length(words).is_some()
}

/// Where the first of `phrases` begins.
pub fn position_of(words: &[impl Spoken], phrases: impl Phrases) -> Option<usize> {
    (0..words.len()).find(|&at| starts_with(&words[at..], phrases))
}

/// Where the words after the first of `phrases` begin.
pub fn position_after(words: &[impl Spoken], phrases: impl Phrases) -> Option<usize> {
    (0..words.len()).find_map(|at| phrases.match_length(&words[at..]).map(|length| at + length))
}

/// Whether one of `phrases` is said anywhere.
pub fn contains(words: &[impl Spoken], phrases: impl Phrases) -> bool {
    position_of(words, phrases).is_some()
}

/// Whether a word alone is one of `phrases`.
pub fn is_among(phrases: impl Phrases, word: &str) -> bool {
    phrases.lists(word)
}
