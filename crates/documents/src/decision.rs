//! Records of decisions: who decided which conflicts of a merge, when, why, and between which values.
//!
//! A record is plain data, identified by its content, and names the merge and the survival commit. With earlier
//! records, an analysis can show what was already decided, propose the same decision for a recurring conflict, and
//! report when a merge overrides a decision.

use crate::analysis::{LocusReading, MergeAnalysis, MergeConflict};
use crate::commit::{Commit, CommitId};
use crate::reconcile::{ConflictChoice, MergeReconciliation, MergeResolution};
use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The decision about one conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecidedConflict {
    /// The conflict, with the values to choose from.
    pub conflict: MergeConflict,
    /// The chosen value.
    pub chosen: ConflictChoice,
}

/// A record of one reconciliation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionRecord {
    /// The merge commit.
    pub merge: CommitId,
    /// The survival commit; none when the merge was left unchanged.
    pub survival: Option<CommitId>,
    /// The decider: a person or a policy.
    pub by: String,
    /// The time of the decision, in milliseconds.
    pub at_ms: i64,
    /// The reason given.
    pub why: String,
    /// The decisions, in the order of conflicts. Conflicts missing here were left as merged, undecided.
    pub decisions: Vec<DecidedConflict>,
}

impl DecisionRecord {
    /// Records an accepted reconciliation.
    pub fn new(
        analysis: &MergeAnalysis,
        resolutions: &[MergeResolution],
        outcome: &MergeReconciliation,
        by: &str,
        at_ms: i64,
        why: &str,
    ) -> Self {
        let decided = |conflict: &MergeConflict| {
            resolutions.iter().find(|resolution| resolution.is_about(conflict)).map(|resolution| {
                DecidedConflict { conflict: conflict.clone(), chosen: resolution.chosen().clone() }
            })
        };
        Self {
            merge: analysis.merge(),
            survival: outcome.survival.as_ref().map(Commit::id),
            by: by.to_owned(),
            at_ms,
            why: why.to_owned(),
            decisions: analysis.conflicts().iter().filter_map(decided).collect(),
        }
    }

    /// Returns the content hash that identifies the record.
    pub fn id(&self) -> Digest {
        let json = serde_json::to_value(self).expect("a record is plain data with text keys");
        Digest::of_json(&json)
    }
}

/// An index over decision records.
#[derive(Debug, Default)]
pub struct DecisionIndex<'r> {
    by_conflict: BTreeMap<&'r str, (&'r DecisionRecord, &'r DecidedConflict)>,
    by_survival: BTreeMap<CommitId, &'r DecisionRecord>,
    all: Vec<&'r DecidedConflict>,
}

impl<'r> DecisionIndex<'r> {
    /// Indexes records given oldest first: of two decisions about one conflict the later one counts.
    pub fn new(records: impl IntoIterator<Item = &'r DecisionRecord>) -> Self {
        let mut decisions = Self::default();
        for record in records {
            if let Some(survival) = record.survival {
                decisions.by_survival.insert(survival, record);
            }
            for decision in &record.decisions {
                decisions.by_conflict.insert(&decision.conflict.id, (record, decision));
                decisions.all.push(decision);
            }
        }
        decisions
    }

    /// Returns the record that decided exactly this conflict.
    pub fn resolved_by(&self, conflict: &MergeConflict) -> Option<&'r DecisionRecord> {
        self.by_conflict.get(conflict.id.as_str()).map(|(record, _)| *record)
    }

    /// Returns the records whose decisions this conflict overrides, that is, whose survival commit is among its causes.
    pub fn overridden(&self, conflict: &MergeConflict) -> Vec<&'r DecisionRecord> {
        conflict.causes.iter().filter_map(|cause| self.by_survival.get(cause).copied()).collect()
    }

    /// Returns the latest decision made when the same values met at the same locus, on either side.
    pub fn proposal(&self, conflict: &MergeConflict) -> Option<ConflictChoice> {
        self.all.iter().rev().find_map(|decision| {
            let before = &decision.conflict;
            let is_place = (&before.attachment, &before.key, &before.path)
                == (&conflict.attachment, &conflict.key, &conflict.path);
            let shown = |conflict: &MergeConflict| (conflict.ours.clone(), conflict.theirs.clone());
            let (ours, theirs) = shown(conflict);
            if !is_place || before.base != conflict.base {
                None
            } else if shown(before) == (ours.clone(), theirs.clone()) && before.merged == conflict.merged {
                Some(decision.chosen.clone())
            } else if shown(before) == (theirs, ours) {
                Some(swap_sides(&decision.chosen, &before.merged))
            } else {
                None
            }
        })
    }
}

/// Translates a choice to the same merge with sides swapped.
fn swap_sides(chosen: &ConflictChoice, merged: &LocusReading) -> ConflictChoice {
    match (chosen, &merged.0) {
        (ConflictChoice::Ours, _) => ConflictChoice::Theirs,
        (ConflictChoice::Theirs, _) => ConflictChoice::Ours,
        // The swapped merge merged differently, so the value accepted then becomes an explicit value now.
        (ConflictChoice::Merged, Some(value)) => ConflictChoice::value(value),
        (ConflictChoice::Merged, None) => ConflictChoice::absence(),
        (other, _) => other.clone(),
    }
}
