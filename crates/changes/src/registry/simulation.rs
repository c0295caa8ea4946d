//! Runs the real loop on the in-memory store under a seeded scheduler: crashes, pauses, clock jumps, lost replies.
//!
//! After every step the laws are checked against the log itself: no two live claims overlap, nothing acknowledged is
//! lost, the longest waiter is served first, an old token opens nothing, no live owner is displaced. A failing seed
//! is printed; `PROBITY_SEED` repeats it, and `PROBITY_SEEDS` sets how many are run (`cargo xtask simulate` uses
//! many). Every mutant of the loop and its foundations must be caught, which shows that the checks can fail.

use super::catch_up::parse;
use super::tests::owner;
use super::*;
use probity_intents::registry::{CommandRefusal, Intent, RegistryAction};
use probity_intents::registry::{IntentBase, IntentDeclaration, RegistryChange};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{IntentId, IntentScope, IntentStatus, ProcessProbe, ScopeEntry, Timestamp, overlap};
use probity_storage::memory_store::{MemoryStore, WriteFate};
use probity_storage::ports::{AppendOutcome, EventRecord, StorageEngine};
use probity_storage::ports::{ObjectStore, RefStore};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

const STEPS: usize = 60;
const AGENTS: usize = 5;
const PATHS: [&str; 5] = ["a", "a/x", "b", "b/y", "c"];

/// A generator of our own: schedules must be repeatable, not statistically good.
#[derive(Clone)]
struct SeededRng(u64);

impl SeededRng {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below.max(1) as u64).unwrap_or(0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoopMutant {
    /// An append does not compare the end of the log.
    NoCompare,
    /// An append is acknowledged but sometimes not carried out.
    LostAppend,
    /// A release accepts any token.
    AnyToken,
    /// The host reports live processes as dead.
    LiveIsDead,
}

/// One machine for all agents: its clock jumps, and its processes die.
#[derive(Default)]
struct SimulatedMachine {
    now: Mutex<u64>,
    dead: Mutex<BTreeSet<u32>>,
    mutant: Option<LoopMutant>,
}

/// A rival that sometimes acts between an agent's decision and its append.
struct RivalAgent {
    service: Mutex<IntentService>,
    dice: Mutex<SeededRng>,
    /// Intents that were granted and not released.
    held: Mutex<Vec<IntentId>>,
}

impl RivalAgent {
    const PID: u32 = 7;

    fn meddle(&self) {
        let mut dice = lock(&self.dice);
        if dice.roll(6) != 0 {
            return;
        }
        let (mut shell, mut held) = (lock(&self.service), lock(&self.held));
        let by = owner("rival", Self::PID);
        let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
        if let Some(intent_id) = held.pop() {
            // It may have expired in the meantime.
            let _ = shell.execute(&by, RegistryAction::Clear { intent_id }, &tree);
        } else {
            let intent_id = IntentId::parse(format!("r-{}", dice.0)).expect("an id");
            let path = PATHS[dice.roll(PATHS.len())];
            if shell.execute(&by, claim(intent_id.clone(), path, OnConflict::Block), &tree).is_ok() {
                held.push(intent_id);
            }
        }
    }
}

/// The store that the agents use: with a rival in between, and possibly broken.
struct ContestedStore {
    memory: MemoryStore,
    rival: Arc<RivalAgent>,
    mutant: Option<LoopMutant>,
}

impl StorageEngine for ContestedStore {
    fn log(&self, name: &str) -> Box<dyn EventLog> {
        Box::new(ContestedLog {
            log: self.memory.log(name),
            rival: self.rival.clone(),
            mutant: self.mutant,
            n_appends: Mutex::new(0),
        })
    }
    fn refs(&self, space: &str) -> Box<dyn RefStore> {
        self.memory.refs(space)
    }
    fn leases(&self, space: &str) -> Option<Box<dyn LeaseStore>> {
        self.memory.leases(space)
    }
    fn objects(&self) -> Box<dyn ObjectStore> {
        self.memory.objects()
    }
}

struct ContestedLog {
    log: Box<dyn EventLog>,
    rival: Arc<RivalAgent>,
    mutant: Option<LoopMutant>,
    n_appends: Mutex<u64>,
}

impl EventLog for ContestedLog {
    fn head(&self) -> Result<u64, StoreError> {
        self.log.head()
    }
    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError> {
        self.rival.meddle();
        let mut n_appends = lock(&self.n_appends);
        *n_appends += 1;
        match self.mutant {
            Some(LoopMutant::NoCompare) => self.log.append(self.log.head()?, command, event),
            Some(LoopMutant::LostAppend) if n_appends.is_multiple_of(5) => {
                Ok(AppendOutcome::At(expected_head + 1))
            }
            _ => self.log.append(expected_head, command, event),
        }
    }
    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        self.log.read_after(seq, limit)
    }
    fn find(&self, command: &str) -> Result<Option<u64>, StoreError> {
        self.log.find(command)
    }
    fn void(&self, command: &str) -> Result<Option<u64>, StoreError> {
        self.log.void(command)
    }
    fn watch(&self, seq: u64, wait: Duration) -> Result<u64, StoreError> {
        self.log.watch(seq, wait)
    }
}

