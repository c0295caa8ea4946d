//! Runs the conformance vectors of this crate.

use probity_conformance::{Kind, check};
use probity_intents::vectors;

#[test]
fn ownership() {
    check(Kind::equal("ownership", vectors::ownership));
}

#[test]
fn relations() {
    check(Kind::equal("relations", vectors::relations));
}

#[test]
fn start_decision() {
    check(Kind::equal("start_decision", vectors::start_decision));
}

#[test]
fn hygiene_finish() {
    check(Kind::equal("hygiene_finish", vectors::hygiene_finish));
}
