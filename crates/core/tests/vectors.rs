//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check};

#[test]
fn canonical_json() {
    check(VectorKind::equal("canonical_json", probity_core::vectors::canonical_json));
}
