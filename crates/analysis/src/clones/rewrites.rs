//! Callables that were rewritten, as language models copy code: braces added or dropped, a part of an expression
//! pulled into a variable, branches turned around, statements moved.
//!
//! Few whole statements survive that, but long runs of tokens do. Some short runs of every callable are chosen by their
//! fingerprints alone (winnowing), so that the same ones are chosen in both copies. Callables with enough of them in
//! common are compared token by token ([`super::tiling`]). Runs that many callables have say nothing and are left out.

use super::NearClonePair;
use super::align::near_pair;
use super::sequences::{SequenceTable, StatementSequence};
use super::tiling::{self, TokenStream, TokenTile};
use crate::corpus::CorpusFile;
use crate::facts::{CodeUnit, count};
use crate::hash::{RepetitionFilter, mix};
use crate::settings::AnalysisSettings;
use rayon::prelude::*;

/// Length of the runs of which some are chosen, and of the windows in which at least one is: a common part of
/// `RUN_TOKENS + WINDOW_RUNS - 1` tokens always has a chosen run in common.
const RUN_TOKENS: usize = 6;
const WINDOW_RUNS: usize = 6;
/// Runs that more callables have are left out.
const COMMON_RUN_THRESHOLD: usize = 10;
/// Minimum number of chosen runs that two callables must share, and their minimum share of the smaller one, in percent.
const MIN_SHARED_RUNS: u32 = 2;
const MIN_SHARED_RUNS_PERCENT: u32 = 12;

/// Tiles leave out what is too short for them, so they may cover this much less than an alignment, in percent.
const SIMILARITY_ALLOWANCE: u32 = 10;
/// Less similar pairs are told, but do not count as repeated code.
const MIN_REPEATED_PERCENT: u32 = 80;
/// Minimum share of variable uses that follow one renaming.
const MIN_CONSISTENT_PERCENT: usize = 75;

/// Finds pairs of callables of which one is a rewritten copy of the other.
pub(super) fn find(
    files: &[CorpusFile],
    settings: &AnalysisSettings,
    all: &SequenceTable,
    is_given_up: &(dyn Fn() -> bool + Sync),
) -> Vec<NearClonePair> {
    let search = RewriteSearch { files, settings, all };
    let candidates = search.candidates();
    let by_first: Vec<&[(u32, u32)]> = candidates.chunk_by(|a, b| a.0 == b.0).collect();
    let compared: Vec<Vec<NearClonePair>> = by_first
        .par_iter()
        .map(|pairs| if is_given_up() { Vec::new() } else { search.compare_all(pairs) })
        .collect();
    compared.into_iter().flatten().collect()
}

struct RewriteSearch<'a> {
    files: &'a [CorpusFile],
    settings: &'a AnalysisSettings,
    all: &'a SequenceTable,
}

