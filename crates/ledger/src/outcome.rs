//! What becomes of a candidate: accepted, merged, or rejected with a stable code.

use crate::record::{ItemId, Seq};
use crate::words::vocabulary;

vocabulary! {
    /// Why a candidate was merged into what is there already.
    MergeCode {
        /// A live item says the same, or the change changes nothing.
        Duplicate = "duplicate",
        /// This very delta took effect before.
        Redelivered = "redelivered",
    }
}

vocabulary! {
    /// Why a candidate was rejected. Codes are promises: they never change their meaning.
    RejectCode {
        /// Another delta took effect under this key.
        KeyConflict = "key_conflict",
        /// There is no such kind of delta.
        UnknownKind = "unknown_kind",
        /// No source turn is named.
        MissingProvenance = "missing_provenance",
        /// A source turn is not known.
        UnknownTurn = "unknown_turn",
        /// A field is missing, extra, blank, or not what it should be.
        InvalidField = "invalid_field",
        /// The item that is named does not exist.
        TargetNotFound = "target_not_found",
        /// The target is of another kind than the delta revises.
        WrongKind = "wrong_kind",
        /// The target is superseded or resolved.
        TerminalTarget = "terminal_target",
        /// The target's status does not allow this step.
        InvalidTransition = "invalid_transition",
        /// The policy does not let this author change a hard constraint.
        NotAuthorised = "not_authorised",
        /// An item cannot supersede itself.
        InvalidLink = "invalid_link",
        /// The handle names an item of another kind.
        KindConflict = "kind_conflict",
        /// The handle names an item with other content.
        HandleConflict = "handle_conflict",
        /// Another delta of the same atomic batch was rejected.
        BatchAborted = "batch_aborted",
    }
}

impl RejectCode {
    /// What happened, in words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::KeyConflict => "another delta already took effect under this key",
            Self::UnknownKind => "there is no such kind of delta",
            Self::MissingProvenance => "no source turn is named, so nobody could trace this",
            Self::UnknownTurn => "a source names a turn that is not known",
            Self::InvalidField => "a field is missing, extra, blank, or not what it should be",
            Self::TargetNotFound => "no item goes by this handle",
            Self::WrongKind => "the target is of another kind than this delta changes",
            Self::TerminalTarget => "the item is superseded or resolved, and that is final",
            Self::InvalidTransition => "the item's status does not allow this step",
            Self::NotAuthorised => "this author may not change a hard constraint",
            Self::InvalidLink => "an item cannot supersede itself",
            Self::KindConflict => "the handle already names an item of another kind",
            Self::HandleConflict => "the handle already names an item with other content",
            Self::BatchAborted => "another delta of this atomic batch was rejected",
        }
    }
}

/// What the reconciler decided about one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It changed the state.
    Accepted,
    /// It says what is there already.
    Merged(MergeCode),
    /// It changed nothing.
    Rejected(RejectCode),
}

impl Verdict {
    /// `accepted`, `merged` or `rejected`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Merged(_) => "merged",
            Self::Rejected(_) => "rejected",
        }
    }

    /// The code of a merge or a rejection.
    pub const fn code(self) -> Option<&'static str> {
        match self {
            Self::Accepted => None,
            Self::Merged(code) => Some(code.word()),
            Self::Rejected(code) => Some(code.word()),
        }
    }

    /// The number that logs have for it. Merges count from 1, rejections from 16, in the order of their vocabularies.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Accepted => 0,
            Self::Merged(code) => 1 + code as u8,
            Self::Rejected(code) => 16 + code as u8,
        }
    }

    /// The verdict with this number.
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Accepted),
            1..16 => MergeCode::ALL.get(usize::from(number - 1)).map(|&code| Self::Merged(code)),
            16.. => RejectCode::ALL.get(usize::from(number - 16)).map(|&code| Self::Rejected(code)),
        }
    }

    /// Whether the candidate was not rejected.
    pub const fn took_effect(self) -> bool {
        !matches!(self, Self::Rejected(_))
    }
}

/// The position of one candidate in the ledger, and what became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The position that this input took.
    pub seq: Seq,
    /// What was decided.
    pub verdict: Verdict,
    /// The item it touched; for a successor the new one. `None` if rejected.
    pub item: Option<ItemId>,
}
