//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check};
use probity_contract::vectors;

#[test]
fn profile() {
    check(VectorKind::equal("profile", vectors::profile));
}

#[test]
fn structural_delta() {
    check(VectorKind::equal("structural_delta", vectors::structural_delta));
}

#[test]
fn contract() {
    check(VectorKind::equal("contract", vectors::contract));
}

#[test]
fn claims() {
    check(VectorKind::equal("claims", vectors::claims));
}
