//! Sentences and their words, each with its place in the turn.
//!
//! Words come in lower case, contractions taken apart, and know whether they stand inside quotation marks: what is
//! quoted is spoken about and not said.

use super::blocks::Block;
use std::ops::Range;

/// One sentence of a block.
#[derive(Debug, Clone)]
pub(super) struct Sentence {
    /// As written, on one line.
    pub(super) text: String,
    /// Where it stands in the turn.
    pub(super) range: Range<usize>,
    pub(super) words: Vec<Word>,
    pub(super) asks: bool,
    /// It is in another language than English.
    pub(super) foreign: bool,
}

/// One word of a sentence.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) lower: String,
    /// Where it stands in the sentence's text. The two halves of a contraction stand in one place.
    pub(super) place: Range<usize>,
    pub(super) quoted: bool,
    /// A comma, colon or dash follows.
    pub(super) paused: bool,
}

/// Words that end in a full stop without ending a sentence.
const ABBREVIATIONS: &str = "e.g | i.e | etc | vs | dr | mr | mrs | ms | no | approx | cf | al | st | incl";

/// The sentences of a block.
pub(super) fn sentences(text: &str, block: &Block) -> Vec<Sentence> {
    // One line of text, and for each of its bytes the place in the turn.
    let mut line = String::new();
    let mut places = Vec::new();
    for range in &block.lines {
        if !line.is_empty() {
            line.push(' ');
            places.push(range.start);
        }
        line.push_str(&text[range.clone()]);
        places.extend(range.clone());
    }
    let mut found = Vec::new();
    let mut start = 0;
    for end in ends(&line) {
        let piece = &line[start..end];
        let trimmed = piece.trim();
        if trimmed.chars().any(char::is_alphanumeric) {
            let from = start + (piece.len() - piece.trim_start().len());
            let range = places[from]..places[from + trimmed.len() - 1] + 1;
            found.push(sentence(trimmed, range));
        }
        start = end;
    }
    found
}

/// Where sentences end: after a full stop, question or exclamation mark and a space, outside of code.
fn ends(line: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut in_code = false;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        in_code ^= c == '`';
        let next = chars.peek().map(|&(_, next)| next);
        let is_mark = matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？' | ';');
        let closes = next.is_none_or(char::is_whitespace) || matches!(c, '。' | '！' | '？');
        let closes_quote = next.is_some_and(|next| matches!(next, '"' | '”' | ')' | '*')) && c != ';';
        if in_code || !is_mark || !(closes || closes_quote) {
            continue;
        }
        let before = &line[..at];
        let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("").to_lowercase();
        let is_abbreviation = c == '.' && super::is_among(ABBREVIATIONS, &word);
        let is_number =
            c == '.' && word.len() <= 2 && !word.is_empty() && word.chars().all(|c| c.is_ascii_digit());
        let starts_small = line[at + c.len_utf8()..].trim_start().starts_with(char::is_lowercase);
        if is_abbreviation && (starts_small || word != "etc") || is_number && starts_small {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some(&(more, '"' | '”' | ')' | '*' | '.' | '!' | '?')) = chars.peek() {
            end = more + line[more..].chars().next().map_or(1, char::len_utf8);
            chars.next();
        }
        ends.push(end);
    }
    if ends.last() != Some(&line.len()) {
        ends.push(line.len());
    }
    ends
}

fn sentence(text: &str, range: Range<usize>) -> Sentence {
    let asks = text.trim_end_matches(['"', '”', ')', '*', ' ']).ends_with(['?', '？']);
    let mut words = words(text);
    let foreign = super::gloss::gloss(text, &mut words);
    Sentence { text: text.to_owned(), range, words, asks, foreign }
}

fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut quote = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
        let at = text.len() - rest.len() + start;
        let chunk = rest[start..].split(char::is_whitespace).next().unwrap_or("");
        rest = &rest[start + chunk.len()..];
        let n_quotes =
            chunk.chars().filter(|c| matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')).count();
        let quoted = quote || n_quotes > 0;
        quote ^= n_quotes % 2 == 1;
        push_words(chunk, at, quoted, &mut words);
    }
    // "would like to" wants politely; it does not doubt.
    while let Some(at) = words.windows(2).position(|pair| pair[0].lower == "would" && pair[1].lower == "like")
    {
        words[at].lower = "want".into();
        words.remove(at + 1);
    }
    // A single word in quotes is a name, not a quotation.
    let n_quoted = words.iter().filter(|word: &&Word| word.quoted).count();
    if n_quoted <= 2 {
        for word in &mut words {
            word.quoted = false;
        }
    }
    words
}

