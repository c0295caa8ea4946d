//! Runs the conformance vectors of this crate.

use probity_conformance::{Kind, check};
use probity_contract::vectors;

#[test]
fn profile() {
    check(Kind::equal("profile", vectors::profile));
}

#[test]
fn structural_delta() {
    check(Kind::equal("structural_delta", vectors::structural_delta));
}

#[test]
fn contract() {
    check(Kind::equal("contract", vectors::contract));
}

#[test]
fn claims() {
    check(Kind::equal("claims", vectors::claims));
}
