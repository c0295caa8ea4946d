//! The lexicons of the other languages, from `lexicon/<language>.txt`.

use crate::lexicon::{starts_with, words_of};
use crate::words::Word;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

#[derive(Debug, Default)]
pub(super) struct TranslationLexicon {
    /// Function words, used to detect the language.
    pub(super) function_words: BTreeSet<&'static str>,
    /// Verbs of work, in the form that its grammar looks for.
    pub(super) work_verbs: BTreeSet<&'static str>,
    pub(super) participle_prefixes: BTreeSet<&'static str>,
    /// Words that look like participles but finish nothing.
    pub(super) states: BTreeSet<&'static str>,
    /// Phrases by their first word, each with its number of words and its cue.
    phrases: BTreeMap<&'static str, Vec<(&'static str, usize, &'static str)>>,
}

pub(super) static GERMAN: LazyLock<TranslationLexicon> =
    LazyLock::new(|| TranslationLexicon::read(include_str!("../../lexicon/german.txt")));
pub(super) static FRENCH: LazyLock<TranslationLexicon> =
    LazyLock::new(|| TranslationLexicon::read(include_str!("../../lexicon/french.txt")));
pub(super) static SPANISH: LazyLock<TranslationLexicon> =
    LazyLock::new(|| TranslationLexicon::read(include_str!("../../lexicon/spanish.txt")));

impl TranslationLexicon {
    fn read(file: &'static str) -> Self {
        let mut lexicon = Self::default();
        for (section, entry) in crate::lexicon::phrases_in(file) {
            match section {
                "function words" => lexicon.function_words.extend(words_of(entry)),
                "work verbs" => lexicon.work_verbs.extend([entry]),
                "participle prefixes" => lexicon.participle_prefixes.extend([entry]),
                "states" => lexicon.states.extend([entry]),
                _ => lexicon.add_phrase(entry),
            }
        }
        lexicon
    }

    fn add_phrase(&mut self, entry: &'static str) {
        let Some((phrase, cue)) = entry.split_once('=') else { return };
        let phrase = phrase.trim();
        if let Some(first) = words_of(phrase).next() {
            let known = self.phrases.entry(first).or_default();
            known.push((phrase, words_of(phrase).count(), cue.trim()));
        }
    }

    /// Returns the longest phrase that the words begin with: its number of words and its cue.
    pub(super) fn longest(&self, words: &[Word]) -> Option<(usize, &'static str)> {
        let known = self.phrases.get(words.first()?.lower.as_str())?;
        let fitting = known.iter().filter(|(phrase, _, _)| starts_with(words, *phrase));
        fitting.max_by_key(|(_, length, _)| *length).map(|(_, length, cue)| (*length, *cue))
    }
}
