//! The claims of a sentence, before they are matched to items.

use crate::vocabulary::{ConfidenceLevel, RevisionMode};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TurnClaim {
    Goal(String),
    Decision {
        summary: String,
        /// It changes what was said before.
        revises: bool,
        /// The text of what it replaces.
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
        /// It corrects an earlier belief.
        corrects: bool,
        /// It confirms a hypothesis.
        confirms: bool,
    },
    Hypothesis {
        summary: String,
        confidence: ConfidenceLevel,
    },
    Branch(Vec<String>),
    /// A possible answer to an open question, and nothing else.
    Answer(String),
    /// An offer of the turn before is accepted.
    Accept {
        summary: String,
        is_task: bool,
    },
    /// The alternative of this rank of the open choice, or the offer of this rank.
    Pick {
        rank: usize,
        summary: Option<String>,
    },
    /// The other one of two alternatives, of which one was chosen.
    PickOther,
    /// An alternative of the open choice is not wanted.
    RuleOut(String),
    /// Both alternatives of the open choice.
    ChooseBoth,
    /// Work that was asked for may be done: the text is what an agent reports.
    Report(String),
    /// Items of the last list of work are done: their ranks, from zero.
    DoneRanks(Vec<usize>),
    /// All work that was asked for last is done.
    AllDone,
    /// What one of the turns just before asked for is done.
    AskedWorkDone,
    /// What the turn before announced is not wanted.
    WithdrawRecent,
    /// What the turns before said is taken back; the text says what it is about.
    TakeBack(String),
    /// The value of what was said last: "make it 10 seconds".
    SetValue(String),
    /// The limit of what was said last: "then 250 kB is the limit".
    SetBound(String),
    /// The day or date that now holds for what had another one: "the customer moved it, we have until Monday".
    NewDate(String),
    /// Something takes the place of something that was said before: "30 days, not 90".
    Contrast {
        new: String,
        old: String,
    },
    /// Work that was asked for is not wanted; the text names it.
    DropTask(String),
    /// What a rule forbade is allowed; the text says what.
    Permit(String),
    /// A user allows what a rule forbade; the summary says what holds now.
    Lift {
        about: String,
        summary: String,
        /// It answers what was said just before, so it may lift a rule that it does not name.
        answers: bool,
    },
    /// What was to be changed stays: the text names it, or is empty for what was spoken of last.
    Keep {
        about: String,
        summary: String,
    },
    /// What was found or supposed is wrong; the text names it.
    Refute(String),
    /// Somebody still needs something, so it is not to be removed; the text says what is needed.
    StillNeeded {
        about: String,
        summary: String,
    },
    /// What the turn before stated is not so.
    DenyLast,
    /// What the turn before called done happens again.
    Relapse,
    /// Another name than the one that was said: "sorry, I meant the other one".
    Meant(String),
    /// Something no longer holds; the text says what, and is empty for the last statement.
    Withdraw(String),
    Reopen {
        about: String,
        reason: String,
    },
}

/// The relation of a constraint to the existing ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleChange {
    /// It is independent of them.
    New,
    /// It replaces the one that says nearly the same, if there is one.
    Replaces,
    /// It only makes sense as a change of an existing one.
    Changes(RevisionMode),
}

impl TurnClaim {
    /// Returns the words of a statement that could be taken back.
    pub(super) fn summary(&self) -> Option<&str> {
        match self {
            Self::Goal(summary)
            | Self::Task(summary)
            | Self::Answer(summary)
            | Self::Decision { summary, .. }
            | Self::Constraint { summary, .. }
            | Self::Fact { summary, .. }
            | Self::Hypothesis { summary, .. }
            | Self::Accept { summary, .. } => Some(summary),
            _ => None,
        }
    }

    /// Returns the same claim in other words.
    pub(super) fn with_summary(&self, new: String) -> Self {
        let mut claim = self.clone();
        match &mut claim {
            Self::Goal(summary)
            | Self::Task(summary)
            | Self::Answer(summary)
            | Self::Decision { summary, .. }
            | Self::Constraint { summary, .. }
            | Self::Fact { summary, .. }
            | Self::Hypothesis { summary, .. }
            | Self::Accept { summary, .. } => *summary = new,
            _ => {}
        }
        claim
    }

    pub(super) const fn constraint(summary: String, hard: bool) -> Self {
        Self::Constraint { summary, hard, change: RuleChange::New }
    }

    pub(super) const fn decision(summary: String) -> Self {
        Self::Decision { summary, revises: false, instead_of: None }
    }

    pub(super) const fn fact(summary: String, confidence: ConfidenceLevel) -> Self {
        Self::Fact { summary, confidence, corrects: false, confirms: false }
    }
}
