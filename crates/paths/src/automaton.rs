//! Runs a program as an automaton: the states that reading a character can lead to.
//!
//! Equivalent to [`program::matches`](crate::program::matches), for questions about many paths at once. The input must
//! be a prefix of a path; other input gives no meaningful result.

use crate::program::{Set, Step};
use crate::units::Unit;

/// A state: before a step, or in the middle of a segment consumed by [`Step::Directories`].
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

    /// Appends to `places` every state that `unit` leads to from here.
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

    /// Returns true if the program matches when the path ends here.
    pub(crate) fn may_end(self, program: &[Step]) -> bool {
        !self.midway && self.rest(program).iter().all(|step| matches!(step, Step::Run(_)))
    }

    /// Returns true if the program matches whatever follows.
    pub(crate) fn takes_the_rest(self, program: &[Step]) -> bool {
        !self.midway && matches!(self.rest(program), [Step::Run(Set::All)])
    }

    fn rest(self, program: &[Step]) -> &[Step] {
        &program[self.step as usize..]
    }
}
