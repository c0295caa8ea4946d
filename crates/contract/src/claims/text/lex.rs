//! Cuts a review text into sentences of tokens.
//!
//! Markdown is understood as far as it changes what an author says: fenced code, quotations, struck-out text and
//! unticked boxes say nothing; code spans and quoted names are taken literally; list items, headings and table
//! rows are sentences of their own. One pass over the text, whatever it contains.

use super::lexicon::{self, Class};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An ordinary word, or one half of a contraction.
    Word,
    /// A name to be taken literally: a code span, a quoted name, or something shaped like a path or an id.
    Literal,
    /// A number.
    Number,
    /// Several quoted words: mentioned, not said.
    Quoted,
    /// A mark that ends a clause.
    Comma,
    /// A colon, or another sign that puts a value behind a name.
    Colon,
    /// A semicolon, a dash or a bracket.
    Break,
}

/// One token. Its text is a slice of the review, or a word that a contraction stands for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) kind: Kind,
    pub(super) class: Class,
    /// Whether its form says that it is a name: back-ticks, quotation marks, a slash at its end.
    pub(super) marked: bool,
}

/// A sentence, a list item, a heading or a row.
#[derive(Debug, Default)]
pub(super) struct RawSentence<'a> {
    pub(super) tokens: Vec<Token<'a>>,
    pub(super) is_question: bool,
    pub(super) is_heading: bool,
    /// Whether a blank line, a heading or a list stands between it and the sentence before.
    pub(super) opens_paragraph: bool,
    /// The sentence as its author wrote it, with single spaces, cut after [`MAX_SENTENCE_BYTES`].
    pub(super) source: String,
}

/// The longest sentence that is quoted back. A text without a full stop would otherwise be repeated whole.
const MAX_SENTENCE_BYTES: usize = 400;

impl RawSentence<'_> {
    fn quote(&mut self, words: &str, follows_space: bool) {
        if self.source.len() > MAX_SENTENCE_BYTES {
            return;
        }
        if follows_space && !self.source.is_empty() {
            self.source.push(' ');
        }
        self.source.push_str(words);
        if self.source.len() > MAX_SENTENCE_BYTES {
            self.source.truncate(self.source.floor_char_boundary(MAX_SENTENCE_BYTES));
            self.source.push('…');
        }
    }
}

/// Cuts `text` into sentences and hands each to `visit`.
pub(super) fn sentences<'a>(text: &'a str, mut visit: impl FnMut(&RawSentence<'a>)) {
    let mut lexer = Lexer {
        sentence: RawSentence { opens_paragraph: true, ..Default::default() },
        ended: None,
        visit: &mut visit,
    };
    let mut fence: Option<&str> = None;
    let mut in_comment = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if let Some(mark) = fence {
            if trimmed.starts_with(mark) {
                fence = None;
            }
        } else if in_comment {
            in_comment = !trimmed.contains("-->");
        } else if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
            lexer.end_paragraph();
            fence = Some(mark);
        } else if trimmed.starts_with("<!--") {
            in_comment = !trimmed.contains("-->");
        } else {
            lexer.line(trimmed);
        }
    }
    lexer.end_sentence(false);
}

struct Lexer<'a, 'v> {
    sentence: RawSentence<'a>,
    /// Whether what was taken last ends the sentence, and if so, whether that is a question.
    ended: Option<bool>,
    visit: &'v mut dyn FnMut(&RawSentence<'a>),
}

