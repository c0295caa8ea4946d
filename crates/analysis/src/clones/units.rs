//! Whole units that are equal up to a consistent renaming.

use super::{Fragment, Group};
use crate::corpus::File;
use crate::facts::{Unit, UnitKind, count};
use crate::hash::{self, mix};
use crate::settings::Settings;
use rayon::prelude::*;

/// At most this many different sets of member names are compared within one fingerprint.
const MAX_VARIANTS: usize = 16;

/// A unit that is large enough to be compared.
struct Candidate {
    key: u64,
    fragment: Fragment,
    n_tokens: u32,
}

/// The groups of equal units, largest first.
pub(super) fn find(files: &[File], settings: &Settings) -> Vec<Group> {
    let mut candidates: Vec<Candidate> =
        files.iter().enumerate().flat_map(|(index, file)| candidates(count(index), file, settings)).collect();
    candidates.par_sort_unstable_by_key(|candidate| (candidate.key, candidate.fragment.place()));
    let equal = candidates.chunk_by(|a, b| a.key == b.key).filter(|equal| equal.len() > 1);
    equal.flat_map(|equal| split_by_members(files, equal, settings)).collect()
}

fn candidates(index: u32, file: &File, settings: &Settings) -> Vec<Candidate> {
    let units = file.facts.units.iter().enumerate();
    units
        .filter(|(_, unit)| is_comparable(unit, settings))
        .map(|(unit, facts)| Candidate {
            key: mix(hash::of_bytes(file.language.name().as_bytes()), facts.renamed),
            fragment: Fragment {
                file: index,
                statements: facts.statements,
                unit: count(unit),
                is_unit: true,
            },
            n_tokens: facts.n_tokens,
        })
        .collect()
}

/// Large enough to mean something. A lone statement must be twice as large: it may be a table.
pub(super) fn is_comparable(unit: &Unit, settings: &Settings) -> bool {
    let factor = if unit.statements.len() < 2 { 2 } else { 1 };
    unit.renamed != 0
        && !unit.statements.is_empty()
        && unit.n_tokens >= settings.clone_tokens * factor
        && (unit.kind != UnitKind::Class || unit.statements.len() > 3)
}

/// The fingerprints of the members, types and callees that a unit names, in order.
fn members(files: &[File], fragment: &Fragment) -> Vec<u64> {
    let file = &files[fragment.file as usize];
    let unit = &file.facts.units[fragment.unit as usize];
    let first = file.facts.statements[unit.statements.start as usize].first_name as usize;
    file.facts.names[first..unit.names.end as usize]
        .iter()
        .filter(|name| name.is_member())
        .map(|name| file.symbols[name.symbol() as usize])
        .collect()
}

/// Small units of one shape that name other members are no copies of each other: they only look alike.
fn split_by_members(files: &[File], equal: &[Candidate], settings: &Settings) -> Vec<Group> {
    let n_tokens = equal[0].n_tokens;
    let first = &equal[0].fragment;
    let unit = &files[first.file as usize].facts.units[first.unit as usize];
    // Only a callable is believed by its length: a file of small parts that are no copies is none either, and its
    // likeness would end with the next edit.
    let is_large = unit.kind.is_callable() && n_tokens >= settings.clone_tokens * 3;
    let mut groups: Vec<(Vec<u64>, Group)> = Vec::new();
    for candidate in equal {
        let own = members(files, &candidate.fragment);
        let fits = |(members, _): &(Vec<u64>, Group)| is_large || is_mostly_equal(members, &own);
        if let Some((_, group)) = groups.iter_mut().take(MAX_VARIANTS).find(|group| fits(group)) {
            group.members.push(candidate.fragment);
        } else {
            // The key must not hang on which of the copies comes first: a group of its own kind needs no more than
            // the fingerprint, and the rare further ones are told apart by what they name.
            let key = if groups.is_empty() { candidate.key } else { mix_all(candidate.key, &own) };
            groups.push((own, Group { key, n_tokens, members: vec![candidate.fragment] }));
        }
    }
    groups.into_iter().map(|(_, group)| group).filter(|group| group.members.len() > 1).collect()
}

fn mix_all(key: u64, members: &[u64]) -> u64 {
    members.iter().fold(key, |key, &member| mix(key, member))
}

fn is_mostly_equal(a: &[u64], b: &[u64]) -> bool {
    let n_equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
    n_equal * 2 >= a.len().max(b.len())
}
