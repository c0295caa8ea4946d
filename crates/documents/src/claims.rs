//! Splits opcodes into atomic claims about loci.
//!
//! Writing a struct claims each field, adding members claims each member: the smallest parts that a merge can lose
//! separately.

use crate::op::{Act, Change};
use crate::path::{Path, Step};
use crate::value::Value;
use imbl::{OrdMap, OrdSet};

/// An assertion about a locus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim<'v> {
    /// The locus has this value.
    Is(&'v Value),
    /// The locus has some value.
    There,
    /// The locus is absent.
    Gone,
}

impl Claim<'_> {
    /// Returns true if the value found at the locus fulfills the claim.
    pub(crate) fn holds(self, found: Option<&Value>) -> bool {
        match self {
            Self::Is(value) => found == Some(value),
            Self::There => found.is_some(),
            Self::Gone => found.is_none(),
        }
    }
}

pub(crate) type Visit<'f> = dyn FnMut(&[Step], Claim<'_>) + 'f;

/// Visits the claims of one opcode.
pub(crate) fn of_act(act: &Act, visit: &mut Visit<'_>) {
    let (path, change) = match act {
        Act::Set(value) => return leaves(value, &mut Vec::new(), visit),
        Act::At(path, change) => (path, change),
    };
    let mut path = path.clone();
    match change {
        Change::Update(value) => leaves(value, &mut path, visit),
        Change::SetUnion(members) => members_there(members, &mut path, visit),
        Change::SetSubtract(members) => all_gone(members, Step::Element, &mut path, visit),
        Change::MapUnion(entries) | Change::MapUpdate(entries) => entry_leaves(entries, &mut path, visit),
        Change::MapSubtract(keys) => all_gone(keys, Step::Key, &mut path, visit),
        Change::Insert { position, value, .. } => {
            path.push(Step::Position(position.clone()));
            let mut n_claims = 0_usize;
            if let Some(value) = value {
                leaves(value, &mut path, &mut |locus, claim| {
                    n_claims += 1;
                    visit(locus, claim);
                });
            }
            if n_claims == 0 {
                visit(&path, Claim::There);
            }
        }
        Change::Put { position, value } => {
            path.push(Step::Position(position.clone()));
            leaves(value, &mut path, visit);
        }
        Change::Remove { position } => {
            path.push(Step::Position(position.clone()));
            visit(&path, Claim::Gone);
        }
    }
}

/// Visits the leaves of a value located at `path`.
pub(crate) fn leaves(value: &Value, path: &mut Path, visit: &mut Visit<'_>) {
    match value {
        Value::Struct(fields) => {
            for (rank, field) in (0..).zip(fields.iter()) {
                below(Step::Field(rank), field, path, visit);
            }
        }
        Value::Set(members) => members_there(members, path, visit),
        Value::Map(entries) => entry_leaves(entries, path, visit),
        Value::XArray(array) => {
            for (position, element) in array.visible() {
                below(Step::Position(position.clone()), element, path, visit);
            }
        }
        Value::Optional(Some(inner)) => below(Step::Unwrap, inner, path, visit),
        leaf => visit(path, Claim::Is(leaf)),
    }
}

fn below(step: Step, value: &Value, path: &mut Path, visit: &mut Visit<'_>) {
    path.push(step);
    leaves(value, path, visit);
    path.pop();
}

fn members_there(members: &OrdSet<Value>, path: &mut Path, visit: &mut Visit<'_>) {
    for member in members {
        path.push(Step::Element(member.clone()));
        visit(path, Claim::There);
        path.pop();
    }
}

fn entry_leaves(entries: &OrdMap<Value, Value>, path: &mut Path, visit: &mut Visit<'_>) {
    for (key, value) in entries {
        below(Step::Key(key.clone()), value, path, visit);
    }
}

fn all_gone(values: &OrdSet<Value>, step: fn(Value) -> Step, path: &mut Path, visit: &mut Visit<'_>) {
    for value in values {
        path.push(step(value.clone()));
        visit(path, Claim::Gone);
        path.pop();
    }
}