fn claim(intent_id: IntentId, path: &str, on_conflict: OnConflict) -> RegistryAction {
    RegistryAction::Start {
        declaration: IntentDeclaration {
            intent_id,
            description: String::new(),
            expected_effects: Vec::new(),
            scope: IntentScope { allowed_files: [ScopeEntry::new(path)].into(), ..IntentScope::default() },
            ttl_seconds: 600,
            lease_seconds: 60,
            base: IntentBase::default(),
            task: None,
        },
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl RegistryHost for SimulatedMachine {
    fn now(&self) -> Timestamp {
        Timestamp(*lock(&self.now))
    }
    fn host_name(&self) -> &'static str {
        "h"
    }
    fn boot_id(&self) -> Option<&str> {
        Some("b")
    }
    fn probe_process(&self, pid: u32) -> ProcessProbe {
        let is_wrong = self.mutant == Some(LoopMutant::LiveIsDead) && pid.is_multiple_of(2);
        ProcessProbe { exists: !is_wrong && !lock(&self.dead).contains(&pid), pid_start: None }
    }
}

struct SimulatedAgent {
    name: String,
    pid: u32,
    shell: IntentService,
    /// Intents that were granted and not released, with their tokens.
    held: BTreeMap<IntentId, EventSeq>,
    /// Tokens that are no longer valid.
    old: Vec<(IntentId, EventSeq)>,
}

impl SimulatedAgent {
    fn owner(&self) -> IntentOwner {
        owner(&self.name, self.pid)
    }
}

struct RegistrySimulation {
    dice: SeededRng,
    memory: MemoryStore,
    reached: ContestedStore,
    mutant: Option<LoopMutant>,
    world: Arc<SimulatedMachine>,
    agents: Vec<SimulatedAgent>,
    n_intents: usize,
    n_pids: u32,
    /// Only reads.
    reader: IntentService,
    /// Events that were acknowledged to an agent.
    acknowledged: BTreeMap<EventSeq, String>,
}

impl RegistrySimulation {
    fn new(seed: u64, mutant: Option<LoopMutant>) -> Self {
        let memory = MemoryStore::new();
        let mut fates = SeededRng(seed ^ 0x5eed_fa7e);
        memory.inject(move || match fates.roll(8) {
            0 => WriteFate::LostBefore,
            1 => WriteFate::LostAfter,
            _ => WriteFate::Answered,
        });
        let world =
            Arc::new(SimulatedMachine { now: Mutex::new(10_000), mutant, ..SimulatedMachine::default() });
        let rival = Arc::new(RivalAgent {
            service: Mutex::new(IntentService::on_store(&memory, world.clone())),
            dice: Mutex::new(SeededRng(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) | 1)),
            held: Mutex::default(),
        });
        let reached = ContestedStore { memory: memory.clone(), rival, mutant };
        let agent = |n: usize| SimulatedAgent {
            name: format!("agent-{n}"),
            pid: u32::try_from(n).unwrap_or(0) + 11,
            shell: IntentService::on_store(&reached, world.clone()),
            held: BTreeMap::new(),
            old: Vec::new(),
        };
        let agents = (0..AGENTS).map(agent).collect();
        let n_pids = 100;
        let dice = SeededRng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let reader = IntentService::on_store(&memory, world.clone());
        Self {
            dice,
            memory,
            reached,
            mutant,
            world,
            agents,
            n_intents: 0,
            n_pids,
            reader,
            acknowledged: BTreeMap::new(),
        }
    }

    fn step(&mut self) {
        let who = self.dice.roll(AGENTS);
        match self.dice.roll(14) {
            0..=3 => self.start(who),
            4 | 5 => self.promote(who),
            6 | 7 => self.release(who),
            8 => self.release_with_an_old_token(who),
            9 => self.renew(who),
            10 => self.crash(who),
            11 => self.recover(who),
            12 => self.jump(),
            // A pause: the view becomes outdated, and the next command must notice.
            _ => {}
        }
        self.check();
    }

    fn act(&mut self, who: usize, action: RegistryAction) -> Result<CommandResult, ServiceError> {
        let agent = &mut self.agents[who];
        let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
        let done = agent.shell.execute(&agent.owner(), action, &tree);
        if let Ok(CommandResult { event: Some(event), .. }) = &done {
            self.acknowledged.insert(event.seq, event.digest().to_string());
        }
        if let Err(fault) = &done {
            assert!(matches!(fault, ServiceError::Intent(_)), "{fault}");
        }
        done
    }

    fn start(&mut self, who: usize) {
        self.n_intents += 1;
        let path = PATHS[self.dice.roll(PATHS.len())];
        let on_conflict = if self.dice.roll(2) == 0 { OnConflict::Queue } else { OnConflict::Block };
        let intent_id = IntentId::parse(format!("i-{}", self.n_intents)).expect("an id");
        let action = claim(intent_id, path, on_conflict);
        let done = self.act(who, action);
        self.hold(who, done);
    }

    fn promote(&mut self, who: usize) {
        let name = self.agents[who].name.clone();
        let waits = |intent: &&Intent| {
            intent.status == IntentStatus::Queued && intent.owner.token.as_ref() == Some(&name)
        };
        let first = self.agents[who].shell.registry().intents().find(waits).map(|intent| intent.id.clone());
        let Some(intent_id) = first else { return };
        let policy = DirtyScopePolicy::Block;
        let done = self.act(
            who,
            RegistryAction::Promote { intent_id, base: IntentBase::default(), dirty_scope_policy: policy },
        );
        self.hold(who, done);
    }

    fn hold(&mut self, who: usize, done: Result<CommandResult, ServiceError>) {
        let Ok(CommandResult { event: Some(event), .. }) = done else { return };
        if !matches!(event.change, RegistryChange::Queued { .. })
            && let Some(id) = event.change.intent_id()
        {
            self.agents[who].held.insert(id.clone(), event.seq);
        }
    }

    fn release(&mut self, who: usize) {
        let Some((intent_id, token)) = self.agents[who].held.pop_first() else { return };
        // It may have been displaced or have expired: then the release is refused, and the agent knows.
        let done = self.act(
            who,
            RegistryAction::Release { intent_id: intent_id.clone(), token, receipt: None, work: None },
        );
        // An expired intent was not released: if the clock goes back, it holds again.
        let is_over = |fault: ServiceError| matches!(fault, ServiceError::Intent(it) if matches!(*it, CommandRefusal::Expired { .. }));
        if !done.is_err_and(is_over) {
            self.agents[who].old.push((intent_id, token));
        }
    }

    fn release_with_an_old_token(&mut self, who: usize) {
        let Some((intent_id, token)) = self.agents[who].old.pop() else { return };
        let current = self.agents[who].shell.registry().intent(&intent_id).and_then(|intent| intent.token);
        let token = if self.mutant == Some(LoopMutant::AnyToken) { current.unwrap_or(token) } else { token };
        let done = self.act(
            who,
            RegistryAction::Release { intent_id: intent_id.clone(), token, receipt: None, work: None },
        );
        assert!(done.is_err(), "{intent_id} was released by a token that was given back");
    }

    fn renew(&mut self, who: usize) {
        let Some(intent_id) = self.agents[who].held.keys().next().cloned() else { return };
        let _ = self.act(who, RegistryAction::Renew { intent_id, lease_seconds: 60, ttl_seconds: None });
        let agent = &self.agents[who];
        agent.shell.touch(&agent.owner()).expect("the store answers");
    }

    /// Kills the process; a new one starts under the same name and knows nothing.
    fn crash(&mut self, who: usize) {
        self.n_pids += 1;
        lock(&self.world.dead).insert(self.agents[who].pid);
        let held = std::mem::take(&mut self.agents[who].held);
        let agent = &mut self.agents[who];
        agent.pid = self.n_pids;
        agent.shell = IntentService::on_store(&self.reached, self.world.clone());
        agent.held = held;
    }

    fn recover(&mut self, who: usize) {
        self.agents[who].shell.refresh().expect("reads");
        let intents: Vec<IntentId> =
            self.agents[who].shell.registry().intents().map(|intent| intent.id.clone()).collect();
        if intents.is_empty() {
            return;
        }
        let intent_id = intents[self.dice.roll(intents.len())].clone();
        let action =
            RegistryAction::Recover { intent_id: intent_id.clone(), lease_seconds: 60, ttl_seconds: 600 };
        let Ok(done) = self.act(who, action) else { return };
        for agent in &mut self.agents {
            if let Some(token) = agent.held.remove(&intent_id) {
                agent.old.push((intent_id.clone(), token));
            }
        }
        let intent = self.agents[who].shell.registry().intent(&intent_id).cloned();
        if intent.is_some_and(|intent| intent.status == IntentStatus::Active) {
            self.hold(who, Ok(done));
        }
    }

    /// Moves the clock a little, far ahead, or back.
    fn jump(&mut self) {
        let forward = [1, 30, 61, 601][self.dice.roll(4)];
        let mut now = lock(&self.world.now);
        *now = if self.dice.roll(5) == 0 { now.saturating_sub(45) } else { *now + forward };
        self.memory.advance(Duration::from_secs(forward));
    }

    fn check(&mut self) {
        self.reader.refresh().expect("the log is whole");
        let intents = self.reader.registry().intents();
        let active: Vec<&Intent> = intents.filter(|intent| intent.status == IntentStatus::Active).collect();
        for (n, one) in active.iter().enumerate() {
            for other in &active[n + 1..] {
                assert!(!overlap(&one.scope, &other.scope), "{} and {} both hold", one.id, other.id);
            }
        }
        let head = self.reader.registry().head().seq;
        assert!(self.agents.iter().all(|agent| agent.shell.registry().head().seq <= head));
    }

    fn check_acknowledged(&self) {
        for (seq, digest) in &self.acknowledged {
            let event = self.reader.event(*seq).expect("reads").expect("an acknowledged event stays");
            assert_eq!(event.digest().to_string(), *digest, "event {seq} is another one now");
        }
    }

    /// Checks that every command is in the log once, no grant skipped the next waiter, and none displaced a live
    /// owner with time left.
    fn check_order(&self) {
        let records = self.memory.log(LOG_NAME).read_after(0, 10_000).expect("reads");
        let commands: BTreeSet<&str> = records.iter().map(|record| record.command.as_str()).collect();
        assert_eq!(commands.len(), records.len(), "every command is in the log once");
        let mut registry = IntentRegistry::default();
        for record in &records {
            let event = parse(record).expect("an event");
            let granted = match &event.change {
                RegistryChange::Granted { declaration, .. } => Some((&declaration.scope, None)),
                RegistryChange::Promoted { intent_id, .. } => {
                    let intent = registry.intent(intent_id).expect("it waited");
                    Some((&intent.scope, intent.queued_at))
                }
                _ => None,
            };
            if let Some((scope, place)) = granted {
                let passed = registry.intents().find(|waiter| {
                    overlap(scope, &waiter.scope)
                        && place.is_none_or(|place| waiter.queued_at < Some(place))
                        && self.is_next(&registry, waiter, &event)
                });
                assert!(passed.is_none(), "event {} goes past {:?}", event.seq, passed.map(|it| &it.id));
            }
            for id in displaced(&event.change) {
                let other = registry.intent(id).expect("it held something");
                let is_gone = lock(&self.world.dead).contains(&other.owner.pid);
                assert!(is_gone || other.expires_at <= event.at, "event {} pushes {id} aside", event.seq);
            }
            registry.apply(&event);
        }
    }

    /// Returns whether it was certainly a waiter's turn: another owner's intent, alive, with a current lease and
    /// nothing in its way.
    fn is_next(&self, registry: &IntentRegistry, waiter: &Intent, event: &RegistryEvent) -> bool {
        let holds =
            |other: &Intent| other.status == IntentStatus::Active && overlap(&waiter.scope, &other.scope);
        waiter.status == IntentStatus::Queued
            && !waiter.owner.is_same_owner(&event.by)
            && waiter.expires_at > event.at
            && waiter.lease.is_fresh(event.at)
            && !lock(&self.world.dead).contains(&waiter.owner.pid)
            && !registry.intents().any(holds)
    }
}

