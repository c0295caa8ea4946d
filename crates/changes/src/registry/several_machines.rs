//! Several machines on one shared store, under a seeded scheduler: clocks that are days apart and jump, equal host names,
//! boots, lost and late writes.
//!
//! Each machine has its own clock, its own time since boot and its own processes; all of them are called `vm`. The laws are
//! checked against the true time, which no machine knows: no claim of a living owner is displaced before its life is
//! over, skew changes nothing but the times that are shown, a refusal is true and leaves nothing behind, finished work
//! keeps other trees off until it has landed or its time is over, and it lands once. Every mutant must be caught. `PROBITY_SEED` and `PROBITY_SEEDS` work as in the simulation of one machine.

use super::catch_up::parse;
use super::tests::owner;
use super::*;
use probity_intents::coherence::{LineChange, PathContent};
use probity_intents::registry::{CommandRefusal, RegistryAction, RegistryChange};
use probity_intents::registry::{IntentBase, IntentDeclaration};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{
    IntentId, IntentScope, IntentStatus, ProcessProbe, ReleasedWork, ScopeEntry, SharedOverlap, Timestamp,
};
use probity_storage::memory_store::{MemoryStore, WriteFate};
use probity_storage::ports::{AppendOutcome, EventRecord, StorageEngine};
use probity_storage::ports::{ObjectStore, RefStore};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

const STEPS: usize = 60;
const MACHINES: usize = 3;
const PATHS: [&str; 3] = ["a", "a/x", "b"];
const LIFE_SECONDS: u64 = 600;
const HOLD_SECONDS: u64 = 300;
const DAY_SECONDS: u64 = 86_400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MachineMutant {
    /// The host name, which all machines share, is the identity of a session.
    HostNameIsSession,
    /// The reader's wall clock ends lives.
    WallClockEndsLives,
    /// The end of a short lease ends a life.
    LeaseEndsLife,
    /// A retry after a lost reply has a fresh id.
    FreshIdOnRetry,
    /// Reads answer from the past.
    StaleReads,
    /// A session that ended here counts as dead on a shared store, also if its image was copied.
    EndedSessionIsDead,
}

const MUTANTS: [MachineMutant; 6] = [
    MachineMutant::HostNameIsSession,
    MachineMutant::WallClockEndsLives,
    MachineMutant::LeaseEndsLife,
    MachineMutant::FreshIdOnRetry,
    MachineMutant::StaleReads,
    MachineMutant::EndedSessionIsDead,
];

struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below.max(1) as u64).unwrap_or(0)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[derive(Debug, Clone)]
struct MachineFacts {
    wall: u64,
    uptime: u64,
    n_boots: u32,
    session: String,
    live: BTreeSet<u32>,
    ended: BTreeSet<String>,
}

/// One machine. The mutants change what it says, never what is true.
struct Machine {
    facts: Mutex<MachineFacts>,
    session: String,
    ended: BTreeSet<String>,
    boot: String,
}

/// Returns the machine as its processes see it since the last boot.
fn host(facts: &Arc<Machine>, mutant: Option<MachineMutant>) -> Arc<Machine> {
    let now = lock(&facts.facts).clone();
    let is_named = mutant == Some(MachineMutant::HostNameIsSession);
    Arc::new(Machine {
        session: if is_named { "vm".into() } else { now.session.clone() },
        boot: if is_named { "b".into() } else { format!("boot {} of {}", now.n_boots, now.session) },
        ended: now.ended.clone(),
        facts: Mutex::new(now),
    })
}

impl RegistryHost for Machine {
    fn now(&self) -> Timestamp {
        Timestamp(lock(&self.facts).wall)
    }
    fn host_name(&self) -> &'static str {
        "vm"
    }
    fn boot_id(&self) -> Option<&str> {
        Some(&self.boot)
    }
    fn probe_process(&self, pid: u32) -> ProcessProbe {
        ProcessProbe { exists: lock(&self.facts).live.contains(&pid), pid_start: None }
    }
    fn session(&self) -> Option<&str> {
        Some(&self.session)
    }
    fn ended_sessions(&self) -> BTreeSet<String> {
        self.ended.clone()
    }
    fn pause(&self, _: Duration) {}
    fn uptime(&self) -> (String, Duration) {
        (self.boot.clone(), Duration::from_secs(lock(&self.facts).uptime))
    }
}

/// The store as the machines reach it: possibly broken.
struct ReachedStore {
    memory: MemoryStore,
    mutant: Option<MachineMutant>,
}

