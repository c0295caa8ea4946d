//! A write whose reply was lost may still be on its way. It must not appear behind a refusal (law 4).

use super::tests::owner;
use super::*;
use probity_intents::registry::RegistryAction;
use probity_intents::{IntentId, ProcessProbe, Timestamp};
use probity_storage::memory_store::{MemoryStore, WriteFate};
use probity_storage::ports::{AppendOutcome, EventRecord, StorageEngine as _};
use std::sync::{Mutex, MutexGuard};

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A store whose commands cannot be voided: the mutant of [`a_write_that_was_lost_does_not_appear_behind_a_refusal`].
struct UnvoidedLog(Box<dyn EventLog>);

impl EventLog for UnvoidedLog {
    fn head(&self) -> Result<u64, StoreError> {
        self.0.head()
    }
    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError> {
        self.0.append(expected_head, command, event)
    }
    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        self.0.read_after(seq, limit)
    }
    fn find(&self, command: &str) -> Result<Option<u64>, StoreError> {
        self.0.find(command)
    }
    fn void(&self, command: &str) -> Result<Option<u64>, StoreError> {
        self.0.find(command)
    }
    fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError> {
        self.0.watch(seq, wait)
    }
}

/// A machine whose time moves on by as much as is set, with every look at it.
#[derive(Default)]
struct HurryingMachine {
    uptime: Mutex<u64>,
    hurry: Mutex<u64>,
}

impl RegistryHost for HurryingMachine {
    fn now(&self) -> Timestamp {
        Timestamp(1_000)
    }
    fn host_name(&self) -> &'static str {
        "vm"
    }
    fn boot_id(&self) -> Option<&str> {
        None
    }
    fn probe_process(&self, _: u32) -> ProcessProbe {
        ProcessProbe { exists: true, pid_start: None }
    }
    fn pause(&self, _: Duration) {}
    fn uptime(&self) -> (String, Duration) {
        let mut uptime = lock(&self.uptime);
        *uptime += *lock(&self.hurry);
        (String::new(), Duration::from_secs(*uptime))
    }
}

/// Lets the life of an intent end between two tries to release it, of which the first is still on its way. Returns
/// whether the release was refused, and whether it is in the log afterwards.
fn release_late(is_mutant: bool) -> (bool, bool) {
    let memory = MemoryStore::new();
    memory.share(false);
    let machine = Arc::new(HurryingMachine::default());
    let mut service = IntentService::on_store(&memory, machine.clone());
    if is_mutant {
        service.log = Box::new(UnvoidedLog(service.log));
    }
    let by = owner("a", 0);
    let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
    let granted = service.execute(&by, super::tests::start("i-1", "a"), &tree).expect("is granted");
    let token = granted.event.expect("an event").seq;
    let mut fates = [WriteFate::Late].into_iter();
    memory.inject(move || fates.next().unwrap_or(WriteFate::Answered));
    *lock(&machine.hurry) = 2_000;
    let intent_id = IntentId::parse("i-1").expect("an id");
    let done =
        service.execute(&by, RegistryAction::Release { intent_id, token, receipt: None, work: None }, &tree);
    memory.deliver_late();
    (done.is_err(), memory.log(LOG_NAME).head().expect("reads") > 1)
}

#[test]
fn a_write_that_was_lost_does_not_appear_behind_a_refusal() {
    assert_eq!(release_late(false), (true, false));
    assert_eq!(release_late(true), (true, true), "without voiding it does");
}

/// A store that takes a write and falls silent.
struct SilentLog(Box<dyn EventLog>, std::sync::atomic::AtomicBool);

impl SilentLog {
    fn answer<T>(&self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        if self.1.load(std::sync::atomic::Ordering::SeqCst) {
            return Err(StoreError::Unreachable { store: "s".into(), why: "no answer".into() });
        }
        answer
    }
}

impl EventLog for SilentLog {
    fn head(&self) -> Result<u64, StoreError> {
        self.answer(self.0.head())
    }
    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError> {
        self.0.append(expected_head, command, event)?;
        self.1.store(true, std::sync::atomic::Ordering::SeqCst);
        Ok(AppendOutcome::Unknown)
    }
    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        self.answer(self.0.read_after(seq, limit))
    }
    fn find(&self, command: &str) -> Result<Option<u64>, StoreError> {
        self.answer(self.0.find(command))
    }
    fn void(&self, command: &str) -> Result<Option<u64>, StoreError> {
        self.answer(self.0.void(command))
    }
    fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError> {
        self.answer(self.0.watch(seq, wait))
    }
}

#[test]
fn a_store_that_falls_silent_after_a_write_is_not_called_a_refusal() {
    let memory = MemoryStore::new();
    memory.share(true);
    let mut service = IntentService::on_store(&memory, Arc::new(HurryingMachine::default()));
    service.log = Box::new(SilentLog(service.log, std::sync::atomic::AtomicBool::default()));
    let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
    let start = |service: &mut IntentService, id| {
        let error = service.execute(&owner("a", 0), super::tests::start(id, id), &tree).map(drop);
        error.expect_err("nobody answers").to_string()
    };
    let first = start(&mut service, "i-1");
    assert!(first.contains("may be carried out"), "{first}");
    assert_eq!(memory.log(LOG_NAME).head().expect("reads"), 1);
    // Nothing was sent this time.
    let second = start(&mut service, "i-2");
    assert!(second.contains("no answer") && !second.contains("may be carried out"), "{second}");
}
