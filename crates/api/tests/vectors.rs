//! The vectors of this crate's kinds.

use probity_api::vectors;
use probity_conformance::{Kind, check};

#[test]
fn finish_status() {
    check(Kind::equal("finish_status", vectors::finish_status));
}
