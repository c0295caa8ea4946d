//! The vectors of this crate's kinds.

use probity_api::vectors;
use probity_conformance::{VectorKind, check};

#[test]
fn finish_status() {
    check(VectorKind::equal("finish_status", vectors::finish_status));
}
