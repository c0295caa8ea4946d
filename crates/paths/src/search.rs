//! The shortest path that some programs match and others do not.
//!
//! Breadth first, over all paths at once: what matters of a path's beginning is where it leaves each program. A program
//! that must match is followed one way at a time; of those that must not, every way is followed together. A beginning
//! is given up where an earlier one was at least as free (the same place in the first kind, no further place in the
//! second), and where a program of the second kind will match whatever comes. Neither changes the answer.
//!
//! Without programs that must not match, the work grows with the product of the two lengths. With them it can grow
//! exponentially, because the question itself is that hard; so time and memory are bounded by a [`Budget`].

use crate::alphabet;
use crate::automaton::Place;
use crate::program::Step;
use crate::shape::Shape;
use crate::units::{self, Unit};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Scopes whose patterns are too intricate to compare within a bounded time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the patterns are too intricate to compare")]
pub struct TooComplex;

/// How much work several searches may do, in places of programs looked at. Each may do a little; what some need more
/// is limited for all of them together.
pub(crate) struct Budget {
    /// What the present search may still do before it draws on the rest.
    little: usize,
    more: usize,
}

impl Budget {
    /// Ample for patterns as people write them.
    const LITTLE: usize = 200_000;
    /// A second or two, and less than 200 MB.
    const MORE: usize = 100_000_000;
    /// What keeping one beginning costs, for the memory that it takes.
    const KEEPING: usize = 128;
    /// How many earlier beginnings, those with the fewest places first, are compared with a new one.
    const COMPARED: usize = 16;

    fn spend(&mut self, amount: usize) -> Result<(), TooComplex> {
        if let Some(little) = self.little.checked_sub(amount) {
            self.little = little;
        } else {
            self.more = self.more.checked_sub(amount).ok_or(TooComplex)?;
        }
        Ok(())
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self { little: 0, more: Self::MORE }
    }
}

/// The shortest path that both of `inside` match and none of `outside` does.
pub(crate) fn shortest(
    inside: [&[Step]; 2],
    outside: &[&[Step]],
    budget: &mut Budget,
) -> Result<Option<Vec<u8>>, TooComplex> {
    budget.little = Budget::LITTLE;
    let programs = || inside.into_iter().chain(outside.iter().copied());
    budget.spend(alphabet::work(programs()))?;
    let letters = alphabet::of(programs());
    let mut search = Search { inside, outside, budget, reached: Vec::new(), kept: BTreeSet::new() };
    search.start()?;
    let mut from = 0;
    while from < search.reached.len() {
        for &unit in &letters {
            if search.follow(from, unit)? {
                return Ok(Some(search.last_path()));
            }
        }
        from += 1;
    }
    Ok(None)
}

struct Search<'a> {
    inside: [&'a [Step]; 2],
    outside: &'a [&'a [Step]],
    budget: &'a mut Budget,
    /// Every beginning of a path that was worth following, shortest first.
    reached: Vec<Beginning>,
    /// Where they lead; among those that differ in `outside` only, few places come before many.
    kept: BTreeSet<([Place; 2], Shape, Outside)>,
}

/// Where the beginning of a path leads.
struct Beginning {
    inside: [Place; 2],
    shape: Shape,
    outside: Outside,
    /// The beginning that is shorter by one unit, and that unit.
    came: Option<(usize, Unit)>,
}

/// Every place in the programs that must not match. Few places come before many.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Outside {
    n_places: usize,
    /// Sorted, with the number of the program.
    places: Rc<[(u32, Place)]>,
}

impl Outside {
    fn new(places: Vec<(u32, Place)>) -> Self {
        Self { n_places: places.len(), places: places.into() }
    }

    fn is_within(&self, other: &Self) -> bool {
        let mut others = other.places.iter();
        self.places.iter().all(|own| others.by_ref().find(|other| *other >= own) == Some(own))
    }
}

