//! Runs the conformance vectors of this crate.

probity_conformance::vector_tests! {
    ownership = probity_intents::vectors::ownership,
    relations = probity_intents::vectors::relations,
    start_decision = probity_intents::vectors::start_decision,
    hygiene_finish = probity_intents::vectors::hygiene_finish,
}
