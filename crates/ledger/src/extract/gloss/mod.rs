//! Other languages, read through English cues.
//!
//! The rules know the little words by which English decides, forbids, hedges, asks. For another language a table says which
//! of its phrases do the same, and a few habits of its grammar say where they stand. A glossed word keeps its place in the
//! text, so a summary is still its author's own words. What is not in a table is marked as foreign: no English cue fits
//! it by accident.

mod chinese;
mod french;
mod german;
mod japanese;
mod signs;
mod spanish;

use super::is_among;
use super::sentences::Word;

/// A phrase and the English cue for it. A cue word with `+` in front is added: it has no words of its own in the text.
type Gloss = (&'static str, &'static str);

/// One language.
struct Tongue {
    /// Little words that give it away.
    signs: &'static str,
    phrases: &'static [Gloss],
    /// What its grammar does with cues that are no fixed phrases.
    habits: fn(&mut Vec<Word>),
}

const TONGUES: &[Tongue] = &[
    Tongue { signs: german::SIGNS, phrases: german::PHRASES, habits: german::habits },
    Tongue { signs: french::SIGNS, phrases: french::PHRASES, habits: french::habits },
    Tongue { signs: spanish::SIGNS, phrases: spanish::PHRASES, habits: spanish::habits },
];

/// Little words of English.
const ENGLISH: &str = "\
    the | we | is | are | to | of | and | for | it | i | you | with | that | this | be | not | have | has | on | should | must | will | let | us | do | \
    does | can | what | our | if | or | when | from | a | an | in | at | by | but | so | my | me | they | there | was | were | just | all | please | \
    would | could | no | yes | thanks | as | then | he | she | his | her | now | out | up | more | any | one";

/// Little words that are words of English or names too: alone they give no language away.
const SHARED: &str = "\
    no | a | on | o | he | me | se | en | la | de | si | die | im | des | la | los | as | es | du | son | plus | par | sans | pour | au | un | y | lo | al | su | \
    ha | gut | okay | super | vale | favor | den | dem | ojo | van | el | ne | ces | il | am | bis | an | also | so | man | was | war | will | mit | hat | las | \
    del | que | tu | est | sur | par | in";

/// Marks what no cue may be read into.
const FOREIGN: char = '\u{b7}';

/// Reads the words of a sentence through English cues, if they are in a language that is known. Says whether they are.
pub(super) fn gloss(text: &str, words: &mut Vec<Word>) -> bool {
    if signs::are_in(text) {
        *words = signs::words(text);
        return true;
    }
    french::take_elisions_apart(text, words);
    let Some(tongue) = tongue_of(words) else {
        return false;
    };
    let mut glossed = translate(words, tongue.phrases);
    (tongue.habits)(&mut glossed);
    *words = glossed;
    true
}

/// Whether a word is written in signs, without spaces.
pub(super) fn has_signs(word: &str) -> bool {
    signs::are_in(word)
}

/// Whether a word says nothing about the subject, in any of the languages.
pub(super) fn is_little(word: &str) -> bool {
    TONGUES.iter().any(|tongue| is_among(tongue.signs, word))
}

/// The language whose little words are more than those of any other, English included.
fn tongue_of(words: &[Word]) -> Option<&'static Tongue> {
    let n_english = words.iter().filter(|word| is_among(ENGLISH, &word.lower)).count();
    if n_english * 2 > words.len() {
        return None;
    }
    let has_marks = words.iter().any(|word| !word.lower.is_ascii());
    let count = |signs: &str| words.iter().filter(|word| is_among(signs, &word.lower)).count();
    let is_own = |word: &&Word, signs: &str| is_among(signs, &word.lower) && !is_among(SHARED, &word.lower);
    let weight = |tongue: &'static Tongue| {
        let says_more = (0..words.len()).any(|at| has_phrase(&words[at..], tongue.phrases));
        let is_given_away = says_more || words.iter().any(|word| is_own(&word, tongue.signs));
        let n = count(tongue.signs) + usize::from(says_more);
        (is_given_away || n > 2 || n > 0 && has_marks).then_some((n, tongue))
    };
    let heaviest = TONGUES.iter().filter_map(weight).max_by_key(|(n, _)| *n);
    let (_, tongue) = heaviest.filter(|(n, _)| *n > n_english)?;
    Some(tongue)
}

/// Whether the words begin with a phrase of several words.
fn has_phrase(words: &[Word], phrases: &[Gloss]) -> bool {
    phrases.iter().any(|(phrase, _)| phrase.contains(' ') && super::strip(words, phrase).is_some())
}

/// Puts the cue in place of every phrase of the table, the longest first, and marks the rest as foreign.
fn translate(words: &[Word], phrases: &[Gloss]) -> Vec<Word> {
    let mut glossed = Vec::new();
    let mut rest = words;
    while let Some((first, others)) = rest.split_first() {
        let fits = |(phrase, _): &&Gloss| super::strip(rest, phrase).is_some();
        let longest = phrases.iter().filter(fits).max_by_key(|(phrase, _)| phrase.split(' ').count());
        let Some((phrase, cue)) = longest else {
            glossed.push(foreign(first));
            rest = others;
            continue;
        };
        let (said, after) = rest.split_at(phrase.split(' ').count());
        push_cue(cue, said, after, &mut glossed);
        rest = after;
    }
    glossed
}

