//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check_vectors};

#[test]
fn evidence() {
    check_vectors(VectorKind::equal("evidence", probity_evidence::vectors::evidence));
}
