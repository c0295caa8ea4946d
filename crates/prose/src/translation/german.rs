//! German: the finite verb comes second, the rest of the verb last.

use super::{TranslationLexicon, end_of_part, finish, put, start_of_part, unread};
use crate::lexicon::{contains, is_among};
use crate::words::{Word, strip_openers};

pub(super) fn apply_grammar(lexicon: &TranslationLexicon, words: &mut Vec<Word>) {
    put_orders(lexicon, words);
    put_finished_work(lexicon, words);
    finish(words, |word| {
        is_participle(lexicon, word) || is_among("fertig | erledigt | drin | online | live", word)
    });
    super::deny(words);
}

/// "Schreib bitte einen Test", "bitte einen Test schreiben".
fn put_orders(lexicon: &TranslationLexicon, words: &mut Vec<Word>) {
    let start = words.len() - strip_openers(words).len();
    let said = words.get(start).map_or(start, |word| start + usize::from(word.lower == "please"));
    let is_order = words.get(said).and_then(unread).is_some_and(|word| {
        lexicon.work_verbs.contains(word)
            || word.strip_suffix('e').is_some_and(|stem| lexicon.work_verbs.contains(stem))
    });
    let is_infinitive = |word: &str| {
        word.strip_suffix("en")
            .or_else(|| word.strip_suffix('n'))
            .is_some_and(|stem| lexicon.work_verbs.iter().any(|work| stem.ends_with(*work)))
    };
    let asks_for = words.iter().any(|word| word.lower == "please")
        && !contains(words, "no | not | never | must")
        && words.last().and_then(unread).is_some_and(is_infinitive);
    // "Für den Rest schreib bitte eine Liste."
    let is_inner = |pair: &[Word]| {
        pair[1].lower == "please" && unread(&pair[0]).is_some_and(|word| lexicon.work_verbs.contains(word))
    };
    if is_order {
        super::put_order(words, said);
    } else if asks_for || words.windows(2).any(is_inner) {
        super::put_order(words, start);
    }
}

/// "Ich habe … geschrieben", "wir haben uns für … entschieden": the participle names the work.
fn put_finished_work(lexicon: &TranslationLexicon, words: &mut Vec<Word>) {
    let Some(at) = words.windows(2).position(|pair| {
        let pair = (pair[0].lower.as_str(), pair[1].lower.as_str());
        matches!(pair, ("i" | "we", "have") | ("have", "i" | "we"))
    }) else {
        return;
    };
    let last = end_of_part(words, at) - 1;
    let Some(participle) = words.get(last).and_then(unread).filter(|_| last > at + 1).map(str::to_owned)
    else {
        return;
    };
    let cue = match participle.as_str() {
        "entschieden" | "beschlossen" | "geeinigt" | "verständigt" => "we decided on",
        "festgestellt" | "herausgefunden" | "entdeckt" | "gemerkt" | "bemerkt" | "gelernt" => "i found that",
        word if is_participle(lexicon, word) => "i have finished",
        _ => return,
    };
    // The object of a decision follows "für"; that of work is before and after the verb.
    let start = start_of_part(words, at);
    words.drain(at..at + 2);
    put(words, start, cue);
}

fn is_participle(lexicon: &TranslationLexicon, word: &str) -> bool {
    let is_formed =
        lexicon.participle_prefixes.iter().any(|start| word.starts_with(*start)) || word.ends_with("iert");
    is_formed
        && (word.ends_with('t') || word.ends_with("en"))
        && word.len() > 4
        && !lexicon.states.contains(word)
}
