//! What a sentence claims, before anybody has looked which item it is about.

use crate::vocabulary::{ConfidenceLevel, RevisionMode};

/// One claim of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Claim {
    Goal(String),
    Decision {
        summary: String,
        /// It changes what was said before.
        revises: bool,
        /// What it is in place of.
        instead_of: Option<String>,
    },
    Constraint {
        summary: String,
        hard: bool,
        change: RuleChange,
    },
    Task(String),
    /// The goal is reached.
    Reached,
    /// Something is done; the text says what.
    Done(String),
    Fact {
        summary: String,
        confidence: ConfidenceLevel,
        /// It corrects what was believed.
        corrects: bool,
        /// It confirms what was guessed.
        confirms: bool,
    },
    Hypothesis {
        summary: String,
        confidence: ConfidenceLevel,
    },
    Branch(Vec<String>),
    /// It may answer an open question; it says nothing else.
    Answer(String),
    /// Something no longer holds; the text says what, and is empty for what was said last.
    Withdraw(String),
    Reopen {
        about: String,
        reason: String,
    },
}

/// How a constraint relates to those that are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleChange {
    /// It stands for itself.
    New,
    /// It takes the place of the one that says nearly the same, if there is one.
    Replaces,
    /// It only makes sense as a change of one.
    Changes(RevisionMode),
}

impl Claim {
    /// A constraint that is new.
    pub(super) const fn constraint(summary: String, hard: bool) -> Self {
        Self::Constraint { summary, hard, change: RuleChange::New }
    }

    /// A decision that is new.
    pub(super) const fn decision(summary: String) -> Self {
        Self::Decision { summary, revises: false, instead_of: None }
    }

    /// A fact that is new.
    pub(super) const fn fact(summary: String, confidence: ConfidenceLevel) -> Self {
        Self::Fact { summary, confidence, corrects: false, confirms: false }
    }
}