pub(super) fn push_words(chunk: &str, at: usize, quoted: bool, words: &mut Vec<Word>) {
    let is_edge = |c: char| {
        !c.is_alphanumeric() && !matches!(c, '+' | '#' | '%' | '$' | '_' | '/' | '@' | '&' | '<' | '>' | '=')
    };
    let bare = chunk.trim_matches(is_edge);
    if bare.is_empty() {
        if let Some(last) = words.last_mut() {
            last.paused |= chunk.contains(['—', '–', '-', ':', ',']);
        }
        return;
    }
    let start = at + chunk.find(bare).unwrap_or(0);
    let paused = chunk[chunk.find(bare).unwrap_or(0) + bare.len()..]
        .contains([',', ':', '—', '–', ';', '.', '!', '?']);
    let mut from = start;
    let mut pieces = bare.split('—').peekable();
    while let Some(piece) = pieces.next() {
        // "pipeline—not" is two words with a pause between them.
        let is_paused = paused || pieces.peek().is_some();
        push_word(piece, from, quoted, is_paused, words);
        from += piece.len() + '—'.len_utf8();
    }
}

fn push_word(bare: &str, start: usize, quoted: bool, paused: bool, words: &mut Vec<Word>) {
    let lower = bare.to_lowercase().replace('’', "'");
    let place = start..start + bare.len();
    let (first, second) = expand(&lower);
    let is_split = second.is_some();
    words.push(Word { lower: first.to_owned(), place: place.clone(), quoted, paused: paused && !is_split });
    words.extend(second.map(|second| Word { lower: second.to_owned(), place, quoted, paused }));
}

/// Takes a contraction apart.
fn expand(word: &str) -> (&str, Option<&'static str>) {
    match word {
        "let's" => return ("let", Some("us")),
        "can't" | "cannot" => return ("can", Some("not")),
        "won't" => return ("will", Some("not")),
        "gonna" => return ("going", Some("to")),
        "wanna" => return ("want", Some("to")),
        "dont" => return ("do", Some("not")),
        _ => {}
    }
    for (suffix, second) in
        [("n't", "not"), ("'ll", "will"), ("'re", "are"), ("'ve", "have"), ("'m", "am"), ("'d", "would")]
    {
        if let Some(first) = word.strip_suffix(suffix) {
            return (first, Some(second));
        }
    }
    match word.strip_suffix("'s") {
        Some(first @ ("it" | "that" | "there" | "here" | "what" | "who" | "he" | "she")) => {
            (first, Some("is"))
        }
        _ => (word, None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::blocks;
    use super::*;

    fn split(text: &str) -> Vec<String> {
        blocks(text).iter().flat_map(|block| sentences(text, block)).map(|sentence| sentence.text).collect()
    }

    #[test]
    fn names_numbers_and_code_do_not_end_a_sentence() {
        assert_eq!(
            split("Use Node.js v1.2 here. Then e.g. Redis."),
            ["Use Node.js v1.2 here.", "Then e.g. Redis."]
        );
        assert_eq!(split("Run `a. b? c` now! Why? Because."), ["Run `a. b? c` now!", "Why?", "Because."]);
        assert_eq!(split("He said \"use it.\" We did not."), ["He said \"use it.\"", "We did not."]);
    }

    #[test]
    fn a_sentence_knows_where_it_stands() {
        let text = "## X\nWe use\n  Redis. And Kafka.";
        let block = &blocks(text)[0];
        let found: Vec<_> =
            sentences(text, block).iter().map(|sentence| &text[sentence.range.clone()]).collect();
        assert_eq!(found, ["We use\n  Redis.", "And Kafka."]);
    }

    #[test]
    fn words_are_taken_apart_and_quotations_marked() {
        let block = &blocks("Don't say \"we will use Redis now\", ok")[0];
        let sentence = &sentences("Don't say \"we will use Redis now\", ok", block)[0];
        let lower: Vec<_> = sentence.words.iter().map(|word| word.lower.as_str()).collect();
        assert_eq!(lower, ["do", "not", "say", "we", "will", "use", "redis", "now", "ok"]);
        let quoted: Vec<_> =
            sentence.words.iter().filter(|word| word.quoted).map(|word| word.lower.as_str()).collect();
        assert_eq!(quoted, ["we", "will", "use", "redis", "now"]);
    }
}
