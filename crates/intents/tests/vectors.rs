//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check_vectors};
use probity_intents::vectors;

#[test]
fn ownership() {
    check_vectors(VectorKind::equal("ownership", vectors::ownership));
}

#[test]
fn relations() {
    check_vectors(VectorKind::equal("relations", vectors::relations));
}

#[test]
fn start_decision() {
    check_vectors(VectorKind::equal("start_decision", vectors::start_decision));
}

#[test]
fn hygiene_finish() {
    check_vectors(VectorKind::equal("hygiene_finish", vectors::hygiene_finish));
}
