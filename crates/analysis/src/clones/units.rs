//! Whole units that are equal up to a consistent renaming.

use super::sequences::SequenceHasher;
use super::{CloneGroup, CodeFragment, UnionFind};
use crate::corpus::CorpusFile;
use crate::facts::{CodeUnit, UnitKind, count};
use crate::hash::{self, mix};
use crate::settings::AnalysisSettings;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Each set of member names within one fingerprint is compared with at most this many others.
const MAX_VARIANTS: usize = 16;

/// Minimum share of equal members of two units, in percent: for callables, and for files and classes.
const MIN_SAME_MEMBERS_PERCENT: usize = 50;
const MIN_SAME_CLASS_MEMBERS_PERCENT: usize = 80;

/// A unit that is large enough to be compared.
struct CandidateUnit {
    key: u64,
    fragment: CodeFragment,
    n_tokens: u32,
}

/// Returns the groups of equal units, largest first.
pub(super) fn find(files: &[CorpusFile], settings: &AnalysisSettings) -> Vec<CloneGroup> {
    let mut candidates: Vec<CandidateUnit> =
        files.iter().enumerate().flat_map(|(index, file)| candidates(count(index), file, settings)).collect();
    candidates.par_sort_unstable_by_key(|candidate| (candidate.key, candidate.fragment.place()));
    let equal = candidates.chunk_by(|a, b| a.key == b.key).filter(|equal| equal.len() > 1);
    equal.flat_map(|equal| split_by_members(files, equal, settings)).collect()
}

fn candidates(index: u32, file: &CorpusFile, settings: &AnalysisSettings) -> Vec<CandidateUnit> {
    let units = file.facts.units.iter().enumerate();
    units
        .filter(|(_, unit)| is_comparable(unit, settings) && !is_list_of_names(file, unit, settings))
        .map(|(unit, facts)| CandidateUnit {
            key: mix(hash::of_bytes(file.language.name().as_bytes()), facts.renamed),
            fragment: CodeFragment {
                file: index,
                statements: facts.statements,
                unit: count(unit),
                is_unit: true,
                content: 0,
            },
            n_tokens: facts.n_tokens,
        })
        .collect()
}

/// Returns true if a unit is large enough. A single statement must be twice as large, since it may be a table.
pub(super) fn is_comparable(unit: &CodeUnit, settings: &AnalysisSettings) -> bool {
    let factor = if unit.statements.len() < 2 { 2 } else { 1 };
    unit.renamed != 0
        && !unit.statements.is_empty()
        && unit.n_tokens >= settings.clone_tokens * factor
        && (unit.kind != UnitKind::Class || unit.statements.len() > 3)
}

/// Returns true for a class or file that is mostly a list of names: enumerations with the same few lines behind as many constants
/// are no copies of each other.
fn is_list_of_names(file: &CorpusFile, unit: &CodeUnit, settings: &AnalysisSettings) -> bool {
    const MAX_NAME_TOKENS: u32 = 2;
    let statements = &file.facts.statements[unit.statements.start as usize..unit.statements.end as usize];
    let said = statements.iter().map(|statement| statement.n_tokens).filter(|&n| n > MAX_NAME_TOKENS);
    let has_names = statements.iter().filter(|statement| statement.n_tokens <= MAX_NAME_TOKENS).count() > 3;
    !unit.kind.is_callable() && has_names && said.sum::<u32>() < settings.clone_tokens
}

/// Returns the fingerprints of the members, types and callees that a unit names, in order.
fn members(files: &[CorpusFile], fragment: &CodeFragment) -> Vec<u64> {
    let file = &files[fragment.file as usize];
    let unit = &file.facts.units[fragment.unit as usize];
    let first = file.facts.statements[unit.statements.start as usize].first_name as usize;
    file.facts.names[first..unit.names.end as usize]
        .iter()
        .filter(|name| name.is_member())
        .map(|name| file.symbols[name.symbol() as usize])
        .collect()
}

/// Units of one shape that name the same members.
struct UnitVariant {
    members: Vec<u64>,
    fragments: Vec<CodeFragment>,
}

