//! Runs the conformance vectors of this crate.

use probity_conformance::{VectorKind, check_vectors};
use probity_scopes::vectors;

#[test]
fn scope_match() {
    check_vectors(VectorKind::equal("scope_match", vectors::scope_match));
}

#[test]
fn scope_declare() {
    check_vectors(VectorKind::equal("scope_declare", vectors::scope_declare));
}

#[test]
fn scope_overlap() {
    check_vectors(VectorKind {
        name: "scope_overlap",
        answer: vectors::scope_overlap,
        accepts: vectors::accepts_scope_overlap,
    });
}

#[test]
fn reconciliation() {
    check_vectors(VectorKind::equal("reconciliation", vectors::reconciliation));
}
