//! Tiling: which parts of two token streams are the same, in whatever order they stand.
//!
//! The longest run that both streams have becomes a tile, then the longest of what is left, and so on. Unlike an
//! alignment, tiles do not mind that statements changed places, that a branch was turned around, or that a part of
//! an expression got a name of its own.

use crate::corpus::CorpusFile;
use crate::facts::{CodeUnit, count, token_kind};
use crate::hash::mix;
use std::collections::{BTreeMap, BinaryHeap};

/// Shorter runs are found between any two functions.
const MIN_TILE_TOKENS: usize = 6;
/// Limit of the repetitions with which a run that repeats itself is compared.
const MAX_RUN_OCCURRENCES: usize = 16;

/// A token that is no variable.
const NO_VARIABLE: u32 = u32::MAX;

/// The tokens of a callable's body, with variables and literals blanked: members, types and callees keep their names.
#[derive(Debug, Default)]
pub(super) struct TokenStream {
    pub ids: Vec<u32>,
    /// For each token the symbol of the variable, or [`NO_VARIABLE`].
    variables: Vec<u32>,
    /// For each token its index among the tokens of the file.
    places: Vec<u32>,
}

impl TokenStream {
    pub(super) fn of(file: &CorpusFile, unit: &CodeUnit) -> Self {
        let mut stream = Self::default();
        visit(file, unit, |token| {
            stream.ids.push(token.id);
            stream.variables.push(token.variable);
            stream.places.push(token.place);
        });
        stream
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns the index of a token among those of its file.
    pub(super) fn place(&self, token: usize) -> u32 {
        self.places[token]
    }
}

struct StreamToken {
    id: u32,
    variable: u32,
    place: u32,
}

/// Returns the tokens of a callable's body alone.
pub(super) fn token_ids(file: &CorpusFile, unit: &CodeUnit) -> Vec<u32> {
    let mut ids = Vec::with_capacity(unit.n_tokens as usize);
    visit(file, unit, |token| ids.push(token.id));
    ids
}

fn visit(file: &CorpusFile, unit: &CodeUnit, mut add: impl FnMut(StreamToken)) {
    const MEMBER_BIT: u32 = 1 << 31;
    let facts = &file.facts;
    let Some(first) = facts.statements[unit.statements.usize()].first() else { return };
    let range = first.first_token as usize..(unit.tokens_end as usize).max(first.first_token as usize);
    let mut names = facts.names[first.first_name as usize..].iter();
    for (place, &kind) in (first.first_token..).zip(&facts.token_kinds[range]) {
        let name = if kind <= token_kind::LAST_NAME { names.next() } else { None };
        let (id, variable) = match (kind, name) {
            (token_kind::HIDDEN_NAME, _) => continue,
            (token_kind::VARIABLE, Some(name)) => (u32::from(kind), name.symbol()),
            (token_kind::MEMBER, Some(name)) => {
                let hash = file.symbols[name.symbol() as usize];
                let low = u32::try_from(hash & u64::from(u32::MAX)).expect("32 bits");
                (low | MEMBER_BIT, NO_VARIABLE)
            }
            _ => (u32::from(kind), NO_VARIABLE),
        };
        add(StreamToken { id, variable, place });
    }
}

/// A run of tokens that two streams share. Ordered by length, then by place, the first being the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TokenTile {
    pub len: usize,
    first_from_end: usize,
    second_from_end: usize,
}

impl TokenTile {
    const fn new(first: usize, second: usize, len: usize) -> Self {
        Self { len, first_from_end: usize::MAX - first, second_from_end: usize::MAX - second }
    }

    pub(super) const fn first(self) -> usize {
        usize::MAX - self.first_from_end
    }

    pub(super) const fn second(self) -> usize {
        usize::MAX - self.second_from_end
    }
}

/// Returns the tiles of two streams.
pub(super) fn tiles(one: &TokenStream, other: &TokenStream) -> Vec<TokenTile> {
    let mut open: BinaryHeap<TokenTile> = common_runs(&one.ids, &other.ids).into();
    let mut is_used = [vec![false; one.len()], vec![false; other.len()]];
    let mut tiles = Vec::new();
    while let Some(run) = open.pop() {
        let is_free = |step: usize| !is_used[0][run.first() + step] && !is_used[1][run.second() + step];
        let skipped = (0..run.len).take_while(|&step| !is_free(step)).count();
        let len = (skipped..run.len).take_while(|&step| is_free(step)).count();
        if len == run.len {
            is_used[0][run.first()..run.first() + len].fill(true);
            is_used[1][run.second()..run.second() + len].fill(true);
            tiles.push(run);
            continue;
        }
        // What longer tiles left of the run takes its turn by its own length.
        let rest = skipped + len;
        let parts = [(skipped, len), (rest, run.len - rest)];
        let parts = parts.into_iter().filter(|&(_, len)| len >= MIN_TILE_TOKENS);
        open.extend(parts.map(|(at, len)| TokenTile::new(run.first() + at, run.second() + at, len)));
    }
    tiles
}

