//! The statements of a corpus as sequences for alignment: one for each outermost callable, and one for each
//! run of statements outside callables.
//!
//! Sequences that are equal up to a consistent renaming of variables are one sequence with several *copies*.
//! They are ordered by content, never by location, so another copy of a function changes nothing in what is
//! aligned with what, and costs nothing to align.

use super::CodeFragment;
use crate::corpus::CorpusFile;
use crate::facts::{IndexRange, Statement, count};
use crate::hash::{self, mix};
use rayon::prelude::*;

/// Consecutive statements that belong together.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementSequence {
    /// True if the sequence is the body of a callable.
    pub is_callable: bool,
    pub positions: IndexRange,
    /// Fingerprint of its content.
    content: u64,
    /// Its copies, by location. The items are those of the first.
    copies: IndexRange,
}

/// One location of a sequence.
#[derive(Debug, Clone, Copy)]
struct SequenceCopy {
    file: u32,
    /// The callable, or the file's unit.
    unit: u32,
    /// Start of its statement indices.
    first_statement: u32,
}

/// One statement of a sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct SequenceItem {
    /// Its index in the file.
    statement: u32,
    pub shape: u64,
    /// The shape including the members, types and callees it names.
    pub strict: u64,
    pub n_tokens: u32,
    pub depth: u32,
    /// Name uses in it, except those in nested statements.
    pub names: IndexRange,
}

/// All sequences, and their items one after another.
#[derive(Debug, Default)]
pub(super) struct SequenceTable {
    pub distinct: Vec<StatementSequence>,
    pub items: Vec<SequenceItem>,
    copies: Vec<SequenceCopy>,
    /// Statement indices of all copies, one copy after another.
    statements: Vec<u32>,
}

/// A sequence of one file, before equal ones are merged.
struct FileSequence {
    content: u64,
    file: u32,
    unit: u32,
    is_callable: bool,
    items: Vec<SequenceItem>,
}

impl SequenceTable {
    pub(super) fn of(files: &[CorpusFile]) -> Self {
        let found: Vec<Vec<FileSequence>> =
            files.par_iter().enumerate().map(|(index, file)| find(count(index), file)).collect();
        let mut found: Vec<FileSequence> = found.into_iter().flatten().collect();
        // A stable sort keeps equal ones in order of location.
        found.par_sort_by_key(|sequence| sequence.content);
        let mut all = Self::default();
        for copies in found.chunk_by(|a, b| a.content == b.content) {
            all.add(copies);
        }
        all
    }

    fn add(&mut self, copies: &[FileSequence]) {
        let first = &copies[0];
        let positions =
            IndexRange { start: count(self.items.len()), end: count(self.items.len() + first.items.len()) };
        let span =
            IndexRange { start: count(self.copies.len()), end: count(self.copies.len() + copies.len()) };
        self.items.extend(&first.items);
        for copy in copies {
            let first_statement = count(self.statements.len());
            self.statements.extend(copy.items.iter().map(|item| item.statement));
            self.copies.push(SequenceCopy { file: copy.file, unit: copy.unit, first_statement });
        }
        let is_callable = first.is_callable;
        self.distinct.push(StatementSequence {
            is_callable,
            positions,
            content: first.content,
            copies: span,
        });
    }

    pub(super) fn items(&self, span: IndexRange) -> &[SequenceItem] {
        &self.items[span.usize()]
    }

    /// Returns the file and unit that the items of a sequence are from.
    pub(super) fn place(&self, sequence: &StatementSequence) -> (u32, u32) {
        let copy = self.copies[sequence.copies.start as usize];
        (copy.file, copy.unit)
    }

    pub(super) const fn has_copies(sequence: &StatementSequence) -> bool {
        sequence.copies.len() > 1
    }

    /// Returns the index within its file of the statement at a position.
    pub(super) fn statement(&self, position: u32) -> u32 {
        self.items[position as usize].statement
    }

    /// Returns the fragment for positions of a sequence, in the file of its items.
    pub(super) fn fragment(&self, sequence: &StatementSequence, positions: IndexRange) -> CodeFragment {
        self.fragment_of(sequence, sequence.copies.start, positions)
    }

