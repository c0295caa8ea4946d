//! Spanish: verbs without pronouns, conditionals and orders by their endings.

use super::{TranslationLexicon, finish, put, unread};
use crate::lexicon::is_among;
use crate::words::{Word, strip_openers};

pub(super) fn apply_grammar(lexicon: &TranslationLexicon, words: &mut Vec<Word>) {
    super::conditionals(words, &["ría", "rían", "ríamos", "rías"]);
    put_orders(lexicon, words);
    super::continue_work(words, lexicon);
    put_finished_work(words);
    finish(words, |word| {
        is_participle(word)
            || is_among("listo | lista | listos | listas | hecho | hecha | terminado | marcha", word)
    });
    super::deny(words);
}

/// "Añade pruebas", "mídelo", "no guardes …".
fn put_orders(lexicon: &TranslationLexicon, words: &mut Vec<Word>) {
    let start = words.len() - strip_openers(words).len();
    let start = words.get(start).map_or(start, |word| start + usize::from(word.lower == "please"));
    let denied = words.get(start).is_some_and(|word| matches!(word.lower.as_str(), "not" | "never"));
    let Some(verb) = words.get(start + usize::from(denied)).and_then(unread).map(str::to_owned) else {
        return;
    };
    // "No guardes", "nunca borres": the negative imperative takes the ending of the other conjugation.
    if denied
        && (verb.ends_with("es") || verb.ends_with("as") || verb.ends_with("an") || verb.ends_with("en"))
    {
        let forbids = words[start].lower == "not";
        if forbids {
            put(words, start, "do");
        }
    } else if !denied && is_imperative(lexicon, &verb) {
        super::put_order(words, start);
    }
}

fn is_imperative(lexicon: &TranslationLexicon, verb: &str) -> bool {
    let bare = ["lo", "la", "los", "las"]
        .into_iter()
        .find_map(|end| verb.strip_suffix(end))
        .filter(|bare| bare.len() > 2)
        .unwrap_or(verb);
    let plain = |text: &str| {
        text.replace('á', "a").replace('é', "e").replace('í', "i").replace('ó', "o").replace('ú', "u")
    };
    lexicon.work_verbs.iter().any(|work| {
        let (stem, ending) = work.split_at(work.len() - 2);
        let formed = format!("{stem}{}", if ending == "ar" { "a" } else { "e" });
        plain(bare) == plain(&formed) || plain(bare) == plain(&formed.replacen("ed", "id", 1))
    })
}

/// "He añadido …", "ya configuré …".
fn put_finished_work(words: &mut Vec<Word>) {
    let is_have = |word: &Word| unread(word).is_some_and(|word| matches!(word, "he" | "hemos"));
    if let Some(at) =
        words.windows(2).position(|pair| is_have(&pair[0]) && unread(&pair[1]).is_some_and(is_participle))
    {
        words[at].lower = "have".into();
        words[at + 1].lower = "finished".into();
        words.insert(at, Word { lower: "i".into(), ..words[at].clone() });
        return;
    }
    let start = words.len() - strip_openers(words).len();
    let first = start + usize::from(words.get(start).and_then(unread).is_some_and(|word| word == "ya"));
    let is_past = words
        .get(first)
        .and_then(unread)
        .is_some_and(|word| word.len() > 3 && (word.ends_with('é') || word.ends_with('í')));
    if is_past {
        words[first].lower = "finished".into();
        words.drain(start..first);
    }
}

fn is_participle(word: &str) -> bool {
    let bare = word.trim_end_matches('s');
    word.len() > 4 && ["ado", "ada", "ido", "ida"].iter().any(|end| bare.ends_with(end))
        || is_among("hecho | escrito | puesto | resuelto | abierto | roto", bare)
}
