//! The vectors of this crate's kinds.

use probity_api::vectors;
use probity_conformance::{VectorKind, check_vectors};

#[test]
fn finish_status() {
    check_vectors(VectorKind::equal("finish_status", vectors::finish_status));
}
