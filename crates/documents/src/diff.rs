//! Computes the opcodes that turn one document into another.
//!
//! Law: replaying `diff(a, b)` on `a` gives `b`. Structs are compared by field, sets and maps by member and entry.
//! Everything else, including vectors and xarrays, is written whole, because that keeps the law true for them.

use crate::commit::{Commit, CommitStamp};
use crate::op::{DocumentId, DocumentOp, OpAction, PathEdit};
use crate::path::{DocumentPath, PathStep};
use crate::schema::DocumentSchema;
use crate::state::CommitState;
use crate::value::DocumentValue;
use imbl::ordmap::DiffItem;
use imbl::{OrdMap, OrdSet};

/// Returns the opcodes that turn the document `before` into `after`.
pub(crate) fn document(
    id: &DocumentId,
    before: Option<&DocumentValue>,
    after: &DocumentValue,
) -> Vec<DocumentOp> {
    let Some(before) = before else {
        return vec![DocumentOp { document: id.clone(), act: OpAction::Set(after.clone()) }];
    };
    let mut diff = DocumentDiff { document: id, path: Vec::new(), ops: Vec::new() };
    diff.value(before, after);
    diff.ops
}

/// Returns the opcodes, in document order, that turn one state into another with at least the same documents.
pub fn diff(before: &CommitState, after: &CommitState) -> Vec<DocumentOp> {
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

impl Commit {
    /// Creates a single root commit with the given state, to flatten the history of a store.
    ///
    /// ```
    /// use probity_documents::{Commit, DocumentEngine, MemoryCommits, DocumentSchema, CommitStamp, CommitState};
    /// use serde_json::json;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let schema = DocumentSchema::parse("attachment count: int64")?;
    /// let state = CommitState::from_json(&schema, &json!({"count": {"a": 1, "b": 2}}))?;
    /// let mut store = MemoryCommits::new();
    /// let root = store.append(Commit::flatten(&schema, &state, CommitStamp::new("ann", "flatten", 0)?))?;
    /// assert_eq!(DocumentEngine::new(&store).state(&root)?, state);
    /// # Ok(())
    /// # }
    /// ```
    pub fn flatten(schema: &DocumentSchema, state: &CommitState, stamp: CommitStamp) -> Self {
        Self::mutations(schema, None, diff(&CommitState::default(), state), stamp)
    }
}

struct DocumentDiff<'d> {
    document: &'d DocumentId,
    path: DocumentPath,
    ops: Vec<DocumentOp>,
}

impl DocumentDiff<'_> {
    fn value(&mut self, before: &DocumentValue, after: &DocumentValue) {
        if before == after {
            return;
        }
        match (before, after) {
            (DocumentValue::Struct(before), DocumentValue::Struct(after)) => {
                for (rank, (before, after)) in before.iter().zip(after.iter()).enumerate() {
                    self.path.push(PathStep::Field(
                        u16::try_from(rank).expect("a struct has at most 65535 fields"),
                    ));
                    self.value(before, after);
                    self.path.pop();
                }
            }
            (DocumentValue::Set(before), DocumentValue::Set(after)) => self.set(before, after),
            (DocumentValue::Map(before), DocumentValue::Map(after)) => self.map(before, after),
            _ if self.path.is_empty() => {
                self.ops
                    .push(DocumentOp { document: self.document.clone(), act: OpAction::Set(after.clone()) });
            }
            _ => self.emit(PathEdit::Update(after.clone())),
        }
    }

    fn set(&mut self, before: &OrdSet<DocumentValue>, after: &OrdSet<DocumentValue>) {
        let gone: OrdSet<DocumentValue> =
            before.iter().filter(|value| !after.contains(*value)).cloned().collect();
        let new: OrdSet<DocumentValue> =
            after.iter().filter(|value| !before.contains(*value)).cloned().collect();
        if !gone.is_empty() {
            self.emit(PathEdit::SetSubtract(gone));
        }
        if !new.is_empty() {
            self.emit(PathEdit::SetUnion(new));
        }
    }

    fn map(
        &mut self,
        before: &OrdMap<DocumentValue, DocumentValue>,
        after: &OrdMap<DocumentValue, DocumentValue>,
    ) {
        let gone: OrdSet<DocumentValue> =
            before.keys().filter(|key| !after.contains_key(*key)).cloned().collect();
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
            self.emit(PathEdit::MapSubtract(gone));
        }
        if !changed.is_empty() {
            self.emit(PathEdit::MapUpdate(changed));
        }
        if !new.is_empty() {
            self.emit(PathEdit::MapUnion(new));
        }
    }

    fn emit(&mut self, change: PathEdit) {
        self.ops.push(DocumentOp {
            document: self.document.clone(),
            act: OpAction::At(self.path.clone(), change),
        });
    }
}
