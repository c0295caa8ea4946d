//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check_vectors};

#[test]
fn merge() {
    check_vectors(VectorKind::equal("merge", probity_documents::vectors::merge));
}
