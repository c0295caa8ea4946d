//! Alignments: how far two places with a common seed repeat each other.
//!
//! Matches are chained while at most `clone_gap` statements are between them on either side. A chain is accepted if it
//! is large enough, similar enough, has more than one kind of statement, renames variables consistently, and mostly
//! keeps members. Without gaps and inconsistencies it is a block; otherwise the two places are a near pair.

use super::seeds::{self, SeedMatch};
use super::sequences::{SequenceItem, SequenceTable, StatementSequence};
use super::{CloneGroup, CodeFragment, NearClonePair, units};
use crate::corpus::CorpusFile;
use crate::facts::IndexRange;
use crate::hash::{self, mix};
use crate::settings::AnalysisSettings;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// How many earlier matches are considered as predecessors.
const MAX_LOOK_BACK_MATCHES: usize = 64;
/// Minimum share of variable uses that follow one renaming, and of members that are the same.
const MIN_CONSISTENT_PERCENT: usize = 80;
const MIN_SAME_MEMBERS_PERCENT: usize = 50;

/// How many pairs of sequences are aligned before the caller is asked again whether it has given up.
const N_PAIRS_BETWEEN_CHECKS: usize = 16;

/// Matched positions of two sequences, in order.
type MatchChain = Vec<(u32, u32)>;

enum AlignmentOutcome {
    Block(u64, u32, Vec<CodeFragment>),
    Near(NearClonePair),
}

struct SequenceAligner<'a> {
    files: &'a [CorpusFile],
    settings: &'a AnalysisSettings,
    all: &'a SequenceTable,
}

/// Finds blocks that repeat each other exactly or renamed, and pairs that do so nearly.
pub(super) fn find(
    files: &[CorpusFile],
    settings: &AnalysisSettings,
    all: &SequenceTable,
    is_given_up: &(dyn Fn() -> bool + Sync),
) -> (Vec<CloneGroup>, Vec<NearClonePair>) {
    let aligner = SequenceAligner { files, settings, all };
    let matches = seeds::find(all);
    let between: Vec<&[SeedMatch]> = matches.chunk_by(|a, b| a.sequences == b.sequences).collect();
    let align_all = |matches: &[&[SeedMatch]]| -> Vec<AlignmentOutcome> {
        if is_given_up() {
            Vec::new()
        } else {
            matches.iter().flat_map(|found| aligner.align(found)).collect()
        }
    };
    let outcomes: Vec<Vec<AlignmentOutcome>> =
        between.par_chunks(N_PAIRS_BETWEEN_CHECKS).map(align_all).collect();
    let copied = aligner.all.distinct.iter().filter_map(|sequence| aligner.copied(sequence));
    let mut blocks: BTreeMap<u64, CloneGroup> = BTreeMap::new();
    let mut pairs = Vec::new();
    for outcome in outcomes.into_iter().flatten().chain(copied) {
        match outcome {
            AlignmentOutcome::Near(pair) => pairs.push(pair),
            AlignmentOutcome::Block(key, n_tokens, fragments) => {
                let group = blocks.entry(key).or_insert(CloneGroup { key, n_tokens, members: Vec::new() });
                group.members.extend(fragments);
            }
        }
    }
    let mut blocks: Vec<CloneGroup> = blocks.into_values().collect();
    for block in &mut blocks {
        block.members.sort_unstable_by_key(CodeFragment::place);
        block.members.dedup_by_key(|member| member.place());
    }
    (blocks, pairs)
}

