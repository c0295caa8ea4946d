//! Storage of items: small records of ids that point into shared, append-only lists.
//!
//! Every entry carries its position, so the state as of any earlier position can be read without a copy. Chains lead
//! backwards, from the newest to the oldest entry: appending modifies nothing that exists, and undoing an append is a
//! truncation.

use crate::identity::StatementKey;
use crate::outcome::CandidateVerdict;
use crate::vocabulary::{ConfidenceLevel, DeltaKind, ItemKind, ItemStatus, RevisionMode};
use schemars::JsonSchema;
use serde::Serialize;
use std::num::NonZeroU32;

/// A position in the ledger: the number of an input, counted from 1. Zero is before the first input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct LedgerSeq(pub(crate) u32);

impl LedgerSeq {
    pub const fn get(self) -> u64 {
        self.0 as u64
    }
}

impl std::fmt::Display for LedgerSeq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Identifies an item within one ledger, numbered in order of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(NonZeroU32);

impl ItemId {
    pub(crate) fn new(at: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(at))
    }

    pub(crate) const fn at(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ItemRecord {
    pub(crate) meaning: StatementKey,
    pub(crate) handle: u32,
    pub(crate) created: LedgerSeq,
    pub(crate) last_version: u32,
    pub(crate) last_source: u32,
    pub(crate) n_sources: u32,
    pub(crate) first_source: u32,
    pub(crate) first_turn: u32,
    pub(crate) superseded_by: Option<ItemId>,
    /// The superseded items: a chain through `next_superseded`, from first to last.
    pub(crate) first_superseded: Option<ItemId>,
    pub(crate) last_superseded: Option<ItemId>,
    pub(crate) next_superseded: Option<ItemId>,
    pub(crate) last_seq: LedgerSeq,
    pub(crate) promoted: Option<NonZeroU32>,
    /// When it became a hard constraint.
    pub(crate) hardened: Option<NonZeroU32>,
    /// When it became superseded or resolved.
    pub(crate) ended: Option<NonZeroU32>,
    /// The text of the reason or resolution that ended it.
    pub(crate) note: Option<NonZeroU32>,
    pub(crate) kind: ItemKind,
    pub(crate) status: ItemStatus,
    /// The confidence in the last version.
    pub(crate) confidence: ConfidenceLevel,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct VersionRecord {
    pub(crate) seq: LedgerSeq,
    pub(crate) text: u32,
    /// The preceding version; meaningless for the first.
    pub(crate) previous: u32,
    pub(crate) confidence: ConfidenceLevel,
    pub(crate) mode: Option<RevisionMode>,
}

/// One input and its verdict.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputEntry {
    pub(crate) author: u32,
    pub(crate) item: Option<ItemId>,
    /// The second item that a link touched.
    pub(crate) other: Option<ItemId>,
    /// `None` if the input named no known kind.
    pub(crate) kind: Option<DeltaKind>,
    pub(crate) verdict: CandidateVerdict,
}
