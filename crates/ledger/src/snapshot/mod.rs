//! A book as bytes, so that opening it does not mean reconciling everything again. A snapshot is a cache: it can be
//! thrown away at any time, and whoever keeps one checks that it is whole and belongs to its log.
//!
//! Only what cannot be computed from the rest is written; hash tables and sets of open things are built on reading. A
//! snapshot of another version is [`SnapshotReadError`], never misread: it begins with a sample of the rules and hashes that
//! made it. Numbers that lead outside of their list are refused, so no bytes make the ledger panic later.
//!
//! Why not serde: a snapshot of a million deltas has 93 MB, and opening it piece by piece takes 181 MB of memory in all
//! (`cargo xtask bench ledger`). A derived form would have to stand in memory as a whole beside the ledger.

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

/// Bytes that are no snapshot of this version, or could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotReadError {
    /// Another version wrote it, or it is damaged.
    #[error("this is no snapshot of this version")]
    Form,
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Sentences whose meanings tell whether rules and hashes are those of the writer.
const SAMPLE_SENTENCES: &[&str] =
    &["We'll use the Redis cache", "Do not use Redis.", "Cache for 5 ms", "Don’t use C++ | C#"];

/// What a snapshot of this version begins with.
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
