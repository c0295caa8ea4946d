//! Runs the conformance vectors of this crate.

probity_conformance::vector_tests! {
    ledger = probity_ledger::vectors::ledger,
    ledger_identity = probity_ledger::vectors::ledger_identity,
}
