//! Runs the conformance vectors of this crate.

use probity_conformance::{Kind, check};

#[test]
fn merge() {
    check(Kind::equal("merge", probity_documents::vectors::merge));
}