/// Returns every run that two streams share and that cannot be longer in either direction.
fn common_runs(one: &[u32], other: &[u32]) -> Vec<TokenTile> {
    let known = RunIndex::of(other);
    let mut found = Vec::new();
    for (run, first) in runs(one) {
        for second in known.occurrences(run).take(MAX_RUN_OCCURRENCES) {
            if first > 0 && second > 0 && one[first - 1] == other[second - 1] {
                continue;
            }
            let len = one[first..].iter().zip(&other[second..]).take_while(|(a, b)| a == b).count();
            if len >= MIN_TILE_TOKENS {
                found.push(TokenTile::new(first, second, len));
            }
        }
    }
    found
}

fn runs(ids: &[u32]) -> impl DoubleEndedIterator<Item = (u64, usize)> + ExactSizeIterator + '_ {
    let fingerprint = |run: &[u32]| run.iter().fold(0, |state, &id| mix(state, u64::from(id)));
    ids.windows(MIN_TILE_TOKENS).enumerate().map(move |(at, run)| (fingerprint(run), at))
}

/// The places of the runs of a stream, in chains by fingerprint: a callable has too few for a larger table.
struct RunIndex {
    /// For each slot the first place plus one, and for each place its fingerprint and the next place plus one.
    heads: Vec<u32>,
    places: Vec<(u64, u32)>,
}

impl RunIndex {
    fn of(ids: &[u32]) -> Self {
        let n_slots = ids.len().next_power_of_two();
        let mut index = Self { heads: vec![0; n_slots], places: Vec::with_capacity(ids.len()) };
        index.places.extend(runs(ids).map(|(run, _)| (run, 0)));
        // From the end, so that a chain begins with the first place.
        for place in (0..index.places.len()).rev() {
            let slot = index.slot(index.places[place].0);
            index.places[place].1 = std::mem::replace(&mut index.heads[slot], count(place) + 1);
        }
        index
    }

    fn slot(&self, run: u64) -> usize {
        usize::try_from(run & (self.heads.len() as u64 - 1)).expect("less than the number of slots")
    }

    fn occurrences(&self, run: u64) -> impl Iterator<Item = usize> + '_ {
        let head = self.heads.get(self.slot(run)).copied().filter(|&at| at > 0);
        let chain =
            std::iter::successors(head, |&at| Some(self.places[at as usize - 1].1).filter(|&at| at > 0));
        let places = chain.map(|at| at as usize - 1);
        places.filter(move |&place| self.places[place].0 == run)
    }
}

/// Returns how many variable uses in the tiles there are, and how many of them follow one renaming: the pairs of names
/// that are met most often, each name in one pair.
pub(super) fn consistent_variables(
    one: &TokenStream,
    other: &TokenStream,
    tiles: &[TokenTile],
) -> (usize, usize) {
    let mut counts: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for tile in tiles {
        let from = &one.variables[tile.first()..tile.first() + tile.len];
        let to = &other.variables[tile.second()..tile.second() + tile.len];
        for (&from, &to) in from.iter().zip(to).filter(|(from, _)| **from != NO_VARIABLE) {
            *counts.entry((from, to)).or_default() += 1;
        }
    }
    let n_uses = counts.values().sum();
    let mut counts: Vec<((u32, u32), usize)> = counts.into_iter().collect();
    counts.sort_by_key(|&(names, n_uses)| (usize::MAX - n_uses, names));
    let (mut renaming, mut back) = (BTreeMap::new(), BTreeMap::new());
    let consistent = counts.iter().filter(|((from, to), _)| {
        let is_free = !renaming.contains_key(from) && !back.contains_key(to);
        if is_free {
            renaming.insert(*from, *to);
            back.insert(*to, *from);
        }
        is_free
    });
    (n_uses, consistent.map(|(_, n_uses)| n_uses).sum())
}

/// Returns true if tiles are more than one pattern repeated, such as the cases of a table: at least half of their runs
/// occur once.
pub(super) fn are_varied(stream: &TokenStream, tiles: &[TokenTile]) -> bool {
    let parts = tiles.iter().map(|tile| &stream.ids[tile.first()..tile.first() + tile.len]);
    let mut found: Vec<u64> = parts.flat_map(|ids| runs(ids).map(|(run, _)| run)).collect();
    let n_runs = found.len();
    found.sort_unstable();
    found.dedup();
    found.len() * 2 >= n_runs
}
