//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check_vectors};

#[test]
fn plan() {
    check_vectors(VectorKind::equal("plan", probity_policy::vectors::plan));
}