impl Search<'_> {
    fn start(&mut self) -> Result<(), TooComplex> {
        let outside =
            Outside::new((0..).zip(self.outside).map(|(program, _)| (program, Place::START)).collect());
        if !self.is_lost(&outside) {
            self.reach(Beginning { inside: [Place::START; 2], shape: Shape::Begin, outside, came: None })?;
        }
        Ok(())
    }

    /// Follows a beginning by one unit. Answers whether that is a path as wanted, which is then the last one reached.
    fn follow(&mut self, from: usize, unit: Unit) -> Result<bool, TooComplex> {
        let here = &self.reached[from];
        self.budget.spend(here.outside.n_places + 1)?;
        let Some(shape) = here.shape.with(unit) else { return Ok(false) };
        let mut ways = [Vec::new(), Vec::new()];
        for ((way, place), program) in ways.iter_mut().zip(here.inside).zip(self.inside) {
            place.read(program, unit, way);
            if way.is_empty() {
                return Ok(false);
            }
        }
        let outside = self.read_outside(&here.outside, unit);
        if self.is_lost(&outside) {
            return Ok(false);
        }
        for &first in &ways[0] {
            for &second in &ways[1] {
                let (inside, outside, came) = ([first, second], outside.clone(), Some((from, unit)));
                if self.reach(Beginning { inside, shape, outside, came })? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn read_outside(&self, outside: &Outside, unit: Unit) -> Outside {
        if outside.n_places == 0 {
            return outside.clone();
        }
        let mut next = Vec::new();
        let mut buffer = Vec::new();
        for &(program, place) in &*outside.places {
            place.read(self.outside[program as usize], unit, &mut buffer);
            next.extend(buffer.drain(..).map(|place| (program, place)));
        }
        next.sort_unstable();
        next.dedup();
        Outside::new(next)
    }

    /// Whether a program that must not match will, whatever comes.
    fn is_lost(&self, outside: &Outside) -> bool {
        outside.places.iter().any(|&(program, place)| place.takes_the_rest(self.outside[program as usize]))
    }

    /// Keeps a beginning if it is worth following. Answers whether it is a path as wanted.
    fn reach(&mut self, beginning: Beginning) -> Result<bool, TooComplex> {
        let Beginning { inside, shape, ref outside, .. } = beginning;
        let earlier = self.kept.range((inside, shape, Outside::default())..);
        let mut rivals =
            earlier.take_while(|kept| (kept.0, kept.1) == (inside, shape)).take(Budget::COMPARED);
        self.budget.spend(Budget::COMPARED * outside.n_places)?;
        if rivals.any(|kept| kept.2.is_within(outside)) || !self.kept.insert((inside, shape, outside.clone()))
        {
            return Ok(false);
        }
        self.budget.spend(Budget::KEEPING + outside.n_places)?;
        let wanted = self.is_wanted(&beginning);
        self.reached.push(beginning);
        Ok(wanted)
    }

    fn is_wanted(&self, beginning: &Beginning) -> bool {
        beginning.shape.is_whole()
            && beginning.inside.iter().zip(self.inside).all(|(place, program)| place.may_end(program))
            && !beginning
                .outside
                .places
                .iter()
                .any(|&(program, place)| place.may_end(self.outside[program as usize]))
    }

    /// The bytes of the beginning that was reached last.
    fn last_path(&self) -> Vec<u8> {
        let mut units = Vec::new();
        let mut came = self.reached.last().and_then(|beginning| beginning.came);
        while let Some((from, unit)) = came {
            units.push(unit);
            came = self.reached[from].came;
        }
        units::encode(units.into_iter().rev())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glob::Glob;

    /// Excludes every name of more than eight units, in a way that has to remember each of the last eight.
    fn search(budget: &mut Budget) -> Result<Option<Vec<u8>>, TooComplex> {
        let program = |pattern: &[u8]| Glob::parse(pattern).expect("a glob").program();
        let outside = [program(b"*a????????"), program(b"*[!a]????????")];
        shortest([&program(b"*"), &program(b"?????????*")], &[&outside[0], &outside[1]], budget)
    }

    #[test]
    fn what_is_too_intricate_is_not_guessed() {
        assert_eq!(search(&mut Budget { more: 10_000, ..Budget::default() }), Err(TooComplex));
        assert_eq!(search(&mut Budget::default()), Ok(None));
    }
}
