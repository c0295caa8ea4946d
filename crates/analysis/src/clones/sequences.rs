//! The statements of a corpus as sequences that can be aligned: one for each outermost callable, and one for each run
//! of statements outside callables.

use super::Fragment;
use crate::corpus::File;
use crate::facts::{Span, count};
use crate::hash::mix;

/// Consecutive statements that belong together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sequence {
    pub file: u32,
    /// The callable, or the file's unit.
    pub unit: u32,
    /// Whether the sequence is a callable's body.
    pub is_callable: bool,
    pub positions: Span,
}

/// One statement in a sequence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Item {
    /// Its index in the file.
    pub statement: u32,
    pub shape: u64,
    /// The shape with the members, types and callees it names.
    pub strict: u64,
    pub n_tokens: u32,
    pub depth: u32,
    /// The uses of names that stand in it but in no statement inside it.
    pub names: Span,
}

/// All sequences, and their items one after another.
#[derive(Debug, Default)]
pub(super) struct Sequences {
    pub sequences: Vec<Sequence>,
    pub items: Vec<Item>,
}

impl Sequences {
    pub(super) fn of(files: &[File]) -> Self {
        let mut all = Self::default();
        for (index, file) in files.iter().enumerate() {
            all.add_file(count(index), file);
        }
        all
    }

    pub(super) fn items(&self, span: Span) -> &[Item] {
        &self.items[span.usize()]
    }

    /// The fragment of a file that positions of a sequence stand for.
    pub(super) fn fragment(&self, sequence: &Sequence, positions: Span) -> Fragment {
        let items = self.items(positions);
        let first = items.first().map_or(0, |item| item.statement);
        let last = items.last().map_or(first, |item| item.statement + 1);
        Fragment {
            file: sequence.file,
            statements: Span { start: first, end: last },
            unit: sequence.unit,
            is_unit: sequence.is_callable && positions == sequence.positions,
        }
    }

    fn add_file(&mut self, index: u32, file: &File) {
        let owners = owners(file);
        let mut current: Option<u32> = None;
        for (statement, facts) in file.facts.statements.iter().enumerate() {
            if facts.idle || facts.n_tokens == 0 {
                continue;
            }
            let owner = owners[statement];
            if current != Some(owner) {
                self.open(index, file, owner);
                current = Some(owner);
            }
            let end = file.facts.statements.get(statement + 1).map(|next| next.first_name);
            let names = Span { start: facts.first_name, end: end.unwrap_or(count(file.facts.names.len())) };
            self.items.push(Item {
                statement: count(statement),
                shape: facts.shape,
                strict: strict(file, facts.shape, names),
                n_tokens: facts.n_tokens,
                depth: facts.depth,
                names,
            });
            if let Some(sequence) = self.sequences.last_mut() {
                sequence.positions.end += 1;
            }
        }
    }

    fn open(&mut self, file: u32, facts: &File, unit: u32) {
        let start = count(self.items.len());
        let is_callable = facts.facts.units[unit as usize].kind.is_callable();
        self.sequences.push(Sequence { file, unit, is_callable, positions: Span { start, end: start } });
    }
}

/// For each statement of a file the outermost callable it is in, or the file's unit.
fn owners(file: &File) -> Vec<u32> {
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

fn strict(file: &File, shape: u64, names: Span) -> u64 {
    let members = file.facts.names[names.usize()].iter().filter(|name| name.is_member());
    members.fold(shape, |state, name| mix(state, file.symbols[name.symbol() as usize]))
}
