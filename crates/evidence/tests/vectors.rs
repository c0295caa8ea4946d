//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check};

#[test]
fn evidence() {
    check(VectorKind::equal("evidence", probity_evidence::vectors::evidence));
}
