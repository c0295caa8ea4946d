//! Finds the findings that two runs have in common.
//!
//! Findings are matched like lines in a diff, the most certain way first: by id and content; by id; by content,
//! for renamed code; by file and symbol, for edited code; by the set of files and symbols, for copies edited
//! together; by symbol, for files that were moved and edited; cycles by common members; at last one of the same
//! family in the same file that measured no better. Files moved without a change are recognized by their content.

use crate::finding::{CodeLocation, Finding, FindingFamily};
use crate::hash;
use crate::run::AnalysisRun;
use probity_core::Digest;
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

/// How the paths of one run correspond to those of the other.
#[derive(Default)]
pub(crate) struct MovedFiles {
    /// Files moved without a change: from the earlier path to the later.
    moved: BTreeMap<RepoPath, RepoPath>,
    /// Files that the other run does not have, under any path.
    alone: BTreeSet<RepoPath>,
}

impl MovedFiles {
    /// Returns the correspondence for the earlier run, and for the later one.
    pub(crate) fn of(before: &AnalysisRun, after: &AnalysisRun) -> (Self, Self) {
        let paths = |run: &AnalysisRun| -> BTreeSet<RepoPath> {
            run.files.iter().map(|file| file.path.clone()).collect()
        };
        let (old, new) = (paths(before), paths(after));
        let mut arrived: BTreeMap<Digest, Vec<&RepoPath>> = BTreeMap::new();
        for file in after.files.iter().rev().filter(|file| !old.contains(&file.path)) {
            arrived.entry(file.content).or_default().push(&file.path);
        }
        let gone = before.files.iter().filter(|file| !new.contains(&file.path));
        let mut moved = BTreeMap::new();
        let mut lost = BTreeSet::new();
        for file in gone {
            match arrived.get_mut(&file.content).and_then(Vec::pop) {
                Some(to) => drop(moved.insert(file.path.clone(), to.clone())),
                None => drop(lost.insert(file.path.clone())),
            }
        }
        let added = arrived.into_values().flatten().cloned().collect();
        (Self { moved, alone: lost }, Self { moved: BTreeMap::new(), alone: added })
    }

    /// Returns the later path of an earlier one.
    pub(crate) fn apply<'a>(&'a self, path: &'a RepoPath) -> &'a RepoPath {
        self.moved.get(path).unwrap_or(path)
    }
}

pub(crate) struct FindingMatcher<'a> {
    before: &'a AnalysisRun,
    after: &'a AnalysisRun,
    moves: &'a MovedFiles,
    stay: &'a MovedFiles,
    pub only_before: Vec<usize>,
    pub only_after: Vec<usize>,
    pub both: Vec<(usize, usize)>,
}

impl<'a> FindingMatcher<'a> {
    pub(crate) fn new(
        before: &'a AnalysisRun,
        after: &'a AnalysisRun,
        moves: &'a MovedFiles,
        stay: &'a MovedFiles,
    ) -> Self {
        let only_before = (0..before.findings.len()).collect();
        let only_after = (0..after.findings.len()).collect();
        Self { before, after, moves, stay, only_before, only_after, both: Vec::new() }
    }

    pub(crate) fn run(mut self) -> Self {
        self.side_by_side();
        // Numbers of equal subjects shift when one is added before them, so the content decides first.
        self.match_by_key(|finding, _| Some((finding.id.subject(), finding.content)));
        self.match_by_key(|finding, _| Some(finding.id.as_str()));
        self.match_by_key(|finding, _| Some((finding.family, finding.content)));
        self.match_by_key(|finding, moves| {
            let is_of_several = is_copy(finding) || finding.family == FindingFamily::Cycle;
            let place = finding.locations.first().filter(|_| !is_of_several)?;
            Some((finding.family, name(place, moves)))
        });
        self.match_by_key(|finding, moves| {
            let mut places: Vec<_> = finding.locations.iter().map(|place| name(place, moves)).collect();
            places.sort_unstable();
            places.dedup();
            Some((finding.family, places))
        });
        self.match_by_key(|finding, moves| {
            let place = finding.locations.first()?;
            let is_moved = moves.alone.contains(&place.path) && !place.symbol.is_empty() && !is_copy(finding);
            is_moved.then_some((finding.family, place.symbol.as_str()))
        });
        self.cycles();
        self.known_copies();
        self.no_worse();
        self
    }

