//! Tests the loop on an in-memory and a real store: lost replies, races, caches, damage.

use super::command_loop::MIN_INTENTS_TO_TIDY;
use super::*;
use probity_intents::CommandId;
use probity_intents::registry::{IntentBase, IntentDeclaration};
use probity_intents::registry::{RegistryAction, RegistryCommand};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{IntentId, IntentScope, IntentStatus, Ownership, ProcessProbe, ScopeEntry, Timestamp};
use probity_storage::memory_store::{MemoryStore, WriteFate};
use probity_storage::ports::StorageEngine as _;
use probity_workspace::Workspace;
use std::sync::atomic::{AtomicU64, Ordering};

/// A host with a manual clock on which every process with an odd pid is dead.
#[derive(Default)]
struct Fake(AtomicU64);

impl RegistryHost for Fake {
    fn now(&self) -> Timestamp {
        Timestamp(1_000 + self.0.load(Ordering::Relaxed))
    }
    fn host_name(&self) -> &'static str {
        "h"
    }
    fn boot_id(&self) -> Option<&str> {
        Some("b")
    }
    fn probe_process(&self, pid: u32) -> ProcessProbe {
        ProcessProbe { exists: pid.is_multiple_of(2), pid_start: None }
    }
}

pub(super) fn owner(name: &str, pid: u32) -> IntentOwner {
    IntentOwner {
        host: "h".into(),
        boot_id: Some("b".into()),
        pid,
        token: Some(name.into()),
        label: name.into(),
        ..IntentOwner::default()
    }
}

pub(super) fn start(id: &str, path: &str) -> RegistryAction {
    RegistryAction::Start {
        declaration: IntentDeclaration {
            intent_id: IntentId::parse(id).expect("an id"),
            description: "a change".into(),
            expected_effects: Vec::new(),
            scope: IntentScope { allowed_files: [ScopeEntry::new(path)].into(), ..IntentScope::default() },
            ttl_seconds: 3600,
            lease_seconds: 60,
            base: IntentBase::default(),
            task: None,
        },
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict: OnConflict::Block,
    }
}

pub(super) fn clear(id: &str) -> RegistryAction {
    RegistryAction::Clear { intent_id: IntentId::parse(id).expect("an id") }
}

pub(super) fn tree() -> TreeFacts {
    TreeFacts { run_available: true, ..TreeFacts::default() }
}

fn shell(memory: &MemoryStore) -> IntentService {
    IntentService::on_store(memory, Arc::new(Fake::default()))
}

fn code(result: Result<CommandResult, ServiceError>) -> &'static str {
    result.expect_err("is refused").code()
}

#[test]
fn of_two_shells_one_is_granted_and_the_other_learns_by_whom() {
    let memory = MemoryStore::new();
    let (mut one, mut two) = (shell(&memory), shell(&memory));
    one.execute(&owner("a", 2), start("i-a", "src"), &tree()).expect("granted");
    let refused = two.execute(&owner("b", 4), start("i-b", "src/x"), &tree());
    assert_eq!(code(refused), "blocked");
    assert_eq!(two.registry().head(), one.registry().head());
    assert_eq!(memory.log(LOG_NAME).head().expect("reads"), 1);
}

#[test]
fn a_lost_reply_is_no_second_grant() {
    for lost in [WriteFate::LostBefore, WriteFate::LostAfter] {
        let memory = MemoryStore::new();
        let mut fates = [lost, lost, WriteFate::Answered].into_iter();
        memory.inject(move || fates.next().unwrap_or(WriteFate::Answered));
        let done = shell(&memory).execute(&owner("a", 2), start("i-a", "src"), &tree()).expect("granted");
        assert_eq!(done.repeated, lost == WriteFate::LostAfter);
        assert_eq!(memory.log(LOG_NAME).head().expect("reads"), 1, "{lost:?}");
    }
}

