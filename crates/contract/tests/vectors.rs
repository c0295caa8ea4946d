//! Runs the conformance vectors of this crate.

probity_conformance::vector_tests! {
    profile = probity_contract::vectors::profile,
    structural_delta = probity_contract::vectors::structural_delta,
    contract = probity_contract::vectors::contract,
    claims = probity_contract::vectors::claims,
}
