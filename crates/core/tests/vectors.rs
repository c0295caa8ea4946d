//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check_vectors};

#[test]
fn canonical_json() {
    check_vectors(VectorKind::equal("canonical_json", probity_core::vectors::canonical_json));
}
