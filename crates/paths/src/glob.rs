//! The rule *glob*: `*`, `?` and `[…]` stay inside a segment; `**` as a whole segment spans any number of segments.
//!
//! An ambiguous pattern is rejected, never guessed at.

use crate::char_class::{self, CharClass};
use crate::chars::{self, PathChar};
use crate::program::{self, CharSet, PatternStep};
use crate::repo_path::{self, RepoPath};
use probity_core::ReasonCode;

/// A compiled glob, without the `!` of an exclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    /// The bytes before the first wildcard; every match starts with them.
    head: Box<[u8]>,
    /// Length of the *stem* within the head: whole segments with their last `/`, or all of a pattern without wildcards.
    stem_bytes: usize,
    /// The steps after the stem.
    rest: Box<[PatternStep]>,
    /// The bytes after the last wildcard; every match ends with them.
    tail: Box<[u8]>,
}

impl Glob {
    /// Compiles `pattern`, or returns its first error in the order given by the conformance README.
    pub fn parse(pattern: &[u8]) -> Result<Self, ReasonCode> {
        if let Some(reason) = repo_path::whole_error(pattern) {
            return Err(reason);
        }
        let segments: Vec<&[u8]> = pattern.split(|&byte| byte == b'/').collect();
        let mut parts = Vec::with_capacity(segments.len());
        for (index, segment) in segments.iter().enumerate() {
            if let Some(reason) = repo_path::segment_error(segment, index + 1 == segments.len()) {
                return Err(reason);
            }
            parts.push(parse_segment(segment)?);
        }
        let n_plain = parts.iter().take_while(|part| part.is_plain()).count();
        let mut stem = segments[..n_plain].join(&b'/');
        if 0 < n_plain && n_plain < parts.len() {
            stem.push(b'/');
        }
        Ok(Self::new(&stem, join(parts.split_off(n_plain))))
    }

    /// Returns the glob that matches only `path`.
    pub fn name(path: &RepoPath) -> Self {
        Self::new(path.as_bytes(), Vec::new())
    }

    /// Returns the glob `**`.
    pub fn everything() -> Self {
        Self::new(b"", join([GlobSegment::Directories]))
    }

    fn new(stem: &[u8], rest: Vec<PatternStep>) -> Self {
        let head = chars::encode(rest.iter().map_while(literal_char));
        let tail: Vec<PathChar> = rest.iter().rev().map_while(literal_char).collect();
        Self {
            head: [stem, &head].concat().into(),
            stem_bytes: stem.len(),
            tail: chars::encode(tail.into_iter().rev()).into(),
            rest: rest.into(),
        }
    }

    /// Returns the bytes that every match starts with: up to a `/`, or the whole pattern.
    pub(crate) fn stem(&self) -> &[u8] {
        &self.head[..self.stem_bytes]
    }

    /// Returns the innermost directory that holds every match and is named without wildcards; empty for the root.
    pub fn literal_directory(&self) -> &[u8] {
        let stem = self.stem();
        stem.iter().rposition(|&byte| byte == b'/').map_or(&[], |slash| &stem[..slash])
    }

    /// Returns the path that the glob names, if it has no wildcards.
    pub fn as_name(&self) -> Option<&[u8]> {
        self.rest.is_empty().then_some(&self.head)
    }

    pub fn matches(&self, path: &[u8]) -> bool {
        path.starts_with(self.stem()) && self.matches_behind_stem(path)
    }

    /// Like [`Glob::matches`], for a path already known to start with the stem.
    pub(crate) fn matches_behind_stem(&self, path: &[u8]) -> bool {
        let rest = &path[self.stem_bytes..];
        // Tails are short and most fail at once, so comparing by hand is faster than a call.
        let ends_so = rest.len() >= self.tail.len() && !differ(self.tail.iter().rev(), rest.iter().rev());
        ends_so && program::matches(&self.rest, rest)
    }

    /// Returns true if the heads or tails alone show that no path matches both.
    pub fn is_apart_from(&self, other: &Self) -> bool {
        differ(self.head.iter(), other.head.iter()) || differ(self.tail.iter().rev(), other.tail.iter().rev())
    }