fn displaced(change: &RegistryChange) -> impl Iterator<Item = &IntentId> {
    let displaced = match change {
        RegistryChange::Granted { displaced, .. }
        | RegistryChange::Promoted { displaced, .. }
        | RegistryChange::Amended { displaced, .. } => Some(displaced),
        _ => None,
    };
    displaced.into_iter().flatten()
}

/// Runs one schedule, checking every law; returns the number of events.
fn run(seed: u64, mutant: Option<LoopMutant>) -> u64 {
    let mut simulation = RegistrySimulation::new(seed, mutant);
    for _ in 0..STEPS {
        simulation.step();
    }
    simulation.check_acknowledged();
    simulation.check_order();
    simulation.memory.log(LOG_NAME).head().expect("reads")
}

struct SeedReporter(u64);

impl Drop for SeedReporter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("PROBITY_SEED={}", self.0);
        }
    }
}

#[test]
fn no_schedule_loses_or_doubles_a_grant() {
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match setting("PROBITY_SEED") {
        Some(seed) => seed..seed + 1,
        None => 1..1 + setting("PROBITY_SEEDS").unwrap_or(200),
    };
    let mut n_events = 0;
    for seed in seeds {
        let _named = SeedReporter(seed);
        n_events += run(seed, None);
    }
    assert!(n_events > 0, "something happened");
}

#[test]
fn every_mutant_of_the_loop_is_caught() {
    for mutant in
        [LoopMutant::NoCompare, LoopMutant::LostAppend, LoopMutant::AnyToken, LoopMutant::LiveIsDead]
    {
        let is_caught = |seed| std::panic::catch_unwind(|| run(seed, Some(mutant))).is_err();
        assert!((1..60).any(is_caught), "{mutant:?} survived");
    }
}