struct ReachedLog {
    log: Box<dyn EventLog>,
    mutant: Option<MachineMutant>,
    n_calls: Mutex<u64>,
}

struct ShortLeases(Box<dyn LeaseStore>);

impl LeaseStore for ShortLeases {
    fn renew(&self, owner: &str, lasts: Duration) -> Result<(), StoreError> {
        self.0.renew(owner, lasts.min(Duration::from_mins(1)))
    }
    fn end(&self, owner: &str) -> Result<(), StoreError> {
        self.0.end(owner)
    }
    fn running(&self) -> Result<Vec<(String, Duration)>, StoreError> {
        self.0.running()
    }
}

impl StorageEngine for ReachedStore {
    fn log(&self, name: &str) -> Box<dyn EventLog> {
        Box::new(ReachedLog { log: self.memory.log(name), mutant: self.mutant, n_calls: Mutex::new(0) })
    }
    fn refs(&self, space: &str) -> Box<dyn RefStore> {
        self.memory.refs(space)
    }
    fn leases(&self, space: &str) -> Option<Box<dyn LeaseStore>> {
        let leases = self.memory.leases(space)?;
        let is_short = self.mutant == Some(MachineMutant::LeaseEndsLife);
        Some(if is_short { Box::new(ShortLeases(leases)) } else { leases })
    }
    fn objects(&self) -> Box<dyn ObjectStore> {
        self.memory.objects()
    }
    fn is_shared(&self) -> bool {
        !matches!(self.mutant, Some(MachineMutant::WallClockEndsLives | MachineMutant::EndedSessionIsDead))
    }
}

impl ReachedLog {
    fn hidden(&self) -> u64 {
        let mut n_calls = lock(&self.n_calls);
        *n_calls += 1;
        u64::from(self.mutant == Some(MachineMutant::StaleReads) && !n_calls.is_multiple_of(3)) * 2
    }
}

