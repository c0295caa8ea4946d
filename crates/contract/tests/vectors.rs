//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check_vectors};
use probity_contract::vectors;

#[test]
fn profile() {
    check_vectors(VectorKind::equal("profile", vectors::profile));
}

#[test]
fn structural_delta() {
    check_vectors(VectorKind::equal("structural_delta", vectors::structural_delta));
}

#[test]
fn contract() {
    check_vectors(VectorKind::equal("contract", vectors::contract));
}

#[test]
fn claims() {
    check_vectors(VectorKind::equal("claims", vectors::claims));
}
