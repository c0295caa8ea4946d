//! The vectors of this crate's kinds.

use probity_conformance::{Kind, check};

#[test]
fn evidence() {
    check(Kind::equal("evidence", probity_evidence::vectors::evidence));
}
