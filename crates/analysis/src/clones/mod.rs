//! Clones: code that repeats other code, within a file and across files.
//!
//! Clones are found in this order. *Units* (callables, classes, files) that are equal up to a consistent renaming
//! share a fingerprint, so one sort finds them ([`units`]). *Blocks* of statements, and units with a few statements
//! added, removed or changed, are found by short runs of equal statement shapes that seed an alignment, as in genome
//! comparison ([`seeds`], [`align`]). There are ten times fewer statements than tokens, so every run is indexed
//! without sampling. Runs that occur everywhere are linked only to the one with the most similar continuation, which
//! keeps the work near linear. Equal sequences are aligned once, however many copies they have. Callables that were
//! *rewritten*, so that few whole statements are left, are compared token by token ([`rewrites`], [`tiling`]). Finally
//! [`report`] turns groups into findings: n copies are n − 1 findings, and a copy inside a larger copy is not reported again.

mod align;
mod report;
mod rewrites;
mod seeds;
mod sequences;
mod tiling;
mod union_find;
mod units;

use self::sequences::SequenceTable;
use self::union_find::UnionFind;
use crate::corpus::CorpusFile;
use crate::facts::{IndexRange, SourceRange};
use crate::finding::{CloneType, CodeLocation, FindingDraft};
use crate::settings::AnalysisSettings;

/// Consecutive statements of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CodeFragment {
    file: u32,
    statements: IndexRange,
    /// The unit that contains them.
    unit: u32,
    /// True if it is the whole unit.
    is_unit: bool,
    /// Fingerprint of the sequence it is from, or of the unit.
    content: u64,
}

impl CodeFragment {
    fn range(&self, files: &[CorpusFile]) -> SourceRange {
        let facts = &files[self.file as usize].facts;
        if self.is_unit {
            return facts.units[self.unit as usize].range;
        }
        let statements = &facts.statements[self.statements.usize()];
        match (statements.first(), statements.iter().map(|statement| statement.range).max_by_key(end)) {
            (Some(first), Some(last)) => first.range.to(last),
            _ => SourceRange::default(),
        }
    }

    fn location(&self, files: &[CorpusFile]) -> CodeLocation {
        let file = &files[self.file as usize];
        file.location(self.range(files), &file.facts.units[self.unit as usize].name)
    }

    /// The sort order of copies.
    const fn place(&self) -> (u32, u32, u32) {
        (self.file, self.statements.start, self.statements.end)
    }
}

const fn end(range: &SourceRange) -> (u32, u32) {
    (range.end_line, range.end_column)
}

/// Copies of one fragment, equal up to a consistent renaming, sorted by location.
#[derive(Debug)]
struct CloneGroup {
    /// The same for the same content in any run.
    key: u64,
    n_tokens: u32,
    members: Vec<CodeFragment>,
}

impl CloneGroup {
    /// Returns the member that the others count as repeating: no test, if there is another. Chosen by content, so
    /// that another copy anywhere never changes which code counts as repeated.
    fn original(&self, files: &[CorpusFile]) -> Option<&CodeFragment> {
        let is_test = |member: &CodeFragment| files[member.file as usize].is_test;
        self.members.iter().min_by_key(|member| (is_test(member), member.content, member.place()))
    }
}

/// Two fragments that are similar but not equal, sorted by location.
#[derive(Debug)]
struct NearClonePair {
    first: CodeFragment,
    second: CodeFragment,
    /// The statements that repeat part of the other fragment, and their file.
    repeated: Vec<u32>,
    repeated_in: u32,
    n_tokens: u32,
    /// In percent.
    similarity: u32,
    key: u64,
}

/// All clones of a corpus.
#[derive(Debug)]
pub(crate) struct CloneAnalysis {
    pub drafts: Vec<FindingDraft>,
    /// For each file and statement, whether it repeats code elsewhere.
    pub repeated: Vec<Vec<bool>>,
    /// Pairs of files that share a clone: sorted, unique indices.
    pub siblings: Vec<(u32, u32)>,
}

/// Finds the clones; some are missing if the caller gave up meanwhile.
pub(crate) fn find(
    files: &[CorpusFile],
    settings: &AnalysisSettings,
    is_given_up: &(dyn Fn() -> bool + Sync),
) -> CloneAnalysis {
    let mut groups = units::find(files, settings);
    let all = SequenceTable::of(files);
    let ((blocks, mut pairs), rewritten) = rayon::join(
        || align::find(files, settings, &all, is_given_up),
        || rewrites::find(files, settings, &all, is_given_up),
    );
    groups.extend(blocks);
    pairs.extend(rewritten);
    report::report(files, groups, pairs)
}

/// Returns how similar a member of a group is to its first.
fn clone_type(files: &[CorpusFile], first: &CodeFragment, other: &CodeFragment) -> CloneType {
    let exact = |fragment: &CodeFragment| {
        let facts = &files[fragment.file as usize].facts;
        facts.statements[fragment.statements.usize()]
            .iter()
            .filter(|statement| !statement.idle)
            .map(|statement| statement.exact)
            .collect::<Vec<_>>()
    };
    if exact(first) == exact(other) { CloneType::Exact } else { CloneType::Renamed }
}
