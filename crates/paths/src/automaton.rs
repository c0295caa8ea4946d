//! A program as an automaton: where reading a unit can lead.
//!
//! Says the same as [`program::matches`](crate::program::matches), for the questions that one path cannot answer. Only
//! the beginnings of paths may be read: nothing is promised for others.

use crate::program::{Set, Step};
use crate::units::Unit;

/// A place in a program: before a step, or in the middle of a segment that a step [`Step::Directories`] takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    step: u32,
    midway: bool,
}

impl Place {
    pub(crate) const START: Self = Self::before(0);

    const fn before(step: u32) -> Self {
        Self { step, midway: false }
    }

    /// Every place to which `unit` leads from here, put behind those in `places`.
    pub(crate) fn read(self, program: &[Step], unit: Unit, places: &mut Vec<Self>) {
        if self.midway {
            places.push(Self { midway: unit != Unit::SLASH, ..self });
            return;
        }
        for (step, kind) in (self.step..).zip(self.rest(program)) {
            match kind {
                Step::One(set) => {
                    places.extend(set.takes(unit).then_some(Self::before(step + 1)));
                    return;
                }
                Step::Run(set) => places.extend(set.takes(unit).then_some(Self::before(step))),
                Step::Directories => places.push(Self { step, midway: true }),
            }
        }
    }

    /// Whether the program matches when the path ends here.
    pub(crate) fn may_end(self, program: &[Step]) -> bool {
        !self.midway && self.rest(program).iter().all(|step| matches!(step, Step::Run(_)))
    }

    /// Whether the program matches however the path goes on.
    pub(crate) fn takes_the_rest(self, program: &[Step]) -> bool {
        !self.midway && matches!(self.rest(program), [Step::Run(Set::All)])
    }

    fn rest(self, program: &[Step]) -> &[Step] {
        &program[self.step as usize..]
    }
}
