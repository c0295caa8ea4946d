//! Reads other languages through English cues.
//!
//! The rules know the function words with which English decides, forbids, hedges and asks. The lexicon of another
//! language lists the phrases that do the same, and a few rules of its grammar say where they occur. A translated word
//! keeps its position in the text, so a summary still consists of the author's own words. Words that are not in the
//! lexicon are marked as foreign, so that no English cue matches them by accident. Scripts without spaces between words
//! are not read at all.

mod french;
mod german;
mod lexicon;
mod spanish;

use crate::lexicon::{self as lx, class_of, contains, is_among};
use crate::words::Word;
use lexicon::{FRENCH, GERMAN, SPANISH, TranslationLexicon};

struct TranslatedLanguage {
    lexicon: &'static TranslationLexicon,
    /// Handles cues that its grammar forms without fixed phrases.
    apply_grammar: fn(&TranslationLexicon, &mut Vec<Word>),
}

fn languages() -> [TranslatedLanguage; 3] {
    [
        TranslatedLanguage { lexicon: &GERMAN, apply_grammar: german::apply_grammar },
        TranslatedLanguage { lexicon: &FRENCH, apply_grammar: french::apply_grammar },
        TranslatedLanguage { lexicon: &SPANISH, apply_grammar: spanish::apply_grammar },
    ]
}

/// Marks words that no cue may match.
const FOREIGN: char = '\u{b7}';

/// Translates the words of a sentence into English cues if their language is known. Returns whether it is.
pub(crate) fn translate(text: &str, words: &mut Vec<Word>) -> bool {
    if is_unsegmented(text) {
        words.clear();
        return true;
    }
    french::take_elisions_apart(text, words);
    let Some(language) = language_of(words) else {
        return false;
    };
    let mut translated = put_cues(words, language.lexicon);
    (language.apply_grammar)(language.lexicon, &mut translated);
    *words = translated;
    true
}

