//! How two scopes overlap.
//!
//! Claims are refused in doubt: `forbidden` never weakens an overlap.

use crate::scope::{FnmatchSet, IntentScope, ScopeEntrySet, covered};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the caller's scope relates to a foreign one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RelationKind {
    /// Both may touch the same path.
    EditOverlap,
    /// The foreign scope forbids a path that the caller may touch.
    ForeignExcludesTarget,
    /// The caller's scope forbids a path that the other may touch.
    TargetExcludesForeign,
    /// The scopes have nothing in common.
    None,
}

/// The kinds of overlap found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OverlapType {
    /// Allowed overlaps allowed.
    Hard,
    /// Allowed overlaps related.
    Soft,
    /// Both kinds occur.
    Both,
}

/// How two scopes overlap, and on which entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ScopeOverlap {
    /// The first relation that holds.
    pub relation: RelationKind,
    /// The kinds of overlap found, if any.
    pub overlap_type: Option<OverlapType>,
    /// The narrower entries where the caller's allowed files overlap the other's.
    pub hard_overlap: ScopeEntrySet,
    /// The narrower entries where allowed overlaps related, except those in `hard_overlap`.
    pub soft_overlap: ScopeEntrySet,
    /// Allowed entries that the other side forbids; empty if the scopes overlap.
    pub excluded: ScopeEntrySet,
    /// True if the two must not be active at the same time.
    pub conflict: bool,
}

/// Compares `target` (the caller's scope) with `foreign`.
pub fn relations(target: &IntentScope, foreign: &IntentScope) -> ScopeOverlap {
    let hard = narrower_overlap(&target.allowed_files, &foreign.allowed_files);
    let mut soft = narrower_overlap(&target.allowed_files, &foreign.allowed_related);
    soft.append(&mut narrower_overlap(&target.allowed_related, &foreign.allowed_files));
    soft.retain(|entry| !hard.contains(entry));
    let overlap_type = match (hard.is_empty(), soft.is_empty()) {
        (false, false) => Some(OverlapType::Both),
        (false, true) => Some(OverlapType::Hard),
        (true, false) => Some(OverlapType::Soft),
        (true, true) => None,
    };
    let (relation, excluded) = match overlap_type {
        Some(_) => (RelationKind::EditOverlap, ScopeEntrySet::new()),
        None => exclusion(target, foreign),
    };
    ScopeOverlap {
        relation,
        overlap_type,
        hard_overlap: hard,
        soft_overlap: soft,
        excluded,
        conflict: overlap_type.is_some(),
    }
}

/// Returns true if the two must not be active at the same time: [`relations`] without the details.
pub fn overlap(target: &IntentScope, foreign: &IntentScope) -> bool {
    entries_overlap(&target.allowed_files, &foreign.allowed_files)
        || entries_overlap(&target.allowed_files, &foreign.allowed_related)
        || entries_overlap(&target.allowed_related, &foreign.allowed_files)
}

fn exclusion(target: &IntentScope, foreign: &IntentScope) -> (RelationKind, ScopeEntrySet) {
    let theirs = matched(&foreign.forbidden, &target.allowed_files);
    if !theirs.is_empty() {
        return (RelationKind::ForeignExcludesTarget, theirs);
    }
    let mine = matched(&target.forbidden, &foreign.allowed_files);
    let relation = if mine.is_empty() { RelationKind::None } else { RelationKind::TargetExcludesForeign };
    (relation, mine)
}

fn matched(patterns: &ScopeEntrySet, entries: &ScopeEntrySet) -> ScopeEntrySet {
    let patterns = FnmatchSet::new(patterns);
    entries.iter().filter(|entry| patterns.match_bytes(entry.as_bytes())).cloned().collect()
}

/// Returns the narrower entry of each pair in which one covers the other.
fn narrower_overlap(a: &ScopeEntrySet, b: &ScopeEntrySet) -> ScopeEntrySet {
    let below = |set: &ScopeEntrySet, other: &ScopeEntrySet| -> ScopeEntrySet {
        set.iter().filter(|entry| covered(other, entry.as_bytes())).cloned().collect()
    };
    let mut narrower = below(a, b);
    narrower.append(&mut below(b, a));
    narrower
}

fn entries_overlap(a: &ScopeEntrySet, b: &ScopeEntrySet) -> bool {
    a.iter().any(|entry| covered(b, entry.as_bytes())) || b.iter().any(|entry| covered(a, entry.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::ScopeEntry;
    use proptest::prelude::*;

    fn entries() -> impl Strategy<Value = ScopeEntrySet> {
        proptest::collection::btree_set("(a|b|a/a|a/b|a/b/c|b/a)", 0..4)
            .prop_map(|set| set.iter().map(ScopeEntry::new).collect())
    }

    fn scopes() -> impl Strategy<Value = IntentScope> {
        (entries(), entries()).prop_map(|(allowed_files, allowed_related)| IntentScope {
            allowed_files,
            allowed_related,
            forbidden: ScopeEntrySet::new(),
        })
    }

    proptest! {
        #[test]
        fn an_overlap_is_the_same_from_both_sides(a in scopes(), b in scopes()) {
            let (ours, theirs) = (relations(&a, &b), relations(&b, &a));
            prop_assert_eq!(ours.conflict, overlap(&a, &b));
            prop_assert_eq!(ours.conflict, theirs.conflict);
            prop_assert_eq!(&ours.hard_overlap, &theirs.hard_overlap);
            prop_assert_eq!(&ours.soft_overlap, &theirs.soft_overlap);
        }

        #[test]
        fn entries_meet_exactly_when_one_covers_the_other(a in entries(), b in entries()) {
            let mut naive = ScopeEntrySet::new();
            for x in &a {
                for y in &b {
                    if x.covers(y.as_bytes()) {
                        naive.insert(y.clone());
                    } else if y.covers(x.as_bytes()) {
                        naive.insert(x.clone());
                    }
                }
            }
            prop_assert_eq!(entries_overlap(&a, &b), !naive.is_empty());
            prop_assert_eq!(narrower_overlap(&a, &b), naive);
        }
    }
}