impl EventLog for ReachedLog {
    fn head(&self) -> Result<u64, StoreError> {
        Ok(self.log.head()?.saturating_sub(self.hidden()))
    }
    fn append(&self, expected_head: u64, command: &str, event: &[u8]) -> Result<AppendOutcome, StoreError> {
        if self.mutant == Some(MachineMutant::FreshIdOnRetry) {
            let mut n_calls = lock(&self.n_calls);
            *n_calls += 1;
            let fresh = format!("{command}-{n_calls}");
            let event = String::from_utf8_lossy(event).replace(command, &fresh);
            return self.log.append(expected_head, &fresh, event.as_bytes());
        }
        self.log.append(expected_head, command, event)
    }
    fn read_after(&self, seq: u64, limit: usize) -> Result<Vec<EventRecord>, StoreError> {
        let seen = self.log.head()?.saturating_sub(self.hidden());
        Ok(self.log.read_after(seq, limit)?.into_iter().filter(|record| record.seq <= seen).collect())
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

/// An agent: its machine, its process, and its view.
struct Agent {
    name: String,
    machine: usize,
    pid: u32,
    service: IntentService,
    host: Arc<Machine>,
    held: BTreeMap<IntentId, EventSeq>,
}

struct Simulation {
    dice: Dice,
    memory: MemoryStore,
    reached: ReachedStore,
    mutant: Option<MachineMutant>,
    machines: Vec<Arc<Machine>>,
    agents: Vec<Agent>,
    /// The true time, which nobody knows.
    now: u64,
    n_names: u32,
    /// When each event was written, in true time.
    written_at: Vec<u64>,
    /// Starts that were refused: they may never appear.
    refused: BTreeSet<IntentId>,
}

impl Simulation {
    fn new(seed: u64, mutant: Option<MachineMutant>) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let memory = MemoryStore::new();
        // Half of the schedules are on a store with a clock, half on one without.
        let has_clock = dice.roll(2) == 0 || mutant == Some(MachineMutant::LeaseEndsLife);
        memory.share(has_clock);
        let mut fates = Dice(seed ^ 0x5eed_fa7e_0000_0001);
        memory.inject(move || match fates.roll(10) {
            0 => WriteFate::LostBefore,
            1 => WriteFate::LostAfter,
            2 => WriteFate::Late,
            _ => WriteFate::Answered,
        });
        let reached = ReachedStore { memory: memory.clone(), mutant };
        let machine = |dice: &mut Dice| {
            let wall = 10 * DAY_SECONDS + dice.roll(2 * 86_400) as u64 - DAY_SECONDS;
            // Images of one machine: the first session of all was the same one, and ended with a boot.
            let facts = MachineFacts {
                wall,
                uptime: dice.roll(5_000) as u64,
                n_boots: 0,
                session: String::new(),
                live: BTreeSet::new(),
                ended: BTreeSet::from(["session-1".to_owned()]),
            };
            Arc::new(Machine {
                facts: Mutex::new(facts),
                session: String::new(),
                ended: BTreeSet::new(),
                boot: String::new(),
            })
        };
        let machines: Vec<Arc<Machine>> = (0..MACHINES).map(|_| machine(&mut dice)).collect();
        let mut simulation = Self {
            dice,
            memory,
            reached,
            mutant,
            machines,
            agents: Vec::new(),
            now: 0,
            n_names: 0,
            written_at: Vec::new(),
            refused: BTreeSet::new(),
        };
        for machine in 0..MACHINES {
            simulation.begin_session(machine);
            for n in 0..2 {
                let agent = simulation.agent(machine, format!("agent-{machine}-{n}"));
                simulation.agents.push(agent);
            }
        }
        simulation
    }

    fn begin_session(&self, machine: usize) {
        let mut facts = lock(&self.machines[machine].facts);
        facts.n_boots += 1;
        // The first machine is the original that the images were made of, and is still in its session.
        facts.session = if machine == 0 && facts.n_boots == 1 {
            facts.ended.clear();
            "session-1".to_owned()
        } else {
            format!("session-{machine}-{}", facts.n_boots)
        };
        facts.live.clear();
    }

    fn agent(&mut self, machine: usize, name: String) -> Agent {
        self.n_names += 1;
        let pid = 100 + self.n_names;
        lock(&self.machines[machine].facts).live.insert(pid);
        let host = host(&self.machines[machine], self.mutant);
        let service = IntentService::on_store(&self.reached, host.clone());
        Agent { name, machine, pid, service, host, held: BTreeMap::new() }
    }

    fn owner_of(&self, who: usize) -> IntentOwner {
        let agent = &self.agents[who];
        IntentOwner {
            host: "vm".into(),
            boot_id: agent.host.boot_id().map(Into::into),
            session: agent.host.session().map(Into::into),
            ..owner(&agent.name, agent.pid)
        }
    }

    fn step(&mut self) {
        let who = self.dice.roll(self.agents.len());
        match self.dice.roll(15) {
            0..=4 => self.start(who),
            14 => self.land(who),
            5 | 6 => self.release(who),
            7 => self.renew(who),
            8 => self.take(who),
            9 => self.crash(who),
            10 => self.jump(who),
            11 => self.boot(who),
            12 => self.pass_time(),
            _ => self.memory.deliver_late(),
        }
        self.note_times();
    }

    /// Shows every agent its machine as it is now.
    fn show_machines(&self) {
        for agent in &self.agents {
            let now = lock(&self.machines[agent.machine].facts).clone();
            *lock(&agent.host.facts) = now;
        }
    }

    fn act(&mut self, who: usize, action: RegistryAction) -> Result<CommandResult, ServiceError> {
        self.show_machines();
        let by = self.owner_of(who);
        let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
        let before = self.truth();
        let done = self.agents[who].service.execute(&by, action, &tree);
        if let Err(fault) = &done {
            let ServiceError::Intent(refusal) = fault else { panic!("{fault}") };
            if let CommandRefusal::Blocked { decision } = &**refusal {
                for id in &decision.blocked_by {
                    let held = before.intent(id).map(|intent| intent.status);
                    let is_held = matches!(held, Some(IntentStatus::Active | IntentStatus::Landing));
                    assert!(is_held, "the refusal because of {id} is stale");
                }
            }
        }
        done
    }

    fn start(&mut self, who: usize) {
        self.n_names += 1;
        let intent_id = IntentId::parse(format!("i-{}", self.n_names)).expect("an id");
        let path = PATHS[self.dice.roll(PATHS.len())];
        let base = IntentBase {
            tree: Some(format!("tree-{}:", self.agents[who].machine)),
            line: Some("main".into()),
            shared: (self.dice.roll(4) == 0).then(SharedOverlap::default),
            ..IntentBase::default()
        };
        let action = RegistryAction::Start {
            declaration: IntentDeclaration {
                intent_id: intent_id.clone(),
                description: String::new(),
                expected_effects: Vec::new(),
                scope: IntentScope {
                    allowed_files: [ScopeEntry::new(path)].into(),
                    ..IntentScope::default()
                },
                ttl_seconds: LIFE_SECONDS,
                lease_seconds: 60,
                base,
                task: None,
            },
            dirty_scope_policy: DirtyScopePolicy::Block,
            on_conflict: OnConflict::Block,
        };
        match self.act(who, action) {
            Ok(CommandResult { event: Some(event), .. }) => {
                self.agents[who].held.insert(intent_id, event.seq);
            }
            Err(_) => {
                self.refused.insert(intent_id);
            }
            Ok(_) => {}
        }
    }

    fn release(&mut self, who: usize) {
        let Some((intent_id, token)) = self.agents[who].held.pop_first() else { return };
        let work = (self.dice.roll(2) == 0).then(|| ReleasedWork {
            became: vec![PathContent { path: RepoPath::parse(b"b").expect("a path"), content: None }],
            hold_seconds: Some(HOLD_SECONDS),
            ..ReleasedWork::default()
        });
        let _ = self.act(who, RegistryAction::Release { intent_id, token, receipt: None, work });
    }

    /// Sees that finished work of anyone arrived.
    fn land(&mut self, who: usize) {
        let finished = |status| matches!(status, IntentStatus::Landing | IntentStatus::Released);
        let truth = self.truth();
        let ids: Vec<IntentId> =
            truth.intents().filter(|it| finished(it.status)).map(|it| it.id.clone()).collect();
        if let Some(intent_id) = ids.get(self.dice.roll(ids.len())).cloned() {
            let (commit, branch) = ("c".to_owned(), "main".to_owned());
            let _ = self.act(who, RegistryAction::Land { intent_id, commit, branch });
        }
    }

    fn renew(&mut self, who: usize) {
        let Some(intent_id) = self.agents[who].held.keys().next().cloned() else { return };
        let ttl_seconds = Some(LIFE_SECONDS);
        let _ = self.act(who, RegistryAction::Renew { intent_id, lease_seconds: 60, ttl_seconds });
    }

    /// Tries to clear, recover or collect what belongs to anyone.
    fn take(&mut self, who: usize) {
        self.show_machines();
        let open: Vec<IntentId> = self.truth().open_intents().map(|intent| intent.id.clone()).collect();
        if open.is_empty() {
            return;
        }
        let intent_id = open[self.dice.roll(open.len())].clone();
        let action = match self.dice.roll(3) {
            0 => RegistryAction::Clear { intent_id },
            1 => RegistryAction::Recover { intent_id, lease_seconds: 60, ttl_seconds: LIFE_SECONDS },
            _ => RegistryAction::Collect { retention_seconds: 10 * DAY_SECONDS, keep_closed: None },
        };
        let _ = self.act(who, action);
    }

    fn crash(&mut self, who: usize) {
        let (machine, name) = (self.agents[who].machine, self.agents[who].name.clone());
        lock(&self.machines[machine].facts).live.remove(&self.agents[who].pid);
        self.agents[who] = self.agent(machine, name);
    }

    /// Boots a machine: all its processes are gone, and its time since boot begins again.
    fn boot(&mut self, who: usize) {
        if self.dice.roll(4) != 0 {
            return;
        }
        let machine = self.agents[who].machine;
        {
            let mut facts = lock(&self.machines[machine].facts);
            let ended = facts.session.clone();
            facts.ended.insert(ended);
            facts.uptime = 0;
        }
        self.begin_session(machine);
        for n in 0..self.agents.len() {
            if self.agents[n].machine == machine {
                let name = self.agents[n].name.clone();
                self.agents[n] = self.agent(machine, name);
            }
        }
    }

    /// Sets the wall clock of one machine: up to a day ahead or back.
    fn jump(&mut self, who: usize) {
        let by = self.dice.roll(2 * 86_400) as u64;
        let mut facts = lock(&self.machines[self.agents[who].machine].facts);
        facts.wall = (facts.wall + by).saturating_sub(DAY_SECONDS).max(1);
    }

    fn pass_time(&mut self) {
        let by = [1, 30, 61, 301, 601][self.dice.roll(5)];
        self.now += by;
        self.memory.advance(Duration::from_secs(by));
        for machine in &self.machines {
            let mut facts = lock(&machine.facts);
            facts.wall += by;
            facts.uptime += by;
        }
    }

    fn truth(&self) -> IntentRegistry {
        let records = self.memory.log(LOG_NAME).read_after(0, 10_000).expect("reads");
        let events: Vec<RegistryEvent> =
            records.iter().map(|record| parse(record).expect("an event")).collect();
        IntentRegistry::replay(&events).expect("one chain")
    }

    /// Notes the true time of the new events, and checks each against what was true then.
    fn note_times(&mut self) {
        let records = self.memory.log(LOG_NAME).read_after(0, 10_000).expect("reads");
        let mut registry = IntentRegistry::default();
        for (n, record) in records.iter().enumerate() {
            let event = parse(record).expect("an event");
            if n >= self.written_at.len() {
                self.written_at.push(self.now);
                self.check(&registry, &event);
            }
            registry.apply(&event);
        }
        for id in &self.refused {
            assert!(registry.intent(id).is_none(), "{id} was refused and is there all the same");
        }
    }

    fn check(&self, registry: &IntentRegistry, event: &RegistryEvent) {
        if let RegistryChange::Landed { intent_id, .. } = &event.change {
            let has_landed = registry.contents_of(intent_id).is_some_and(LineChange::is_on_line);
            assert!(!has_landed, "{intent_id} landed twice");
        }
        let taken: Vec<&IntentId> = match &event.change {
            RegistryChange::Granted { displaced, .. } => displaced.iter().collect(),
            RegistryChange::Collected { expired, .. } => expired.iter().collect(),
            RegistryChange::Cleared { intent_id } | RegistryChange::Recovered { intent_id, .. } => {
                vec![intent_id]
            }
            _ => Vec::new(),
        };
        for id in taken {
            let Some(intent) = registry.intent(id) else { continue };
            if intent.owner.is_same_owner(&event.by) {
                continue;
            }
            let began = self.written_at[usize::try_from(intent.life.since.0 - 1).expect("small")];
            let is_over = self.now >= began + intent.life.seconds;
            // Finished work needs no process.
            let is_alive = intent.status == IntentStatus::Landing
                || self.machines.iter().any(|machine| lock(&machine.facts).live.contains(&intent.owner.pid));
            assert!(is_over || !is_alive, "event {} takes {id} from a living owner", event.seq);
        }
    }
}

struct SeedReporter(u64);

impl Drop for SeedReporter {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("PROBITY_SEED={}", self.0);
        }
    }
}

