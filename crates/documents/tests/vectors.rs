//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check};

#[test]
fn merge() {
    check(VectorKind::equal("merge", probity_documents::vectors::merge));
}
