//! The log of a shared store is cut: who comes later goes on from the snapshot and sees the same.

use super::catch_up::EVENTS_PER_CUT;
use super::tests::{clear, owner, start, tree};
use super::*;
use probity_storage::memory_store::MemoryStore;

#[test]
fn a_machine_that_comes_after_a_cut_sees_what_all_others_see() {
    let memory = MemoryStore::new();
    memory.share(true);
    let mut early = IntentService::on_store(&memory, Arc::new(LocalHost));
    let mut writer = IntentService::on_store(&memory, Arc::new(LocalHost));
    let by = owner("a", 0);
    writer.execute(&by, start("held", "held.py"), &tree()).expect("is granted");
    early.refresh().expect("reads the first event");
    while writer.registry().head().seq.0 <= EVENTS_PER_CUT {
        let id = format!("i-{}", writer.registry().head().seq.0);
        writer.execute(&by, start(&id, "a.py"), &tree()).expect("is granted");
        writer.execute(&by, clear(&id), &tree()).expect("is cleared");
    }
    let snapshot = memory.log(LOG_NAME).snapshot().expect("reads").expect("the log was cut");
    assert_eq!(snapshot.at, EVENTS_PER_CUT);
    let mut late = IntentService::on_store(&memory, Arc::new(LocalHost));
    late.refresh().expect("goes on from the snapshot");
    early.refresh().expect("goes on from the snapshot");
    assert_eq!(late.registry(), writer.registry());
    assert_eq!(early.registry(), writer.registry());
    let refused = late.execute(&owner("b", 0), start("other", "held.py"), &tree());
    assert!(refused.is_err(), "a claim from before the cut still counts");
}