fn run(seed: u64, mutant: Option<MachineMutant>) -> u64 {
    let mut simulation = Simulation::new(seed, mutant);
    for _ in 0..STEPS {
        simulation.step();
    }
    simulation.memory.log(LOG_NAME).head().expect("reads")
}

#[test]
fn no_schedule_of_several_machines_takes_a_living_claim() {
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
fn every_mutant_of_the_rules_for_several_machines_is_caught() {
    for mutant in MUTANTS {
        let is_caught = |seed| std::panic::catch_unwind(|| run(seed, Some(mutant))).is_err();
        assert!((1..200).any(is_caught), "{mutant:?} survived");
    }
}

#[test]
fn skew_changes_nothing_but_the_times_that_are_shown() {
    let run = |skew: [u64; 2]| {
        let memory = MemoryStore::new();
        memory.share(false);
        let mut outcomes = Vec::new();
        let mut services: Vec<(IntentService, IntentOwner, Arc<Machine>)> = (0..2)
            .map(|n| {
                let facts = MachineFacts {
                    wall: 10 * DAY_SECONDS + skew[n],
                    uptime: 5,
                    n_boots: 1,
                    session: format!("s{n}"),
                    live: BTreeSet::new(),
                    ended: BTreeSet::new(),
                };
                let machine = Arc::new(Machine {
                    session: format!("s{n}"),
                    ended: BTreeSet::new(),
                    boot: format!("b{n}"),
                    facts: Mutex::new(facts),
                });
                let by = IntentOwner { session: Some(format!("s{n}")), ..owner(&format!("agent-{n}"), 0) };
                (IntentService::on_store(&memory, machine.clone()), by, machine)
            })
            .collect();
        let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
        for step in 0..8 {
            let (service, by, _) = &mut services[step % 2];
            let done = service.execute(by, super::tests::start(&format!("i-{step}"), "a"), &tree);
            outcomes.push(match done {
                Ok(done) => format!("{:?}", done.event.map(|event| displaced_by(&event.change))),
                Err(fault) => fault.code().to_owned(),
            });
            for (_, _, machine) in &services {
                lock(&machine.facts).uptime += 1_000;
            }
        }
        outcomes
    };
    let level = run([0, 0]);
    assert!(level.iter().any(|outcome| outcome.contains("i-0")), "a life ends at last: {level:?}");
    for skew in [[DAY_SECONDS, 0], [0, DAY_SECONDS], [3_500, 7_200]] {
        assert_eq!(run(skew), level, "{skew:?}");
    }
}

fn displaced_by(change: &RegistryChange) -> Vec<String> {
    match change {
        RegistryChange::Granted { displaced, .. } => displaced.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    }
}
