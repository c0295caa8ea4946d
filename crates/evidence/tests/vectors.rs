//! Runs the conformance vectors of this crate.

use probity_conformance::{Kind, check};

#[test]
fn evidence() {
    check(Kind::equal("evidence", probity_evidence::vectors::evidence));
}
