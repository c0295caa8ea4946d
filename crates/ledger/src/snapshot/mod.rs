//! A project ledger as bytes, so that opening it does not mean reconciling everything again. A snapshot is a cache: it
//! may be deleted at any time, and its owner checks that it is intact and belongs to its log.
//!
//! Only data that cannot be computed from the rest is written; hash tables and sets of open things are rebuilt on
//! reading. A snapshot of another version is refused with [`SnapshotReadError`] and never misread, because it begins
//! with a sample of the rules and hashes that made it. Indexes beyond the end of their list are refused, so no bytes
//! can make the ledger panic later.
//!
//! It does not use serde because a snapshot of a million deltas takes 93 MB, and opening it in chunks takes 181 MB of
//! memory in total (`cargo xtask bench ledger`). A derived format would have to be in memory as a whole next to the
//! ledger.

mod chunks;
mod read;
mod write;

pub use read::read;
pub use write::write;

use crate::identity::NormalizedStatement;
use crate::vocabulary::ItemKind;
use crate::wire::{put_number, put_text};
use probity_prose::normal_form::Normalizer;
use std::io;

pub(crate) use write::write_rest;

#[derive(Debug, thiserror::Error)]
pub enum SnapshotReadError {
    /// It is damaged, or another version wrote it.
    #[error("this is not a snapshot of this version")]
    Form,
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Sentences whose hashes show whether the writer used the same rules and hash function.
const SAMPLE_SENTENCES: &[&str] =
    &["We'll use the Redis cache", "Do not use Redis.", "Cache for 5 ms", "Don’t use C++ | C#"];

/// Returns the bytes that a snapshot of this version begins with.
fn preamble() -> Vec<u8> {
    let mut out = b"probity ledger 1 ".to_vec();
    put_text(&mut out, env!("CARGO_PKG_VERSION"));
    let mut normalizer = Normalizer::default();
    for sample in SAMPLE_SENTENCES {
        let meaning = NormalizedStatement::of(sample, &mut normalizer).meaning(ItemKind::Decision);
        put_number(&mut out, meaning.neutral);
        put_number(&mut out, meaning.full);
    }
    out
}

#[cfg(test)]
mod tests;
