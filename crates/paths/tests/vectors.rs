//! The vectors of this crate's kinds.

use conformance::{Kind, check};
use probity_paths::vectors;

#[test]
fn scope_match() {
    check(Kind::equal("scope_match", vectors::scope_match));
}

#[test]
fn reconciliation() {
    check(Kind::equal("reconciliation", vectors::reconciliation));
}
