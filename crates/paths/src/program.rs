//! What patterns are compiled to, and the one matcher that runs it (law 12).
//!
//! A program is a list of steps over the units of a path. [`matches`] takes time in proportion to path × program at
//! most, and no memory: where several runs could give way, only the last one needs to be tried again.

use crate::class::Class;
use crate::units::{self, Unit};

/// The units that one step takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Set {
    /// Exactly this one.
    Unit(Unit),
    /// All of them.
    All,
    /// All but `/`.
    Name,
    /// Those of a class.
    Class(Class),
}

impl Set {
    pub(crate) fn takes(&self, unit: Unit) -> bool {
        match self {
            Self::Unit(own) => *own == unit,
            Self::All => true,
            Self::Name => unit != Unit::SLASH,
            Self::Class(class) => class.takes(unit),
        }
    }
}

/// One step of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Step {
    /// One unit.
    One(Set),
    /// Any number of units.
    Run(Set),
    /// Any number of whole segments, each with the `/` behind it; stands at the beginning of a segment.
    Directories,
}

/// Whether the whole of `path`, a path or what follows a `/` of one, is what `program` describes.
pub(crate) fn matches(program: &[Step], path: &[u8]) -> bool {
    let mut place = Place { step: 0, at: 0 };
    let mut run: Option<Place> = None;
    let mut directories: Option<Place> = None;
    loop {
        let unit = units::first(&path[place.at..]);
        match (program.get(place.step), unit) {
            (None, None) => return true,
            (Some(Step::Run(Set::All)), _) if place.step + 1 == program.len() => return true,
            (Some(Step::Run(_)), _) => {
                run = Some(place);
                place.step += 1;
                continue;
            }
            (Some(Step::Directories), _) => {
                directories = Some(place);
                run = None;
                place.step += 1;
                continue;
            }
            (Some(Step::One(set)), Some((unit, length))) if set.takes(unit) => {
                if unit == Unit::SLASH {
                    // What matched within a segment stays matched: no other split of it ends elsewhere.
                    run = run.filter(|run| run.crosses(program));
                }
                place = Place { step: place.step + 1, at: place.at + length };
                continue;
            }
            _ => {}
        }
        run = run.and_then(|run| run.one_unit_on(program, path));
        if run.is_none() {
            directories = directories.and_then(|directories| directories.one_segment_on(path));
        }
        match run.or(directories) {
            Some(again) => place = Place { step: again.step + 1, ..again },
            None => return false,
        }
    }
}

/// A step of the program, and a position in the path where it begins.
#[derive(Clone, Copy)]
struct Place {
    step: usize,
    at: usize,
}

impl Place {
    fn crosses(self, program: &[Step]) -> bool {
        matches!(&program[self.step], Step::Run(set) if set.takes(Unit::SLASH))
    }

    fn one_unit_on(self, program: &[Step], path: &[u8]) -> Option<Self> {
        let (unit, length) = units::first(&path[self.at..])?;
        let Step::Run(set) = &program[self.step] else { return None };
        set.takes(unit).then_some(Self { at: self.at + length, ..self })
    }

    fn one_segment_on(self, path: &[u8]) -> Option<Self> {
        let slash = path[self.at..].iter().position(|&byte| byte == b'/')?;
        Some(Self { at: self.at + slash + 1, ..self })
    }
}
