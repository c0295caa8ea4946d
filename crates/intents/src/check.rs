//! The scope check: compares the changed paths with the declared ones.
//!
//! Membership is literal: a directory in `allowed_files` covers only itself, not its contents.

use crate::scope::{IntentScope, ScopeEntrySet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome of a scope check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScopeCheckStatus {
    /// Only allowed files changed.
    Clean,
    /// Related files changed as well.
    Expanded,
    /// Undeclared or forbidden paths changed.
    Violated,
    /// The analysis run that the intent was declared on is no longer the one it names.
    Expired,
}

/// The outcome of a scope check, with the paths behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScopeCheck {
    /// The outcome.
    pub status: ScopeCheckStatus,
    /// Changed paths that were not declared.
    pub unexpected_files: ScopeEntrySet,
    /// Changed paths that the scope forbids.
    pub forbidden_touched: ScopeEntrySet,
    /// Related paths that changed.
    pub expanded_files: ScopeEntrySet,
    /// Declared paths that did not change; informational.
    pub untouched_in_declared: ScopeEntrySet,
}

pub fn scope_check(scope: &IntentScope, changed: &ScopeEntrySet) -> ScopeCheck {
    let pick = |wanted: &dyn Fn(&[u8]) -> bool| -> ScopeEntrySet {
        changed.iter().filter(|path| wanted(path.as_bytes())).cloned().collect()
    };
    let allowed = |path: &[u8]| scope.allowed_files.contains(path);
    let related = |path: &[u8]| scope.allowed_related.contains(path);
    let unexpected_files = pick(&|path| !allowed(path) && !related(path));
    let forbidden_touched = pick(&|path| scope.forbids(path));
    let expanded_files = pick(&|path| related(path) && !allowed(path));
    let status = if !unexpected_files.is_empty() || !forbidden_touched.is_empty() {
        ScopeCheckStatus::Violated
    } else if !expanded_files.is_empty() {
        ScopeCheckStatus::Expanded
    } else {
        ScopeCheckStatus::Clean
    };
    let untouched_in_declared = scope.entries().filter(|entry| !changed.contains(*entry)).cloned().collect();
    ScopeCheck { status, unexpected_files, forbidden_touched, expanded_files, untouched_in_declared }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::ScopeEntry;

    fn entries(names: &[&str]) -> ScopeEntrySet {
        names.iter().map(ScopeEntry::new).collect()
    }

    fn status(changed: &[&str]) -> ScopeCheckStatus {
        let scope = IntentScope {
            allowed_files: entries(&["src/a.rs", "docs"]),
            allowed_related: entries(&["src/b.rs"]),
            forbidden: entries(&["*.lock", "src/a.rs.bak"]),
        };
        scope_check(&scope, &entries(changed)).status
    }

    #[test]
    fn only_declared_names_are_expected() {
        assert_eq!(status(&["src/a.rs"]), ScopeCheckStatus::Clean);
        assert_eq!(status(&["src/a.rs", "src/b.rs"]), ScopeCheckStatus::Expanded);
        assert_eq!(status(&["src/c.rs"]), ScopeCheckStatus::Violated);
    }

    #[test]
    fn a_directory_covers_nothing_below_it() {
        assert_eq!(status(&["docs/x.md"]), ScopeCheckStatus::Violated);
    }
}
