//! Hashes of tokens and lines: the same on every machine and in every run.

use foldhash::fast::FixedState;
use std::hash::BuildHasher;

pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    FixedState::with_seed(0).hash_one(bytes)
}

/// Returns the hash of a line from those of its tokens. Comments and texts are never equal to code.
pub(crate) fn hash_of_tokens(tokens: &[u64], is_note: bool) -> u64 {
    FixedState::with_seed(u64::from(is_note)).hash_one(tokens)
}
