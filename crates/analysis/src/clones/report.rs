//! Turns clone groups and pairs into findings.
//!
//! n copies are n − 1 findings, numbered from 2: a third copy of a known clone is the new finding `…#3`.
//! Copies at the same place inside larger copies are covered by those. Near pairs are reported along a
//! spanning forest: each finding connects two fragments that no earlier finding connects.

use super::{CloneAnalysis, CloneGroup, CodeFragment, NearClonePair, UnionFind, clone_type};
use crate::corpus::CorpusFile;
use crate::facts::{IndexRange, count};
use crate::finding::{CloneType, FindingDraft, FindingFamily, Severity};
use crate::severity::CRITICAL_CLONE_TOKENS;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of locations per finding: a thousand copies are a thousand findings, not a million locations.
const MAX_CLONE_LOCATIONS: usize = 20;

/// Turns everything that was found into findings, the largest first.
pub(super) fn report(
    files: &[CorpusFile],
    mut groups: Vec<CloneGroup>,
    mut pairs: Vec<NearClonePair>,
) -> CloneAnalysis {
    // A file with a single function has the same tokens and one more statement; the larger fragment comes first.
    let n_statements = |group: &CloneGroup| group.members.first().map_or(0, |member| member.statements.len());
    groups.sort_by_key(|group| (u32::MAX - group.n_tokens, u32::MAX - n_statements(group), group.key));
    pairs.sort_by_key(|pair| (u32::MAX - pair.n_tokens, pair.first.place(), pair.second.place()));
    let mut reporter = CloneReporter::new(files);
    for group in &groups {
        reporter.add_group(group);
    }
    for pair in &pairs {
        reporter.add_pair(pair);
    }
    reporter.finish()
}

struct CloneReporter<'a> {
    files: &'a [CorpusFile],
    drafts: Vec<FindingDraft>,
    /// For each file, the statements that repeat others.
    repeated: Vec<Vec<bool>>,
    siblings: BTreeSet<(u32, u32)>,
    /// For each file, the reported fragments: their statements, group and node in the forest.
    told: Vec<Vec<ReportedFragment>>,
    forest: UnionFind,
    /// The nodes of parts of copies: (group, where in the copy).
    nodes: BTreeMap<(u32, u32), u32>,
    n_groups: u32,
}

#[derive(Clone, Copy)]
struct ReportedFragment {
    statements: IndexRange,
    /// The group of equal fragments, or `None` for a fragment of a near pair.
    group: Option<u32>,
    node: u32,
}

impl<'a> CloneReporter<'a> {
    fn new(files: &'a [CorpusFile]) -> Self {
        Self {
            files,
            drafts: Vec::new(),
            repeated: files.iter().map(|file| vec![false; file.facts.statements.len()]).collect(),
            siblings: BTreeSet::new(),
            told: vec![Vec::new(); files.len()],
            forest: UnionFind::default(),
            nodes: BTreeMap::new(),
            n_groups: 0,
        }
    }

    fn add_group(&mut self, group: &CloneGroup) {
        let apart = self.unconnected_members(&group.members);
        let original = group.original(self.files).map(CodeFragment::place);
        for member in group.members.iter().filter(|member| Some(member.place()) != original) {
            self.mark_repeated(member.file, member.statements.start..member.statements.end);
        }
        for member in &group.members[1..] {
            self.add_siblings(&group.members[0], member);
        }
        if apart.len() < 2 {
            return;
        }
        let n_known = count(group.members.len() - apart.len());
        for (index, copy) in (1..).zip(&apart[1..]) {
            let number = n_known + index + 1;
            self.drafts.push(self.draft(group, copy, number));
        }
        self.mark_reported(group);
    }

    /// Returns the members that no reported group connects: the first of each part.
    fn unconnected_members(&self, members: &[CodeFragment]) -> Vec<CodeFragment> {
        let mut parts = UnionFind::default();
        let mut seen: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for (index, member) in members.iter().enumerate() {
            parts.add();
            for part in self.parts(member) {
                let first = *seen.entry(part).or_insert(count(index));
                parts.union(first, count(index));
            }
        }
        let roots = (0..members.len()).filter(|&index| parts.find(count(index)) == count(index));
        roots.map(|index| members[index]).collect()
    }

    /// Records a group, so that fragments inside it are not reported again.
    fn mark_reported(&mut self, group: &CloneGroup) {
        let mut first = None;
        for member in &group.members {
            let node = self.forest.add();
            self.forest.union(*first.get_or_insert(node), node);
            let told = ReportedFragment { statements: member.statements, group: Some(self.n_groups), node };
            self.told[member.file as usize].push(told);
        }
        self.n_groups += 1;
    }

