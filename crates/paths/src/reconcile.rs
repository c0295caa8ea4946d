//! The check D ⊆ R, and D from two snapshots.
//!
//! Pure: the same scope and the same delta give the same answer (law 7).

use crate::{RepoPath, Scope};
use probity_core::ReasonCode;
use std::collections::{BTreeMap, BTreeSet};

/// The result of the check D ⊆ R. It passed exactly when no path is untracked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeltaReconciliation {
    /// The changed paths outside the scope (D minus R), in the order of the delta.
    pub untracked: Vec<RepoPath>,
}

impl DeltaReconciliation {
    /// Returns true if D ⊆ R.
    pub fn passed(&self) -> bool {
        self.untracked.is_empty()
    }

    /// Returns `pass` or `fail`.
    pub fn status(&self) -> &'static str {
        if self.passed() { "pass" } else { "fail" }
    }

    pub fn reason(&self) -> Option<ReasonCode> {
        (!self.passed()).then_some(ReasonCode::ReconUntrackedDelta)
    }
}

/// Checks that every path of `delta` is inside `scope`.
pub fn reconcile(scope: &Scope, delta: &[RepoPath]) -> DeltaReconciliation {
    DeltaReconciliation { untracked: delta.iter().filter(|path| !scope.contains(path)).cloned().collect() }
}

/// Returns the delta D of two snapshots: every path whose entry was added, removed or changed, sorted by bytes.
pub fn delta<E: PartialEq>(before: &BTreeMap<RepoPath, E>, after: &BTreeMap<RepoPath, E>) -> Vec<RepoPath> {
    let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
    paths.into_iter().filter(|path| before.get(path) != after.get(path)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::parse(text.as_bytes()).expect("a path")
    }

    #[test]
    fn names_what_lies_outside_in_the_order_of_the_delta() {
        let scope = Scope::parse(&["src/**"]).expect("a scope");
        let found = reconcile(&scope, &[path("z"), path("src/a"), path("b")]);
        assert_eq!(found.untracked, [path("z"), path("b")]);
        assert_eq!((found.status(), found.reason()), ("fail", Some(ReasonCode::ReconUntrackedDelta)));
    }

    #[test]
    fn an_empty_delta_is_inside_an_empty_scope() {
        let found = reconcile(&Scope::default(), &[]);
        assert_eq!((found.status(), found.reason()), ("pass", None));
    }

    #[test]
    fn added_removed_and_different_entries_are_the_delta() {
        let before = BTreeMap::from([(path("gone"), 1), (path("same"), 1), (path("other"), 1)]);
        let after = BTreeMap::from([(path("new"), 1), (path("same"), 1), (path("other"), 2)]);
        assert_eq!(delta(&before, &after), [path("gone"), path("new"), path("other")]);
    }
}