    /// Returns the whole glob as one program.
    pub fn program(&self) -> Vec<PatternStep> {
        let stem = chars::decode(self.stem()).into_iter().map(|unit| PatternStep::One(CharSet::Unit(unit)));
        stem.chain(self.rest.iter().cloned()).collect()
    }
}

enum GlobSegment {
    Directories,
    /// Steps that match exactly one segment.
    Name(Vec<PatternStep>),
}

impl GlobSegment {
    fn is_plain(&self) -> bool {
        matches!(self, Self::Name(steps) if steps.iter().all(|step| literal_char(step).is_some()))
    }
}

fn parse_segment(segment: &[u8]) -> Result<GlobSegment, ReasonCode> {
    if segment == b"**" {
        return Ok(GlobSegment::Directories);
    }
    if segment.windows(2).any(|pair| pair == b"**") {
        return Err(ReasonCode::ScopeDoubleStarInSegment);
    }
    let segment = chars::decode(segment);
    let mut steps = Vec::with_capacity(segment.len());
    let mut bad_range = false;
    let mut at = 0;
    while let Some(&unit) = segment.get(at) {
        steps.push(match unit {
            star if star.is_ascii_byte(b'*') => PatternStep::Run(CharSet::Name),
            mark if mark.is_ascii_byte(b'?') => PatternStep::One(CharSet::Name),
            open if open.is_ascii_byte(b'[') => {
                let close = char_class::end(&segment[at..], negates).ok_or(ReasonCode::ScopeUnclosedClass)?;
                let (negated, ranges) = parse_class(&segment[at + 1..at + close]);
                at += close;
                bad_range |= ranges.iter().any(|(low, high)| low > high);
                PatternStep::One(CharSet::Class(CharClass::new(negated, ranges, false)))
            }
            plain => PatternStep::One(CharSet::Unit(plain)),
        });
        at += 1;
    }
    if bad_range { Err(ReasonCode::ScopeBadRange) } else { Ok(GlobSegment::Name(steps)) }
}

fn negates(unit: PathChar) -> bool {
    unit.is_ascii_byte(b'!') || unit.is_ascii_byte(b'^')
}

/// Parses the text between the brackets; returns whether it is negated, and its ranges. A `-` between two characters
/// forms a range.
fn parse_class(body: &[PathChar]) -> (bool, Vec<(PathChar, PathChar)>) {
    let negated = body.first().is_some_and(|&unit| negates(unit));
    let mut rest = &body[usize::from(negated)..];
    let mut ranges = Vec::new();
    while let [low, more @ ..] = rest {
        let (high, more) = match more {
            [dash, high, more @ ..] if dash.is_ascii_byte(b'-') => (high, more),
            _ => (low, more),
        };
        ranges.push((*low, *high));
        rest = more;
    }
    (negated, ranges)
}

/// Joins segments into one program. Adjacent `**` collapse into one. A final `**` matches whatever remains, which is
/// never empty because no path ends with `/`.
fn join(parts: impl IntoIterator<Item = GlobSegment>) -> Vec<PatternStep> {
    let mut steps = Vec::new();
    let mut parts = parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        match (part, parts.peek()) {
            (GlobSegment::Directories, Some(GlobSegment::Directories)) => {}
            (GlobSegment::Directories, Some(GlobSegment::Name(_))) => steps.push(PatternStep::Directories),
            (GlobSegment::Directories, None) => steps.push(PatternStep::Run(CharSet::All)),
            (GlobSegment::Name(name), next) => {
                steps.extend(name);
                steps.extend(next.map(|_| PatternStep::One(CharSet::Unit(PathChar::SLASH))));
            }
        }
    }
    steps
}

/// Returns true if two sequences differ within their common length.
fn differ<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>) -> bool {
    one.zip(other).any(|(one, other)| one != other)
}

/// Returns the only character that a step matches, if there is just one.
fn literal_char(step: &PatternStep) -> Option<PathChar> {
    match step {
        PatternStep::One(CharSet::Unit(unit)) => Some(*unit),
        _ => None,
    }
}

