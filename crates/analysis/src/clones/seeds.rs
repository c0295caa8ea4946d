//! Seeds: short runs of statements that occur in two places, where an alignment is worth trying.

use super::sequences::SequenceTable;
use crate::facts::{IndexRange, count};
use crate::hash::{RepetitionFilter, mix};
use rayon::prelude::*;

/// More frequent runs are linked only to the one with the most similar continuation.
const COMMON_RUN_THRESHOLD: usize = 12;

/// Runs compared by shape alone must be longer than runs that also name the same members.
const LOOSE_SEED: SeedKind = SeedKind { n_statements: 3, min_tokens: 15, is_strict: false };
const STRICT_SEED: SeedKind = SeedKind { n_statements: 2, min_tokens: 10, is_strict: true };

#[derive(Clone, Copy)]
struct SeedKind {
    n_statements: u32,
    min_tokens: u32,
    is_strict: bool,
}

/// Two statements that may be copies: positions in two sequences, the first sequence not after the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SeedMatch {
    pub sequences: (u32, u32),
    pub first: u32,
    pub second: u32,
}

/// Returns all seeds of a corpus, statement by statement, sorted and unique.
pub(super) fn find(all: &SequenceTable) -> Vec<SeedMatch> {
    let owner = owners(all);
    let (mut matches, strict) =
        rayon::join(|| find_kind(all, LOOSE_SEED, &owner), || find_kind(all, STRICT_SEED, &owner));
    matches.extend(strict);
    matches.par_sort_unstable();
    matches.dedup();
    matches
}

fn find_kind(all: &SequenceTable, kind: SeedKind, owner: &[u32]) -> Vec<SeedMatch> {
    let runs = runs(all, kind);
    let equal = runs.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1);
    equal.flat_map(|equal| link_occurrences(all, equal, kind, owner)).collect()
}

/// Returns the sequence of each position.
fn owners(all: &SequenceTable) -> Vec<u32> {
    let mut owners = vec![0; all.items.len()];
    for (index, sequence) in all.distinct.iter().enumerate() {
        owners[sequence.positions.usize()].fill(count(index));
    }
    owners
}

/// Returns the fingerprints of the runs that may repeat with their positions, sorted.
fn runs(all: &SequenceTable, kind: SeedKind) -> Vec<(u64, u32)> {
    let mut runs = Vec::with_capacity(all.items.len());
    for sequence in &all.distinct {
        let last = sequence.positions.end.saturating_sub(kind.n_statements - 1);
        runs.extend((sequence.positions.start..last).filter_map(|position| run(all, position, kind)));
    }
    let filter = RepetitionFilter::of(runs.iter().map(|(run, _)| *run), runs.len());
    runs.retain(|(run, _)| filter.may_repeat(*run));
    runs.par_sort_unstable();
    runs
}

fn run(all: &SequenceTable, position: u32, kind: SeedKind) -> Option<(u64, u32)> {
    let items = all.items(IndexRange { start: position, end: position + kind.n_statements });
    let n_tokens: u32 = items.iter().map(|item| item.n_tokens).sum();
    if n_tokens < kind.min_tokens {
        return None;
    }
    let depth = items[0].depth;
    let key = items.iter().fold(0, |key, item| {
        let statement = if kind.is_strict { item.strict } else { item.shape };
        mix(mix(key, statement), u64::from(item.depth.wrapping_sub(depth)))
    });
    Some((key, position))
}

/// Number of statements after a run that are compared as its continuation.
const CONTINUATION_STATEMENTS: u32 = 8;

/// Links the occurrences of one run: all with all if they are few, otherwise each with the one with the most
/// similar continuation.
fn link_occurrences(
    all: &SequenceTable,
    equal: &[(u64, u32)],
    kind: SeedKind,
    owner: &[u32],
) -> Vec<SeedMatch> {
    let mut places: Vec<u32> = equal.iter().map(|&(_, position)| position).collect();
    let is_common = places.len() > COMMON_RUN_THRESHOLD;
    if is_common {
        places
            .sort_by_cached_key(|&place| (continuation(all, place + kind.n_statements, owner, place), place));
    }
    let reach = if is_common { 1 } else { places.len() };
    let mut matches = Vec::new();
    for (index, &place) in places.iter().enumerate() {
        for &other in places[index + 1..].iter().take(reach) {
            let (first, second) = (place.min(other), place.max(other));
            let sequences = (owner[first as usize], owner[second as usize]);
            // Within one sequence a run must not overlap its own copy.
            if sequences.0 == sequences.1 && second - first < kind.n_statements {
                continue;
            }
            let pairs = (0..kind.n_statements).map(|step| SeedMatch {
                sequences,
                first: first + step,
                second: second + step,
            });
            matches.extend(pairs);
        }
    }
    matches
}

/// Returns the statements that follow a run in its sequence.
fn continuation(all: &SequenceTable, next: u32, owner: &[u32], run: u32) -> Vec<u64> {
    let end = all.distinct[owner[run as usize] as usize].positions.end.min(next + CONTINUATION_STATEMENTS);
    all.items(IndexRange { start: next, end }).iter().map(|item| item.strict).collect()
}
