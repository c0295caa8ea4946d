//! Writes a chosen value, or absence, at a locus of the merged state.
//!
//! If the part around a locus is missing, the source side's whole part is restored first. Nothing else changes.

use crate::loss::MergeStates;
use crate::op::DocumentId;
use crate::path::{DocumentPath, PathStep, reach, read_in};
use crate::state::CommitState;
use crate::value::xarray::{SlotContent, XArray};
use crate::value::{DocumentValue, SharedText};
use std::sync::Arc;

/// The reason an assignment could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AssignmentError {
    CannotRemove,
    Unplaceable,
}

/// The state from which a missing part around a locus is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RestoreSource {
    Ours,
    Theirs,
    Base,
    /// The first of ours, theirs and base that has the part.
    First,
}

/// A copy of the merged state to write assignments to.
pub(crate) struct AssignmentWriter<'s> {
    sides: &'s MergeStates,
    pub(crate) working: CommitState,
}

impl<'s> AssignmentWriter<'s> {
    pub(crate) fn new(sides: &'s MergeStates) -> Self {
        Self { sides, working: sides.merged.clone() }
    }

    pub(crate) fn value(
        &mut self,
        document: &DocumentId,
        locus: &DocumentPath,
        value: DocumentValue,
        source: RestoreSource,
    ) -> Result<(), AssignmentError> {
        let working = self.working.document(document);
        if let Some(end) = (0..locus.len()).find(|end| read_in(working, &locus[..*end]).is_none()) {
            let missing = &locus[..end];
            let source = self.source(document, locus, source).ok_or(AssignmentError::Unplaceable)?;
            let part = read_in(source.document(document), missing).ok_or(AssignmentError::Unplaceable)?;
            self.put(document, missing, part.clone())?;
        }
        self.put(document, locus, value)
    }

    pub(crate) fn absence(
        &mut self,
        document: &DocumentId,
        locus: &DocumentPath,
    ) -> Result<(), AssignmentError> {
        if read_in(self.working.document(document), locus).is_none() {
            return Ok(());
        }
        let (last, enclosing) = locus.split_last().ok_or(AssignmentError::CannotRemove)?;
        match (self.place(document, enclosing)?, last) {
            (DocumentValue::Set(members), PathStep::Element(member)) => drop(members.remove(member)),
            (DocumentValue::Map(entries), PathStep::Key(key)) => drop(entries.remove(key)),
            (DocumentValue::XArray(array), PathStep::Position(position)) => {
                Arc::make_mut(array).put(position, SlotContent::Tombstone);
            }
            (DocumentValue::Optional(inner), PathStep::Unwrap) => *inner = None,
            _ => return Err(AssignmentError::CannotRemove),
        }
        Ok(())
    }

    fn put(
        &mut self,
        document: &DocumentId,
        locus: &[PathStep],
        value: DocumentValue,
    ) -> Result<(), AssignmentError> {
        let Some((last, enclosing)) = locus.split_last() else {
            self.working.documents.insert(document.clone(), value);
            return Ok(());
        };
        if let PathStep::Position(position) = last {
            return self.put_element(document, enclosing, position, value);
        }
        match (self.place(document, enclosing)?, last) {
            (DocumentValue::Struct(fields), PathStep::Field(rank)) => {
                Arc::make_mut(fields)[usize::from(*rank)] = value;
            }
            (DocumentValue::Map(entries), PathStep::Key(key)) => drop(entries.insert(key.clone(), value)),
            (DocumentValue::Optional(inner), PathStep::Unwrap) => *inner = Some(Arc::new(value)),
            (DocumentValue::Set(members), PathStep::Element(_)) => {
                if !members.contains(&value) {
                    members.insert(value);
                }
            }
            (DocumentValue::List(items), PathStep::Index(index)) => {
                let index = usize::try_from(*index).ok().filter(|index| *index < items.len());
                Arc::make_mut(items)[index.ok_or(AssignmentError::Unplaceable)?] = value;
            }
            _ => return Err(AssignmentError::Unplaceable),
        }
        Ok(())
    }

    fn put_element(
        &mut self,
        document: &DocumentId,
        enclosing: &[PathStep],
        position: &SharedText,
        value: DocumentValue,
    ) -> Result<(), AssignmentError> {
        let model = self.all_sides().find_map(|state| {
            array_at(state, document, enclosing).filter(|array| array.contains_position(position))
        });
        let DocumentValue::XArray(array) = self.place(document, enclosing)? else {
            return Err(AssignmentError::Unplaceable);
        };
        let array = Arc::make_mut(array);
        let content = SlotContent::Visible(value);
        if array.contains_position(position) {
            array.put(position, content);
            return Ok(());
        }
        let following = model
            .and_then(|model| model.after(position).find(|after| array.contains_position(after)).cloned());
        match following {
            Some(anchor) => array.insert_before(&anchor, position.clone(), content),
            None => array.push(position.clone(), content),
        }
        Ok(())
    }

    fn place(
        &mut self,
        document: &DocumentId,
        enclosing: &[PathStep],
    ) -> Result<&mut DocumentValue, AssignmentError> {
        let document = self.working.documents.get_mut(document).ok_or(AssignmentError::Unplaceable)?;
        reach(document, enclosing).ok_or(AssignmentError::Unplaceable)
    }

    fn source(
        &self,
        document: &DocumentId,
        locus: &DocumentPath,
        source: RestoreSource,
    ) -> Option<&'s CommitState> {
        let enclosing = &locus[..locus.len().saturating_sub(1)];
        match source {
            RestoreSource::Ours => Some(&self.sides.ours),
            RestoreSource::Theirs => Some(&self.sides.theirs),
            RestoreSource::Base => self.sides.base.as_ref(),
            RestoreSource::First => {
                self.all_sides().find(|state| read_in(state.document(document), enclosing).is_some())
            }
        }
    }

    /// Returns ours, theirs and, if there is one, the base.
    fn all_sides(&self) -> impl Iterator<Item = &'s CommitState> + use<'s> {
        let sides = self.sides;
        [&sides.ours, &sides.theirs].into_iter().chain(sides.base.as_ref())
    }
}

fn array_at<'s>(state: &'s CommitState, document: &DocumentId, path: &[PathStep]) -> Option<&'s XArray> {
    match read_in(state.document(document), path)? {
        DocumentValue::XArray(array) => Some(array),
        _ => None,
    }
}
