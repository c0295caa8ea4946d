//! Writes a chosen value, or absence, at a locus of the merged state.
//!
//! If the part around a locus is missing, the source side's whole part is restored first. Nothing else changes.

use crate::loss::Sides;
use crate::op::DocumentId;
use crate::path::{Path, Step, reach, read_in};
use crate::state::State;
use crate::value::{Text, Value};
use crate::xarray::{Content, XArray};
use std::sync::Arc;

/// The reason an assignment could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unplaced {
    CannotRemove,
    Unplaceable,
}

/// The state from which a missing part around a locus is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Ours,
    Theirs,
    Base,
    /// The first of ours, theirs and base that has the part.
    First,
}

/// A copy of the merged state to write assignments to.
pub(crate) struct Placing<'s> {
    sides: &'s Sides,
    pub(crate) working: State,
}

impl<'s> Placing<'s> {
    pub(crate) fn new(sides: &'s Sides) -> Self {
        Self { sides, working: sides.merged.clone() }
    }

    pub(crate) fn value(
        &mut self,
        document: &DocumentId,
        locus: &Path,
        value: Value,
        source: Source,
    ) -> Result<(), Unplaced> {
        let working = self.working.document(document);
        if let Some(end) = (0..locus.len()).find(|end| read_in(working, &locus[..*end]).is_none()) {
            let missing = &locus[..end];
            let source = self.source(document, locus, source).ok_or(Unplaced::Unplaceable)?;
            let part = read_in(source.document(document), missing).ok_or(Unplaced::Unplaceable)?;
            self.put(document, missing, part.clone())?;
        }
        self.put(document, locus, value)
    }

    pub(crate) fn absence(&mut self, document: &DocumentId, locus: &Path) -> Result<(), Unplaced> {
        if read_in(self.working.document(document), locus).is_none() {
            return Ok(());
        }
        let (last, enclosing) = locus.split_last().ok_or(Unplaced::CannotRemove)?;
        match (self.place(document, enclosing)?, last) {
            (Value::Set(members), Step::Element(member)) => drop(members.remove(member)),
            (Value::Map(entries), Step::Key(key)) => drop(entries.remove(key)),
            (Value::XArray(array), Step::Position(position)) => {
                Arc::make_mut(array).put(position, Content::Tombstone);
            }
            (Value::Optional(inner), Step::Unwrap) => *inner = None,
            _ => return Err(Unplaced::CannotRemove),
        }
        Ok(())
    }

    fn put(&mut self, document: &DocumentId, locus: &[Step], value: Value) -> Result<(), Unplaced> {
        let Some((last, enclosing)) = locus.split_last() else {
            self.working.documents.insert(document.clone(), value);
            return Ok(());
        };
        if let Step::Position(position) = last {
            return self.put_element(document, enclosing, position, value);
        }
        match (self.place(document, enclosing)?, last) {
            (Value::Struct(fields), Step::Field(rank)) => Arc::make_mut(fields)[usize::from(*rank)] = value,
            (Value::Map(entries), Step::Key(key)) => drop(entries.insert(key.clone(), value)),
            (Value::Optional(inner), Step::Unwrap) => *inner = Some(Arc::new(value)),
            (Value::Set(members), Step::Element(_)) => {
                if !members.contains(&value) {
                    members.insert(value);
                }
            }
            (Value::List(items), Step::Index(index)) => {
                let index = usize::try_from(*index).ok().filter(|index| *index < items.len());
                Arc::make_mut(items)[index.ok_or(Unplaced::Unplaceable)?] = value;
            }
            _ => return Err(Unplaced::Unplaceable),
        }
        Ok(())
    }

    fn put_element(
        &mut self,
        document: &DocumentId,
        enclosing: &[Step],
        position: &Text,
        value: Value,
    ) -> Result<(), Unplaced> {
        let model = self
            .all_sides()
            .find_map(|state| array_at(state, document, enclosing).filter(|array| array.knows(position)));
        let Value::XArray(array) = self.place(document, enclosing)? else {
            return Err(Unplaced::Unplaceable);
        };
        let array = Arc::make_mut(array);
        let content = Content::Visible(value);
        if array.knows(position) {
            array.put(position, content);
            return Ok(());
        }
        let following =
            model.and_then(|model| model.after(position).find(|after| array.knows(after)).cloned());
        match following {
            Some(anchor) => array.insert_before(&anchor, position.clone(), content),
            None => array.push(position.clone(), content),
        }
        Ok(())
    }

    fn place(&mut self, document: &DocumentId, enclosing: &[Step]) -> Result<&mut Value, Unplaced> {
        let document = self.working.documents.get_mut(document).ok_or(Unplaced::Unplaceable)?;
        reach(document, enclosing).ok_or(Unplaced::Unplaceable)
    }

    fn source(&self, document: &DocumentId, locus: &Path, source: Source) -> Option<&'s State> {
        let enclosing = &locus[..locus.len().saturating_sub(1)];
        match source {
            Source::Ours => Some(&self.sides.ours),
            Source::Theirs => Some(&self.sides.theirs),
            Source::Base => self.sides.base.as_ref(),
            Source::First => {
                self.all_sides().find(|state| read_in(state.document(document), enclosing).is_some())
            }
        }
    }

    /// Returns ours, theirs and, if there is one, the base.
    fn all_sides(&self) -> impl Iterator<Item = &'s State> + use<'s> {
        let sides = self.sides;
        [&sides.ours, &sides.theirs].into_iter().chain(sides.base.as_ref())
    }
}

fn array_at<'s>(state: &'s State, document: &DocumentId, path: &[Step]) -> Option<&'s XArray> {
    match read_in(state.document(document), path)? {
        Value::XArray(array) => Some(array),
        _ => None,
    }
}
