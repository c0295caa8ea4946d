//! The conformance vectors of this crate's kinds.

use probity_conformance::{VectorKind, check};
use probity_ledger::vectors;

#[test]
fn ledger() {
    check(VectorKind::equal("ledger", vectors::ledger));
}

#[test]
fn ledger_identity() {
    check(VectorKind::equal("ledger_identity", vectors::ledger_identity));
}
