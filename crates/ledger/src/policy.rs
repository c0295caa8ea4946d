//! Authorization of changes: an input of the reconciler, never part of what candidates say.

use std::collections::BTreeSet;

/// The authors who may change or withdraw a hard constraint; by default everyone.
///
/// Every change needs the right, not only one declared as a relaxation, because the mode of a revision is its author's
/// own claim (law 1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConstraintPolicy {
    hard_constraints: Option<BTreeSet<String>>,
}

impl ConstraintPolicy {
    pub fn open() -> Self {
        Self::default()
    }

    /// Allows only these authors to revise, supersede or change the confidence of a hard constraint.
    pub fn guard_hard_constraints(authors: impl IntoIterator<Item = String>) -> Self {
        Self { hard_constraints: Some(authors.into_iter().collect()) }
    }

    /// Returns the authors who may change hard constraints; `None` if everyone may.
    pub fn guardians(&self) -> Option<impl Iterator<Item = &str>> {
        self.hard_constraints.as_ref().map(|authors| authors.iter().map(String::as_str))
    }

    pub(crate) fn may_change_hard_constraints(&self, author: &str) -> bool {
        self.hard_constraints.as_ref().is_none_or(|authors| authors.contains(author))
    }
}
