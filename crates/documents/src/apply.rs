//! Applies opcodes to documents during replay.
//!
//! Replay never fails: an opcode without anything to act on is skipped with a reason.

use crate::op::{InsertAnchor, OpAction, PathEdit};
use crate::path::{self, PathStep};
use crate::value::xarray::{SlotContent, XArray};
use crate::value::{DocumentValue, SharedText};
use std::sync::Arc;

probity_core::code_enum! {
    /// The reason an opcode, or a part of it, had no effect.
    pub enum SkipReason {
        DocumentAbsent = "document_absent",
            "the document does not exist",
            "`probity commits log` shows what came before; write it again if it is still wanted";
        PathUnresolved = "path_unresolved",
            "a part of the path is not there: a key, a position, the content of an optional, an index",
            "`probity commits log` shows what came before; write it again if it is still wanted";
        RootUpdate = "root_update",
            "a document cannot be updated at the empty path",
            "use `document_set`";
        IndexOutOfRange = "index_out_of_range",
            "the index is past the end",
            "`probity commits log` shows what came before; write it again if it is still wanted";
        PositionUnknown = "position_unknown",
            "the xarray does not know the position",
            "`probity commits log` shows what came before; write it again if it is still wanted";
        PositionDisabled = "position_disabled",
            "the position was listed by a disabled commit only",
            "`probity commits log` shows what came before; write it again if it is still wanted";
        AnchorUnknown = "anchor_unknown",
            "the xarray does not know the position to insert before",
            "`probity commits log` shows what came before; write it again if it is still wanted";
        PositionKnown = "position_known",
            "the position is known already and keeps its place, and no value was given",
            "`probity commits log` shows what came before; write it again if it is still wanted";
        KeysMissing = "keys_missing",
            "none of the keys to update is there",
            "`probity commits log` shows what came before; write it again if it is still wanted";
        Masked = "masked",
            "the commit is disabled",
            "enable it with `probity commits enable`";
    }
}

/// Applies a change of an enabled commit at a path of an existing document.
pub(crate) fn apply(
    document: &mut DocumentValue,
    at: &[PathStep],
    change: &PathEdit,
) -> Result<(), SkipReason> {
    if let PathEdit::Update(value) = change {
        return update(document, at, value);
    }
    // `reach` copies shared nodes on its way. Reading first avoids the copy when the path does not resolve.
    path::read(document, at).ok_or(SkipReason::PathUnresolved)?;
    let place = path::reach(document, at).ok_or(SkipReason::PathUnresolved)?;
    match (place, change) {
        (DocumentValue::Set(members), PathEdit::SetUnion(added)) => {
            for value in added {
                // An existing member stays untouched: equal xarrays may differ in their tombstones.
                if !members.contains(value) {
                    members.insert(value.clone());
                }
            }
            Ok(())
        }
        (DocumentValue::Set(members), PathEdit::SetSubtract(removed)) => {
            for value in removed {
                members.remove(value);
            }
            Ok(())
        }
        (DocumentValue::Map(entries), PathEdit::MapUnion(added)) => {
            for (key, value) in added {
                entries.insert(key.clone(), value.clone());
            }
            Ok(())
        }
        (DocumentValue::Map(entries), PathEdit::MapUpdate(updated)) => {
            let mut skipped = Err(SkipReason::KeysMissing);
            for (key, value) in updated {
                if let Some(entry) = entries.get_mut(key) {
                    *entry = value.clone();
                    skipped = Ok(());
                }
            }
            if updated.is_empty() { Ok(()) } else { skipped }
        }
        (DocumentValue::Map(entries), PathEdit::MapSubtract(keys)) => {
            for key in keys {
                entries.remove(key);
            }
            Ok(())
        }
        (DocumentValue::XArray(array), change) => apply_to_xarray(Arc::make_mut(array), change),
        _ => Err(SkipReason::PathUnresolved),
    }
}

fn update(document: &mut DocumentValue, at: &[PathStep], value: &DocumentValue) -> Result<(), SkipReason> {
    let (last, enclosing) = at.split_last().ok_or(SkipReason::RootUpdate)?;
    path::read(document, enclosing).ok_or(SkipReason::PathUnresolved)?;
    let place = path::reach(document, enclosing).ok_or(SkipReason::PathUnresolved)?;
    match (place, last) {
        (DocumentValue::Struct(fields), PathStep::Field(rank)) => {
            Arc::make_mut(fields)[usize::from(*rank)] = value.clone();
            Ok(())
        }
        (DocumentValue::List(items), PathStep::Index(index)) => {
            let index = usize::try_from(*index).ok().filter(|index| *index < items.len());
            Arc::make_mut(items)[index.ok_or(SkipReason::IndexOutOfRange)?] = value.clone();
            Ok(())
        }
        (DocumentValue::Map(entries), PathStep::Key(key)) => {
            entries.insert(key.clone(), value.clone());
            Ok(())
        }
        (DocumentValue::XArray(array), PathStep::Position(position)) => {
            put(Arc::make_mut(array), position, value)
        }
        (DocumentValue::Optional(inner), PathStep::Unwrap) => {
            *inner = Some(Arc::new(value.clone()));
            Ok(())
        }
        _ => Err(SkipReason::PathUnresolved),
    }
}

fn apply_to_xarray(array: &mut XArray, change: &PathEdit) -> Result<(), SkipReason> {
    match change {
        PathEdit::Insert { position, before, value } => match value {
            Some(value) if array.contains_position(position) => put(array, position, value),
            Some(value) => insert(array, position, before, SlotContent::Visible(value.clone())),
            None => insert(array, position, before, SlotContent::Tombstone),
        },
        PathEdit::Put { position, value } => put(array, position, value),
        PathEdit::Remove { position } if !array.contains_position(position) => {
            Err(SkipReason::PositionUnknown)
        }
        PathEdit::Remove { position } => {
            if array.element(position).is_some() {
                array.put(position, SlotContent::Tombstone);
            }
            Ok(())
        }
        _ => Err(SkipReason::PathUnresolved),
    }
}

fn put(array: &mut XArray, position: &SharedText, value: &DocumentValue) -> Result<(), SkipReason> {
    if !array.contains_position(position) {
        return Err(SkipReason::PositionUnknown);
    }
    if array.is_disabled(position) {
        return Err(SkipReason::PositionDisabled);
    }
    array.put(position, SlotContent::Visible(value.clone()));
    Ok(())
}

fn insert(
    array: &mut XArray,
    position: &SharedText,
    before: &InsertAnchor,
    content: SlotContent,
) -> Result<(), SkipReason> {
    if array.contains_position(position) {
        return Err(SkipReason::PositionKnown);
    }
    match before {
        InsertAnchor::End => array.push(position.clone(), content),
        InsertAnchor::Before(anchor) if array.contains_position(anchor) => {
            array.insert_before(anchor, position.clone(), content);
        }
        InsertAnchor::Before(_) => return Err(SkipReason::AnchorUnknown),
    }
    Ok(())
}

/// Applies the remaining effect of a disabled commit: its inserts still list their position, as disabled.
pub(crate) fn apply_masked(document: &mut DocumentValue, act: &OpAction) -> Result<(), SkipReason> {
    let OpAction::At(at, PathEdit::Insert { position, before, .. }) = act else {
        return Err(SkipReason::Masked);
    };
    path::read(document, at).ok_or(SkipReason::PathUnresolved)?;
    match path::reach(document, at) {
        Some(DocumentValue::XArray(array)) => {
            insert(Arc::make_mut(array), position, before, SlotContent::Disabled)
        }
        _ => Err(SkipReason::PathUnresolved),
    }
}
