//! The vectors of this crate's kinds.

use conformance::{Kind, check};

#[test]
fn evidence() {
    check(Kind::equal("evidence", probity_evidence::vectors::evidence));
}