    fn draft(&self, group: &CloneGroup, copy: &CodeFragment, number: u32) -> FindingDraft {
        let original = group.members.iter().find(|member| member.place() != copy.place()).unwrap_or(copy);
        let others = group.members.iter().filter(|member| member.place() != copy.place());
        let places = std::iter::once(copy).chain(others).take(MAX_CLONE_LOCATIONS);
        let locations = places.map(|member| member.location(self.files)).collect();
        let (family, what) = if copy.is_unit {
            (
                FindingFamily::Clone,
                self.files[copy.file as usize].facts.units[copy.unit as usize].name.as_str(),
            )
        } else {
            (FindingFamily::CloneBlock, "a block")
        };
        let what = if what.is_empty() { "the file" } else { what };
        let n_repeated = (number - 1).saturating_mul(group.n_tokens);
        let severity =
            if n_repeated >= CRITICAL_CLONE_TOKENS { Severity::Critical } else { Severity::Warning };
        let kind = clone_type(self.files, original, copy);
        let word = if kind == CloneType::Exact { "repeats" } else { "repeats, with other names," };
        FindingDraft {
            message: format!(
                "{what} {word} {} ({} tokens, copy {number})",
                original.location(self.files).path,
                group.n_tokens
            ),
            content: group.key,
            value: Some(group.n_tokens),
            clone_type: Some(kind),
            number: Some(number),
            ..FindingDraft::new(family, severity, format!("{:016x}", group.key), locations)
        }
    }

    fn add_pair(&mut self, pair: &NearClonePair) {
        if self.is_told(pair) {
            return;
        }
        let nodes = [self.node(&pair.first), self.node(&pair.second)];
        let is_new = self.forest.union(nodes[0], nodes[1]);
        // A test that repeats the program is no debt of the program.
        let is_test = |file: u32| self.files[file as usize].is_test;
        if is_test(pair.first.file) == is_test(pair.second.file) || is_test(pair.repeated_in) {
            self.mark_repeated(pair.repeated_in, pair.repeated.iter().copied());
        }
        self.add_siblings(&pair.first, &pair.second);
        if is_new {
            self.drafts.push(self.pair_draft(pair));
        }
    }

    /// Returns true if both fragments are the same part of copies in one reported group.
    fn is_told(&self, pair: &NearClonePair) -> bool {
        let first: BTreeSet<(u32, u32)> = self.parts(&pair.first).collect();
        self.parts(&pair.second).any(|part| first.contains(&part))
    }

    /// Returns the groups whose copies contain a fragment, and its offset within the copy.
    fn parts(&self, fragment: &CodeFragment) -> impl Iterator<Item = (u32, u32)> + '_ {
        let statements = fragment.statements;
        let around = self.told[fragment.file as usize].iter();
        around
            .filter(move |told| told.statements.contains(statements))
            .filter_map(move |told| Some((told.group?, statements.start - told.statements.start)))
    }

    /// Returns the node of a fragment: that of a reported fragment that is mostly the same, or a new one.
    fn node(&mut self, fragment: &CodeFragment) -> u32 {
        let is_same = |told: &&ReportedFragment| {
            let start = told.statements.start.max(fragment.statements.start);
            let end = told.statements.end.min(fragment.statements.end);
            let common = end.saturating_sub(start) * 2;
            common >= told.statements.len() && common >= fragment.statements.len()
        };
        if let Some(same) = self.told[fragment.file as usize].iter().find(is_same) {
            return same.node;
        }
        // The same part of another copy counts as the same fragment.
        let part = self.parts(fragment).next();
        if let Some(&node) = part.and_then(|part| self.nodes.get(&part)) {
            return node;
        }
        let node = self.forest.add();
        self.nodes.extend(part.map(|part| (part, node)));
        self.told[fragment.file as usize].push(ReportedFragment {
            statements: fragment.statements,
            group: None,
            node,
        });
        node
    }

    fn pair_draft(&self, pair: &NearClonePair) -> FindingDraft {
        let locations = vec![pair.second.location(self.files), pair.first.location(self.files)];
        let is_unit = pair.first.is_unit && pair.second.is_unit;
        let family = if is_unit { FindingFamily::Clone } else { FindingFamily::CloneBlock };
        let what = if is_unit { locations[0].symbol.as_str() } else { "a block" };
        FindingDraft {
            message: format!("{what} nearly repeats {} ({} % alike)", locations[1].path, pair.similarity),
            content: pair.key,
            value: Some(pair.n_tokens),
            clone_type: Some(CloneType::Near),
            similarity: Some(pair.similarity),
            ..FindingDraft::new(family, Severity::Info, format!("near {:016x}", pair.key), locations)
        }
    }

    fn mark_repeated(&mut self, file: u32, statements: impl IntoIterator<Item = u32>) {
        let repeated = &mut self.repeated[file as usize];
        for statement in statements {
            repeated[statement as usize] = true;
        }
    }

    fn add_siblings(&mut self, one: &CodeFragment, other: &CodeFragment) {
        if one.file != other.file {
            self.siblings.insert((one.file.min(other.file), one.file.max(other.file)));
        }
    }

    fn finish(self) -> CloneAnalysis {
        CloneAnalysis {
            repeated: self.repeated,
            drafts: self.drafts,
            siblings: self.siblings.into_iter().collect(),
        }
    }
}
