//! The log of a shared store is cut: who comes later goes on from the snapshot and sees the same.

use super::catch_up::EVENTS_PER_CUT;
use super::tests::{clear, owner, start, tree};
use super::*;
use probity_core::ReasonCode;
use probity_storage::memory_store::MemoryStore;
use probity_storage::ports::StorageEngine as _;

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
    // The store knows older commands by itself.
    let state = |service: &IntentService| service.registry().snapshot_with_commands(0);
    assert_eq!(state(&late), state(&writer));
    assert_eq!(state(&early), state(&writer));
    let refused = late.execute(&owner("b", 0), start("other", "held.py"), &tree());
    assert!(refused.is_err(), "a claim from before the cut still counts");
}

#[test]
fn a_snapshot_of_a_newer_program_asks_for_that_program() {
    let memory = MemoryStore::new();
    memory.share(true);
    let mut writer = IntentService::on_store(&memory, Arc::new(LocalHost));
    writer.execute(&owner("a", 0), start("held", "held.py"), &tree()).expect("is granted");
    memory.log(LOG_NAME).cut(1, br#"{"form":3,"head":{},"something":"new"}"#).expect("is cut");
    let refused =
        IntentService::on_store(&memory, Arc::new(LocalHost)).refresh().expect_err("does not know it");
    assert_eq!(refused.reason(), Some(ReasonCode::LogNewer), "{refused}");
}
