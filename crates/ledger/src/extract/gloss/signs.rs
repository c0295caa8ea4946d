//! Writing without spaces: Chinese and Japanese are cut where a phrase of the table stands.
//!
//! Japanese says last what is meant by a sentence. Such cues carry a `^` and are put in front of their part.

use super::super::sentences::{Word, push_words};
use super::{FOREIGN, Gloss, chinese, japanese, start_of_part};

/// Whether a text is written mostly in signs.
pub(super) fn are_in(text: &str) -> bool {
    let n_signs = text.chars().filter(|c| is_sign(*c)).count();
    n_signs >= 2 && n_signs * 8 >= text.chars().filter(|c| c.is_alphabetic()).count()
}

const fn is_sign(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

const fn is_kana(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}')
}

pub(super) fn words(text: &str) -> Vec<Word> {
    let is_japanese = text.chars().any(is_kana);
    let phrases = if is_japanese { japanese::PHRASES } else { chinese::PHRASES };
    let mut words = cut(text, phrases);
    if is_japanese {
        japanese::habits(&mut words);
    } else {
        chinese::habits(&mut words);
    }
    words
}

fn cut(text: &str, phrases: &[Gloss]) -> Vec<Word> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(letter) = text[at..].chars().next() {
        let longest = phrases
            .iter()
            .filter(|(phrase, _)| text[at..].starts_with(phrase))
            .max_by_key(|(phrase, _)| phrase.len());
        if let Some((phrase, cue)) = longest {
            push_cue(cue, at..at + phrase.len(), &mut words);
            at += phrase.len();
        } else if is_sign(letter) {
            push_sign(text, at, letter, &mut words);
            at += letter.len_utf8();
        } else if letter.is_alphanumeric() {
            let end = text[at..]
                .find(|c: char| is_sign(c) || c.is_whitespace() || "，、：。（）？！；".contains(c));
            let chunk = &text[at..end.map_or(text.len(), |end| at + end)];
            push_words(chunk, at, false, &mut words);
            at += chunk.len();
        } else {
            if let Some(last) = words.last_mut() {
                last.paused |= "，、：；,:".contains(letter) && !"、".contains(letter);
            }
            at += letter.len_utf8();
        }
    }
    words
}

/// Signs that no phrase claims belong together as long as nothing stands between them.
fn push_sign(text: &str, at: usize, sign: char, words: &mut Vec<Word>) {
    let end = at + sign.len_utf8();
    match words
        .last_mut()
        .filter(|last| last.lower.starts_with(FOREIGN) && last.place.end == at && !last.paused)
    {
        Some(last) => {
            last.place.end = end;
            last.lower.push(sign);
        }
        None => words.push(Word {
            lower: format!("{FOREIGN}{}", &text[at..end]),
            place: at..end,
            quoted: false,
            paused: false,
        }),
    }
}

fn push_cue(cue: &str, place: std::ops::Range<usize>, words: &mut Vec<Word>) {
    let (front, cue) = cue.strip_prefix('^').map_or((false, cue), |cue| (true, cue));
    let start = if front { start_of_part(words, words.len()) } else { words.len() };
    let place = match words.get(start) {
        Some(first) if front => first.place.start..first.place.start,
        _ => place,
    };
    let cues = cue.split_whitespace().map(|lower| Word {
        lower: lower.trim_start_matches('+').into(),
        place: if lower.starts_with('+') { place.end..place.end } else { place.clone() },
        quoted: false,
        paused: false,
    });
    words.splice(start..start, cues.collect::<Vec<_>>());
}
