//! The vectors of this crate's kinds.

use conformance::{Kind, check};
use probity_api::vectors;

#[test]
fn finish_status() {
    check(Kind::equal("finish_status", vectors::finish_status));
}
