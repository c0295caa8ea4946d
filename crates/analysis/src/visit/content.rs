//! Fingerprints of a unit's content, independent of its name and layout, which copies share.
//!
//! `exact` covers the statements of the body. `renamed` covers their shapes and, for each use of a name, the
//! distance to the previous use of the same name *within the unit* (zero for the first use). Units that
//! differ by a consistent renaming have the same distances; swapping two variables changes them. Members and
//! variables are distinguished, so that `sort(key=key)` and `sort(key=k)` are still equal.

use crate::facts::{FileFacts, IndexRange, NameUse, Statement, count};
use crate::hash::mix;

/// Units nested deeper get no fingerprints: each level costs a pass over the whole unit.
const MAX_UNIT_DEPTH: u32 = 12;

/// Computes the fingerprints of all units.
pub(super) fn fill_fingerprints(facts: &mut FileFacts) {
    let earlier = NameDistances::of(&facts.names, facts.symbols.len());
    let mut depths = Vec::with_capacity(facts.units.len());
    for index in 0..facts.units.len() {
        let unit = &facts.units[index];
        let depth = unit.parent.map_or(0, |parent| depths[parent as usize] + 1);
        depths.push(depth);
        if depth <= MAX_UNIT_DEPTH {
            let statements = &facts.statements[unit.statements.usize()];
            let exact = exact(statements);
            let renamed = renamed(statements, &earlier, unit.names.end);
            facts.units[index].exact = exact;
            facts.units[index].renamed = renamed;
        }
    }
}

/// Hashes the exact statements.
fn exact(statements: &[Statement]) -> u64 {
    fold(statements, |state, _, statement| mix(state, statement.exact))
}

/// Hashes the statements up to a consistent renaming, with the name uses up to `names_end`.
fn renamed(statements: &[Statement], earlier: &NameDistances, names_end: u32) -> u64 {
    let first = statements.first().map_or(names_end, |statement| statement.first_name);
    let shapes = fold(statements, |state, _, statement| mix(state, statement.shape));
    earlier
        .within(IndexRange { start: first, end: names_end })
        .fold(shapes, |state, back| mix(state, u64::from(back)))
}

fn fold(statements: &[Statement], mut step: impl FnMut(u64, usize, &Statement) -> u64) -> u64 {
    let base = statements.first().map_or(0, |statement| statement.depth);
    statements.iter().enumerate().filter(|(_, statement)| !statement.idle).fold(
        0,
        |state, (index, statement)| {
            step(mix(state, u64::from(statement.depth.wrapping_sub(base))), index, statement)
        },
    )
}

/// For each use of a name, the distance to the previous use of the same name.
pub(crate) struct NameDistances(Vec<u32>);

impl NameDistances {
    pub(crate) fn of(names: &[NameUse], n_symbols: usize) -> Self {
        // Members and variables with the same name are distinct.
        let mut last = vec![u32::MAX; n_symbols * 2];
        let back = names.iter().enumerate().map(|(index, name)| {
            let slot = name.symbol() as usize * 2 + usize::from(name.is_member());
            let before = std::mem::replace(&mut last[slot], count(index));
            if before == u32::MAX { 0 } else { count(index) - before }
        });
        Self(back.collect())
    }

    /// Returns the distances of the uses in `span`; those that reach outside it count as first uses.
    pub(crate) fn within(&self, span: IndexRange) -> impl Iterator<Item = u32> + '_ {
        let uses = self.0[span.usize()].iter().enumerate();
        uses.map(|(index, &back)| if back as usize > index { 0 } else { back })
    }
}
