//! The vectors of this crate's kinds.

use probity_conformance::{Kind, check};

#[test]
fn plan() {
    check(Kind::equal("plan", probity_policy::vectors::plan));
}