impl RewriteSearch<'_> {
    /// Returns the pairs of sequences that share enough chosen runs, in order.
    fn candidates(&self) -> Vec<(u32, u32)> {
        let chosen: Vec<Vec<u64>> =
            self.all.distinct.par_iter().map(|sequence| self.chosen_runs(sequence)).collect();
        let n_chosen = chosen.iter().map(Vec::len).sum();
        let filter = RepetitionFilter::of(chosen.iter().flatten().copied(), n_chosen);
        let mut runs: Vec<(u64, u32)> = Vec::new();
        for (sequence, chosen) in chosen.iter().enumerate() {
            let chosen = chosen.iter().filter(|run| filter.may_repeat(**run));
            runs.extend(chosen.map(|&run| (run, count(sequence))));
        }
        runs.par_sort_unstable();
        let mut pairs = Vec::new();
        for equal in runs.chunk_by(|a, b| a.0 == b.0).filter(|equal| equal.len() <= COMMON_RUN_THRESHOLD) {
            for (index, &(_, first)) in equal.iter().enumerate() {
                pairs.extend(equal[index + 1..].iter().map(|&(_, second)| (first, second)));
            }
        }
        pairs.par_sort_unstable();
        let is_enough = |same: &&[(u32, u32)]| {
            let (first, second) = same[0];
            let least = chosen[first as usize].len().min(chosen[second as usize].len());
            let n_shared = count(same.len());
            n_shared >= MIN_SHARED_RUNS && n_shared * 100 >= count(least) * MIN_SHARED_RUNS_PERCENT
        };
        pairs.chunk_by(|a, b| a == b).filter(is_enough).map(|same| same[0]).collect()
    }

    fn unit(&self, sequence: &StatementSequence) -> (&CorpusFile, &CodeUnit) {
        let (file, unit) = self.all.place(sequence);
        let file = &self.files[file as usize];
        (file, &file.facts.units[unit as usize])
    }

    /// Returns the fingerprints of the runs that stand for a sequence, sorted and unique; none if it is not compared.
    fn chosen_runs(&self, sequence: &StatementSequence) -> Vec<u64> {
        let (file, unit) = self.unit(sequence);
        if !sequence.is_callable || unit.n_tokens < self.settings.clone_tokens {
            return Vec::new();
        }
        let ids = tiling::token_ids(file, unit);
        if count(ids.len()) < self.least_matched(100) {
            return Vec::new();
        }
        let mut chosen = least_of_windows(&run_fingerprints(file.language as u64, &ids));
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Minimum number of tokens that two callables must have in common: fewer if they have most of them in common.
    /// Tokens without parentheses and commas are two thirds of those that `clone_tokens` counts.
    const fn least_matched(&self, similarity: u32) -> u32 {
        let share = if similarity < self.settings.clone_similarity { 70 } else { 50 };
        self.settings.clone_tokens * share / 100
    }

    /// Compares pairs that have the first callable in common.
    fn compare_all(&self, pairs: &[(u32, u32)]) -> Vec<NearClonePair> {
        let sequence = |index: u32| &self.all.distinct[index as usize];
        let first = sequence(pairs[0].0);
        let (file, unit) = self.unit(first);
        let one = TokenStream::of(file, unit);
        pairs.iter().filter_map(|&(_, second)| self.compare(first, &one, sequence(second))).collect()
    }

    fn compare(
        &self,
        first: &StatementSequence,
        one: &TokenStream,
        second: &StatementSequence,
    ) -> Option<NearClonePair> {
        let (file, unit) = self.unit(second);
        let other = TokenStream::of(file, unit);
        let most = 2 * one.len().min(other.len()) * 100 / (one.len() + other.len());
        let least = self.settings.clone_similarity.saturating_sub(SIMILARITY_ALLOWANCE);
        if count(most) < least {
            return None;
        }
        let tiles = tiling::tiles(one, &other);
        let n_matched: usize = tiles.iter().map(|tile| tile.len).sum();
        let similarity = count(2 * n_matched * 100 / (one.len() + other.len()));
        if similarity < least || count(n_matched) < self.least_matched(similarity) {
            return None;
        }
        let (n_variables, n_consistent) = tiling::consistent_variables(one, &other, &tiles);
        let is_renaming = n_consistent * 100 >= n_variables * MIN_CONSISTENT_PERCENT;
        if !is_renaming || !tiling::are_varied(one, &tiles) {
            return None;
        }
        let fragments = [first, second].map(|sequence| self.all.fragment(sequence, sequence.positions));
        let repeated = if similarity < MIN_REPEATED_PERCENT {
            Vec::new()
        } else {
            self.repeated_statements(second, &other, &tiles)
        };
        Some(near_pair(self.files, fragments, repeated, count(n_matched), similarity))
    }

    /// Returns the statements of the second callable whose first token is in a tile.
    fn repeated_statements(
        &self,
        sequence: &StatementSequence,
        stream: &TokenStream,
        tiles: &[TokenTile],
    ) -> Vec<u32> {
        let (file, unit) = self.unit(sequence);
        let mut places: Vec<u32> = tiles
            .iter()
            .flat_map(|tile| (tile.second()..tile.second() + tile.len).map(|at| stream.place(at)))
            .collect();
        places.sort_unstable();
        let statements = (unit.statements.start..).zip(&file.facts.statements[unit.statements.usize()]);
        let is_repeated = |first: u32| places.binary_search(&first).is_ok();
        statements
            .filter(|(_, statement)| !statement.idle && is_repeated(statement.first_token))
            .map(|(index, _)| index)
            .collect()
    }
}

/// Returns the least run of every window; where windows in a row choose the same, once.
fn least_of_windows(runs: &[u64]) -> Vec<u64> {
    let mut chosen: Vec<u64> = Vec::with_capacity(runs.len() / 2);
    let mut least = 0;
    for end in WINDOW_RUNS..=runs.len() {
        let start = end - WINDOW_RUNS;
        if start == 0 || least < start {
            least = (start..end).min_by_key(|&at| runs[at]).expect("a window is not empty");
        } else if runs[end - 1] < runs[least] {
            least = end - 1;
        }
        if chosen.last() != Some(&runs[least]) {
            chosen.push(runs[least]);
        }
    }
    chosen
}

/// Returns the fingerprint of every run, each from the one before: a polynomial in the tokens, mixed.
fn run_fingerprints(language: u64, ids: &[u32]) -> Vec<u64> {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let leading = (0..RUN_TOKENS).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut state = 0_u64;
    let mut runs = Vec::with_capacity(ids.len());
    for (at, &id) in ids.iter().enumerate() {
        state = state.wrapping_mul(BASE).wrapping_add(u64::from(id) + 1);
        if let Some(gone) = at.checked_sub(RUN_TOKENS) {
            state = state.wrapping_sub((u64::from(ids[gone]) + 1).wrapping_mul(leading));
        }
        if at + 1 >= RUN_TOKENS {
            runs.push(mix(language, state));
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_window_chooses_its_least_run() {
        for n in 0..60 {
            let runs: Vec<u64> = (0..n).map(|at: u64| mix(at, 7) % 9).collect();
            let mut expected: Vec<u64> =
                runs.windows(WINDOW_RUNS).filter_map(|window| window.iter().min().copied()).collect();
            expected.dedup();
            assert_eq!(least_of_windows(&runs), expected);
        }
    }

    #[test]
    fn a_run_has_one_fingerprint_wherever_it_stands() {
        let ids: Vec<u32> = (0..40).map(|n| n * n % 7).collect();
        let all = run_fingerprints(1, &ids);
        assert_eq!(all.len(), ids.len() - RUN_TOKENS + 1);
        for (at, run) in ids.windows(RUN_TOKENS).enumerate() {
            assert_eq!(run_fingerprints(1, run), [all[at]]);
            assert_ne!(run_fingerprints(2, run), [all[at]]);
        }
        assert!(run_fingerprints(1, &ids[..RUN_TOKENS - 1]).is_empty());
    }
}
