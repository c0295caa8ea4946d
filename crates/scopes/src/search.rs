//! Finds the shortest path that some programs match and others do not.
//!
//! The search is breadth-first over all paths at once: a prefix matters only by the state it leaves each program in.
//! For a program that must match, each state is followed separately; for those that must not, all states are followed
//! together. A prefix is dropped if an earlier one was at least as free (same state in the first kind, no additional
//! state in the second), or if a program of the second kind will match whatever follows. Neither changes the answer.
//!
//! Without programs that must not match, the work grows with the product of the two lengths. With them it can grow
//! exponentially, because the problem itself is that hard, so a [`SearchBudget`] bounds time and memory.

use crate::automaton::AutomatonState;
use crate::path_grammar::PathGrammarState;
use crate::representative_chars;
use probity_paths::compiled::PatternStep;
use probity_paths::compiled::{self, PathChar};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The patterns are too complex to compare in bounded time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the patterns are too intricate to compare")]
pub struct TooComplex;

/// A limit on the work of several searches, counted in visited program states. Each search gets a small allowance;
/// anything beyond that is shared by all of them.
pub(crate) struct SearchBudget {
    /// The remaining allowance of the current search.
    per_search_left: usize,
    shared_left: usize,
}

impl SearchBudget {
    /// Ample for patterns that people write.
    const PER_SEARCH_LIMIT: usize = 200_000;
    /// About one to two seconds, and less than 200 MB.
    const SHARED_LIMIT: usize = 100_000_000;
    /// The cost of storing one prefix, to account for its memory.
    const NODE_MEMORY_COST: usize = 128;
    /// Number of earlier prefixes, those with the fewest states first, that a new one is compared with.
    const MAX_COMPARED_NODES: usize = 16;

    fn spend(&mut self, amount: usize) -> Result<(), TooComplex> {
        if let Some(little) = self.per_search_left.checked_sub(amount) {
            self.per_search_left = little;
        } else {
            self.shared_left = self.shared_left.checked_sub(amount).ok_or(TooComplex)?;
        }
        Ok(())
    }
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self { per_search_left: 0, shared_left: Self::SHARED_LIMIT }
    }
}

/// Returns the shortest path that both of `inside` match and none of `outside` does.
pub(crate) fn shortest(
    inside: [&[PatternStep]; 2],
    outside: &[&[PatternStep]],
    budget: &mut SearchBudget,
) -> Result<Option<Vec<u8>>, TooComplex> {
    budget.per_search_left = SearchBudget::PER_SEARCH_LIMIT;
    let programs = || inside.into_iter().chain(outside.iter().copied());
    budget.spend(representative_chars::work(programs()))?;
    let letters = representative_chars::of(programs());
    let mut search = WitnessSearch { inside, outside, budget, reached: Vec::new(), kept: BTreeSet::new() };
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

struct WitnessSearch<'a> {
    inside: [&'a [PatternStep]; 2],
    outside: &'a [&'a [PatternStep]],
    budget: &'a mut SearchBudget,
    /// Every prefix worth following, shortest first.
    reached: Vec<SearchNode>,
    /// The states they lead to; among those that differ only in `outside`, fewer states sort first.
    kept: BTreeSet<([AutomatonState; 2], PathGrammarState, ExcludedStates)>,
}

/// The states that a prefix of a path leads to.
struct SearchNode {
    inside: [AutomatonState; 2],
    shape: PathGrammarState,
    outside: ExcludedStates,
    /// The prefix one character shorter, and that character.
    came: Option<(usize, PathChar)>,
}

/// All states of the programs that must not match; fewer states sort first.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct ExcludedStates {
    n_places: usize,
    /// Sorted pairs of program number and state.
    places: Rc<[(u32, AutomatonState)]>,
}

impl ExcludedStates {
    fn new(places: Vec<(u32, AutomatonState)>) -> Self {
        Self { n_places: places.len(), places: places.into() }
    }