/// Returns the pattern that matches exactly `name`. A name that starts with `!` needs another `!` or a directory in
/// front.
pub fn escape_glob(name: &[u8]) -> Vec<u8> {
    let mut pattern = Vec::with_capacity(name.len());
    for &byte in name {
        match byte {
            b'*' | b'?' | b'[' => pattern.extend([b'[', byte, b']']),
            _ => pattern.push(byte),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(pattern: &[u8]) -> &'static str {
        Glob::parse(pattern).expect_err("should be refused").as_str()
    }

    fn matches(pattern: &str, path: &str) -> bool {
        Glob::parse(pattern.as_bytes()).expect("a glob").matches(path.as_bytes())
    }

    #[test]
    fn every_error_has_its_code() {
        for (pattern, expected) in [
            (&b""[..], "SCOPE.EMPTY_PATTERN"),
            (b"a\0b", "SCOPE.NUL"),
            (b"/a", "SCOPE.ABSOLUTE"),
            (b"a//b", "SCOPE.EMPTY_SEGMENT"),
            (b"a/", "SCOPE.TRAILING_SLASH"),
            (b"a/../b", "SCOPE.DOT_SEGMENT"),
            (b"a/**.py", "SCOPE.DOUBLE_STAR_IN_SEGMENT"),
            (b"***", "SCOPE.DOUBLE_STAR_IN_SEGMENT"),
            (b"[a", "SCOPE.UNCLOSED_CLASS"),
            (b"[]", "SCOPE.UNCLOSED_CLASS"),
            (b"[!]", "SCOPE.UNCLOSED_CLASS"),
            (b"[a/b]", "SCOPE.UNCLOSED_CLASS"),
            (b"[z-a]", "SCOPE.BAD_RANGE"),
            (b"[a--]", "SCOPE.BAD_RANGE"),
        ] {
            assert_eq!(code(pattern), expected, "{}", pattern.escape_ascii());
        }
    }

    #[test]
    fn errors_come_in_their_order() {
        assert_eq!(code(b"/\0"), "SCOPE.NUL", "what concerns the whole comes before the segments");
        assert_eq!(code(b"[a/../b"), "SCOPE.UNCLOSED_CLASS", "segments from the left");
        assert_eq!(code(b"[z-a]/["), "SCOPE.BAD_RANGE", "segments from the left");
        assert_eq!(code(b"[z-a]["), "SCOPE.UNCLOSED_CLASS", "within a segment by kind");
        assert_eq!(code(b"[a**"), "SCOPE.DOUBLE_STAR_IN_SEGMENT", "within a segment by kind");
    }

    #[test]
    fn two_stars_take_any_number_of_segments() {
        for (pattern, path, expected) in [
            ("**", "a", true),
            ("**/**", "a", true),
            ("a/**", "a", false),
            ("a/**", "a/b/c", true),
            ("a/**/**", "a/b", true),
            ("a/**/b", "a/b", true),
            ("a/**/b", "a/x/y/b", true),
            ("a/**/b", "a/xb", false),
            ("**/a/**/b", "a/a/x/b/b", true),
            ("**/a/*/b", "a/a/x/b", true),
            ("**/a*/b", "ax/ay/b", true),
            ("*/**", "a", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn a_class_takes_what_it_says_and_never_a_slash() {
        for (pattern, path, expected) in [
            ("[+-9]", "/", false),
            ("a[+-9]b", "a/b", false),
            ("a[!x]b", "a/b", false),
            ("[a-c-e]", "-", true),
            ("[a-c-e]", "d", false),
            ("[]-a]", "^", true),
            ("[!]-a]", "^", false),
            ("[^^]", "^", false),
            ("[a^]", "^", true),
            ("[--0]", ".", true),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_a_glob_begins_and_ends_with_tells_it_apart() {
        let glob = |text: &str| Glob::parse(text.as_bytes()).expect("a glob");
        for (one, other, apart) in [
            ("src/*", "lib/*", true),
            ("src/a*", "src/b*", true),
            ("*.py", "*.rs", true),
            ("src/**", "src/a", false),
            ("src/*.py", "src/a*", false),
            ("a", "ab", false),
        ] {
            assert_eq!(glob(one).is_apart_from(&glob(other)), apart, "{one} {other}");
            assert_eq!(glob(other).is_apart_from(&glob(one)), apart, "{other} {one}");
        }
    }
}