impl SequenceAligner<'_> {
    fn align(&self, matches: &[SeedMatch]) -> Vec<AlignmentOutcome> {
        let (first, second) = matches[0].sequences;
        let (first, second) = (self.all.distinct[first as usize], self.all.distinct[second as usize]);
        let n_tokens: u32 = matches.iter().map(|found| self.item(found.first).n_tokens).sum();
        if n_tokens < self.settings.clone_tokens / 2 || self.are_equal_units(&first, &second) {
            return Vec::new();
        }
        let chains = self.chains(matches);
        chains.into_iter().filter_map(|chain| self.evaluate_chain(&first, &second, chain)).collect()
    }

    fn item(&self, position: u32) -> &SequenceItem {
        &self.all.items[position as usize]
    }

    /// Returns true if both are whole callables, which [`units`] already compares.
    fn are_equal_units(&self, first: &StatementSequence, second: &StatementSequence) -> bool {
        let unit = |sequence: &StatementSequence| {
            let (file, unit) = self.all.place(sequence);
            &self.files[file as usize].facts.units[unit as usize]
        };
        first.is_callable
            && second.is_callable
            && unit(first).renamed == unit(second).renamed
            && units::is_comparable(unit(first), self.settings)
    }

    /// Returns the block formed by the copies of a sequence outside callables. Copies of callables are
    /// compared as units.
    fn copied(&self, sequence: &StatementSequence) -> Option<AlignmentOutcome> {
        let positions = sequence.positions;
        let n_tokens = self.n_tokens(positions);
        let identity: MatchChain =
            (positions.start..positions.end).map(|position| (position, position)).collect();
        let is_block = SequenceTable::has_copies(sequence)
            && !sequence.is_callable
            && n_tokens >= self.settings.block_tokens
            && self.is_varied(&identity);
        let fragments = || self.all.fragments(sequence, positions).collect();
        is_block.then(|| AlignmentOutcome::Block(self.content(sequence, positions), n_tokens, fragments()))
    }

    /// Returns the heaviest chains of matches that follow each other closely in both sequences; no match is
    /// in two chains.
    fn chains(&self, matches: &[SeedMatch]) -> Vec<MatchChain> {
        // For each match the weight of the best chain that ends with it, and its predecessor in that chain.
        let mut best: Vec<(u32, Option<usize>)> = Vec::with_capacity(matches.len());
        for (index, found) in matches.iter().enumerate() {
            let own = self.item(found.first).n_tokens;
            let before = (index.saturating_sub(MAX_LOOK_BACK_MATCHES)..index)
                .filter(|&before| self.follows(&matches[before], found))
                .max_by_key(|&before| (best[before].0, before));
            best.push((own + before.map_or(0, |before| best[before].0), before));
        }
        let mut ends: Vec<usize> = (0..matches.len()).collect();
        ends.sort_by_key(|&end| (u32::MAX - best[end].0, end));
        let mut is_used = vec![false; matches.len()];
        ends.iter()
            .map(|&end| trace_chain(matches, &best, &mut is_used, end))
            .filter(|chain| !chain.is_empty())
            .collect()
    }

    /// Returns true if `next` may follow `found` in a chain.
    fn follows(&self, found: &SeedMatch, next: &SeedMatch) -> bool {
        let reach = self.settings.clone_gap + 1;
        let near = |from: u32, to: u32| to > from && to - from <= reach;
        near(found.first, next.first)
            && near(found.second, next.second)
            && self.keeps_depth((found.first, found.second), (next.first, next.second))
    }

    /// Returns true if two matches have the same relative nesting in both sequences.
    fn keeps_depth(&self, one: (u32, u32), other: (u32, u32)) -> bool {
        let offset =
            |(first, second): (u32, u32)| self.item(second).depth.wrapping_sub(self.item(first).depth);
        offset(one) == offset(other)
    }

    fn evaluate_chain(
        &self,
        first: &StatementSequence,
        second: &StatementSequence,
        chain: MatchChain,
    ) -> Option<AlignmentOutcome> {
        let chain = self.extend(first, second, chain);
        let (&start, &end) = (chain.first()?, chain.last()?);
        if first.positions == second.positions && start.1 <= end.0 {
            return None; // The two halves would overlap.
        }
        let mut spans =
            [IndexRange { start: start.0, end: end.0 + 1 }, IndexRange { start: start.1, end: end.1 + 1 }];
        let n_matched: u32 = chain.iter().map(|&(position, _)| self.item(position).n_tokens).sum();
        let covers = |sequence: &StatementSequence, span: IndexRange| {
            sequence.is_callable && self.n_tokens(span) * 100 >= self.n_tokens(sequence.positions) * 70
        };
        let are_units = covers(first, spans[0]) && covers(second, spans[1]);
        if are_units {
            spans = [first.positions, second.positions];
        }
        let n_tokens = spans.map(|span| self.n_tokens(span));
        let least = if are_units { self.settings.clone_tokens } else { self.settings.block_tokens };
        let similarity = n_matched * 200 / (n_tokens[0] + n_tokens[1]).max(1);
        if n_matched < least * 7 / 10
            || n_tokens[0].min(n_tokens[1]) < least
            || similarity < self.settings.clone_similarity
            || !self.is_varied(&chain)
        {
            return None;
        }
        let names = NameMatchCounts::of(self, (self.all.place(first).0, self.all.place(second).0), &chain);
        if !names.is_renaming(n_matched >= self.settings.block_tokens * 2) {
            return None;
        }
        let has_gaps = spans.iter().any(|span| span.len() as usize != chain.len());
        if has_gaps || !names.is_consistent() || are_units {
            let fragments = [self.all.fragment(first, spans[0]), self.all.fragment(second, spans[1])];
            return Some(AlignmentOutcome::Near(self.pair(fragments, &chain, n_matched, similarity)));
        }
        let key = self.content(first, spans[0]);
        let fragments = || self.all.fragments(first, spans[0]).chain(self.all.fragments(second, spans[1]));
        (key == self.content(second, spans[1]))
            .then(|| AlignmentOutcome::Block(key, n_matched, fragments().collect()))
    }

    /// Adds equal statements before, between and after those that the seeds found.
    fn extend(
        &self,
        first: &StatementSequence,
        second: &StatementSequence,
        mut chain: MatchChain,
    ) -> MatchChain {
        let is_same = |one: u32, other: u32| {
            self.item(one).shape == self.item(other).shape && self.keeps_depth(chain[0], (one, other))
        };
        let mut before = Vec::new();
        let (mut one, mut other) = chain[0];
        while one > first.positions.start && other > second.positions.start && is_same(one - 1, other - 1) {
            (one, other) = (one - 1, other - 1);
            before.push((one, other));
        }
        let mut after = Vec::new();
        let (mut one, mut other) = chain[chain.len() - 1];
        while one + 1 < first.positions.end && other + 1 < second.positions.end && is_same(one + 1, other + 1)
        {
            (one, other) = (one + 1, other + 1);
            after.push((one, other));
        }
        let mut between = Vec::new();
        for pair in chain.windows(2) {
            let (one, other) = (pair[0], pair[1]);
            if other.0 - one.0 == other.1 - one.1 {
                let steps = 1..other.0 - one.0;
                between
                    .extend(steps.map(|step| (one.0 + step, one.1 + step)).filter(|&(a, b)| is_same(a, b)));
            }
        }
        chain.extend(before);
        chain.extend(between);
        chain.extend(after);
        chain.sort_unstable();
        chain
    }

    fn n_tokens(&self, span: IndexRange) -> u32 {
        self.all.items(span).iter().map(|item| item.n_tokens).sum()
    }

    /// Returns true if a chain is more than one kind of statement repeated.
    fn is_varied(&self, chain: &MatchChain) -> bool {
        let mut shapes: Vec<u64> = chain.iter().map(|&(position, _)| self.item(position).shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        shapes.len() >= 3 && shapes.len() * 3 >= chain.len()
    }

    fn pair(
        &self,
        fragments: [CodeFragment; 2],
        chain: &MatchChain,
        n_tokens: u32,
        similarity: u32,
    ) -> NearClonePair {
        let repeated = chain.iter().map(|&(_, position)| self.all.statement(position)).collect();
        near_pair(self.files, fragments, repeated, n_tokens, similarity)
    }

    /// Returns a hash of a block up to a consistent renaming, as for units.
    fn content(&self, sequence: &StatementSequence, span: IndexRange) -> u64 {
        let file = &self.files[self.all.place(sequence).0 as usize];
        let items = self.all.items(span);
        let depth = items.first().map_or(0, |item| item.depth);
        let language = hash::of_bytes(file.language.name().as_bytes());
        let shapes = items
            .iter()
            .fold(language, |key, item| mix(mix(key, item.shape), u64::from(item.depth.wrapping_sub(depth))));
        let mut seen: BTreeMap<(u64, bool), u64> = BTreeMap::new();
        let names = items.iter().flat_map(|item| &file.facts.names[item.names.usize()]);
        names.fold(shapes, |key, name| {
            let next = seen.len() as u64;
            let slot = (file.symbols[name.symbol() as usize], name.is_member());
            mix(key, *seen.entry(slot).or_insert(next))
        })
    }
}

