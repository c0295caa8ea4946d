//! Applies opcodes to documents during replay.
//!
//! Replay never fails: an opcode without anything to act on is skipped with a reason.

use crate::op::{Act, Anchor, Change};
use crate::path::{self, Step};
use crate::value::{Text, Value};
use crate::xarray::{Content, XArray};
use std::sync::Arc;

probity_core::code_enum! {
    /// The reason an opcode, or a part of it, had no effect.
    pub enum Skip {
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
pub(crate) fn apply(document: &mut Value, at: &[Step], change: &Change) -> Result<(), Skip> {
    if let Change::Update(value) = change {
        return update(document, at, value);
    }
    // `reach` copies shared nodes on its way. Reading first avoids the copy when the path does not resolve.
    path::read(document, at).ok_or(Skip::PathUnresolved)?;
    let place = path::reach(document, at).ok_or(Skip::PathUnresolved)?;
    match (place, change) {
        (Value::Set(members), Change::SetUnion(added)) => {
            for value in added {
                // An existing member stays untouched: equal xarrays may differ in their tombstones.
                if !members.contains(value) {
                    members.insert(value.clone());
                }
            }
            Ok(())
        }
        (Value::Set(members), Change::SetSubtract(removed)) => {
            for value in removed {
                members.remove(value);
            }
            Ok(())
        }
        (Value::Map(entries), Change::MapUnion(added)) => {
            for (key, value) in added {
                entries.insert(key.clone(), value.clone());
            }
            Ok(())
        }
        (Value::Map(entries), Change::MapUpdate(updated)) => {
            let mut skipped = Err(Skip::KeysMissing);
            for (key, value) in updated {
                if let Some(entry) = entries.get_mut(key) {
                    *entry = value.clone();
                    skipped = Ok(());
                }
            }
            if updated.is_empty() { Ok(()) } else { skipped }
        }
        (Value::Map(entries), Change::MapSubtract(keys)) => {
            for key in keys {
                entries.remove(key);
            }
            Ok(())
        }
        (Value::XArray(array), change) => apply_to_xarray(Arc::make_mut(array), change),
        _ => Err(Skip::PathUnresolved),
    }
}

fn update(document: &mut Value, at: &[Step], value: &Value) -> Result<(), Skip> {
    let (last, enclosing) = at.split_last().ok_or(Skip::RootUpdate)?;
    path::read(document, enclosing).ok_or(Skip::PathUnresolved)?;
    let place = path::reach(document, enclosing).ok_or(Skip::PathUnresolved)?;
    match (place, last) {
        (Value::Struct(fields), Step::Field(rank)) => {
            Arc::make_mut(fields)[usize::from(*rank)] = value.clone();
            Ok(())
        }
        (Value::List(items), Step::Index(index)) => {
            let index = usize::try_from(*index).ok().filter(|index| *index < items.len());
            Arc::make_mut(items)[index.ok_or(Skip::IndexOutOfRange)?] = value.clone();
            Ok(())
        }
        (Value::Map(entries), Step::Key(key)) => {
            entries.insert(key.clone(), value.clone());
            Ok(())
        }
        (Value::XArray(array), Step::Position(position)) => put(Arc::make_mut(array), position, value),
        (Value::Optional(inner), Step::Unwrap) => {
            *inner = Some(Arc::new(value.clone()));
            Ok(())
        }
        _ => Err(Skip::PathUnresolved),
    }
}

fn apply_to_xarray(array: &mut XArray, change: &Change) -> Result<(), Skip> {
    match change {
        Change::Insert { position, before, value } => match value {
            Some(value) if array.knows(position) => put(array, position, value),
            Some(value) => insert(array, position, before, Content::Visible(value.clone())),
            None => insert(array, position, before, Content::Tombstone),
        },
        Change::Put { position, value } => put(array, position, value),
        Change::Remove { position } if !array.knows(position) => Err(Skip::PositionUnknown),
        Change::Remove { position } => {
            if array.element(position).is_some() {
                array.put(position, Content::Tombstone);
            }
            Ok(())
        }
        _ => Err(Skip::PathUnresolved),
    }
}

fn put(array: &mut XArray, position: &Text, value: &Value) -> Result<(), Skip> {
    if !array.knows(position) {
        return Err(Skip::PositionUnknown);
    }
    if array.is_disabled(position) {
        return Err(Skip::PositionDisabled);
    }
    array.put(position, Content::Visible(value.clone()));
    Ok(())
}

fn insert(array: &mut XArray, position: &Text, before: &Anchor, content: Content) -> Result<(), Skip> {
    if array.knows(position) {
        return Err(Skip::PositionKnown);
    }
    match before {
        Anchor::End => array.push(position.clone(), content),
        Anchor::Before(anchor) if array.knows(anchor) => {
            array.insert_before(anchor, position.clone(), content);
        }
        Anchor::Before(_) => return Err(Skip::AnchorUnknown),
    }
    Ok(())
}

/// Applies the remaining effect of a disabled commit: its inserts still list their position, as disabled.
pub(crate) fn apply_masked(document: &mut Value, act: &Act) -> Result<(), Skip> {
    let Act::At(at, Change::Insert { position, before, .. }) = act else {
        return Err(Skip::Masked);
    };
    path::read(document, at).ok_or(Skip::PathUnresolved)?;
    match path::reach(document, at) {
        Some(Value::XArray(array)) => insert(Arc::make_mut(array), position, before, Content::Disabled),
        _ => Err(Skip::PathUnresolved),
    }
}
