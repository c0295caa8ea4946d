//! The vectors of this crate's kinds.

use probity_conformance::{Kind, check};

#[test]
fn merge() {
    check(Kind::equal("merge", probity_documents::vectors::merge));
}