/// Returns a near pair. Its `repeated` statements are those of the second fragment.
pub(super) fn near_pair(
    files: &[CorpusFile],
    [first, second]: [CodeFragment; 2],
    repeated: Vec<u32>,
    n_tokens: u32,
    similarity: u32,
) -> NearClonePair {
    let repeated_in = second.file;
    let keys = [&first, &second].map(|fragment| fragment_key(files, fragment));
    let key = mix(keys[0].min(keys[1]), keys[0].max(keys[1]));
    let is_in_order = first.place() <= second.place();
    let (first, second) = if is_in_order { (first, second) } else { (second, first) };
    NearClonePair { first, second, repeated, repeated_in, n_tokens, similarity, key }
}

/// Returns a hash of a fragment's content, for the name of a pair.
fn fragment_key(files: &[CorpusFile], fragment: &CodeFragment) -> u64 {
    let facts = &files[fragment.file as usize].facts;
    let statements = &facts.statements[fragment.statements.usize()];
    statements.iter().filter(|statement| !statement.idle).fold(0, |key, statement| mix(key, statement.shape))
}

/// Traces the chain that ends with a match back to its start, or to a match that a heavier chain already uses.
fn trace_chain(
    matches: &[SeedMatch],
    best: &[(u32, Option<usize>)],
    is_used: &mut [bool],
    end: usize,
) -> MatchChain {
    let mut chain = Vec::new();
    let mut here = Some(end);
    while let Some(index) = here.filter(|&index| !is_used[index]) {
        is_used[index] = true;
        chain.push((matches[index].first, matches[index].second));
        here = best[index].1;
    }
    chain.reverse();
    chain
}

