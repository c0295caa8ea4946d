//! Splits text into words, names, numbers and marks, each with its position and class.
//!
//! Code spans and quoted names are literal; contractions are expanded; hyphenated words are split. One pass over any
//! text.

use crate::lexicon::{self, SpokenWord, WordClass, class_of};
use crate::spans::{SpanKind, span_at};
use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// An ordinary word, or one half of a contraction.
    Word,
    /// A literal name: a code span, a quoted name, or something shaped like a path or an id.
    Literal,
    Number,
    /// Several quoted words: mentioned, not said.
    Quotation,
    /// A mark that ends a clause.
    Comma,
    /// A colon, or another sign that puts a value after a name.
    Colon,
    /// A semicolon, a dash or a bracket.
    Break,
}

#[derive(Debug, Clone)]
pub struct Token<'a> {
    /// A piece of the text, or a word from an expanded contraction.
    pub text: &'a str,
    /// The position in the text. Both halves of a contraction have the same one.
    pub place: Range<usize>,
    pub kind: TokenKind,
    /// Its function in a sentence.
    pub class: WordClass,
    /// Its form marks it as a name: backticks, quotation marks, a trailing slash.
    pub is_marked: bool,
}

impl SpokenWord for Token<'_> {
    fn text(&self) -> &str {
        self.text
    }

    fn is_said(&self) -> bool {
        !self.is_marked
    }
}

pub fn tokenize(text: &str) -> Vec<Token<'_>> {
    let mut tokenizer = Tokenizer { text, tokens: Vec::new() };
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let taken = tokenizer.span(rest, at).unwrap_or_else(|| tokenizer.chunk(rest, at, first));
        rest = rest[taken..].trim_start();
    }
    tokenizer.tokens
}

struct Tokenizer<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
}

impl<'a> Tokenizer<'a> {
    /// Takes code and quoted names as literals, and several quoted words as a mention. Returns the length of the span.
    fn span(&mut self, rest: &'a str, at: usize) -> Option<usize> {
        let span = span_at(rest)?;
        let content = span.content.trim();
        let start = at + span.open + (span.content.len() - span.content.trim_start().len());
        if span.kind == SpanKind::Quotation && content.contains(char::is_whitespace) {
            self.push(start..start + content.len(), TokenKind::Quotation, WordClass::NONE, true);
        } else if span.kind != SpanKind::Unsaid {
            let marks: &[char] = if span.kind == SpanKind::Code { &[] } else { &['.', ',', ';', '!', '?'] };
            let name = content.trim_end_matches(marks);
            if !name.is_empty() {
                self.push(start..start + name.len(), TokenKind::Literal, class_of_code(name), true);
            }
        }
        Some(span.length)
    }

