//! Runs the conformance vectors of this crate.

use probity_conformance::{Kind, check};

#[test]
fn canonical_json() {
    check(Kind::equal("canonical_json", probity_core::vectors::canonical_json));
}
