//! The vectors of this crate's kinds.

use conformance::{Kind, check};

#[test]
fn merge() {
    check(Kind::equal("merge", probity_commit::vectors::merge));
}
