//! Computes the opcodes that turn one document into another.
//!
//! Law: replaying `diff(a, b)` on `a` gives `b`. Structs are compared by field, sets and maps by member and entry.
//! Everything else, including vectors and xarrays, is written whole, because that keeps the law true for them.

use crate::op::{Act, Change, DocumentId, Op};
use crate::path::{Path, Step};
use crate::state::State;
use crate::value::Value;
use imbl::ordmap::DiffItem;
use imbl::{OrdMap, OrdSet};

/// Returns the opcodes that turn the document `before` into `after`.
pub(crate) fn document(id: &DocumentId, before: Option<&Value>, after: &Value) -> Vec<Op> {
    let Some(before) = before else {
        return vec![Op { document: id.clone(), act: Act::Set(after.clone()) }];
    };
    let mut diff = Diff { document: id, path: Vec::new(), ops: Vec::new() };
    diff.value(before, after);
    diff.ops
}

/// Returns the opcodes, in document order, that turn one state into another with at least the same documents.
pub fn diff(before: &State, after: &State) -> Vec<Op> {
    let mut ops = Vec::new();
    for item in before.documents.diff(&after.documents) {
        match item {
            DiffItem::Add(id, after) => ops.extend(document(id, None, after)),
            DiffItem::Update { old: (id, before), new: (_, after) } => {
                ops.extend(document(id, Some(before), after));
            }
            // Documents cannot be deleted.
            DiffItem::Remove(..) => {}
        }
    }
    ops
}

struct Diff<'d> {
    document: &'d DocumentId,
    path: Path,
    ops: Vec<Op>,
}

impl Diff<'_> {
    fn value(&mut self, before: &Value, after: &Value) {
        if before == after {
            return;
        }
        match (before, after) {
            (Value::Struct(before), Value::Struct(after)) => {
                for (rank, (before, after)) in before.iter().zip(after.iter()).enumerate() {
                    self.path
                        .push(Step::Field(u16::try_from(rank).expect("a struct has at most 65535 fields")));
                    self.value(before, after);
                    self.path.pop();
                }
            }
            (Value::Set(before), Value::Set(after)) => self.set(before, after),
            (Value::Map(before), Value::Map(after)) => self.map(before, after),
            _ if self.path.is_empty() => {
                self.ops.push(Op { document: self.document.clone(), act: Act::Set(after.clone()) });
            }
            _ => self.emit(Change::Update(after.clone())),
        }
    }

    fn set(&mut self, before: &OrdSet<Value>, after: &OrdSet<Value>) {
        let gone: OrdSet<Value> = before.iter().filter(|value| !after.contains(*value)).cloned().collect();
        let new: OrdSet<Value> = after.iter().filter(|value| !before.contains(*value)).cloned().collect();
        if !gone.is_empty() {
            self.emit(Change::SetSubtract(gone));
        }
        if !new.is_empty() {
            self.emit(Change::SetUnion(new));
        }
    }

    fn map(&mut self, before: &OrdMap<Value, Value>, after: &OrdMap<Value, Value>) {
        let gone: OrdSet<Value> = before.keys().filter(|key| !after.contains_key(*key)).cloned().collect();
        let mut changed = OrdMap::new();
        let mut new = OrdMap::new();
        for (key, value) in after {
            match before.get(key) {
                None => drop(new.insert(key.clone(), value.clone())),
                Some(old) if old != value => drop(changed.insert(key.clone(), value.clone())),
                Some(_) => {}
            }
        }
        if !gone.is_empty() {
            self.emit(Change::MapSubtract(gone));
        }
        if !changed.is_empty() {
            self.emit(Change::MapUpdate(changed));
        }
        if !new.is_empty() {
            self.emit(Change::MapUnion(new));
        }
    }

    fn emit(&mut self, change: Change) {
        self.ops.push(Op { document: self.document.clone(), act: Act::At(self.path.clone(), change) });
    }
}