/// Separates small units of one shape that name different members: they only look alike.
fn split_by_members(
    files: &[CorpusFile],
    equal: &[CandidateUnit],
    settings: &AnalysisSettings,
) -> Vec<CloneGroup> {
    let first = &equal[0];
    let unit = &files[first.fragment.file as usize].facts.units[first.fragment.unit as usize];
    // Size, or agreement of half the members, is enough only for a callable. A file whose parts are not
    // copies is not a copy either, and the similarity would vanish with the next edit.
    let is_callable = unit.kind.is_callable();
    let is_large = is_callable && first.n_tokens >= settings.clone_tokens * 3;
    let least = if is_callable { MIN_SAME_MEMBERS_PERCENT } else { MIN_SAME_CLASS_MEMBERS_PERCENT };
    let mut groups: Vec<Vec<UnitVariant>> = if is_large {
        let fragments = equal.iter().map(|candidate| candidate.fragment).collect();
        vec![vec![UnitVariant { members: Vec::new(), fragments }]]
    } else {
        alike(variants(files, equal), least)
    };
    groups.sort_by_key(|group| group[0].fragments[0].place());
    // The key must not depend on which copy comes first: the first group uses the fingerprint alone, and the
    // rare further ones add what they name.
    let keyed = groups.into_iter().enumerate().map(|(index, group)| {
        let key = if index == 0 { first.key } else { mix_all(first.key, &group[0].members) };
        CloneGroup { key, n_tokens: first.n_tokens, members: members_of(files, group) }
    });
    keyed.filter(|group| group.members.len() > 1).collect()
}

/// Returns the variants of equal units sorted by what they name, so that neighbors begin alike.
fn variants(files: &[CorpusFile], equal: &[CandidateUnit]) -> Vec<UnitVariant> {
    let mut variants: BTreeMap<Vec<u64>, Vec<CodeFragment>> = BTreeMap::new();
    for candidate in equal {
        let members = members(files, &candidate.fragment);
        variants.entry(members).or_default().push(candidate.fragment);
    }
    variants.into_iter().map(|(members, fragments)| UnitVariant { members, fragments }).collect()
}

/// Groups variants that are similar, directly or through others; in each group the first by location comes first.
fn alike(variants: Vec<UnitVariant>, least: usize) -> Vec<Vec<UnitVariant>> {
    let mut forest = UnionFind::default();
    for (index, variant) in variants.iter().enumerate() {
        let node = forest.add();
        let before = (0..index).rev().take(MAX_VARIANTS);
        for other in before.filter(|&other| share_equal(&variants[other].members, &variant.members) >= least)
        {
            forest.union(count(other), node);
        }
    }
    let mut groups: BTreeMap<u32, Vec<UnitVariant>> = BTreeMap::new();
    for (index, variant) in variants.into_iter().enumerate() {
        groups.entry(forest.find(count(index))).or_default().push(variant);
    }
    let mut groups: Vec<Vec<UnitVariant>> = groups.into_values().collect();
    for group in &mut groups {
        group.sort_by_key(|variant| variant.fragments[0].place());
    }
    groups
}

/// Returns the members of a group by location, if there is more than one.
fn members_of(files: &[CorpusFile], group: Vec<UnitVariant>) -> Vec<CodeFragment> {
    let mut members: Vec<CodeFragment> = group.into_iter().flat_map(|variant| variant.fragments).collect();
    if members.len() > 1 {
        members.sort_unstable_by_key(CodeFragment::place);
        for member in &mut members {
            member.content = SequenceHasher::new(&files[member.file as usize]).of_span(member.statements);
        }
    }
    members
}

fn mix_all(key: u64, members: &[u64]) -> u64 {
    members.iter().fold(key, |key, &member| mix(key, member))
}

/// Returns the share of equal members at equal positions, in percent.
fn share_equal(a: &[u64], b: &[u64]) -> usize {
    let n_equal = a.iter().zip(b).filter(|(a, b)| a == b).count();
    (n_equal * 100).checked_div(a.len().max(b.len())).unwrap_or(100)
}
