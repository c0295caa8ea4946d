//! The closed vocabularies of the ledger, each with the word that documents and programs use.
//!
//! A word that is not in its list is refused by the reader; nothing is guessed or coerced.

probity_core::word_enum! {
    /// What an item is. It never changes.
    pub enum ItemKind {
        /// What the project is after.
        Goal = "goal",
        /// What was decided.
        Decision = "decision",
        /// What must hold whatever is decided.
        Constraint = "constraint",
        /// What is to be done.
        Task = "task",
        /// What was found to be so.
        Fact = "fact",
        /// What may be so.
        Hypothesis = "hypothesis",
        /// A choice that is still open.
        Branch = "branch",
    }
}

probity_core::word_enum! {
    /// Where an item is in its life. `superseded` and `resolved` are final.
    pub enum ItemStatus {
        /// Proposed, not believed yet.
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
    /// Whether the item still counts: tentative or active.
    pub const fn is_live(self) -> bool {
        matches!(self, Self::Tentative | Self::Active)
    }

    /// The whole table of transitions. What is not in it does not happen.
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Tentative, Self::Active | Self::Superseded | Self::Resolved)
                | (Self::Active, Self::Superseded | Self::Resolved)
        )
    }
}

probity_core::word_enum! {
    /// How sure one is. Ordered from the weakest.
    pub enum ConfidenceLevel {
        /// A guess.
        Low = "low",
        /// Likely.
        Medium = "medium",
        /// Said firmly.
        High = "high",
        /// Beyond doubt.
        Certain = "certain",
    }
}

probity_core::word_enum! {
    /// In which direction a constraint was revised, as its author sees it.
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
    /// What a candidate delta proposes.
    pub enum DeltaKind {
        /// A new goal.
        GoalSet = "goal_set",
        /// A new decision.
        DecisionMade = "decision_made",
        /// A new fact.
        FactLearned = "fact_learned",
        /// A new hypothesis.
        HypothesisIntroduced = "hypothesis_introduced",
        /// A new constraint.
        ConstraintAdded = "constraint_added",
        /// A new task.
        TaskOpened = "task_opened",
        /// A new open choice.
        BranchCreated = "branch_created",
        /// Another wording or confidence of a decision.
        DecisionRevised = "decision_revised",
        /// Another wording of a constraint.
        ConstraintRevised = "constraint_revised",
        /// Another confidence, of any item.
        ConfidenceChanged = "confidence_changed",
        /// A task is done or dropped.
        TaskClosed = "task_closed",
        /// A goal is reached or dropped.
        GoalClosed = "goal_closed",
        /// Any item is withdrawn, perhaps in favour of another.
        ItemSuperseded = "item_superseded",
        /// A hypothesis is believed from now on.
        HypothesisPromoted = "hypothesis_promoted",
        /// An open choice is made.
        BranchResolved = "branch_resolved",
        /// A resolved task gets a successor.
        TaskReopened = "task_reopened",
        /// A fact was wrong; here is the right one.
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
