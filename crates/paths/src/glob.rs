//! The rule *glob*: `*`, `?` and `[…]` stay inside a segment, `**` as a whole segment spans any number of them.
//!
//! A pattern that could mean two things is refused, never guessed at.

use crate::class::{self, Class};
use crate::program::{self, Set, Step};
use crate::repo_path::{self, RepoPath};
use crate::units::{self, Unit};
use canon::Reason;

/// A compiled glob, without the `!` of an exclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    /// The bytes before the first wildcard: every match begins with them.
    head: Box<[u8]>,
    /// How much of the head is the *stem*: whole segments with their last `/`, or all of a pattern without wildcards.
    stem_bytes: usize,
    /// What must follow the stem.
    rest: Box<[Step]>,
    /// The bytes behind the last wildcard: every match ends with them.
    tail: Box<[u8]>,
}

impl Glob {
    /// Compiles `pattern`, or says what is wrong with it: the first error in the order of the conformance README.
    pub(crate) fn parse(pattern: &[u8]) -> Result<Self, Reason> {
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

    /// The glob of one path.
    pub(crate) fn name(path: &RepoPath) -> Self {
        Self::new(path.as_bytes(), Vec::new())
    }

    /// The glob `**`.
    pub(crate) fn everything() -> Self {
        Self::new(b"", join([Part::Directories]))
    }

    fn new(stem: &[u8], rest: Vec<Step>) -> Self {
        let head = units::encode(rest.iter().map_while(plain));
        let tail: Vec<Unit> = rest.iter().rev().map_while(plain).collect();
        Self {
            head: [stem, &head].concat().into(),
            stem_bytes: stem.len(),
            tail: units::encode(tail.into_iter().rev()).into(),
            rest: rest.into(),
        }
    }

    /// The bytes that every match begins with: up to a `/`, or all of them.
    pub(crate) fn stem(&self) -> &[u8] {
        &self.head[..self.stem_bytes]
    }

    /// The path that the glob names, if it has no wildcards.
    pub(crate) fn as_name(&self) -> Option<&[u8]> {
        self.rest.is_empty().then_some(&self.head)
    }

    /// Whether the path is one that this glob describes.
    pub(crate) fn matches(&self, path: &[u8]) -> bool {
        path.starts_with(&self.head)
            && path.ends_with(&self.tail)
            && program::matches(&self.rest, &path[self.stem_bytes..])
    }

    /// Whether it is plain from how they begin or end that no path matches both.
    pub(crate) fn is_apart_from(&self, other: &Self) -> bool {
        let begin = self.head.iter().zip(&other.head).any(|(one, other)| one != other);
        begin || self.tail.iter().rev().zip(other.tail.iter().rev()).any(|(one, other)| one != other)
    }

    /// The whole glob as one program.
    pub(crate) fn program(&self) -> Vec<Step> {
        let stem = units::decode(self.stem()).into_iter().map(|unit| Step::One(Set::Unit(unit)));
        stem.chain(self.rest.iter().cloned()).collect()
    }
}

/// One segment of a pattern.
enum Part {
    /// `**`
    Directories,
    /// Steps that take exactly one segment.
    Name(Vec<Step>),
}

impl Part {
    fn is_plain(&self) -> bool {
        matches!(self, Self::Name(steps) if steps.iter().all(|step| plain(step).is_some()))
    }
}

fn parse_segment(segment: &[u8]) -> Result<Part, Reason> {
    if segment == b"**" {
        return Ok(Part::Directories);
    }
    if segment.windows(2).any(|pair| pair == b"**") {
        return Err(Reason::ScopeDoubleStarInSegment);
    }
    let segment = units::decode(segment);
    let mut steps = Vec::with_capacity(segment.len());
    let mut bad_range = false;
    let mut at = 0;
    while let Some(&unit) = segment.get(at) {
        steps.push(match unit {
            star if star.is(b'*') => Step::Run(Set::Name),
            mark if mark.is(b'?') => Step::One(Set::Name),
            open if open.is(b'[') => {
                let close = class::end(&segment[at..], negates).ok_or(Reason::ScopeUnclosedClass)?;
                let class = parse_class(&segment[at + 1..at + close]);
                at += close;
                bad_range |= class.has_bad_range();
                Step::One(Set::Class(class))
            }
            plain => Step::One(Set::Unit(plain)),
        });
        at += 1;
    }
    if bad_range { Err(Reason::ScopeBadRange) } else { Ok(Part::Name(steps)) }
}

fn negates(unit: Unit) -> bool {
    unit.is(b'!') || unit.is(b'^')
}

/// Reads what stands between the brackets. A `-` between two units makes a range of them.
fn parse_class(body: &[Unit]) -> Class {
    let negated = body.first().is_some_and(|&unit| negates(unit));
    let mut rest = &body[usize::from(negated)..];
    let mut ranges = Vec::new();
    while let [low, more @ ..] = rest {
        let (high, more) = match more {
            [dash, high, more @ ..] if dash.is(b'-') => (high, more),
            _ => (low, more),
        };
        ranges.push((*low, *high));
        rest = more;
    }
    Class { negated, ranges, crosses: false }
}

/// Joins segments to one program. Neighbouring `**` are one; as the last segment it takes whatever remains, which is
/// never nothing, because no path ends with `/`.
fn join(parts: impl IntoIterator<Item = Part>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut parts = parts.into_iter().peekable();
    while let Some(part) = parts.next() {
        match (part, parts.peek()) {
            (Part::Directories, Some(Part::Directories)) => {}
            (Part::Directories, Some(Part::Name(_))) => steps.push(Step::Directories),
            (Part::Directories, None) => steps.push(Step::Run(Set::All)),
            (Part::Name(name), next) => {
                steps.extend(name);
                steps.extend(next.map(|_| Step::One(Set::Unit(Unit::SLASH))));
            }
        }
    }
    steps
}

/// The unit that a step takes when it takes no other.
fn plain(step: &Step) -> Option<Unit> {
    match step {
        Step::One(Set::Unit(unit)) => Some(*unit),
        _ => None,
    }
}
