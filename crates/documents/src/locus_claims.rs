//! Splits opcodes into atomic claims about loci.
//!
//! Writing a struct claims each field, adding members claims each member: the smallest parts that a merge can lose
//! separately.

use crate::op::{OpAction, PathEdit};
use crate::path::{DocumentPath, PathStep};
use crate::value::DocumentValue;
use imbl::{OrdMap, OrdSet};

/// An assertion about a locus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LocusClaim<'v> {
    /// The locus has this value.
    Is(&'v DocumentValue),
    /// The locus has some value.
    There,
    /// The locus is absent.
    Gone,
}

impl LocusClaim<'_> {
    /// Returns true if the value found at the locus fulfills the claim.
    pub(crate) fn holds(self, found: Option<&DocumentValue>) -> bool {
        match self {
            Self::Is(value) => found == Some(value),
            Self::There => found.is_some(),
            Self::Gone => found.is_none(),
        }
    }
}

pub(crate) type LocusVisitor<'f> = dyn FnMut(&[PathStep], LocusClaim<'_>) + 'f;

/// Visits the claims of one opcode.
pub(crate) fn of_act(act: &OpAction, visit: &mut LocusVisitor<'_>) {
    let (path, change) = match act {
        OpAction::Set(value) => return leaves(value, &mut Vec::new(), visit),
        OpAction::At(path, change) => (path, change),
    };
    let mut path = path.clone();
    match change {
        PathEdit::Update(value) => leaves(value, &mut path, visit),
        PathEdit::SetUnion(members) => members_there(members, &mut path, visit),
        PathEdit::SetSubtract(members) => all_gone(members, PathStep::Element, &mut path, visit),
        PathEdit::MapUnion(entries) | PathEdit::MapUpdate(entries) => entry_leaves(entries, &mut path, visit),
        PathEdit::MapSubtract(keys) => all_gone(keys, PathStep::Key, &mut path, visit),
        PathEdit::Insert { position, value, .. } => {
            path.push(PathStep::Position(position.clone()));
            let mut n_claims = 0_usize;
            if let Some(value) = value {
                leaves(value, &mut path, &mut |locus, claim| {
                    n_claims += 1;
                    visit(locus, claim);
                });
            }
            if n_claims == 0 {
                visit(&path, LocusClaim::There);
            }
        }
        PathEdit::Put { position, value } => {
            path.push(PathStep::Position(position.clone()));
            leaves(value, &mut path, visit);
        }
        PathEdit::Remove { position } => {
            path.push(PathStep::Position(position.clone()));
            visit(&path, LocusClaim::Gone);
        }
    }
}

/// Visits the leaves of a value located at `path`.
pub(crate) fn leaves(value: &DocumentValue, path: &mut DocumentPath, visit: &mut LocusVisitor<'_>) {
    match value {
        DocumentValue::Struct(fields) => {
            for (rank, field) in (0..).zip(fields.iter()) {
                visit_child(PathStep::Field(rank), field, path, visit);
            }
        }
        DocumentValue::Set(members) => members_there(members, path, visit),
        DocumentValue::Map(entries) => entry_leaves(entries, path, visit),
        DocumentValue::XArray(array) => {
            for (position, element) in array.visible() {
                visit_child(PathStep::Position(position.clone()), element, path, visit);
            }
        }
        DocumentValue::Optional(Some(inner)) => visit_child(PathStep::Unwrap, inner, path, visit),
        leaf => visit(path, LocusClaim::Is(leaf)),
    }
}

fn visit_child(step: PathStep, value: &DocumentValue, path: &mut DocumentPath, visit: &mut LocusVisitor<'_>) {
    path.push(step);
    leaves(value, path, visit);
    path.pop();
}

fn members_there(members: &OrdSet<DocumentValue>, path: &mut DocumentPath, visit: &mut LocusVisitor<'_>) {
    for member in members {
        path.push(PathStep::Element(member.clone()));
        visit(path, LocusClaim::There);
        path.pop();
    }
}

fn entry_leaves(
    entries: &OrdMap<DocumentValue, DocumentValue>,
    path: &mut DocumentPath,
    visit: &mut LocusVisitor<'_>,
) {
    for (key, value) in entries {
        visit_child(PathStep::Key(key.clone()), value, path, visit);
    }
}

fn all_gone(
    values: &OrdSet<DocumentValue>,
    step: fn(DocumentValue) -> PathStep,
    path: &mut DocumentPath,
    visit: &mut LocusVisitor<'_>,
) {
    for value in values {
        path.push(step(value.clone()));
        visit(path, LocusClaim::Gone);
        path.pop();
    }
}