impl<'a> Lexer<'a, '_> {
    fn line(&mut self, line: &'a str) {
        if line.is_empty() || line.starts_with('>') {
            return self.end_paragraph();
        }
        if let Some(heading) = line.strip_prefix('#') {
            self.end_paragraph();
            self.sentence.is_heading = true;
            self.words(heading.trim_start_matches('#'));
            return self.end_paragraph();
        }
        let (item, is_item) = strip_list_mark(line);
        if is_item {
            self.end_sentence(false);
            self.sentence.opens_paragraph = true;
        }
        match strip_box(item) {
            Some((false, _)) => {}
            Some((true, rest)) => self.words(rest),
            None if item.starts_with('|') => {
                self.end_sentence(false);
                self.words(item);
                self.end_sentence(false);
            }
            None => {
                if !is_item && self.starts_anew(item) {
                    self.end_sentence(false);
                }
                self.words(item);
            }
        }
    }

    /// Whether a line of a paragraph begins a statement of its own although the one before had no full stop.
    fn starts_anew(&self, line: &str) -> bool {
        let goes_on = |token: &Token<'_>| {
            matches!(token.kind, Kind::Comma | Kind::Colon)
                || token.class.is(lexicon::AND | lexicon::OR | lexicon::PREP | lexicon::DET | lexicon::AUX)
        };
        let open = self.sentence.tokens.last().is_some_and(|last| !goes_on(last));
        let first = line.split_whitespace().next().unwrap_or_default();
        let is_name = first == "I" || first.starts_with("I'") || first.chars().any(|it| it.is_ascii_digit());
        let begins = first.starts_with(|it: char| it.is_uppercase() || lexicon::mark(it).is_some());
        open && begins && !is_name
    }

    fn end_paragraph(&mut self) {
        self.end_sentence(false);
        self.sentence.opens_paragraph = true;
    }

    fn end_sentence(&mut self, is_question: bool) {
        self.sentence.is_question = is_question;
        if !self.sentence.tokens.is_empty() {
            (self.visit)(&self.sentence);
            self.sentence.tokens.clear();
            self.sentence.opens_paragraph = false;
        }
        self.sentence.source.clear();
        self.sentence.is_heading = false;
    }

    /// Cuts one line into tokens.
    fn words(&mut self, line: &'a str) {
        if self.sentence.tokens.is_empty() {
            // A rule or another line without words is no part of the sentence that follows.
            self.sentence.source.clear();
        }
        let mut rest = line;
        let mut follows_space = true;
        loop {
            let untrimmed = rest.len();
            rest = rest.trim_start();
            follows_space |= rest.len() < untrimmed;
            let Some(first) = rest.chars().next() else { break };
            let taken = match first {
                '`' => self.code_span(rest),
                '"' => self.quotation(rest, '"'),
                '“' => self.quotation(rest, '”'),
                '«' => self.quotation(rest, '»'),
                '\'' => self.quotation(rest, '\''),
                '‘' => self.quotation(rest, '’'),
                '~' => rest.strip_prefix("~~").and_then(|inner| Some(near(inner).find("~~")? + 4)),
                ']' => rest.strip_prefix("](").and_then(|url| Some(near(url).find(')')? + 3)),
                _ => None,
            };
            let taken = taken.unwrap_or_else(|| self.chunk(rest, first));
            self.sentence.quote(&rest[..taken], follows_space);
            rest = &rest[taken..];
            follows_space = false;
            if let Some(is_question) = self.ended.take() {
                self.end_sentence(is_question);
            }
        }
    }

    /// Takes a code span as one literal; answers its length.
    fn code_span(&mut self, rest: &'a str) -> Option<usize> {
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        let (mark, inner) = rest.split_at(ticks);
        let close = near(inner).find(mark)?;
        self.literal(inner[..close].trim());
        Some(ticks + close + ticks)
    }

    /// Takes a quoted name as a literal, several quoted words as a mention; answers its length.
    fn quotation(&mut self, rest: &'a str, close: char) -> Option<usize> {
        let open = rest.chars().next()?.len_utf8();
        let inner = &rest[open..];
        let end = near(inner).find(close)?;
        let after = inner[end + close.len_utf8()..].chars().next();
        if close == '\'' && after.is_some_and(char::is_alphanumeric) {
            return None;
        }
        let content = inner[..end].trim();
        if content.contains(char::is_whitespace) {
            self.push(content, Kind::Quoted, Class::NONE, true);
            if content.ends_with(['.', '!', '?']) && after.is_none_or(char::is_whitespace) {
                self.ended = Some(false);
            }
        } else {
            self.literal(content.trim_end_matches(['.', ',', ';', '!', '?']));
        }
        Some(open + end + close.len_utf8())
    }

    fn literal(&mut self, content: &'a str) {
        if !content.is_empty() {
            self.push(content, Kind::Literal, lexicon::class_of_code(content), true);
        }
    }

    /// Takes what stands up to the next space, quotation mark or sign; answers its length.
    fn chunk(&mut self, rest: &'a str, first: char) -> usize {
        if let Some(class) = lexicon::mark(first) {
            self.push(&rest[..first.len_utf8()], Kind::Word, class, false);
            return first.len_utf8();
        }
        if let Some(kind) = sign(first) {
            self.push(&rest[..first.len_utf8()], kind, Class::NONE, false);
            return first.len_utf8();
        }
        let ends = |it: char| {
            it.is_whitespace() || "`\"“”«»,;()[]{}—–→|".contains(it) || lexicon::mark(it).is_some()
        };
        let length = rest.find(ends).unwrap_or(rest.len());
        if length == 0 {
            return first.len_utf8();
        }
        let chunk = &rest[..length];
        let core = chunk
            .trim_matches(['*', '~', '\'', '’', '<', '>'])
            .trim_end_matches(['.', '!', '?', ':', '…', '*']);
        let core = if chunk.ends_with("/...") { chunk } else { core };
        let tail = &chunk[chunk.find(core).map_or(0, |at| at + core.len())..];
        self.core(core);
        if tail.contains(':') {
            self.push(":", Kind::Colon, Class::NONE, false);
        } else if tail.contains(['.', '!', '?', '…']) && !lexicon::is_abbreviation(core) {
            self.ended = Some(tail.contains('?'));
        }
        length
    }

    /// Takes a chunk without the marks around it.
    fn core(&mut self, core: &'a str) {
        match core {
            "" => {}
            "-" | "--" | "->" | "=>" => self.push(core, Kind::Break, Class::NONE, false),
            "=" => self.push(core, Kind::Colon, Class::NONE, false),
            "&" | "+" => self.push(core, Kind::Word, lexicon::AND, false),
            _ if core.bytes().all(|it| it.is_ascii_digit() || matches!(it, b'.' | b'%' | b'/')) => {
                self.push(core, Kind::Number, lexicon::class_of_number(core), false);
            }
            _ if is_literal(core) => {
                let class = lexicon::class_of(core);
                let kind = if class == Class::NONE { Kind::Literal } else { Kind::Word };
                let name = core.trim_end_matches('/');
                self.push(name, kind, class, name.len() < core.len());
            }
            _ => core.split('-').filter(|part| !part.is_empty()).for_each(|part| self.word(part)),
        }
    }

    /// Takes a word; contractions become the words that they stand for.
    fn word(&mut self, word: &'a str) {
        let Some((stem, ending)) = word.split_once(['\'', '’']) else {
            return self.push(word, Kind::Word, lexicon::class_of(word), false);
        };
        let (stem, second) = match ending {
            "t" if stem.eq_ignore_ascii_case("can") => (stem, "not"),
            "t" if stem.eq_ignore_ascii_case("won") => ("will", "not"),
            "t" => (stem.strip_suffix(['n', 'N']).unwrap_or(stem), "not"),
            "ll" => (stem, "will"),
            "d" => (stem, "would"),
            "ve" => (stem, "have"),
            "re" | "m" => (stem, "are"),
            "s" if lexicon::class_of(stem).is(lexicon::PRONOUN | lexicon::NOTHING | lexicon::EVERYTHING) => {
                (stem, "is")
            }
            _ => (stem, ""),
        };
        self.push(stem, Kind::Word, lexicon::class_of(stem), false);
        if !second.is_empty() {
            self.push(second, Kind::Word, lexicon::class_of(second), false);
        }
    }

    fn push(&mut self, text: &'a str, kind: Kind, class: Class, marked: bool) {
        self.sentence.tokens.push(Token { text, kind, class, marked });
    }
}