/// Counts how the names of two aligned fragments correspond.
#[derive(Default)]
struct NameMatchCounts {
    variables: usize,
    consistent: usize,
    members: usize,
    same_members: usize,
    consistent_members: usize,
    unpaired: usize,
}

impl NameMatchCounts {
    fn of(aligner: &SequenceAligner<'_>, files: (u32, u32), chain: &MatchChain) -> Self {
        let mut names = Self::default();
        let mut renaming = [BTreeMap::new(), BTreeMap::new()];
        let mut back = [BTreeMap::new(), BTreeMap::new()];
        let files = (&aligner.files[files.0 as usize], &aligner.files[files.1 as usize]);
        for &(first, second) in chain {
            let first = &files.0.facts.names[aligner.item(first).names.usize()];
            let second = &files.1.facts.names[aligner.item(second).names.usize()];
            names.unpaired += first.len().abs_diff(second.len());
            for (one, other) in first.iter().zip(second) {
                let kind = usize::from(one.is_member());
                let (from, to) =
                    (files.0.symbols[one.symbol() as usize], files.1.symbols[other.symbol() as usize]);
                let is_consistent = *renaming[kind].entry(from).or_insert(to) == to
                    && *back[kind].entry(to).or_insert(from) == from
                    && one.is_member() == other.is_member();
                names.add(one.is_member(), is_consistent, from == to);
            }
        }
        names
    }

    const fn add(&mut self, is_member: bool, is_consistent: bool, is_same: bool) {
        if is_member {
            self.members += 1;
            self.same_members += is_same as usize;
            self.consistent_members += is_consistent as usize;
        } else {
            self.variables += 1;
            self.consistent += is_consistent as usize;
        }
    }

    /// Returns true if the second fragment is the first with other names, except for small edits.
    const fn is_renaming(&self, is_large: bool) -> bool {
        let is_consistent =
            self.consistent * 100 >= (self.variables + self.unpaired) * MIN_CONSISTENT_PERCENT;
        let same = self.same_members * 100 >= self.members * MIN_SAME_MEMBERS_PERCENT;
        let renamed = is_large && self.consistent_members * 100 >= self.members * 90;
        is_consistent && (same || renamed)
    }

    const fn is_consistent(&self) -> bool {
        self.consistent == self.variables && self.consistent_members == self.members && self.unpaired == 0
    }
}
