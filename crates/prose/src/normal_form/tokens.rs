//! Splits text into words: drops spaces, quotation marks and punctuation, keeps what belongs to a name or a number.
//!
//! One pass over the text. Words of only letters and digits take a fast path; everything else is examined character by
//! character.

use crate::lexicon::{self as lx, class_of};
use crate::tokens::expand_contraction;

/// The words of a text, in two spellings: as written, and in lower case.
#[derive(Debug, Clone, Default)]
pub(super) struct TokenList {
    pub(super) list: Vec<NormalToken>,
    /// The text, followed by words that are not a slice of it.
    cased: String,
    /// The same in lower case.
    lower: String,
    /// Scratch: one chunk without its quotation marks.
    bare: String,
    quotes: OpenQuotes,
    /// Some word has no letter and no digit.
    pub(super) has_marks: bool,
    /// Every pair of round brackets in the text merely sets off words.
    plain_brackets: bool,
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "four marks that a word may have in any combination")]
pub(super) struct NormalToken {
    lower: (usize, usize),
    cased: (usize, usize),
    pub(super) has_digit: bool,
    /// Punctuation followed it and was removed.
    pub(super) marked: bool,
    /// Quotation marks enclosed this single word: it is mentioned, not used.
    pub(super) mentioned: bool,
    /// The rules decided that it carries no meaning.
    pub(super) dropped: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct OpenQuotes {
    double: bool,
    single: bool,
    /// No closing single mark is left in the text.
    no_single_left: bool,
}

/// Marks that end a word without belonging to it.
const END_MARKS: &[char] = &['.', ',', ';', ':', '!', '?', '…', '。', '，', '；', '：', '！', '？'];

impl TokenList {
    pub(super) fn lower(&self, at: usize) -> &str {
        let (start, end) = self.list[at].lower;
        &self.lower[start..end]
    }

    pub(super) fn cased(&self, at: usize) -> &str {
        let (start, end) = self.list[at].cased;
        &self.cased[start..end]
    }

    /// Replaces the words by those of `text`.
    pub(super) fn split(&mut self, text: &str) {
        self.list.clear();
        self.cased.clear();
        self.cased.push_str(text);
        self.lower.clear();
        self.lower.push_str(text);
        self.lower.make_ascii_lowercase();
        self.quotes = OpenQuotes::default();
        self.has_marks = false;
        self.plain_brackets = text.contains('(') && brackets_are_plain(text);
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            rest = self.first_chunk(text, rest).trim_start();
        }
    }

