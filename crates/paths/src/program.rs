//! The compiled form of patterns, and the only matcher that runs it (law 12).
//!
//! A program is a list of steps over the characters of a path. [`matches`] takes time proportional to path × program at
//! most and allocates nothing: when several runs could be extended, only the last one needs another try.

use crate::char_class::CharClass;
use crate::chars::{self, PathChar};

/// The characters that one step matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CharSet {
    Unit(PathChar),
    All,
    /// All but `/`.
    Name,
    Class(CharClass),
}

impl CharSet {
    pub fn contains(&self, unit: PathChar) -> bool {
        match self {
            Self::Unit(own) => *own == unit,
            Self::All => true,
            Self::Name => unit != PathChar::SLASH,
            Self::Class(class) => class.contains(unit),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternStep {
    /// Exactly one character.
    One(CharSet),
    /// Any number of characters.
    Run(CharSet),
    /// Any number of whole segments, each with its trailing `/`; only at the start of a segment.
    Directories,
}

/// Returns true if `program` matches all of `path`, which is a path or the part of one after a `/`.
pub(crate) fn matches(program: &[PatternStep], path: &[u8]) -> bool {
    let mut place = BacktrackPoint { step: 0, at: 0 };
    let mut run: Option<BacktrackPoint> = None;
    let mut directories: Option<BacktrackPoint> = None;
    loop {
        let unit = chars::first(&path[place.at..]);
        match (program.get(place.step), unit) {
            (None, None) => return true,
            (Some(PatternStep::Run(CharSet::All)), _) if place.step + 1 == program.len() => return true,
            (Some(PatternStep::Run(_)), _) => {
                run = Some(place);
                place.step += 1;
                continue;
            }
            (Some(PatternStep::Directories), _) => {
                directories = Some(place);
                run = None;
                place.step += 1;
                continue;
            }
            (Some(PatternStep::One(set)), Some((unit, length))) if set.contains(unit) => {
                if unit == PathChar::SLASH {
                    // Splitting the same segment differently cannot end elsewhere, so its runs need no retry.
                    run = run.filter(|run| run.crosses(program));
                }
                place = BacktrackPoint { step: place.step + 1, at: place.at + length };
                continue;
            }
            _ => {}
        }
        run = run.and_then(|run| run.advance_char(program, path));
        if run.is_none() {
            directories = directories.and_then(|directories| directories.advance_segment(path));
        }
        match run.or(directories) {
            Some(again) => place = BacktrackPoint { step: again.step + 1, ..again },
            None => return false,
        }
    }
}

/// A step of the program and the position in the path where it starts.
#[derive(Clone, Copy)]
struct BacktrackPoint {
    step: usize,
    at: usize,
}

impl BacktrackPoint {
    fn crosses(self, program: &[PatternStep]) -> bool {
        matches!(&program[self.step], PatternStep::Run(set) if set.contains(PathChar::SLASH))
    }

    fn advance_char(self, program: &[PatternStep], path: &[u8]) -> Option<Self> {
        let (unit, length) = chars::first(&path[self.at..])?;
        let PatternStep::Run(set) = &program[self.step] else { return None };
        set.contains(unit).then_some(Self { at: self.at + length, ..self })
    }

    fn advance_segment(self, path: &[u8]) -> Option<Self> {
        let slash = path[self.at..].iter().position(|&byte| byte == b'/')?;
        Some(Self { at: self.at + slash + 1, ..self })
    }
}