#[test]
fn a_command_that_the_rules_forgot_is_known_to_the_store() {
    let memory = MemoryStore::new();
    let mut shell = shell(&memory);
    let by = owner("a", 2);
    let id = |text: &str| CommandId::parse(text).expect("an id");
    let first = RegistryCommand { id: id("first"), by: by.clone(), action: start("i-0", "src") };
    let granted = shell.execute_command(&first, &tree()).expect("granted");
    shell.execute(&by, clear("i-0"), &tree()).expect("cleared");
    for n in 1..=probity_intents::registry::MAX_REMEMBERED_COMMANDS / 2 {
        shell.execute(&by, start(&format!("i-{n}"), "src"), &tree()).expect("granted");
        shell.execute(&by, clear(&format!("i-{n}")), &tree()).expect("cleared");
    }
    let head = shell.registry().head();
    // The intent is still known, so the rules refuse it as a new one; without it they would grant it again.
    assert_eq!(code(shell.execute_command(&first, &tree())), "intent_exists");
    let collect = RegistryAction::Collect { retention_seconds: 0, keep_closed: None };
    shell.execute(&by, collect, &tree()).expect("collected");
    let again = shell.execute_command(&first, &tree()).expect("is known");
    assert!(again.repeated && again.event == granted.event, "{again:?}");
    assert_eq!(shell.registry().head().seq, head.seq.next());
    let other = RegistryCommand { action: start("i-x", "else"), ..first };
    assert_eq!(code(shell.execute_command(&other, &tree())), "command_id_reused");
}

fn ownership(shell: &IntentService, reader: &IntentOwner, id: &str) -> Ownership {
    let seen = shell.command_context().expect("is seen");
    shell.resolve(id).expect("is there").ownership(reader, &seen)
}

#[test]
fn use_renews_a_lease_without_an_event() {
    let memory = MemoryStore::new();
    let host = Arc::new(Fake::default());
    let mut shell = IntentService::on_store(&memory, host.clone());
    let (a, b) = (owner("a", 2), owner("b", 4));
    shell.execute(&a, start("i-a", "src"), &tree()).expect("granted");
    host.0.store(59, Ordering::Relaxed);
    shell.touch(&a).expect("renews");
    host.0.store(100, Ordering::Relaxed);
    assert_eq!(ownership(&shell, &b, "i-a"), Ownership::ForeignActive);
    memory.advance(Duration::from_mins(1));
    assert_eq!(ownership(&shell, &b, "i-a"), Ownership::ForeignStale);
    assert_eq!(shell.registry().head().seq, EventSeq(1));
}

#[test]
fn the_claim_of_a_dead_process_is_recoverable_here_and_nowhere_else() {
    let memory = MemoryStore::new();
    let mut shell = shell(&memory);
    let elsewhere = IntentOwner { host: "other".into(), ..owner("a", 3) };
    shell.execute(&owner("a", 3), start("i-a", "src"), &tree()).expect("granted");
    shell.execute(&elsewhere, start("i-b", "docs"), &tree()).expect("granted");
    shell.execute(&owner("c", 0), start("i-c", "tests"), &tree()).expect("granted");
    let reader = owner("r", 2);
    let lies = |id: &str| ownership(&shell, &reader, id);
    assert_eq!(lies("i-a"), Ownership::Recoverable);
    assert_eq!(lies("i-b"), Ownership::ForeignActive);
    assert_eq!(lies("i-c"), Ownership::ForeignActive);
}

#[test]
fn a_start_tidies_up_what_is_over() {
    let memory = MemoryStore::new();
    let host = Arc::new(Fake::default());
    let mut shell = IntentService::on_store(&memory, host.clone());
    for n in 0..MIN_INTENTS_TO_TIDY {
        shell.execute(&owner("a", 2), start(&format!("i-{n}"), &format!("f{n}")), &tree()).expect("granted");
    }
    host.0.store(3600, Ordering::Relaxed);
    shell.execute(&owner("b", 2), start("new", "new"), &tree()).expect("granted");
    let open = shell.registry().intents().filter(|intent| intent.status == IntentStatus::Active).count();
    assert_eq!(open, 1);
}

