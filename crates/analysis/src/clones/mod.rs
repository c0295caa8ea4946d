//! Clones: code that repeats other code, within a file and across files.
//!
//! Three kinds, found in this order. *Units* (callables, classes, files) that are equal up to a consistent renaming
//! share a fingerprint: one sort finds them ([`units`]). *Blocks* of statements, and units of which a few statements
//! were added, removed or changed, are found by short runs of equal statement shapes that seed an alignment, as
//! genomes are compared ([`seeds`], [`align`]). Statements are already ten times coarser than tokens, so every run is
//! indexed and no sampling is needed; runs that occur everywhere are linked only to the one that goes on most alike,
//! which keeps the work near linear. Equal sequences are aligned once, whatever the number of their copies. Last, [`report`] turns groups into findings: n copies are n − 1 findings, and what lies inside a
//! larger copy is not told twice.

mod align;
mod report;
mod seeds;
mod sequences;
mod union_find;
mod units;

use self::union_find::UnionFind;
use crate::corpus::File;
use crate::facts::{Range, Span};
use crate::finding::{CloneType, Draft, Location};
use crate::settings::Settings;

/// Some consecutive statements of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fragment {
    file: u32,
    statements: Span,
    /// The unit that holds them.
    unit: u32,
    /// Whether it is the whole unit.
    is_unit: bool,
    /// The fingerprint of the sequence it is from, or of the unit.
    content: u64,
}

impl Fragment {
    fn range(&self, files: &[File]) -> Range {
        let facts = &files[self.file as usize].facts;
        if self.is_unit {
            return facts.units[self.unit as usize].range;
        }
        let statements = &facts.statements[self.statements.usize()];
        match (statements.first(), statements.iter().map(|statement| statement.range).max_by_key(end)) {
            (Some(first), Some(last)) => first.range.to(last),
            _ => Range::default(),
        }
    }

    fn location(&self, files: &[File]) -> Location {
        let file = &files[self.file as usize];
        file.location(self.range(files), &file.facts.units[self.unit as usize].name)
    }

    /// The order in which copies are told.
    const fn place(&self) -> (u32, u32, u32) {
        (self.file, self.statements.start, self.statements.end)
    }
}

const fn end(range: &Range) -> (u32, u32) {
    (range.end_line, range.end_column)
}

/// Copies of one piece of code, equal up to a consistent renaming, in order of place.
#[derive(Debug)]
struct Group {
    /// The same for the same content in any run.
    key: u64,
    n_tokens: u32,
    members: Vec<Fragment>,
}

impl Group {
    /// The member that the others are taken to repeat: found by what it says, so that one more copy anywhere never
    /// changes which code counts as repeated.
    fn original(&self) -> Option<&Fragment> {
        self.members.iter().min_by_key(|member| (member.content, member.place()))
    }
}

/// Two pieces of code that are alike but not equal, in order of place.
#[derive(Debug)]
struct Pair {
    first: Fragment,
    second: Fragment,
    /// The statements that repeat some of the other piece, and their file.
    repeated: Vec<u32>,
    repeated_in: u32,
    n_tokens: u32,
    /// In percent.
    similarity: u32,
    key: u64,
}

/// All clones of a corpus.
#[derive(Debug)]
pub(crate) struct Clones {
    pub drafts: Vec<Draft>,
    /// For each file, how many tokens repeat what stands elsewhere.
    pub repeated_tokens: Vec<u64>,
    /// Files that share a clone: pairs of indices, sorted, each once.
    pub siblings: Vec<(u32, u32)>,
}

/// Finds the clones of a corpus.
pub(crate) fn find(files: &[File], settings: &Settings) -> Clones {
    let mut groups = units::find(files, settings);
    let (blocks, pairs) = align::find(files, settings);
    groups.extend(blocks);
    report::report(files, groups, pairs)
}

/// How alike the members of a group are to its first.
fn clone_type(files: &[File], first: &Fragment, other: &Fragment) -> CloneType {
    let exact = |fragment: &Fragment| {
        let facts = &files[fragment.file as usize].facts;
        facts.statements[fragment.statements.usize()]
            .iter()
            .filter(|statement| !statement.idle)
            .map(|statement| statement.exact)
            .collect::<Vec<_>>()
    };
    if exact(first) == exact(other) { CloneType::Exact } else { CloneType::Renamed }
}