/// The words of a cue, where the phrase stands that they are for.
fn push_cue(cue: &str, said: &[Word], after: &[Word], glossed: &mut Vec<Word>) {
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
        glossed.push(Word {
            lower: word.trim_start_matches('+').to_owned(),
            place,
            quoted: first.quoted,
            paused: at + 1 == n_cues && last.paused,
        });
    }
    // A phrase that means nothing here still pauses.
    if n_cues == 0
        && let Some(before) = glossed.last_mut()
    {
        before.paused |= last.paused;
    }
}

fn foreign(word: &Word) -> Word {
    let is_figure = word.lower.starts_with(|c: char| c.is_ascii_digit());
    let lower = if is_figure { word.lower.clone() } else { format!("{FOREIGN}{}", word.lower) };
    Word { lower, ..word.clone() }
}

/// The word itself, if no cue was found for it.
fn unread(word: &Word) -> Option<&str> {
    word.lower.strip_prefix(FOREIGN)
}

/// Puts a cue in front of what is said from `at` on.
fn put(words: &mut Vec<Word>, at: usize, cue: &str) {
    let Some(next) = words.get(at) else {
        return;
    };
    let (place, quoted) = (next.place.start..next.place.start, next.quoted);
    let cues =
        cue.split(' ').map(|lower| Word { lower: lower.into(), place: place.clone(), quoted, paused: false });
    words.splice(at..at, cues);
}

/// Verbs that no cue was found for and that end like a conditional: what they say would be, is not.
fn conditionals(words: &mut [Word], endings: &[&str]) {
    for word in words {
        let is_conditional = unread(word)
            .is_some_and(|word| word.len() > 5 && endings.iter().any(|ending| word.ends_with(ending)));
        if is_conditional {
            word.lower = "would".into();
        }
    }
}

/// "I will … and configure …": further verbs of work after one that was promised or asked for.
fn continue_work(words: &mut Vec<Word>, work: &str) {
    let mut at = words.iter().position(|word| word.lower == "handle").map_or(words.len(), |first| first + 1);
    while at + 1 < words.len() {
        if words[at].lower == "and" && unread(&words[at + 1]).is_some_and(|word| is_among(work, word)) {
            put(words, at + 1, "handle");
        }
        at += 1;
    }
}

/// An order to do something, unless it already begins with "please".
fn put_order(words: &mut Vec<Word>, at: usize) {
    let is_asked = at > 0 && words[at - 1].lower == "please";
    put(words, at, if is_asked { "handle" } else { "please handle" });
}

/// Where the part of the sentence begins that `at` is in: after the last pause before it.
fn start_of_part(words: &[Word], at: usize) -> usize {
    words[..at].iter().rposition(|word| word.paused).map_or(0, |pause| pause + 1)
}

/// Where the part of the sentence ends that `at` is in: after its last word.
fn end_of_part(words: &[Word], at: usize) -> usize {
    let pause = words[at..].iter().position(|word| word.paused).map_or(words.len(), |pause| at + pause + 1);
    let is_joint = |word: &Word| matches!(word.lower.as_str(), "and" | "but");
    words[at..pause].iter().position(is_joint).map_or(pause, |joint| at + joint)
}

/// Whether one of the words is one of a list.
fn has(words: &[Word], list: &str) -> bool {
    words.iter().any(|word| is_among(list, &word.lower))
}

/// Every place where a form of "to be" is followed, at the end of its part, by something that is done.
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

/// "We will use … not" denies, wherever the "not" stands.
fn deny(words: &mut Vec<Word>) {
    let Some(at) = words.windows(2).position(|pair| pair[0].lower == "we" && pair[1].lower == "will") else {
        return;
    };
    let end = end_of_part(words, at);
    if words.get(at + 2).is_some_and(|word| word.lower != "not") && has(&words[at + 2..end], "not | never") {
        let not = Word { lower: "not".into(), ..words[at + 1].clone() };
        words.insert(at + 2, not);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Role, Turn, extract};
    use crate::Ledger;

    fn kinds(text: &str) -> Vec<String> {
        let turn = Turn { id: "t", role: Role::User, text };
        let found = extract(&Ledger::new(), &turn);
        found.iter().map(|found| found.candidate["kind"].as_str().unwrap_or("").to_owned()).collect()
    }

    #[test]
    fn the_same_is_said_in_every_language() {
        for decision in [
            "Wir verwenden Postgres.",
            "On utilise Postgres.",
            "Vamos a usar Postgres.",
            "我们用 Postgres。",
            "Postgres を使います。",
        ] {
            assert_eq!(kinds(decision), ["decision_made"], "{decision}");
        }
        for rule in [
            "Die Daten müssen in der EU bleiben.",
            "Les données doivent rester dans l'UE.",
            "Los datos deben quedarse en la UE.",
            "数据必须保存在国内。",
            "データは国内に保存しなければならない。",
        ] {
            assert_eq!(kinds(rule), ["constraint_added"], "{rule}");
        }
        for guess in [
            "Vielleicht verwenden wir Postgres.",
            "On pourrait utiliser Postgres.",
            "Quizás usamos Postgres.",
            "也许我们用 Postgres。",
            "たぶん Postgres を使います。",
        ] {
            assert_eq!(kinds(guess), ["hypothesis_introduced"], "{guess}");
        }
    }

    #[test]
    fn what_looks_like_an_english_cue_is_none() {
        assert_eq!(kinds("Was will der Kunde damit sagen"), Vec::<String>::new());
        assert_eq!(kinds("Ich will das nicht so machen wie die Konkurrenz"), Vec::<String>::new());
    }
}