    fn is_within(&self, other: &Self) -> bool {
        let mut others = other.places.iter();
        self.places.iter().all(|own| others.by_ref().find(|other| *other >= own) == Some(own))
    }
}

impl WitnessSearch<'_> {
    fn start(&mut self) -> Result<(), TooComplex> {
        let outside = ExcludedStates::new(
            (0..).zip(self.outside).map(|(program, _)| (program, AutomatonState::START)).collect(),
        );
        if !self.is_lost(&outside) {
            self.reach(SearchNode {
                inside: [AutomatonState::START; 2],
                shape: PathGrammarState::Begin,
                outside,
                came: None,
            })?;
        }
        Ok(())
    }

    /// Extends a prefix by one character. Returns true if that gives a wanted path, which is then the last one reached.
    fn follow(&mut self, from: usize, unit: PathChar) -> Result<bool, TooComplex> {
        let here = &self.reached[from];
        self.budget.spend(here.outside.n_places + 1)?;
        let Some(shape) = here.shape.advance(unit) else { return Ok(false) };
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
                if self.reach(SearchNode { inside, shape, outside, came })? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn read_outside(&self, outside: &ExcludedStates, unit: PathChar) -> ExcludedStates {
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
        ExcludedStates::new(next)
    }

    /// Returns true if a program that must not match will match whatever follows.
    fn is_lost(&self, outside: &ExcludedStates) -> bool {
        outside.places.iter().any(|&(program, place)| place.takes_the_rest(self.outside[program as usize]))
    }

    /// Stores a prefix if it is worth following. Returns true if it is a wanted path.
    fn reach(&mut self, beginning: SearchNode) -> Result<bool, TooComplex> {
        let SearchNode { inside, shape, ref outside, .. } = beginning;
        let earlier = self.kept.range((inside, shape, ExcludedStates::default())..);
        let mut rivals = earlier
            .take_while(|kept| (kept.0, kept.1) == (inside, shape))
            .take(SearchBudget::MAX_COMPARED_NODES);
        self.budget.spend(SearchBudget::MAX_COMPARED_NODES * outside.n_places)?;
        if rivals.any(|kept| kept.2.is_within(outside)) || !self.kept.insert((inside, shape, outside.clone()))
        {
            return Ok(false);
        }
        self.budget.spend(SearchBudget::NODE_MEMORY_COST + outside.n_places)?;
        let wanted = self.is_wanted(&beginning);
        self.reached.push(beginning);
        Ok(wanted)
    }

    fn is_wanted(&self, beginning: &SearchNode) -> bool {
        beginning.shape.is_whole()
            && beginning.inside.iter().zip(self.inside).all(|(place, program)| place.may_end(program))
            && !beginning
                .outside
                .places
                .iter()
                .any(|&(program, place)| place.may_end(self.outside[program as usize]))
    }

    /// Returns the bytes of the prefix reached last.
    fn last_path(&self) -> Vec<u8> {
        let mut units = Vec::new();
        let mut came = self.reached.last().and_then(|beginning| beginning.came);
        while let Some((from, unit)) = came {
            units.push(unit);
            came = self.reached[from].came;
        }
        compiled::encode(units.into_iter().rev())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_paths::compiled::Glob;

    /// Excludes every name longer than eight characters in a way that requires remembering each of the last eight.
    fn search(budget: &mut SearchBudget) -> Result<Option<Vec<u8>>, TooComplex> {
        let program = |pattern: &[u8]| Glob::parse(pattern).expect("a glob").program();
        let outside = [program(b"*a????????"), program(b"*[!a]????????")];
        shortest([&program(b"*"), &program(b"?????????*")], &[&outside[0], &outside[1]], budget)
    }

    #[test]
    fn what_is_too_intricate_is_not_guessed() {
        assert_eq!(
            search(&mut SearchBudget { shared_left: 10_000, ..SearchBudget::default() }),
            Err(TooComplex)
        );
        assert_eq!(search(&mut SearchBudget::default()), Ok(None));
    }
}
