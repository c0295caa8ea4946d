//! The vectors of this crate's kinds.

use conformance::{Kind, check};

#[test]
fn plan() {
    check(Kind::equal("plan", probity_plan::vectors::plan));
}
