//! Runs the conformance vectors of this crate.

use probity_conformance::{Kind, check};
use probity_paths::vectors;

#[test]
fn scope_match() {
    check(Kind::equal("scope_match", vectors::scope_match));
}

#[test]
fn scope_declare() {
    check(Kind::equal("scope_declare", vectors::scope_declare));
}

#[test]
fn scope_overlap() {
    check(Kind {
        name: "scope_overlap",
        answer: vectors::scope_overlap,
        accepts: vectors::accepts_scope_overlap,
    });
}

#[test]
fn reconciliation() {
    check(Kind::equal("reconciliation", vectors::reconciliation));
}
