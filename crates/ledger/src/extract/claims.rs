//! What a sentence claims, before anybody has looked which item it is about.

use crate::words::{Confidence, Mode};

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
        revises: Option<Mode>,
    },
    Task(String),
    /// Something is done; the text says what.
    Done(String),
    Fact {
        summary: String,
        confidence: Confidence,
        /// It corrects what was believed.
        corrects: bool,
        /// It confirms what was guessed.
        confirms: bool,
    },
    Hypothesis {
        summary: String,
        confidence: Confidence,
    },
    Branch(Vec<String>),
    /// Something no longer holds; the text says what, and is empty for what was said last.
    Withdraw(String),
    Reopen {
        about: String,
        reason: String,
    },
}