    /// Takes the first chunk of `rest`, which is a tail of `text`, and returns the remainder.
    fn first_chunk<'a>(&mut self, text: &str, rest: &'a str) -> &'a str {
        let mut has_digit = false;
        let plain = rest.bytes().take_while(|byte| {
            has_digit |= byte.is_ascii_digit();
            byte.is_ascii_alphanumeric()
        });
        let end = plain.count();
        if matches!(rest.as_bytes().get(end), None | Some(b' ' | b'\n' | b'\t' | b'\r')) {
            let start = text.len() - rest.len();
            let range = (start, start + end);
            self.push_token(range, range, has_digit, false);
            return &rest[end..];
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        self.chunk(&rest[..end], rest[end..].trim_start());
        &rest[end..]
    }

    pub(super) fn respell(&mut self, at: usize, word: &str) {
        let start = self.lower.len();
        self.lower.push_str(word);
        self.list[at].lower = (start, self.lower.len());
    }

    fn chunk(&mut self, chunk: &str, rest: &str) {
        let mut bare = std::mem::take(&mut self.bare);
        bare.clear();
        let was_quoted = self.unquote(chunk, rest, &mut bare);
        if bare.is_empty() {
            // An empty pair of quotes is the empty string, which a text may well mention.
            if was_quoted && !chunk.contains('`') && chunk.chars().count() > 1 {
                self.push("\"\"", false);
            } else if chunk == "\"" || chunk == "'" {
                self.push(chunk, false);
            }
        } else if bare.contains(char::is_alphanumeric) {
            let first = self.list.len();
            self.word(&bare, rest.is_empty());
            if was_quoted && is_mention(chunk) && self.list.len() == first + 1 {
                self.list[first].mentioned = true;
            }
        } else {
            self.marks(&bare, was_quoted);
        }
        self.bare = bare;
    }

    /// Writes `chunk` to `bare` without its quotation marks, and returns whether there were any.
    fn unquote(&mut self, chunk: &str, rest: &str, bare: &mut String) -> bool {
        let mut was_quoted = false;
        let mut before = None;
        let mut chars = chunk.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let after = chars.peek().map(|&(_, next)| next);
            let is_quote = match c {
                '`' | '“' | '”' | '„' | '‟' | '«' | '»' | '‹' | '›' | '「' | '」' | '『' | '』' => {
                    true
                }
                '‘' | '‚' | '‛' => {
                    self.quotes.single = true;
                    true
                }
                '"' => self.is_double_quote(before, chunk),
                '\'' | '’' | 'ʼ' => self.is_single_quote(before, after, &chunk[at + c.len_utf8()..], rest),
                _ => false,
            };
            was_quoted |= is_quote;
            if !is_quote {
                bare.push(if matches!(c, '’' | 'ʼ') { '\'' } else { c });
            }
            before = Some(c);
        }
        was_quoted
    }

    /// A double mark after a digit with nothing open means inches; one on its own quotes a space.
    fn is_double_quote(&mut self, before: Option<char>, chunk: &str) -> bool {
        if !self.quotes.double && before.is_some_and(|c| c.is_ascii_digit()) {
            return false;
        }
        if chunk != "\"" {
            self.quotes.double = !self.quotes.double;
        }
        true
    }

    /// Between letters it is an apostrophe; after a word with nothing open it is a possessive.
    fn is_single_quote(&mut self, before: Option<char>, after: Option<char>, tail: &str, rest: &str) -> bool {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if is_word(before) && is_word(after) {
            return false;
        }
        if self.quotes.single && !is_word(after) {
            self.quotes.single = false;
            return true;
        }
        if is_word(before) || after.is_none() {
            return false;
        }
        if self.quotes.single || self.closes_later(tail, rest) {
            self.quotes.single = true;
            return true;
        }
        false
    }

    fn closes_later(&mut self, tail: &str, rest: &str) -> bool {
        if self.quotes.no_single_left {
            return false;
        }
        let closes = |text: &str| {
            let mut chars = text.chars().peekable();
            std::iter::from_fn(|| chars.next().map(|c| (c, chars.peek().copied())))
                .any(|(c, next)| matches!(c, '\'' | '’') && !next.is_some_and(char::is_alphanumeric))
        };
        let found = closes(tail) || closes(rest);
        self.quotes.no_single_left = !found;
        found
    }

    /// Takes a chunk with at least one letter or digit.
    fn word(&mut self, bare: &str, is_last: bool) {
        let mut word = bare;
        if self.plain_brackets {
            word = word.trim_start_matches('(');
        }
        let (mut body, mut ending) = take_marks(word, is_last);
        if self.plain_brackets && body.ends_with(')') {
            let (inner, more) = take_marks(body.trim_end_matches(')'), is_last);
            body = inner;
            ending = ending.or(more);
        }
        self.split_word(body, ending.is_some());
        if ending == Some(EndPunctuation::Question) {
            self.push("?", false);
        }
    }

    /// Splits words that are joined by a long dash or a comparison.
    fn split_word(&mut self, body: &str, marked: bool) {
        let mut rest = body;
        while let Some((left, right)) = rest.split_once('—') {
            if !left.ends_with(char::is_alphabetic) || !right.starts_with(char::is_alphabetic) {
                break;
            }
            self.push_compared(left, true);
            rest = right;
        }
        self.push_compared(rest, marked);
    }

    fn push_compared(&mut self, word: &str, marked: bool) {
        match split_comparison(word) {
            Some((left, operator, right)) => {
                if !left.is_empty() {
                    self.push_word(left, false);
                }
                self.push(operator, false);
                self.push_word(right, marked);
            }
            None => self.push_word(word, marked),
        }
    }

    fn push_word(&mut self, word: &str, marked: bool) {
        match contraction(word) {
            Some((first, second)) => {
                self.push(first, false);
                self.push(second, marked);
            }
            None => self.push(word, marked),
        }
    }

    /// Takes a chunk without any letter or digit.
    fn marks(&mut self, bare: &str, was_quoted: bool) {
        self.has_marks = true;
        let is_only = |set: &[char]| bare.chars().all(|c| set.contains(&c));
        if was_quoted {
            self.push(bare, false);
        } else if is_only(&[',', ';', ':', '!', '…', '。', '，', '；', '：', '！']) && bare != "::" {
            if let Some(last) = self.list.last_mut() {
                last.marked = true;
            }
        } else if is_only(&['?', '!', '？', '！']) {
            self.push("?", false);
        } else {
            self.push(bare, false);
        }
    }

    fn push(&mut self, word: &str, marked: bool) {
        let (lower, cased) = (self.lower.len(), self.cased.len());
        self.cased.push_str(word);
        if word.is_ascii() {
            self.lower.push_str(word);
            self.lower[lower..].make_ascii_lowercase();
        } else {
            self.lower.extend(word.chars().flat_map(char::to_lowercase));
        }
        let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
        self.push_token((lower, self.lower.len()), (cased, self.cased.len()), has_digit, marked);
    }

    fn push_token(&mut self, lower: (usize, usize), cased: (usize, usize), has_digit: bool, marked: bool) {
        if lower.1 - lower.0 == 6 && &self.lower[lower.0..lower.1] == "cannot" {
            self.push("can", false);
            return self.push("not", marked);
        }
        self.list.push(NormalToken { lower, cased, has_digit, marked, mentioned: false, dropped: false });
    }
}

