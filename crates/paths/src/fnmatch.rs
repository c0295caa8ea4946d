//! The rule *fnmatch*: Python's `fnmatchcase` over path characters.
//!
//! `*`, `?` and classes match `/` too, only `!` negates, and an unclosed `[` is literal. Every pattern is valid, but a
//! declaration rejects those that cannot mean what they say; see [`Fnmatch::flaw`].

use crate::RepoPath;
use crate::char_class::{self, CharClass};
use crate::chars::{self, PathChar};
use crate::program::{self, CharSet, PatternStep};
use probity_core::ReasonCode;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fnmatch {
    program: Vec<PatternStep>,
    flaw: Option<ReasonCode>,
}

/// Returns true if `pattern` matches `path`.
pub fn matches(pattern: &[u8], path: &RepoPath) -> bool {
    Fnmatch::new(pattern).matches(path)
}

impl Fnmatch {
    pub fn new(pattern: &[u8]) -> Self {
        let units = chars::decode(pattern);
        let mut program = Vec::with_capacity(units.len());
        let (mut unclosed, mut bad_range) = (false, false);
        let mut at = 0;
        while let Some(&unit) = units.get(at) {
            program.push(match unit {
                star if star.is_ascii_byte(b'*') => PatternStep::Run(CharSet::All),
                mark if mark.is_ascii_byte(b'?') => PatternStep::One(CharSet::All),
                // If one `[` is never closed, no later one is either.
                open if open.is_ascii_byte(b'[') && !unclosed => {
                    if let Some(close) = char_class::end(&units[at..], negates) {
                        let written = FnmatchClass::read(&units[at + 1..at + close]);
                        bad_range |= written.has_bad_range;
                        at += close;
                        PatternStep::One(CharSet::Class(written.class()))
                    } else {
                        unclosed = true;
                        PatternStep::One(CharSet::Unit(open))
                    }
                }
                plain => PatternStep::One(CharSet::Unit(plain)),
            });
            at += 1;
        }
        let bad_range = bad_range.then_some(ReasonCode::ScopeBadRange);
        Self { program, flaw: unclosed.then_some(ReasonCode::ScopeUnclosedClass).or(bad_range) }
    }

    pub fn matches(&self, path: &RepoPath) -> bool {
        program::matches(&self.program, path.as_bytes())
    }

    /// Returns the likely mistake in the pattern: an unclosed class, or else a reversed range.
    pub fn flaw(&self) -> Option<ReasonCode> {
        self.flaw
    }
}

fn negates(unit: PathChar) -> bool {
    unit.is_ascii_byte(b'!')
}

/// A class as Python parses it.
#[derive(Default)]
struct FnmatchClass {
    /// The literal characters; the first may be the negation sign.
    singles: Vec<PathChar>,
    ranges: Vec<(PathChar, PathChar)>,
    /// The first range starts at the first of the singles.
    starts_with_range: bool,
    /// A reversed range was removed together with both its ends.
    has_bad_range: bool,
}

impl FnmatchClass {
    /// Parses the text between the brackets.
    fn read(body: &[PathChar]) -> Self {
        let pieces = split_ranges(body);
        let mut written = Self::default();
        let mut from = 0;
        for (index, piece) in pieces.iter().enumerate() {
            let range = pieces.get(index + 1).and_then(|next| Some((*piece.last()?, *next.first()?)));
            let backwards = range.is_some_and(|(low, high)| low > high);
            let kept = &piece[from..piece.len() - usize::from(backwards)];
            from = usize::from(backwards);
            written.has_bad_range |= backwards;
            if let Some(range) = range.filter(|_| !backwards) {
                written.starts_with_range |= written.singles.is_empty() && kept.len() == 1;
                written.ranges.push(range);
            }
            written.singles.extend(kept);
        }
        written
    }

    /// Returns the class of matching characters.
    ///
    /// Python looks for the `!` after removing empty ranges, so a `!` that was not first can still negate. If that `!`
    /// was also the start of a range, the dash remains as an ordinary character.
    fn class(mut self) -> CharClass {
        let negated = self.singles.first().is_some_and(|&unit| negates(unit));
        if negated {
            self.singles.remove(0);
            if self.starts_with_range {
                self.ranges.remove(0);
                self.singles.push(PathChar::ascii(b'-'));
            }
        }
        let singles = self.singles.into_iter().map(|unit| (unit, unit));
        CharClass::new(negated, self.ranges.into_iter().chain(singles).collect(), true)
    }
}

