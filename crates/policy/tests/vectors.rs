//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check};

#[test]
fn plan() {
    check(VectorKind::equal("plan", probity_policy::vectors::plan));
}
