//! The closed vocabularies of the ledger, each with its words in documents.
//!
//! The reader refuses unknown words; nothing is guessed or coerced.

probity_core::word_enum! {
    /// The kind of an item. It never changes.
    pub enum ItemKind {
        Goal = "goal",
        Decision = "decision",
        /// A rule that holds for every decision.
        Constraint = "constraint",
        Task = "task",
        Fact = "fact",
        Hypothesis = "hypothesis",
        /// A choice that is still open.
        Branch = "branch",
    }
}

probity_core::word_enum! {
    /// The stage of an item's life. `superseded` and `resolved` are final.
    pub enum ItemStatus {
        /// Proposed, not yet believed.
        Tentative = "tentative",
        /// In force.
        Active = "active",
        /// Replaced or withdrawn.
        Superseded = "superseded",
        /// Done, reached or chosen.
        Resolved = "resolved",
    }
}

impl ItemStatus {
    /// Returns whether the item still counts: tentative or active.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Tentative | Self::Active)
    }

    /// The complete transition table. Any other transition is refused.
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Tentative, Self::Active | Self::Superseded | Self::Resolved)
                | (Self::Active, Self::Superseded | Self::Resolved)
        )
    }
}

probity_core::word_enum! {
    /// Ordered from the weakest.
    pub enum ConfidenceLevel {
        /// A guess.
        Low = "low",
        /// Likely.
        Medium = "medium",
        /// Stated firmly.
        High = "high",
        /// Beyond doubt.
        Certain = "certain",
    }
}

probity_core::word_enum! {
    /// The direction of a constraint revision, as its author declares it.
    pub enum RevisionMode {
        /// It now allows more.
        Relaxed = "relaxed",
        /// It now allows less.
        Tightened = "tightened",
        /// It changed in another way.
        Amended = "amended",
    }
}

probity_core::word_enum! {
    pub enum DeltaKind {
        GoalSet = "goal_set",
        DecisionMade = "decision_made",
        FactLearned = "fact_learned",
        HypothesisIntroduced = "hypothesis_introduced",
        ConstraintAdded = "constraint_added",
        TaskOpened = "task_opened",
        /// A new open choice.
        BranchCreated = "branch_created",
        /// A new wording or confidence of a decision.
        DecisionRevised = "decision_revised",
        /// A new wording of a constraint.
        ConstraintRevised = "constraint_revised",
        /// A new confidence, of any item.
        ConfidenceChanged = "confidence_changed",
        /// A task is done or dropped.
        TaskClosed = "task_closed",
        /// A goal is reached or dropped.
        GoalClosed = "goal_closed",
        /// Any item is withdrawn, with or without a replacement.
        ItemSuperseded = "item_superseded",
        /// A hypothesis is believed from now on.
        HypothesisPromoted = "hypothesis_promoted",
        /// An alternative of an open choice is chosen.
        BranchResolved = "branch_resolved",
        /// A resolved task gets a successor.
        TaskReopened = "task_reopened",
        /// A fact was wrong; the delta carries the right one.
        FactCorrected = "fact_corrected",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_statuses_lead_nowhere() {
        for &from in ItemStatus::ALL {
            for &to in ItemStatus::ALL {
                assert!(from.is_live() || !from.may_become(to), "{from} to {to}");
                assert!(!from.may_become(ItemStatus::Tentative), "{from} to tentative");
            }
        }
    }
}
