//! Patterns over the tokens of a sentence: a data file lists them, and a matcher finds where one of them stands.
//!
//! A pattern is a line of elements. An element is a list of words and lexicon sections (`was|were|CHANGE_VERB`), or a gap
//! (`~3`: at most three tokens). `?` makes an element optional, `*` lets it stand up to `MAX_REPEATS` times or not at all.
//! A section of the file is a group; the words behind its name in brackets are the lexicon sections of which a sentence must
//! have one, which keeps the matcher away from most sentences.
//!
//! A pattern has a fixed number of elements and every repetition is bounded, so matching takes constant time per token.

use crate::clauses::ParsedSentence;
use crate::lexicon::{WordClass, section};
use crate::tokens::TokenKind;

/// The most tokens that an element with `*` takes.
const MAX_REPEATS: usize = 4;

/// The most elements of a pattern. Bounds the depth of the search.
const MAX_ELEMENTS: usize = 14;

/// One position of a pattern.
#[derive(Debug)]
struct PatternElement {
    words: Vec<&'static str>,
    class: WordClass,
    /// The most tokens of any kind; zero for an element that lists words.
    gap: usize,
    is_optional: bool,
    max_repeats: usize,
}

#[derive(Debug)]
struct SentencePattern {
    elements: Vec<PatternElement>,
}

/// The patterns of one section of a file.
#[derive(Debug)]
pub struct PatternGroup {
    pub name: &'static str,
    anchors: WordClass,
    patterns: Vec<SentencePattern>,
}

/// Reads the groups of a file.
///
/// # Panics
/// If the file names a lexicon section that does not exist, or a pattern is too long: both are faults of a file that is
/// compiled in, and a test reads it.
pub fn read_groups(file: &'static str) -> Vec<PatternGroup> {
    let mut groups: Vec<PatternGroup> = Vec::new();
    for line in file.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        if let Some((name, anchors)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            let anchors =
                anchors.split_whitespace().fold(WordClass::NONE, |all, name| all | named_section(name));
            groups.push(PatternGroup { name, anchors, patterns: Vec::new() });
            continue;
        }
        let elements: Vec<_> = line.split_whitespace().map(element).collect();
        assert!(elements.len() <= MAX_ELEMENTS, "the pattern is too long: {line}");
        groups.last_mut().expect("a pattern belongs to a group").patterns.push(SentencePattern { elements });
    }
    groups
}

fn named_section(name: &str) -> WordClass {
    section(name).unwrap_or_else(|| panic!("the lexicon has no section {name}"))
}

fn element(text: &'static str) -> PatternElement {
    let (core, is_optional, max_repeats) = match text.strip_suffix('*') {
        Some(core) => (core, true, MAX_REPEATS),
        None => text.strip_suffix('?').map_or((text, false, 1), |core| (core, true, 1)),
    };
    if let Some(gap) = core.strip_prefix('~').and_then(|gap| gap.parse().ok()) {
        return PatternElement { words: Vec::new(), class: WordClass::NONE, gap, is_optional, max_repeats };
    }
    let (sections, words): (Vec<_>, Vec<_>) =
        core.split('|').partition(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
    let class = sections.into_iter().fold(WordClass::NONE, |all, name| all | named_section(name));
    PatternElement { words, class, gap: 0, is_optional, max_repeats }
}

impl PatternGroup {
    /// Returns whether one of the patterns may occur in the sentence at all.
    pub fn fits(&self, sentence: &ParsedSentence<'_>) -> bool {
        self.anchors == WordClass::NONE || sentence.has(self.anchors)
    }

    /// Returns the last token of the first pattern that begins at `at`.
    pub fn match_at(&self, sentence: &ParsedSentence<'_>, at: usize) -> Option<usize> {
        self.patterns.iter().find_map(|pattern| end_of(sentence, &pattern.elements, at)).map(|end| end - 1)
    }
}

/// Returns the token behind the elements, if they begin at `at`.
fn end_of(sentence: &ParsedSentence<'_>, elements: &[PatternElement], at: usize) -> Option<usize> {
    let Some((element, rest)) = elements.split_first() else { return Some(at) };
    if element.gap > 0 {
        let passable = |index: usize| {
            sentence.kind(index).is_some_and(|kind| !matches!(kind, TokenKind::Break | TokenKind::Colon))
        };
        let limit = (0..element.gap).take_while(|&skipped| passable(at + skipped)).count();
        return (0..=limit).find_map(|skipped| end_of(sentence, rest, at + skipped));
    }
    let taken = (0..element.max_repeats).take_while(|&n| element.is_at(sentence, at + n)).count();
    let least = usize::from(!element.is_optional);
    (least..=taken).rev().find_map(|n| end_of(sentence, rest, at + n))
}

impl PatternElement {
    fn is_at(&self, sentence: &ParsedSentence<'_>, index: usize) -> bool {
        let Some(token) = sentence.tokens.get(index) else { return false };
        if token.is_marked {
            return self.words.contains(&"`");
        }
        token.class.is(self.class)
            || self.words.iter().any(|word| match *word {
                "," => token.kind == TokenKind::Comma,
                ":" => token.kind == TokenKind::Colon,
                "#" => token.kind == TokenKind::Number,
                word => token.text.eq_ignore_ascii_case(word),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    const FILE: &str = "# A comment.\n\n[none] INTERFACE\nno PUBLIC? api ~2 changed|CHANGE_VERB\nall|every DETERMINER* tests # passed\n";

    fn found(text: &str) -> Option<(usize, usize)> {
        let tokens = tokenize(text);
        let sentence = ParsedSentence::new(&tokens, false);
        let groups = read_groups(FILE);
        let at = |at| groups[0].match_at(&sentence, at).map(|end| (at, end));
        (0..tokens.len()).find_map(at).filter(|_| groups[0].fits(&sentence))
    }

    #[test]
    fn optional_elements_gaps_and_sections_are_matched() {
        assert_eq!(found("So no public API was really touched"), Some((1, 6)));
        assert_eq!(found("no api changed"), Some((0, 2)));
        assert_eq!(found("no api was ever really touched"), None);
        assert_eq!(found("all the tests 5 passed"), None, "no anchor");
        assert_eq!(found("the api: all the tests 5 passed"), Some((3, 7)));
        assert_eq!(found("no `api` changed"), None, "a name is no word");
    }
}