    /// Returns the fragments for positions of a sequence, one per copy.
    pub(super) fn fragments<'a>(
        &'a self,
        sequence: &'a StatementSequence,
        positions: IndexRange,
    ) -> impl Iterator<Item = CodeFragment> + 'a {
        let copies = sequence.copies.start..sequence.copies.end;
        copies.map(move |copy| self.fragment_of(sequence, copy, positions))
    }

    fn fragment_of(&self, sequence: &StatementSequence, copy: u32, positions: IndexRange) -> CodeFragment {
        let copy = self.copies[copy as usize];
        let statement = |position: u32| {
            self.statements[(copy.first_statement + position - sequence.positions.start) as usize]
        };
        let statements = if positions.is_empty() {
            IndexRange::default()
        } else {
            IndexRange { start: statement(positions.start), end: statement(positions.end - 1) + 1 }
        };
        CodeFragment {
            file: copy.file,
            statements,
            unit: copy.unit,
            is_unit: sequence.is_callable && positions == sequence.positions,
            content: sequence.content,
        }
    }
}

/// Returns the sequences of one file, in order.
fn find(index: u32, file: &CorpusFile) -> Vec<FileSequence> {
    let owners = owners(file);
    let mut contents = SequenceHasher::new(file);
    let spans = owners.chunk_by(|a, b| a == b).scan(0, |start, same| {
        let span = IndexRange { start: *start, end: *start + count(same.len()) };
        *start = span.end;
        Some((span, same[0]))
    });
    let found = spans.map(|(span, unit)| {
        let items: Vec<SequenceItem> = items(file, span).collect();
        let is_callable = file.facts.units[unit as usize].kind.is_callable();
        FileSequence { content: contents.of(items.iter().copied()), file: index, unit, is_callable, items }
    });
    found.filter(|sequence| !sequence.items.is_empty()).collect()
}

/// Returns the statements of a span that are worth comparing.
fn items(file: &CorpusFile, span: IndexRange) -> impl Iterator<Item = SequenceItem> + '_ {
    let says_something = |(_, statement): &(u32, &Statement)| !statement.idle && statement.n_tokens > 0;
    (span.start..).zip(&file.facts.statements[span.usize()]).filter(says_something).map(|(index, facts)| {
        let next = file.facts.statements.get(index as usize + 1);
        let end = next.map_or(count(file.facts.names.len()), |next| next.first_name);
        let names = IndexRange { start: facts.first_name, end };
        SequenceItem {
            statement: index,
            shape: facts.shape,
            strict: strict(file, facts.shape, names),
            n_tokens: facts.n_tokens,
            depth: facts.depth,
            names,
        }
    })
}

/// For each statement of a file, returns the outermost callable it is in, or the file's unit.
fn owners(file: &CorpusFile) -> Vec<u32> {
    let mut owners = vec![0; file.facts.statements.len()];
    let mut covered = 0;
    for (unit, facts) in file.facts.units.iter().enumerate() {
        if facts.kind.is_callable() && facts.statements.start >= covered {
            owners[facts.statements.usize()].fill(count(unit));
            covered = facts.statements.end;
        }
    }
    owners
}

fn strict(file: &CorpusFile, shape: u64, names: IndexRange) -> u64 {
    let members = file.facts.names[names.usize()].iter().filter(|name| name.is_member());
    members.fold(shape, |state, name| mix(state, file.symbols[name.symbol() as usize]))
}

/// Computes fingerprints of statements of one file from shapes, member names, and variables numbered by first
/// occurrence.
pub(super) struct SequenceHasher<'a> {
    file: &'a CorpusFile,
    language: u64,
    /// For each symbol the last fingerprint it was seen in, and its number there.
    seen: Vec<(u32, u32)>,
    n_made: u32,
}

impl<'a> SequenceHasher<'a> {
    pub(super) fn new(file: &'a CorpusFile) -> Self {
        let language = hash::of_bytes(file.language.name().as_bytes());
        Self { file, language, seen: vec![(0, 0); file.symbols.len()], n_made: 0 }
    }

    pub(super) fn of_span(&mut self, span: IndexRange) -> u64 {
        self.of(items(self.file, span))
    }

    fn of(&mut self, items: impl Iterator<Item = SequenceItem>) -> u64 {
        self.n_made += 1;
        let mut n_variables = 0;
        let mut first_depth = None;
        items.fold(self.language, |state, item| {
            let depth = item.depth.wrapping_sub(*first_depth.get_or_insert(item.depth));
            let state = mix(mix(state, item.strict), u64::from(depth));
            let names = &self.file.facts.names[item.names.usize()];
            names.iter().filter(|name| !name.is_member()).fold(state, |state, name| {
                let seen = &mut self.seen[name.symbol() as usize];
                if seen.0 != self.n_made {
                    *seen = (self.n_made, n_variables);
                    n_variables += 1;
                }
                mix(state, u64::from(seen.1))
            })
        })
    }
}
