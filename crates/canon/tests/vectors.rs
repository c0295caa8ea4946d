//! The vectors of this crate's kinds.

use conformance::{Kind, check};

#[test]
fn canonical_json() {
    check(Kind::equal("canonical_json", probity_canon::vectors::canonical_json));
}
