//! Any bytes as candidates, as a transaction of the log, as a transcript and as something said: an answer, never a panic;
//! every input has its position, and replaying what was accepted gives the same state.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_ledger::extract::{Role, Turn, extract};
use probity_ledger::{BatchMode, DeltaProposal, Ledger, ProjectLedger, transcript, wire};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(events) = wire::decode(bytes) {
        let again = wire::encode(&events);
        assert_eq!(wire::decode(&again).as_ref(), Ok(&events));
        let (mut one, mut other) = (ProjectLedger::new(), ProjectLedger::new());
        let both = (one.replay(bytes).is_ok(), other.replay(bytes).is_ok());
        assert_eq!(both.0, both.1);
        assert_eq!(one.digest(), other.digest());
    }
    let _ = transcript::read(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let mut ledger = Ledger::new();
        ledger.add_turn("t");
        for role in [Role::User, Role::Assistant] {
            let found = extract(&ledger, &Turn { id: "t", role, text }).found;
            let proposals: Vec<_> = found.iter().map(|found| DeltaProposal::read(&found.candidate)).collect();
            let outcomes =
                ledger.reconcile("rules", BatchMode::BestEffort, &proposals).expect("there is room");
            assert_eq!(outcomes.len(), proposals.len());
        }
    }
    let Ok(json) = probity_core::json::parse(bytes) else { return };
    let candidates: Vec<_> = json.as_array().map_or_else(|| vec![&json], |list| list.iter().collect());
    let proposals: Vec<_> = candidates.iter().map(|value| DeltaProposal::read(value)).collect();
    for mode in [BatchMode::BestEffort, BatchMode::Atomic] {
        let [one, other] = [0, 1].map(|_| {
            let mut ledger = Ledger::new();
            ledger.add_turn("t");
            let outcomes = ledger.reconcile("fuzz", mode, &proposals).expect("there is room");
            assert_eq!(outcomes.len(), proposals.len());
            assert_eq!(ledger.head().get(), proposals.len() as u64);
            ledger.digest()
        });

        assert_eq!(one, other);
    }
});