/// The longest span of code, quotation or struck-out text, in bytes. Without a bound, marks that are never closed
/// would make the search quadratic.
const MAX_SPAN: usize = 1000;

/// As much of `text` as a span may take.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_SPAN)]
}

/// Removes the mark of a list item, and says whether there was one.
fn strip_list_mark(line: &str) -> (&str, bool) {
    for mark in ["- ", "* ", "+ ", "• ", "– ", "— "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return (rest.trim_start(), true);
        }
    }
    let digits = line.len() - line.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let after = line[digits..].strip_prefix(['.', ')']).and_then(|rest| rest.strip_prefix(' '));
    match after {
        Some(rest) if (1..=3).contains(&digits) => (rest.trim_start(), true),
        _ => (line, false),
    }
}

/// Removes the box of a task item, and says whether it is ticked.
fn strip_box(item: &str) -> Option<(bool, &str)> {
    let inner = item.strip_prefix('[')?;
    let (mark, rest) = inner.split_at_checked(1)?;
    let rest = rest.strip_prefix(']')?;
    match mark {
        " " => Some((false, rest)),
        "x" | "X" => Some((true, rest)),
        _ => None,
    }
}

const fn sign(first: char) -> Option<Kind> {
    match first {
        ',' => Some(Kind::Comma),
        '|' => Some(Kind::Colon),
        ';' | '(' | ')' | '[' | ']' | '{' | '}' | '—' | '–' | '→' => Some(Kind::Break),
        _ => None,
    }
}