    /// Removes copies between code that copied each other before: such a copy was edited, not made.
    fn known_copies(&mut self) {
        let is_candidate = |&new: &usize| is_copy(&self.after.findings[new]);
        if !self.only_after.iter().any(is_candidate) {
            return;
        }
        let mut known: BTreeMap<CodeName<'_>, BTreeSet<CodeName<'_>>> = BTreeMap::new();
        for finding in self.before.findings.iter().filter(|finding| is_copy(finding)) {
            for (at, place) in finding.locations.iter().enumerate() {
                let others = finding.locations.iter().enumerate().filter(|(other, _)| *other != at);
                let others = others.map(|(_, other)| name(other, self.moves));
                // Code outside of units has no name to recognize it by; a whole file has.
                if finding.family == FindingFamily::Clone || !place.symbol.is_empty() {
                    known.entry(name(place, self.moves)).or_default().extend(others);
                }
            }
        }
        let (after, stay) = (self.after, self.stay);
        self.only_after.retain(|&new| {
            let finding = &after.findings[new];
            let Some((first, others)) = finding.locations.split_first().filter(|_| is_copy(finding)) else {
                return true;
            };
            // The code itself, or the whole file that it is in.
            let names = |place: &'a CodeLocation| [name(place, stay), (&place.path, "")];
            let is_known = |other: &'a CodeLocation| {
                let mut partners = names(first).into_iter().filter_map(|name| known.get(&name));
                partners.any(|partners| names(other).iter().any(|name| partners.contains(name)))
            };
            !others.iter().any(is_known)
        });
    }

    /// Matches measured findings of one family in one file, if the later one measures no worse: the code was
    /// renamed and edited.
    fn no_worse(&mut self) {
        let key = |finding: &Finding, moves: &MovedFiles| {
            let is_of_unit = matches!(
                finding.family,
                FindingFamily::Complexity
                    | FindingFamily::Length
                    | FindingFamily::Parameters
                    | FindingFamily::Nesting
                    | FindingFamily::Cohesion
            );
            let path = moves.apply(&finding.locations.first()?.path);
            is_of_unit.then(|| (finding.family, path.clone()))
        };
        let mut gone: BTreeMap<(FindingFamily, RepoPath), Vec<usize>> = BTreeMap::new();
        for &old in &self.only_before {
            if let Some(key) = key(&self.before.findings[old], self.moves) {
                gone.entry(key).or_default().push(old);
            }
        }
        for &new in &self.only_after {
            let finding = &self.after.findings[new];
            let Some(olds) = key(finding, self.stay).and_then(|key| gone.get_mut(&key)) else { continue };
            let at = olds.iter().position(|&old| finding.value <= self.before.findings[old].value);
            self.both.extend(at.map(|at| (olds.remove(at), new)));
        }
        let mut matched = vec![false; self.before.findings.len()];
        self.both.iter().for_each(|&(old, _)| matched[old] = true);
        self.only_before.retain(|&old| !matched[old]);
        self.drop_matched();
    }

    /// Matches equal ids in one walk along both runs. Both are sorted by family and location, so this finds
    /// nearly all of them without lookups.
    fn side_by_side(&mut self) {
        let (old, new) = (&self.before.findings, &self.after.findings);
        let (mut at_old, mut at_new) = (0, 0);
        while let (Some(earlier), Some(later)) = (old.get(at_old), new.get(at_new)) {
            if earlier.id == later.id && earlier.content == later.content {
                self.both.push((at_old, at_new));
                (at_old, at_new) = (at_old + 1, at_new + 1);
            } else if (earlier.family, &earlier.locations) <= (later.family, &later.locations) {
                at_old += 1;
            } else {
                at_new += 1;
            }
        }
        let mut matched = vec![false; old.len()];
        self.both.iter().for_each(|&(old, _)| matched[old] = true);
        self.only_before.retain(|&old| !matched[old]);
        self.drop_matched();
    }

    /// Matches the remaining findings by a key; equal keys in order of location.
    fn match_by_key<K: Ord + Hash>(&mut self, key: impl Fn(&'a Finding, &'a MovedFiles) -> Option<K>) {
        let (findings, stay) = (&self.after.findings, self.stay);
        let keys = self.only_after.iter().filter_map(|&new| Some((key(&findings[new], stay)?, new)));
        let mut waiting = UnmatchedIndex::new(keys);
        let (both, before) = (&mut self.both, self.before);
        self.only_before.retain(|&old| {
            let found = key(&before.findings[old], self.moves).and_then(|key| waiting.take(&key));
            both.extend(found.map(|new| (old, new)));
            found.is_none()
        });
        self.drop_matched();
    }

    /// Matches cycles: one that gained or lost a file is still the same cycle.
    fn cycles(&mut self) {
        let members = |finding: &Finding, moves: &MovedFiles| -> BTreeSet<RepoPath> {
            finding.locations.iter().map(|place| moves.apply(&place.path).clone()).collect()
        };
        let is_cycle = |finding: &Finding| finding.family == FindingFamily::Cycle;
        let mut later: Vec<(usize, BTreeSet<RepoPath>)> = self
            .only_after
            .iter()
            .filter(|&&new| is_cycle(&self.after.findings[new]))
            .map(|&new| (new, members(&self.after.findings[new], self.stay)))
            .collect();
        let both = &mut self.both;
        self.only_before.retain(|&old| {
            let finding = &self.before.findings[old];
            if !is_cycle(finding) {
                return true;
            }
            let own = members(finding, self.moves);
            let closest = later
                .iter()
                .enumerate()
                .max_by_key(|(at, (_, other))| (own.intersection(other).count(), usize::MAX - at));
            let Some(at) = closest.filter(|(_, (_, other))| !own.is_disjoint(other)).map(|(at, _)| at) else {
                return true;
            };
            both.push((old, later.remove(at).0));
            false
        });
        self.drop_matched();
    }

    fn drop_matched(&mut self) {
        let mut matched = vec![false; self.after.findings.len()];
        self.both.iter().for_each(|&(_, new)| matched[new] = true);
        self.only_after.retain(|&new| !matched[new]);
    }
}

