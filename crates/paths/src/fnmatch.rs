//! The rule *fnmatch*: Python's `fnmatchcase`, over units.
//!
//! `*`, `?` and classes take `/` too; only `!` negates; an unclosed `[` is itself. Every pattern is valid, but a
//! declaration refuses those that cannot mean what they say: see [`Fnmatch::flaw`].

use crate::RepoPath;
use crate::class::{self, Class};
use crate::program::{self, Set, Step};
use crate::units::{self, Unit};
use canon::Reason;

/// A compiled fnmatch pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fnmatch {
    program: Vec<Step>,
    flaw: Option<Reason>,
}

/// Whether `pattern` matches `path`.
pub fn matches(pattern: &[u8], path: &RepoPath) -> bool {
    Fnmatch::new(pattern).matches(path)
}

impl Fnmatch {
    /// Compiles `pattern`.
    pub fn new(pattern: &[u8]) -> Self {
        let units = units::decode(pattern);
        let mut program = Vec::with_capacity(units.len());
        let (mut unclosed, mut bad_range) = (false, false);
        let mut at = 0;
        while let Some(&unit) = units.get(at) {
            program.push(match unit {
                star if star.is(b'*') => Step::Run(Set::All),
                mark if mark.is(b'?') => Step::One(Set::All),
                // Where one `[` found no end, no later one will.
                open if open.is(b'[') && !unclosed => {
                    if let Some(close) = class::end(&units[at..], negates) {
                        let written = Written::read(&units[at + 1..at + close]);
                        bad_range |= written.has_bad_range;
                        at += close;
                        Step::One(Set::Class(written.class()))
                    } else {
                        unclosed = true;
                        Step::One(Set::Unit(open))
                    }
                }
                plain => Step::One(Set::Unit(plain)),
            });
            at += 1;
        }
        let bad_range = bad_range.then_some(Reason::ScopeBadRange);
        Self { program, flaw: unclosed.then_some(Reason::ScopeUnclosedClass).or(bad_range) }
    }

    /// Whether the pattern matches `path`.
    pub fn matches(&self, path: &RepoPath) -> bool {
        program::matches(&self.program, path.as_bytes())
    }

    /// What in the pattern can hardly be meant: an unclosed class, or else a range that runs backwards.
    pub fn flaw(&self) -> Option<Reason> {
        self.flaw
    }
}

fn negates(unit: Unit) -> bool {
    unit.is(b'!')
}

/// A class as Python reads it: pieces, with a range from the last unit of each to the first of the next.
struct Written {
    pieces: Vec<Vec<Unit>>,
    has_bad_range: bool,
}

impl Written {
    /// Cuts what stands between the brackets at the dashes that make ranges, then removes empty ranges.
    fn read(body: &[Unit]) -> Self {
        let mut pieces = Vec::new();
        let mut begin = 0;
        let mut search = if negates(body[0]) { 2 } else { 1 };
        while let Some(dash) = (search..body.len()).find(|&index| body[index].is(b'-')) {
            pieces.push(body[begin..dash].to_vec());
            begin = dash + 1;
            search = dash + 3;
        }
        match (body[begin..].is_empty(), pieces.last_mut()) {
            (true, Some(last)) => last.push(Unit::ascii(b'-')),
            _ => pieces.push(body[begin..].to_vec()),
        }
        let n_pieces = pieces.len();
        let mut written = Self { pieces, has_bad_range: false };
        written.remove_empty_ranges();
        written.has_bad_range = written.pieces.len() < n_pieces;
        written
    }

    /// Joins two pieces where the range between them runs backwards, without its two ends.
    fn remove_empty_ranges(&mut self) {
        for index in (1..self.pieces.len()).rev() {
            if self.pieces[index - 1].last() > self.pieces[index].first() {
                let next = self.pieces.remove(index);
                self.pieces[index - 1].pop();
                self.pieces[index - 1].extend(&next[1..]);
            }
        }
    }

    /// The units that the pieces and the ranges between them stand for.
    ///
    /// Python looks for the `!` after it has removed empty ranges, so one that was not first before can negate. If
    /// that `!` was also the beginning of a range, its dash is left over as an ordinary character.
    fn class(mut self) -> Class {
        let first = &mut self.pieces[0];
        let negated = first.first().is_some_and(|&unit| negates(unit));
        if negated {
            first.remove(0);
            if first.is_empty() && self.pieces.len() > 1 {
                let second = self.pieces.remove(1);
                self.pieces[0] = [&[Unit::ascii(b'-')], &*second].concat();
            }
        }
        let ends = self.pieces.windows(2).filter_map(|pair| Some((*pair[0].last()?, *pair[1].first()?)));
        let singles = self.pieces.iter().flatten().map(|&unit| (unit, unit));
        Class { negated, ranges: ends.chain(singles).collect(), crosses: true }
    }
}