/// Whether a bare chunk is shaped like a path, an id or another name rather than a word.
fn is_literal(core: &str) -> bool {
    core.contains(['/', '\\', ':', '.', '_', '@', '#', '=', '*'])
        || core.bytes().any(|it| it.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        sentences(text, |sentence| {
            let words: Vec<&str> = sentence.tokens.iter().map(|token| token.text).collect();
            found.push(words.join(" ") + if sentence.is_question { "?" } else { "" });
        });
        found
    }

    #[test]
    fn a_full_stop_ends_a_sentence_and_a_path_does_not() {
        assert_eq!(cut("I changed src/a.py. Tests pass. OK?"), ["I changed src/a.py", "Tests pass", "OK?"]);
        assert_eq!(cut("See e.g. the log."), ["See e.g the log"]);
    }

    #[test]
    fn a_sentence_is_quoted_as_it_was_written() {
        let mut found = Vec::new();
        let text =
            "# Notes\n\n* I didn't touch `src/a.py`;\n  really (I swear)! Why?\n---\nDone: **all** green";
        sentences(text, |sentence| found.push(sentence.source.clone()));
        let expected =
            ["Notes", "I didn't touch `src/a.py`; really (I swear)!", "Why?", "Done: **all** green"];
        assert_eq!(found, expected);
        let mut long = String::new();
        sentences(&"wörd ".repeat(1000), |sentence| long.clone_from(&sentence.source));
        assert!(long.ends_with('…') && long.len() < 500, "{}", long.len());
    }

    #[test]
    fn markdown_that_says_nothing_is_left_out() {
        assert_eq!(cut("A.\n```\nall tests pass\n```\n> quoted\n<!-- no -->\nB."), ["A", "B"]);
        assert_eq!(cut("- [ ] open\n- [x] done\n- ~~gone~~ here"), ["done", "here"]);
    }

    #[test]
    fn contractions_become_words() {
        assert_eq!(cut("It doesn't, can’t, won't, isn't"), ["It does not , can not , will not , is not"]);
        assert_eq!(cut("there's nothing; Bob's file"), ["there is nothing ; Bob file"]);
    }

    #[test]
    fn names_stay_whole() {
        assert_eq!(cut("(`a b.py`, \"x.rs\", **src/a.py**) docs/"), ["( a b.py , x.rs , src/a.py ) docs"]);
        assert_eq!(cut("Fixed dup:12ab, F12."), ["Fixed dup:12ab , F12"]);
    }

    #[test]
    fn a_wrapped_line_goes_on_and_a_new_statement_does_not() {
        assert_eq!(cut("all tests\npass"), ["all tests pass"]);
        assert_eq!(cut("All tests pass\nNo regressions"), ["All tests pass", "No regressions"]);
    }
}