pub(crate) fn is_copy(finding: &Finding) -> bool {
    matches!(finding.family, FindingFamily::Clone | FindingFamily::CloneBlock)
}

/// The later path and the symbol of code.
type CodeName<'a> = (&'a RepoPath, &'a str);

fn name<'a>(place: &'a CodeLocation, moves: &'a MovedFiles) -> CodeName<'a> {
    (moves.apply(&place.path), &place.symbol)
}

/// Unmatched findings of the later run, sorted by a fingerprint of their keys. That is quick to compare; the
/// keys themselves are compared only if the fingerprints are equal.
struct UnmatchedIndex<K>(Vec<UnmatchedFinding<K>>);

struct UnmatchedFinding<K> {
    key: (u64, K),
    index: usize,
    /// In the first of several equal keys: how many of them are taken.
    n_taken: usize,
}

impl<K: Ord + Hash> UnmatchedIndex<K> {
    fn new(keys: impl Iterator<Item = (K, usize)>) -> Self {
        let waiter = |(key, index)| UnmatchedFinding { key: (fingerprint(&key), key), index, n_taken: 0 };
        let mut all: Vec<UnmatchedFinding<K>> = keys.map(waiter).collect();
        all.sort_unstable_by(|one, other| (&one.key, one.index).cmp(&(&other.key, other.index)));
        Self(all)
    }

    /// Takes the next finding with this key, in order of location.
    fn take(&mut self, key: &K) -> Option<usize> {
        let print = fingerprint(key);
        let of = |waiter: &UnmatchedFinding<K>| waiter.key.0.cmp(&print).then_with(|| waiter.key.1.cmp(key));
        let first = self.0.partition_point(|waiter| of(waiter).is_lt());
        let next = first + self.0.get(first)?.n_taken;
        let index = self.0.get(next).filter(|waiter| of(waiter).is_eq())?.index;
        self.0[first].n_taken += 1;
        Some(index)
    }
}

fn fingerprint(key: &impl Hash) -> u64 {
    let mut hasher = FingerprintHasher(0);
    key.hash(&mut hasher);
    hasher.0
}

struct FingerprintHasher(u64);

impl Hasher for FingerprintHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash::mix(self.0, hash::of_bytes(bytes));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisInput, AnalysisSettings, SourceInput, analyze};
    use std::cell::Cell;

    fn run(text: &str) -> AnalysisRun {
        let path = RepoPath::parse(b"a.py").expect("a path");
        let sources = BTreeMap::from([(path, SourceInput::Bytes(text.as_bytes()))]);
        analyze(&AnalysisInput { sources, ..AnalysisInput::default() }, &AnalysisSettings::default()).run
    }

    #[test]
    fn a_finding_is_looked_at_once_for_each_way_of_matching() {
        let text = |word: &str| -> String {
            let function = |n| format!("def {word}{n}(a, b, c, d, e, f, g, h):\n    return a.m{n}(b)\n\n\n");
            (0..300).map(function).collect::<Vec<_>>().concat()
        };
        let (before, after) = (run(&text("f")), run(&text("g")));
        let (moves, stay) = MovedFiles::of(&before, &after);
        let mut matcher = FindingMatcher::new(&before, &after, &moves, &stay);
        let n_looks = Cell::new(0);
        matcher.match_by_key(|finding, _| {
            n_looks.set(n_looks.get() + 1);
            Some(finding.content.to_string())
        });
        assert_eq!((n_looks.get(), matcher.both.len()), (600, 300));
    }
}