    /// Takes the text up to the next space, quotation mark or sign. Returns its length.
    fn chunk(&mut self, rest: &'a str, at: usize, first: char) -> usize {
        let sign = if is_mark(first) { Some(TokenKind::Word) } else { kind_of_sign(first) };
        if let Some(kind) = sign {
            let place = at..at + first.len_utf8();
            let class =
                if kind == TokenKind::Word { class_of(&self.text[place.clone()]) } else { WordClass::NONE };
            self.push(place, kind, class, false);
            return first.len_utf8();
        }
        let ends = |c: char| c.is_whitespace() || "`\"“”„«»,;()[]{}—–→|".contains(c) || is_mark(c);
        // The comma in "2,000" is part of the number.
        let is_digit =
            |at: Option<usize>| at.and_then(|at| rest.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
        let is_inner = |at: usize, c: char| c == ',' && is_digit(at.checked_sub(1)) && is_digit(Some(at + 1));
        let length =
            rest.char_indices().find(|&(at, c)| ends(c) && !is_inner(at, c)).map_or(rest.len(), |(at, _)| at);
        if length == 0 {
            return first.len_utf8();
        }
        let chunk = &rest[..length];
        let front = chunk.len() - chunk.trim_start_matches(['*', '~', '\'', '’', '<', '>', '¿', '¡']).len();
        let core = chunk[front..]
            .trim_end_matches(['*', '~', '\'', '’', '<', '>'])
            .trim_end_matches(['.', '!', '?', ':', '…', '*', '。', '！', '？', '：']);
        let core = if chunk.ends_with("/...") { &chunk[front..] } else { core };
        self.core(core, at + front);
        if chunk[front + core.len()..].contains([':', '：']) {
            let place = at + front + core.len();
            self.tokens.push(Token {
                text: ":",
                place: place..place + 1,
                kind: TokenKind::Colon,
                class: WordClass::NONE,
                is_marked: false,
            });
        }
        length
    }

    /// Takes a chunk without the marks around it.
    fn core(&mut self, core: &'a str, at: usize) {
        let place = at..at + core.len();
        match core {
            "" => {}
            "-" | "--" | "->" | "=>" => self.push(place, TokenKind::Break, WordClass::NONE, false),
            "=" => self.push(place, TokenKind::Colon, WordClass::NONE, false),
            "&" | "+" => self.push(place, TokenKind::Word, lexicon::AND, false),
            _ if core
                .bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'%' | b'/')) =>
            {
                self.push(place, TokenKind::Number, class_of_number(core), false);
            }
            _ if is_literal(core) => {
                let class = class_of(core);
                let kind = if class.is_plain() { TokenKind::Literal } else { TokenKind::Word };
                let name = core.trim_end_matches('/');
                // The slash is not part of the name, but of what the author wrote.
                self.tokens.push(Token {
                    text: name,
                    place,
                    kind,
                    class,
                    is_marked: name.len() < core.len(),
                });
            }
            _ => {
                let mut start = at;
                for part in core.split('-') {
                    if !part.is_empty() {
                        self.word(part, start);
                    }
                    start += part.len() + 1;
                }
            }
        }
    }

    /// Takes a word, expanding contractions.
    fn word(&mut self, word: &'a str, at: usize) {
        let place = at..at + word.len();
        let (first, second) = match word {
            _ if word.eq_ignore_ascii_case("lets") && self.begins_clause() => (&word[..3], Some("us")),
            word => expand_contraction(word),
        };
        let mut push = |text: &'a str| {
            self.tokens.push(Token {
                text,
                place: place.clone(),
                kind: TokenKind::Word,
                class: class_of(text),
                is_marked: false,
            });
        };
        push(first);
        second.map(push);
    }

    /// Returns whether the next token begins a clause: "lets go" and "this lets you go" are different words.
    fn begins_clause(&self) -> bool {
        self.tokens.last().is_none_or(|last| {
            matches!(last.kind, TokenKind::Comma | TokenKind::Colon | TokenKind::Break)
                || last.class.is(lexicon::OPENER | lexicon::FILLER | lexicon::AND)
        })
    }

    fn push(&mut self, place: Range<usize>, kind: TokenKind, class: WordClass, is_marked: bool) {
        self.tokens.push(Token { text: &self.text[place.clone()], place, kind, class, is_marked });
    }
}

