//! French: elided articles and pronouns, negation around the verb, conditionals by their endings.

use super::{TranslationLexicon, finish, put, unread};
use crate::lexicon::{contains, is_among};
use crate::words::{Word, strip_openers};

/// Splits "l'", "d'", "n'" and the like off the words they are attached to.
pub(super) fn take_elisions_apart(text: &str, words: &mut Vec<Word>) {
    let mut apart = Vec::with_capacity(words.len());
    for word in words.drain(..) {
        let elided = ELIDED.iter().find(|start| word.lower.starts_with(**start));
        let rest = elided.and_then(|start| word.lower.get(start.len()..)).filter(|rest| !rest.is_empty());
        // The apostrophe in the text may take more bytes, and lower-casing may change the length.
        let cut = rest.and_then(|rest| word.place.end.checked_sub(rest.len()));
        let is_sound = |cut: &usize| text.get(*cut..word.place.end).map(str::to_lowercase).as_deref() == rest;
        match (elided, rest, cut.filter(is_sound)) {
            (Some(start), Some(rest), Some(cut)) => {
                let (quoted, place) = (word.quoted, word.place.start..cut);
                apart.push(Word { lower: (*start).to_owned(), place, quoted, paused: false });
                apart.push(Word { lower: rest.to_owned(), place: cut..word.place.end, ..word.clone() });
            }
            _ => apart.push(word),
        }
    }
    *words = apart;
}

/// Function words that lose their vowel before another.
const ELIDED: &[&str] = &["l'", "d'", "j'", "n'", "s'", "c'", "qu'", "m'"];

pub(super) fn apply_grammar(lexicon: &TranslationLexicon, words: &mut Vec<Word>) {
    super::conditionals(words, &["rait", "raient", "rais", "rions", "riez"]);
    put_orders(lexicon, words);
    super::continue_work(words, lexicon);
    put_finished_work(words);
    finish(words, |word| {
        is_participle(word)
            || is_among(
                "prêt | prête | prêts | prêtes | terminé | fini | faite | fait | faits | ligne | place",
                word,
            )
    });
    super::deny(words);
}

/// "Ajoute des tests", "il faut ajouter des tests", "ne stocke pas".
fn put_orders(lexicon: &TranslationLexicon, words: &mut Vec<Word>) {
    let start = words.len() - strip_openers(words).len();
    let start = words.get(start).map_or(start, |word| start + usize::from(word.lower == "please"));
    let Some(first) = words.get(start).and_then(unread).map(str::to_owned) else {
        let must =
            words.get(start..start + 2).is_some_and(|pair| pair[0].lower == "we" && pair[1].lower == "must");
        let is_work =
            words.get(start + 2).and_then(unread).is_some_and(|word| lexicon.work_verbs.contains(word));
        if must && is_work {
            put(words, start + 2, "handle");
            words[start + 1].lower = "need".into();
            words.insert(start + 2, Word { lower: "to".into(), ..words[start + 1].clone() });
        }
        return;
    };
    let is_imperative = lexicon.work_verbs.iter().any(|work| {
        let stem = work
            .strip_suffix("er")
            .or_else(|| work.strip_suffix("re"))
            .or_else(|| work.strip_suffix("ir"))
            .unwrap_or(work);
        first.strip_prefix(stem).is_some_and(|ending| is_among("e | ez | s | is | ivez | tez | ons", ending))
            && stem.len() > 2
    });
    let denies = words.get(start + 1).is_some_and(|word| is_among("not | never", &word.lower));
    let is_verb = first.ends_with("ez") || first.ends_with('e') || first.ends_with('s');
    if denies && is_verb {
        put(words, start, "do not");
    } else if is_imperative {
        super::put_order(words, start);
    }
}

/// "J'ai installé …", "on a migré …".
fn put_finished_work(words: &mut Vec<Word>) {
    let is_have =
        |word: &Word| word.lower == "has" || unread(word).is_some_and(|word| matches!(word, "ai" | "avons"));
    let Some(at) = words.windows(2).position(|pair| is_among("i | we", &pair[0].lower) && is_have(&pair[1]))
    else {
        return;
    };
    let next = at
        + 2
        + usize::from(
            words
                .get(at + 2)
                .is_some_and(|word| unread(word).is_some_and(|word| is_among("déjà | bien | aussi", word))),
        );
    if words.get(next).and_then(unread).is_some_and(is_participle) && !contains(&words[at..next], "not") {
        words[at + 1].lower = "have".into();
        words[next].lower = "finished".into();
        words.drain(at + 2..next);
    }
}

fn is_participle(word: &str) -> bool {
    let bare = word.trim_end_matches('s').trim_end_matches('e');
    word.len() > 3
        && (bare.ends_with('é')
            || word.ends_with("is")
            || bare.ends_with("is")
            || word.ends_with("it")
            || bare.ends_with('u')
            || bare.ends_with("rt"))
}
