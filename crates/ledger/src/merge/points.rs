//! Points that need a choice before a merge is served.

use crate::outcome::VerdictCode;
use probity_core::{Digest, json};
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    pub enum PointKind {
        /// The merge would drop a statement of the ledger.
        Lost = "lost",
        /// The reconciler refuses what the stream had accepted.
        Refused = "refused",
        /// One side asserts what the other denies.
        Contradiction = "contradiction",
    }
}

/// A point to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergePoint {
    /// Eight hex digits derived from the content of the point.
    pub id: String,
    /// The kind of point.
    pub kind: PointKind,
    /// The handle of the item in the ledger.
    pub item: String,
    /// The field that differs, the kind of delta that is refused, or the contradicting handle.
    pub about: String,
    /// The ledger's version.
    pub ours: Option<String>,
    /// The stream's version.
    pub theirs: Option<String>,
    /// The code of a refusal.
    pub code: Option<VerdictCode>,
    /// The allowed choices.
    pub choices: Vec<String>,
    /// The choice that was made.
    pub chosen: Option<String>,
}

impl MergePoint {
    pub(super) fn new(
        stream: &str,
        kind: PointKind,
        item: &str,
        about: &str,
        [ours, theirs]: [Option<String>; 2],
        choices: &[&str],
    ) -> Self {
        let named = (stream, kind, item, about, &ours, &theirs);
        Self {
            id: Digest::of(&json::canonical_of(&named)).to_hex()[..8].to_owned(),
            kind,
            item: item.to_owned(),
            about: about.to_owned(),
            ours,
            theirs,
            code: None,
            choices: choices.iter().map(|&choice| choice.to_owned()).collect(),
            chosen: None,
        }
    }
}
