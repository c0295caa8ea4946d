//! Records of decisions: who decided which conflicts of a merge, when, why, and what else was on offer.
//!
//! A record is plain data, named by its content, and names the merge and the survival commit. With the records at
//! hand, an analysis can say what was decided already, propose the same decision where the same conflict is met
//! again, and tell when a merge overrides a decision.

use crate::analysis::{MergeAnalysis, MergeConflict, Reading};
use crate::commit::{Commit, CommitId};
use crate::reconcile::{Chosen, MergeResolution, Reconciliation};
use probity_core::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was decided about one conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The conflict, with the values that were on offer.
    pub conflict: MergeConflict,
    /// What was chosen.
    pub chosen: Chosen,
}

/// A record of one reconciliation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionRecord {
    /// The merge.
    pub merge: CommitId,
    /// The survival commit; none when the merge stood as it was.
    pub survival: Option<CommitId>,
    /// Who decided: a person, or a policy.
    pub by: String,
    /// When, in milliseconds.
    pub at_ms: i64,
    /// Why, in words.
    pub why: String,
    /// The decisions, in the order of conflicts. Conflicts that are not here were left as merged, undecided.
    pub decisions: Vec<Decision>,
}

impl DecisionRecord {
    /// Records a reconciliation that was accepted.
    pub fn new(
        analysis: &MergeAnalysis,
        resolutions: &[MergeResolution],
        outcome: &Reconciliation,
        by: &str,
        at_ms: i64,
        why: &str,
    ) -> Self {
        let decided = |conflict: &MergeConflict| {
            resolutions.iter().find(|resolution| resolution.is_about(conflict)).map(|resolution| Decision {
                conflict: conflict.clone(),
                chosen: resolution.chosen().clone(),
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

    /// Names the record by its content.
    pub fn id(&self) -> Digest {
        let json = serde_json::to_value(self).expect("a record is plain data with text keys");
        Digest::of_json(&json)
    }
}

/// Records that can be asked.
#[derive(Debug, Default)]
pub struct Decisions<'r> {
    by_conflict: BTreeMap<&'r str, (&'r DecisionRecord, &'r Decision)>,
    by_survival: BTreeMap<CommitId, &'r DecisionRecord>,
    all: Vec<&'r Decision>,
}

impl<'r> Decisions<'r> {
    /// Takes records, oldest first: of two decisions about one conflict the later one counts.
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

    /// The record that decided this very conflict.
    pub fn resolved_by(&self, conflict: &MergeConflict) -> Option<&'r DecisionRecord> {
        self.by_conflict.get(conflict.id.as_str()).map(|(record, _)| *record)
    }

    /// The records whose decisions this conflict overrides: a survival commit is among its causes.
    pub fn overridden(&self, conflict: &MergeConflict) -> Vec<&'r DecisionRecord> {
        conflict.causes.iter().filter_map(|cause| self.by_survival.get(cause).copied()).collect()
    }

    /// What was decided the last time the same values met at the same locus, on whichever sides.
    pub fn proposal(&self, conflict: &MergeConflict) -> Option<Chosen> {
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
                Some(turned(&decision.chosen, &before.merged))
            } else {
                None
            }
        })
    }
}

/// The same choice for the same merge the other way round.
fn turned(chosen: &Chosen, merged: &Reading) -> Chosen {
    match (chosen, &merged.0) {
        (Chosen::Ours, _) => Chosen::Theirs,
        (Chosen::Theirs, _) => Chosen::Ours,
        // The merge the other way round has merged differently: what was accepted then is a value now.
        (Chosen::Merged, Some(value)) => Chosen::value(value),
        (Chosen::Merged, None) => Chosen::absence(),
        (other, _) => other.clone(),
    }
}
