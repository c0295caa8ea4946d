//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check};
use probity_intents::vectors;

#[test]
fn ownership() {
    check(VectorKind::equal("ownership", vectors::ownership));
}

#[test]
fn relations() {
    check(VectorKind::equal("relations", vectors::relations));
}

#[test]
fn start_decision() {
    check(VectorKind::equal("start_decision", vectors::start_decision));
}

#[test]
fn hygiene_finish() {
    check(VectorKind::equal("hygiene_finish", vectors::hygiene_finish));
}