/// Expands a word to one or two words: "don't" to "do not", "Bob's" to "Bob".
pub fn expand_contraction(word: &str) -> (&str, Option<&'static str>) {
    let is = |known: &str| word.eq_ignore_ascii_case(known);
    match () {
        () if is("cannot") => return (&word[..3], Some("not")),
        () if is("gonna") => return ("going", Some("to")),
        () if is("wanna") => return ("want", Some("to")),
        () if is("cant") => return (&word[..3], Some("not")),
        () if is("wont") => return ("will", Some("not")),
        () if is("im") => return (&word[..1], Some("am")),
        () if is("ive") => return (&word[..1], Some("have")),
        () if is("pls") || is("plz") => return ("please", None),
        () if word == "r" => return ("are", None),
        () if is("thats") => return (&word[..4], Some("is")),
        () => {}
    }
    // Typed without its apostrophe: "dont", "isnt".
    let bare = word.strip_suffix("nt").filter(|stem| {
        class_of(stem).is(lexicon::NEGATABLE_VERB) && stem.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    if let Some(stem) = bare.or_else(|| if is("dont") { Some(&word[..2]) } else { None }) {
        return (stem, Some("not"));
    }
    let Some((stem, ending)) = word.split_once(['\'', '’']) else { return (word, None) };
    match ending.to_ascii_lowercase().as_str() {
        "t" if stem.eq_ignore_ascii_case("can") => (stem, Some("not")),
        "t" if stem.eq_ignore_ascii_case("won") => ("will", Some("not")),
        "t" if stem.eq_ignore_ascii_case("shan") => ("shall", Some("not")),
        "t" => (stem.strip_suffix(['n', 'N']).unwrap_or(stem), Some("not")),
        "ll" => (stem, Some("will")),
        "d" => (stem, Some("would")),
        "ve" => (stem, Some("have")),
        "re" => (stem, Some("are")),
        "m" => (stem, Some("am")),
        "s" if stem.eq_ignore_ascii_case("let") => (stem, Some("us")),
        "s" if class_of(stem).is(lexicon::SHORTENED_IS | lexicon::NOTHING | lexicon::EVERYTHING) => {
            (stem, Some("is"))
        }
        "s" | "" => (stem, None),
        _ => (word, None),
    }
}

/// Returns the class of a code span: only names of test runners count as words there.
fn class_of_code(content: &str) -> WordClass {
    // The paths behind the program are its arguments: `go test ./...`.
    let mut program = content.split_whitespace().take_while(|word| !word.contains('/'));
    let runs_tests = program.any(|word| class_of(word).is(lexicon::TEST)) && !content.contains('(');
    if runs_tests { lexicon::TEST } else { WordClass::NONE }
}

/// Returns the class of a number: none, all, or only some.
fn class_of_number(number: &str) -> WordClass {
    match number.split_once('/') {
        Some((part, whole)) if part == whole => lexicon::ALL,
        Some(_) => lexicon::PARTIAL_QUANTIFIER,
        None if number == "0" => lexicon::NO,
        None if number == "100%" => lexicon::ALL,
        None if number.ends_with('%') => lexicon::PARTIAL_QUANTIFIER,
        None => WordClass::NONE,
    }
}

/// Returns whether a character is a pictogram for a result, such as a check mark.
pub fn is_mark(character: char) -> bool {
    !character.is_ascii()
        && !character.is_alphanumeric()
        && class_of(character.encode_utf8(&mut [0; 4])).is(lexicon::MARK)
}

const fn kind_of_sign(first: char) -> Option<TokenKind> {
    match first {
        ',' => Some(TokenKind::Comma),
        '|' => Some(TokenKind::Colon),
        ';' | '(' | ')' | '[' | ']' | '{' | '}' | '—' | '–' | '→' => Some(TokenKind::Break),
        _ => None,
    }
}

/// Returns whether a bare chunk is shaped like a path, an id or another name rather than a word.
fn is_literal(core: &str) -> bool {
    core.contains(['/', '\\', ':', '.', '_', '@', '#', '=', '*'])
        || core.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        tokenize(text).iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn contractions_become_words() {
        assert_eq!(cut("It doesn't, can’t, won't, isn't"), "It does not , can not , will not , is not");
        assert_eq!(cut("there's nothing; Bob's file"), "there is nothing ; Bob file");
    }

    #[test]
    fn names_stay_whole() {
        assert_eq!(cut("(`a b.py`, \"x.rs\", **src/a.py**) docs/"), "( a b.py , x.rs , src/a.py ) docs");
        assert_eq!(cut("Fixed dup:12ab, F12."), "Fixed dup:12ab , F12");
    }

    #[test]
    fn a_token_knows_where_it_stands() {
        let text = "Don't *touch* `a b`: \"x\" (l'API) src/.";
        let found: Vec<_> = tokenize(text).into_iter().map(|token| &text[token.place]).collect();
        assert_eq!(found, ["Don't", "Don't", "touch", "a b", ":", "x", "(", "l'API", ")", "src/"]);
    }

    #[test]
    fn a_share_is_only_all_if_nothing_is_left() {
        assert!(class_of_number("12/12").is(lexicon::ALL) && class_of_number("0").is(lexicon::NO));
        for part in ["11/12", "95%"] {
            assert!(class_of_number(part).is(lexicon::PARTIAL_QUANTIFIER));
        }
    }
}