#[test]
fn an_intent_is_found_by_the_beginning_of_its_id() {
    let memory = MemoryStore::new();
    let mut shell = shell(&memory);
    let by = owner("a", 2);
    shell.execute(&by, start("abc", "a"), &tree()).expect("granted");
    shell.execute(&by, start("abcd", "b"), &tree()).expect("granted");
    let found = |id: &str| shell.resolve(id).map(|intent| intent.id.to_string());
    assert_eq!(found("abc").expect("exact"), "abc");
    assert_eq!(found("abcd").expect("exact"), "abcd");
    assert!(found("ab").is_err() && found("").is_err() && found("x").is_err());
}

struct OnDisk {
    _dir: tempfile::TempDir,
    workspace: Workspace,
}

impl OnDisk {
    fn new(n_events: u64) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let memory = MemoryStore::new();
        let mut source = shell(&memory);
        let log = workspace.state.store().expect("opens").log(LOG_NAME);
        for n in 0..n_events {
            let (id, file) = (format!("i-{n}"), format!("f{n}"));
            source.execute(&owner("a", 0), start(&id, &file), &tree()).expect("granted");
        }
        for record in memory.log(LOG_NAME).read_after(0, 10_000).expect("reads") {
            log.append(record.seq - 1, &record.command, &record.event).expect("appends");
        }
        Self { _dir: dir, workspace }
    }

    fn open(&self) -> Result<IntentRegistry, ServiceError> {
        IntentService::open(&self.workspace).map(|shell| shell.registry().clone())
    }

    fn cache(&self) -> PathBuf {
        self.workspace.state.registry_cache()
    }

    fn sql(&self, statement: &str) {
        let database = rusqlite::Connection::open(self.workspace.state.database()).expect("opens");
        assert_eq!(database.execute(statement, []).expect("runs"), 1);
    }
}

#[test]
fn the_cache_changes_nothing_whatever_it_holds() {
    let on_disk = OnDisk::new(100);
    let first = on_disk.open().expect("opens");
    assert_eq!(first.head().seq, EventSeq(100));
    let good = std::fs::read(on_disk.cache()).expect("a cache was written");
    assert_eq!(on_disk.open().expect("opens"), first);
    let other = OnDisk::new(70);
    other.open().expect("opens");
    let of_another_log = std::fs::read(other.cache()).expect("a cache was written");
    let mut damaged = good.clone();
    let last = damaged.len() - 2;
    damaged[last] ^= 1;
    for content in [b"".to_vec(), b"nonsense".to_vec(), good[..good.len() / 2].to_vec(), damaged] {
        std::fs::write(on_disk.cache(), content).expect("writes");
        assert_eq!(on_disk.open().expect("opens"), first);
    }
    std::fs::write(on_disk.cache(), of_another_log).expect("writes");
    assert_eq!(on_disk.open().expect("opens"), first);
    std::fs::remove_file(on_disk.cache()).expect("removes");
    assert_eq!(on_disk.open().expect("opens"), first);
}

#[test]
fn a_log_that_lost_events_is_damaged_and_not_just_shorter() {
    let on_disk = OnDisk::new(100);
    on_disk.open().expect("opens");
    let state = &on_disk.workspace.state;
    for name in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
        probity_storage::durable::remove(&state.dir().join(name)).expect("removes");
    }
    let fault = on_disk.open().expect_err("is damaged");
    assert_eq!(fault.code(), "LOG.SHORTENED", "{fault}");
    assert!(fault.to_string().contains("log.checkpoint has 101"), "{fault}");
}

#[test]
fn an_event_that_was_changed_or_removed_is_damage() {
    for statement in [
        "UPDATE event SET event = CAST(replace(event, 'a change', 'a charge') AS BLOB) WHERE seq = 3",
        "UPDATE event SET event = CAST('nonsense' AS BLOB) WHERE seq = 3",
        "UPDATE event SET event = (SELECT event FROM event WHERE seq = 2) WHERE seq = 3",
        "DELETE FROM event WHERE seq = 3",
    ] {
        let on_disk = OnDisk::new(5);
        on_disk.sql(statement);
        let fault = on_disk.open().expect_err(statement);
        assert_eq!(fault.code(), "STATE.DAMAGED", "{statement}: {fault}");
    }
}