/// Returns whether a text is written mostly without spaces between words, as Chinese and Japanese are.
pub fn is_unsegmented(text: &str) -> bool {
    let count =
        text.chars().filter(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')).count();
    count >= 2 && count * 8 >= text.chars().filter(|c| c.is_alphabetic()).count()
}

/// Returns whether a word is a function word in any of the other languages.
pub(crate) fn is_function_word(word: &str) -> bool {
    languages().iter().any(|language| language.lexicon.function_words.contains(word))
}

/// Returns the language with the most function words in the text, if it beats all others including English.
fn language_of(words: &[Word]) -> Option<TranslatedLanguage> {
    let n_english = words.iter().filter(|word| class_of(&word.lower).is(lx::ENGLISH_WORD)).count();
    if n_english * 2 > words.len() {
        return None;
    }
    let has_marks = words.iter().any(|word| !word.lower.is_ascii());
    let weigh = |language: &TranslatedLanguage| {
        let own: Vec<_> = words
            .iter()
            .filter(|word| language.lexicon.function_words.contains(word.lower.as_str()))
            .collect();
        let says_more =
            (0..words.len()).any(|at| language.lexicon.longest(&words[at..]).is_some_and(|it| it.0 > 1));
        let is_given_away = says_more || own.iter().any(|word| !class_of(&word.lower).is(lx::AMBIGUOUS_WORD));
        let n = own.len() + usize::from(says_more);
        (is_given_away || n > 2 || n > 0 && has_marks).then_some(n)
    };
    let weighed = languages().into_iter().filter_map(|language| weigh(&language).map(|n| (n, language)));
    weighed.max_by_key(|(n, _)| *n).filter(|(n, _)| *n > n_english).map(|(_, language)| language)
}

/// Replaces every lexicon phrase by its cue, longest first, and marks the rest as foreign.
fn put_cues(words: &[Word], lexicon: &TranslationLexicon) -> Vec<Word> {
    let mut translated = Vec::new();
    let mut rest = words;
    while let Some((first, others)) = rest.split_first() {
        let Some((length, cue)) = lexicon.longest(rest) else {
            translated.push(foreign(first));
            rest = others;
            continue;
        };
        let (said, after) = rest.split_at(length);
        push_cue(cue, said, after, &mut translated);
        rest = after;
    }
    translated
}

/// Appends the words of a cue at the position of its phrase.
fn push_cue(cue: &str, said: &[Word], after: &[Word], translated: &mut Vec<Word>) {
    let (Some(first), Some(last)) = (said.first(), said.last()) else {
        return;
    };
    let n_cues = cue.split_whitespace().count();
    for (at, word) in cue.split_whitespace().enumerate() {
        let place = match word.strip_prefix('+') {
            Some(_) => after
                .first()
                .map_or(last.place.end..last.place.end, |next| next.place.start..next.place.start),
            None if n_cues == said.len() => said[at].place.clone(),
            None => first.place.start..last.place.end,
        };
        translated.push(Word {
            lower: word.trim_start_matches('+').to_owned(),
            place,
            quoted: first.quoted,
            paused: at + 1 == n_cues && last.paused,
        });
    }
    // A phrase without a cue still pauses.
    if n_cues == 0
        && let Some(before) = translated.last_mut()
    {
        before.paused |= last.paused;
    }
}

fn foreign(word: &Word) -> Word {
    let is_figure = word.lower.starts_with(|c: char| c.is_ascii_digit());
    let lower = if is_figure { word.lower.clone() } else { format!("{FOREIGN}{}", word.lower) };
    Word { lower, ..word.clone() }
}

/// Returns the word itself, if no cue was found for it.
fn unread(word: &Word) -> Option<&str> {
    word.lower.strip_prefix(FOREIGN)
}

/// Inserts a cue before the word at `at`.
fn put(words: &mut Vec<Word>, at: usize, cue: &str) {
    let Some(next) = words.get(at) else {
        return;
    };
    let (place, quoted) = (next.place.start..next.place.start, next.quoted);
    let cues =
        cue.split(' ').map(|lower| Word { lower: lower.into(), place: place.clone(), quoted, paused: false });
    words.splice(at..at, cues);
}

/// Replaces verbs without a cue that end like a conditional by "would".
fn conditionals(words: &mut [Word], endings: &[&str]) {
    for word in words {
        let is_conditional = unread(word)
            .is_some_and(|word| word.len() > 5 && endings.iter().any(|ending| word.ends_with(ending)));
        if is_conditional {
            word.lower = "would".into();
        }
    }
}

/// "I will … and configure …": further verbs of work after a promised or requested one.
fn continue_work(words: &mut Vec<Word>, lexicon: &TranslationLexicon) {
    let mut at = words.iter().position(|word| word.lower == "handle").map_or(words.len(), |first| first + 1);
    while at + 1 < words.len() {
        if words[at].lower == "and"
            && unread(&words[at + 1]).is_some_and(|word| lexicon.work_verbs.contains(word))
        {
            put(words, at + 1, "handle");
        }
        at += 1;
    }
}

/// Inserts the cue "please handle"; without "please" if the order already begins with it.
fn put_order(words: &mut Vec<Word>, at: usize) {
    let is_asked = at > 0 && words[at - 1].lower == "please";
    put(words, at, if is_asked { "handle" } else { "please handle" });
}

/// Returns the start of the part of the sentence around `at`: after the last pause before it.
fn start_of_part(words: &[Word], at: usize) -> usize {
    words[..at].iter().rposition(|word| word.paused).map_or(0, |pause| pause + 1)
}

/// Returns the end of the part of the sentence around `at`: after its last word.
fn end_of_part(words: &[Word], at: usize) -> usize {
    let pause = words[at..].iter().position(|word| word.paused).map_or(words.len(), |pause| at + pause + 1);
    let is_joint = |word: &Word| matches!(word.lower.as_str(), "and" | "but");
    words[at..pause].iter().position(is_joint).map_or(pause, |joint| at + joint)
}

/// Replaces a finished state at the end of a part by "done" if a form of "to be" precedes it.
fn finish(words: &mut [Word], is_done: impl Fn(&str) -> bool) {
    for at in 0..words.len() {
        if !is_among("is | are | was | were", &words[at].lower) {
            continue;
        }
        let last = end_of_part(words, at) - 1;
        if last > at && unread(&words[last]).is_some_and(&is_done) {
            words[last].lower = "done".into();
        }
    }
}

/// "We will use … not" denies, wherever the "not" is.
fn deny(words: &mut Vec<Word>) {
    let Some(at) = words.windows(2).position(|pair| pair[0].lower == "we" && pair[1].lower == "will") else {
        return;
    };
    let end = end_of_part(words, at);
    if words.get(at + 2).is_some_and(|word| word.lower != "not")
        && contains(&words[at + 2..end], "not | never")
    {
        let not = Word { lower: "not".into(), ..words[at + 1].clone() };
        words.insert(at + 2, not);
    }
}

#[cfg(test)]
mod tests {
    use super::translate;
    use crate::words::words;

    fn cues(text: &str) -> String {
        let mut words = words(text);
        translate(text, &mut words);
        words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_same_is_said_in_every_language() {
        for decision in ["Wir verwenden Postgres.", "On utilise Postgres.", "Vamos a usar Postgres."] {
            assert!(cues(decision).starts_with("we will use"), "{decision}: {}", cues(decision));
        }
        for guess in [
            "Vielleicht verwenden wir Postgres.",
            "On peut peut-être utiliser Postgres.",
            "Quizás usamos Postgres.",
        ] {
            assert!(cues(guess).contains("maybe"), "{guess}: {}", cues(guess));
        }
    }

    #[test]
    fn what_looks_like_an_english_cue_is_none() {
        assert!(!cues("Ich will das nicht so machen wie die Konkurrenz").contains("will"));
    }

    #[test]
    fn writing_without_spaces_is_not_read() {
        assert_eq!(cues("我们用 Postgres。"), "");
        assert_eq!(cues("Postgres を使います。"), "");
    }
}
