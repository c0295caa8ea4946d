//! What needs a choice before a merge is served.

use crate::outcome::VerdictCode;
use probity_core::{Digest, json};
use schemars::JsonSchema;
use serde::Serialize;

probity_core::word_enum! {
    /// What kind of point it is.
    pub enum PointKind {
        /// What the ledger said would no longer stand.
        Lost = "lost",
        /// The reconciler refuses what the stream had accepted.
        Refused = "refused",
        /// One asserts what the other denies.
        Contradiction = "contradiction",
    }
}

/// A point to decide.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MergePoint {
    /// Names the point: eight hex digits made of all that it says.
    pub id: String,
    /// What kind of point it is.
    pub kind: PointKind,
    /// The handle of the item in the ledger.
    pub item: String,
    /// The field that differs, the kind of delta that is refused, or the handle that contradicts.
    pub about: String,
    /// What the ledger says.
    pub ours: Option<String>,
    /// What the stream says.
    pub theirs: Option<String>,
    /// The code of a refusal.
    pub code: Option<VerdictCode>,
    /// What may be chosen.
    pub choices: Vec<String>,
    /// What was chosen.
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
