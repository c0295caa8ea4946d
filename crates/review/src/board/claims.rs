//! What the lanes of the board claim, and where two claims meet.

use super::MAX_NAMED_PATHS;
use super::lanes::LaneDraft;
use crate::board_map::BoardMap;
use probity_api::review::BoardOverlap;
use probity_core::bytes::escape;
use probity_evidence::Manifest;
use probity_intents::ScopeEntry;
use probity_paths::{RepoPath, Scope};

/// The paths that a lane claims.
pub(super) enum LaneClaim {
    Entries(Vec<ScopeEntry>),
    Patterns(Vec<Vec<u8>>, Option<Scope>),
}

impl LaneClaim {
    /// Returns the sealed scope of a run with its amendments.
    pub(super) fn of_run(manifest: &Manifest) -> Self {
        let mut patterns = manifest.plan.scope.clone();
        manifest.amendments.iter().for_each(|amendment| patterns.extend(&amendment.add));
        let scope = patterns.to_scope().ok();
        Self::Patterns(patterns.as_slice().to_vec(), scope)
    }

    /// Returns the lots of the map that the claim covers.
    pub(super) fn lots(&self, map: &BoardMap) -> Vec<(u32, u32)> {
        match self {
            Self::Entries(entries) => {
                entries.iter().flat_map(|entry| map.subtree(entry.as_bytes())).collect()
            }
            Self::Patterns(patterns, Some(scope)) => map.scope(scope, patterns),
            Self::Patterns(_, None) => Vec::new(),
        }
    }

    /// Returns the entries of `other` that this claim reaches.
    fn shared_with(&self, other: &Self) -> Vec<Vec<u8>> {
        match (self, other) {
            (Self::Entries(own), Self::Entries(others)) => {
                let meets = |entry: &&ScopeEntry| {
                    own.iter().any(|it| it.covers(entry.as_bytes()) || entry.covers(it.as_bytes()))
                };
                others.iter().filter(meets).map(|entry| entry.as_bytes().to_vec()).collect()
            }
            (Self::Patterns(_, Some(scope)), Self::Entries(entries)) => {
                let meets = |entry: &&ScopeEntry| {
                    RepoPath::parse(entry.as_bytes()).is_ok_and(|path| scope.contains(&path))
                };
                entries.iter().filter(meets).map(|entry| entry.as_bytes().to_vec()).collect()
            }
            (Self::Entries(_), Self::Patterns(..)) => other.shared_with(self),
            _ => Vec::new(),
        }
    }
}

/// Returns the paths that some lane changed or claims, so that the map has room for them.
pub(super) fn touched_paths(drafts: &[LaneDraft]) -> Vec<Vec<u8>> {
    let mut touched: Vec<Vec<u8>> = Vec::new();
    for draft in drafts {
        touched.extend(draft.changed.iter().map(|it| it.path.as_bytes().to_vec()));
        match &draft.claim {
            LaneClaim::Entries(entries) => {
                touched.extend(entries.iter().map(|entry| entry.as_bytes().to_vec()));
            }
            LaneClaim::Patterns(patterns, _) => {
                let stem = |pattern: &Vec<u8>| {
                    let end = pattern.iter().position(|byte| b"*?[{".contains(byte)).unwrap_or(pattern.len());
                    pattern[..end].to_vec()
                };
                touched.extend(
                    patterns.iter().filter(|it| !it.starts_with(b"!")).map(stem).filter(|it| !it.is_empty()),
                );
            }
        }
    }
    touched
}

/// Returns the places that two lanes in this tree claim.
pub(super) fn overlaps(drafts: &[LaneDraft], map: &BoardMap) -> Vec<BoardOverlap> {
    let mut found: Vec<BoardOverlap> = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        for other in drafts[index + 1..].iter().filter(|other| other.lane.is_here && draft.lane.is_here) {
            let shared = draft.claim.shared_with(&other.claim);
            for entry in shared.iter().take(MAX_NAMED_PATHS) {
                let lots = map.subtree(entry);
                let Some((start, width)) = lots.first().copied() else { continue };
                let changes = vec![draft.lane.change.clone(), other.lane.change.clone()];
                found.push(BoardOverlap { start, width, paths: vec![escape(entry)], changes });
            }
        }
    }
    found
}
