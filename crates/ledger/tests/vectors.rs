//! The conformance vectors of this crate's kinds.

use probity_conformance::{VectorKind, check_vectors};
use probity_ledger::vectors;

#[test]
fn ledger() {
    check_vectors(VectorKind::equal("ledger", vectors::ledger));
}

#[test]
fn ledger_identity() {
    check_vectors(VectorKind::equal("ledger_identity", vectors::ledger_identity));
}
