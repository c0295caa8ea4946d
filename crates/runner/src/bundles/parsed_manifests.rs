//! Manifests that this process has parsed, by the digest of their bytes. A server answers many questions about the same
//! bundles; the bytes are still read each time, so a changed file is never mistaken for the one before.

use probity_core::Digest;
use probity_evidence::{ReadError, StoredManifest};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of manifests that are kept parsed; beyond that all are forgotten.
const MAX_KEPT_BYTES: usize = 32 * 1024 * 1024;

#[derive(Default)]
struct ParsedManifests {
    by_digest: BTreeMap<Digest, Arc<StoredManifest>>,
    n_bytes: usize,
}

static PARSED: Mutex<ParsedManifests> =
    Mutex::new(ParsedManifests { by_digest: BTreeMap::new(), n_bytes: 0 });

/// Parses a manifest, or returns the one that these bytes gave before.
pub(super) fn parse(bytes: &[u8]) -> Result<StoredManifest, ReadError> {
    let digest = Digest::of(bytes);
    let parsed = || PARSED.lock().unwrap_or_else(PoisonError::into_inner);
    let known = parsed().by_digest.get(&digest).map(Arc::clone);
    if let Some(known) = known {
        return Ok((*known).clone());
    }
    let stored = StoredManifest::parse(bytes)?;
    let mut parsed = parsed();
    if parsed.n_bytes + bytes.len() > MAX_KEPT_BYTES {
        *parsed = ParsedManifests::default();
    }
    parsed.n_bytes += bytes.len();
    parsed.by_digest.insert(digest, Arc::new(stored.clone()));
    Ok(stored)
}