/// Splits a class at the dashes that form ranges: each from the last character of one piece to the first of the next.
///
/// No piece is empty, and only the first and the last can be a single character.
fn split_ranges(body: &[PathChar]) -> Vec<Vec<PathChar>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    let mut search = if negates(body[0]) { 2 } else { 1 };
    while let Some(dash) = (search..body.len()).find(|&index| body[index].is_ascii_byte(b'-')) {
        pieces.push(body[begin..dash].to_vec());
        begin = dash + 1;
        search = dash + 3;
    }
    match (&body[begin..], pieces.last_mut()) {
        ([], Some(last)) => last.push(PathChar::ascii(b'-')),
        (rest, _) => pieces.push(rest.to_vec()),
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern, names that it matches, and names that it does not.
    type Row = (&'static [u8], &'static [&'static [u8]], &'static [&'static [u8]]);

    /// Recorded from Python 3.11's `fnmatch.fnmatchcase`, with names decoded by `surrogateescape`.
    const ROWS: &[Row] = &[
        (b"src/*.py", &[b"src/a.py", b"src/x/y.py", b"src/.py"], &[b"a.py", b"src/a.pyc"]),
        (b"*", &[b"a", b"a/b\n", b".x", b"\xff"], &[]),
        (b"", &[], &[b"a"]),
        (b"a?b", &[b"a/b", b"a\nb", b"a\xffb", "aéb".as_bytes()], &[b"ab", b"axxb", b"a\xff\xfeb"]),
        (b"[ab", &[b"[ab"], &[b"a"]),
        (b"[]", &[b"[]"], &[b"["]),
        (b"[!]", &[b"[!]"], &[b"a"]),
        (b"[]]", &[b"]"], &[b"[]"]),
        (b"[!]]", &[b"a"], &[b"]"]),
        (b"[]a]x", &[b"]x", b"ax"], &[b"x"]),
        (b"[!a]", &[b"b", b"!", b"\xff"], &[b"a"]),
        (b"[^a]", &[b"a", b"^"], &[b"b"]),
        (b"[a!]", &[b"a", b"!"], &[b"b"]),
        (b"a[!x]b", &[b"a/b"], &[b"axb"]),
        (b"[a-c]", &[b"a", b"b", b"c"], &[b"d", b"-"]),
        (b"[a-]", &[b"a", b"-"], &[b"b"]),
        (b"[-a]", &[b"a", b"-"], &[b"b"]),
        (b"[a-c-e]", &[b"b", b"-", b"e"], &[b"d"]),
        (b"[+--]", &[b"+", b",", b"-"], &[b"*", b"0"]),
        (b"[--0]", &[b"-", b"0"], &[b"a"]),
        (b"[!--0]", &[b"a"], &[b"-", b"0"]),
        (b"[\\]", &[b"\\"], &[b"a"]),
        (b"[a\\-c]", &[b"a", b"^", b"c"], &[b"-", b"[", b"b0"]),
        (b"[a&&b||c~~d]", &[b"&", b"|", b"~", b"d"], &[b"e"]),
        (b"[[:alpha:]]", &[b"a]", b":]"], &[b"a", b"z]"]),
        ("[à-ÿ]".as_bytes(), &["é".as_bytes()], &[b"e", b"\xe9"]),
        (b"[\xf0-\xff]", &[b"\xf8"], &["ø".as_bytes(), b"\xef"]),
        // Python removes reversed ranges before it looks for the `!`.
        (b"[z-a]", &[], &[b"z", b"a", b"m", b"-"]),
        (b"[!z-a]", &[b"z", b"a", b"m", b"-"], &[]),
        (b"[z-ab]", &[b"b"], &[b"z", b"a", b"-"]),
        (b"[z-a-m]", &[b"-", b"m"], &[b"z", b"a"]),
        (b"[xz-ay]", &[b"x", b"y"], &[b"z", b"a"]),
        (b"[z-a!b]", &[b"a", b"z", b"!"], &[b"b"]),
        (b"[z-a!]", &[b"a", b"!"], &[]),
        (b"[z-a!-~]", &[b"a", b"!"], &[b"-", b"~"]),
        (b"[z-a^b]", &[b"^", b"b"], &[b"a"]),
        (b"[!z-ab]", &[b"a", b"z"], &[b"b"]),
    ];

    #[test]
    fn answers_as_python_does() {
        for (pattern, matched, unmatched) in ROWS {
            let all =
                matched.iter().map(|path| (path, true)).chain(unmatched.iter().map(|path| (path, false)));
            for (path, expected) in all {
                let path = RepoPath::parse(path).expect("a path");
                assert_eq!(
                    matches(pattern, &path),
                    expected,
                    "{} {path}",
                    probity_core::bytes::escape(pattern)
                );
            }
        }
    }

    #[test]
    fn says_what_cannot_be_meant() {
        for (pattern, flaw) in [
            (&b"docs/*"[..], None),
            (b"[a-c]", None),
            (b"[ab", Some(ReasonCode::ScopeUnclosedClass)),
            (b"[z-a]", Some(ReasonCode::ScopeBadRange)),
            (b"[z-a][b", Some(ReasonCode::ScopeUnclosedClass)),
        ] {
            assert_eq!(Fnmatch::new(pattern).flaw(), flaw);
        }
    }
}
