//! Runs the conformance vectors of this crate.

use probity_conformance::{Kind, check};

#[test]
fn plan() {
    check(Kind::equal("plan", probity_policy::vectors::plan));
}
