//! The verdict on a candidate: accepted, merged, or rejected with a stable code.

use schemars::JsonSchema;
use serde::Serialize;

probity_core::code_enum! {
    /// Why a candidate was merged into existing state.
    pub enum MergeCode {
        Duplicate = "duplicate",
            "a live item says the same, or the change changes nothing",
            "nothing to do";
        Redelivered = "redelivered",
            "this very delta took effect before",
            "nothing to do";
    }
}

probity_core::code_enum! {
    pub enum RejectCode {
        KeyConflict = "key_conflict",
            "another delta already took effect under this key",
            "propose it under a new key";
        UnknownKind = "unknown_kind",
            "there is no such kind of delta",
            "use one of the kinds in `probity ledger propose --help`";
        MissingProvenance = "missing_provenance",
            "no source turn is named, so nobody could trace this",
            "name the turn it comes from in `sources`";
        UnknownTurn = "unknown_turn",
            "a source names a turn that is not known",
            "ingest the turn first with `probity ledger ingest`, or correct the source";
        InvalidField = "invalid_field",
            "a field is missing, extra, blank, or not what it should be",
            "correct the field that the detail names";
        TargetNotFound = "target_not_found",
            "no item goes by this handle",
            "`probity ledger query` lists the items with their handles";
        WrongKind = "wrong_kind",
            "the target is of another kind than this delta changes",
            "use the kind of delta that changes this item, or name another target";
        TerminalTarget = "terminal_target",
            "the item is superseded or resolved, and that is final",
            "propose a new item; a resolved task can be reopened with `task_reopened`";
        InvalidTransition = "invalid_transition",
            "the item's status does not allow this step",
            "`probity ledger query` shows the item's status";
        NotAuthorised = "not_authorised",
            "this author may not change a hard constraint",
            "let an author named in the policy propose it";
        InvalidLink = "invalid_link",
            "an item cannot supersede itself",
            "name another item as the replacement";
        KindConflict = "kind_conflict",
            "the handle already names an item of another kind",
            "choose another handle";
        HandleConflict = "handle_conflict",
            "the handle already names an item with other content",
            "choose another handle, or revise the existing item";
        BatchAborted = "batch_aborted",
            "another delta of this atomic batch was rejected",
            "correct the delta that was rejected, then propose the whole batch again";
        ContradictsSource = "contradicts_source",
            "the words that it cites say the opposite",
            "cite the words that say it, or propose what the source says";
    }
}

/// The reconciler's decision about one candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CandidateVerdict {
    /// It changed the state.
    Accepted,
    /// The state already contained it.
    Merged(MergeCode),
    /// It changed nothing.
    Rejected(RejectCode),
}

probity_core::word_enum! {
    /// A verdict without its code.
    pub enum VerdictKind {
        Accepted = "accepted",
        Merged = "merged",
        Rejected = "rejected",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum VerdictCode {
    /// Why the candidate was merged.
    Merge(MergeCode),
    /// Why the candidate was rejected.
    Reject(RejectCode),
}

impl VerdictCode {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Merge(code) => code.as_str(),
            Self::Reject(code) => code.as_str(),
        }
    }
}

impl std::fmt::Display for VerdictCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl CandidateVerdict {
    pub const fn kind(self) -> VerdictKind {
        match self {
            Self::Accepted => VerdictKind::Accepted,
            Self::Merged(_) => VerdictKind::Merged,
            Self::Rejected(_) => VerdictKind::Rejected,
        }
    }

    pub const fn code(self) -> Option<VerdictCode> {
        match self {
            Self::Accepted => None,
            Self::Merged(code) => Some(VerdictCode::Merge(code)),
            Self::Rejected(code) => Some(VerdictCode::Reject(code)),
        }
    }

    /// Returns the number used in logs: 0 for accepted, merges from 1, rejections from 16, in the order of their
    /// vocabularies.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Accepted => 0,
            Self::Merged(code) => 1 + code as u8,
            Self::Rejected(code) => 16 + code as u8,
        }
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Accepted),
            1..16 => MergeCode::ALL.get(usize::from(number - 1)).map(|&code| Self::Merged(code)),
            16.. => RejectCode::ALL.get(usize::from(number - 16)).map(|&code| Self::Rejected(code)),
        }
    }

    /// Returns whether the candidate was accepted or merged.
    pub const fn took_effect(self) -> bool {
        !matches!(self, Self::Rejected(_))
    }
}