/// Returns whether a chunk has quotation marks at both ends.
fn is_mention(chunk: &str) -> bool {
    let is_quote = |c: char| !c.is_alphanumeric() && !END_MARKS.contains(&c);
    chunk.starts_with(is_quote) && chunk.trim_end_matches(END_MARKS).ends_with(is_quote)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EndPunctuation {
    Mark,
    Question,
}

/// Removes the marks at the end of a word, unless they belong to it.
fn take_marks(word: &str, is_last: bool) -> (&str, Option<EndPunctuation>) {
    let body = word.trim_end_matches(END_MARKS);
    let marks = &word[body.len()..];
    let asks = marks.contains(['?', '？']);
    let belongs = match marks {
        "" | "::" | ".." => true,
        // A drive or a label.
        ":" => body.chars().count() == 1,
        // `println!` in the middle of a text is a name; at the end of the text it is emphasis.
        _ => marks.contains(['!', '！']) && !asks && !is_last,
    };
    if belongs || body.is_empty() {
        return (word, None);
    }
    (body, Some(if asks { EndPunctuation::Question } else { EndPunctuation::Mark }))
}

/// Splits `latency<50` and `>=3`: a comparison with a number reads the same with and without spaces.
fn split_comparison(body: &str) -> Option<(&str, &str, &str)> {
    let at = body.find(['<', '>', '≤', '≥'])?;
    let after = body[at..].trim_start_matches(['<', '>', '≤', '≥', '=']);
    let operator = &body[at..body.len() - after.len()];
    let left = &body[..at];
    let is_name = left.starts_with(char::is_alphabetic) && left.chars().all(char::is_alphanumeric);
    let is_comparison = matches!(operator, "<" | ">" | "<=" | ">=" | "≤" | "≥");
    let compares_number = is_comparison && after.starts_with(|c: char| c.is_ascii_digit());
    (compares_number && (left.is_empty() || is_name)).then_some((left, operator, after))
}

/// Expands a contraction that has only one reading.
fn contraction(word: &str) -> Option<(&str, &'static str)> {
    let (head, _) = word.split_once('\'')?;
    let (first, second) = expand_contraction(word);
    let is_certain = match second? {
        "not" => class_of(first).is(lx::NEGATABLE_VERB),
        "is" | "us" => class_of(first).is(lx::SHORTENED_IS),
        "am" => head.eq_ignore_ascii_case("i"),
        "will" | "are" | "have" => head.chars().all(char::is_alphabetic),
        _ => false,
    };
    is_certain.then_some((first, second?))
}

/// Returns whether all round brackets set off words, so that dropping them changes nothing: `use x (for y)`, but not
/// `f(x)`, and not where "and", "or" or a negation could group differently without them.
fn brackets_are_plain(text: &str) -> bool {
    let mut is_open = false;
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied();
        let is_good = match c {
            '(' => {
                let has_content = after.is_some_and(|c| c != ')' && !c.is_whitespace());
                !std::mem::replace(&mut is_open, true) && before.is_whitespace() && has_content
            }
            ')' => {
                let ends = after.is_none_or(|c| c.is_whitespace() || END_MARKS.contains(&c));
                std::mem::replace(&mut is_open, false) && ends
            }
            _ => true,
        };
        if !is_good {
            return false;
        }
        before = c;
    }
    let groups = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'');
        class_of(word).is(lx::GROUPING_WORD) || word.contains(['\'', '’'])
    };
    !is_open && !text.split_whitespace().any(groups)
}
