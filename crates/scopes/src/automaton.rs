//! Runs a program as an automaton: the states that reading a character can lead to.
//!
//! Equivalent to matching a path by the program, for questions about many paths at once. The input must
//! be a prefix of a path; other input gives no meaningful result.

use probity_paths::compiled::PathChar;
use probity_paths::compiled::{CharSet, PatternStep};

/// A state: before a step, or in the middle of a segment consumed by [`PatternStep::Directories`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AutomatonState {
    step: u32,
    midway: bool,
}

impl AutomatonState {
    pub(crate) const START: Self = Self::before(0);

    const fn before(step: u32) -> Self {
        Self { step, midway: false }
    }

    /// Appends to `places` every state that `unit` leads to from here.
    pub(crate) fn read(self, program: &[PatternStep], unit: PathChar, places: &mut Vec<Self>) {
        if self.midway {
            places.push(Self { midway: unit != PathChar::SLASH, ..self });
            return;
        }
        for (step, kind) in (self.step..).zip(self.rest(program)) {
            match kind {
                PatternStep::One(set) => {
                    places.extend(set.contains(unit).then_some(Self::before(step + 1)));
                    return;
                }
                PatternStep::Run(set) => places.extend(set.contains(unit).then_some(Self::before(step))),
                PatternStep::Directories => places.push(Self { step, midway: true }),
            }
        }
    }

    /// Returns true if the program matches when the path ends here.
    pub(crate) fn may_end(self, program: &[PatternStep]) -> bool {
        !self.midway && self.rest(program).iter().all(|step| matches!(step, PatternStep::Run(_)))
    }

    /// Returns true if the program matches whatever follows.
    pub(crate) fn takes_the_rest(self, program: &[PatternStep]) -> bool {
        !self.midway && matches!(self.rest(program), [PatternStep::Run(CharSet::All)])
    }

    fn rest(self, program: &[PatternStep]) -> &[PatternStep] {
        &program[self.step as usize..]
    }
}
