//! The conformance vectors of this crate's kinds.

use probity_conformance::{Kind, check};
use probity_ledger::vectors;

#[test]
fn ledger() {
    check(Kind::equal("ledger", vectors::ledger));
}

#[test]
fn ledger_identity() {
    check(Kind::equal("ledger_identity", vectors::ledger_identity));
}
