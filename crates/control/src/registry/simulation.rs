//! The real loop on the store in memory, under a seeded scheduler: crashes, pauses, clock jumps, lost replies.
//!
//! After every step the laws are checked against the log itself: no two live claims overlap, nothing that was
//! acknowledged is lost, whoever waits longest is served first, an old token opens nothing. A failing seed is printed;
//! `PROBITY_SEED` repeats it, and `PROBITY_SEEDS` sets how many are run (`cargo xtask simulate` uses many).

use super::*;
use intent::registry::{Base, Change, Declaration};
use intent::start::{DirtyScopePolicy, OnConflict};
use intent::{Entry, IntentScope, Status, Timestamp, overlap};
use std::sync::{Mutex, PoisonError};
use store::memory::{Fate, Memory};

const STEPS: usize = 60;
const AGENTS: usize = 5;
const PATHS: [&str; 5] = ["a", "a/x", "b", "b/y", "c"];

/// A small generator of its own: schedules must be repeatable, not good.
#[derive(Clone)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below.max(1) as u64).unwrap_or(0)
    }
}

/// One machine for all agents: its clock jumps, and its processes die.
#[derive(Default)]
struct World {
    now: Mutex<u64>,
    dead: Mutex<BTreeSet<u32>>,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host for World {
    fn now(&self) -> Timestamp {
        Timestamp(*lock(&self.now))
    }
    fn name(&self) -> &'static str {
        "h"
    }
    fn boot_id(&self) -> Option<&str> {
        Some("b")
    }
    fn probe(&self, pid: u32) -> Probe {
        Probe { exists: !lock(&self.dead).contains(&pid), pid_start: None }
    }
}

/// An agent: its process, its view of the registry, and what it was told.
struct Agent {
    name: String,
    pid: u32,
    shell: Shell,
    /// Intents that it was granted and has not given back, with their tokens.
    held: BTreeMap<IntentId, Seq>,
    /// Tokens that were worth something once.
    old: Vec<(IntentId, Seq)>,
}

impl Agent {
    fn owner(&self) -> Owner {
        Owner {
            host: "h".into(),
            boot_id: Some("b".into()),
            pid: self.pid,
            token: Some(self.name.clone()),
            label: self.name.clone(),
            ..Owner::default()
        }
    }
}

struct Simulation {
    dice: Dice,
    memory: Memory,
    world: Arc<World>,
    agents: Vec<Agent>,
    n_intents: usize,
    n_pids: u32,
    /// Somebody who only reads.
    reader: Shell,
    /// What somebody was told to be in the log.
    acknowledged: BTreeMap<Seq, String>,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let memory = Memory::new();
        let mut fates = Dice(seed ^ 0x5eed_fa7e);
        memory.inject(move || match fates.roll(8) {
            0 => Fate::LostBefore,
            1 => Fate::LostAfter,
            _ => Fate::Answered,
        });
        let world = Arc::new(World { now: Mutex::new(10_000), ..World::default() });
        let agent = |n: usize| Agent {
            name: format!("agent-{n}"),
            pid: u32::try_from(n).unwrap_or(0) + 1,
            shell: Shell::over(&memory, world.clone()),
            held: BTreeMap::new(),
            old: Vec::new(),
        };
        let agents = (0..AGENTS).map(agent).collect();
        let n_pids = 100;
        let dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let reader = Shell::over(&memory, world.clone());
        Self { dice, memory, world, agents, n_intents: 0, n_pids, reader, acknowledged: BTreeMap::new() }
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
            // A pause: the view grows old, and the next command must notice.
            _ => {}
        }
        self.check();
    }

    fn act(&mut self, who: usize, action: Action) -> Result<Done, Fault> {
        let agent = &mut self.agents[who];
        let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
        let done = agent.shell.execute(&agent.owner(), action, &tree);
        if let Ok(Done { event: Some(event), .. }) = &done {
            self.acknowledged.insert(event.seq, event.digest().to_string());
        }
        if let Err(fault) = &done {
            assert!(matches!(fault, Fault::Intent(_)), "{fault}");
        }
        done
    }

    fn start(&mut self, who: usize) {
        self.n_intents += 1;
        let path = PATHS[self.dice.roll(PATHS.len())];
        let on_conflict = if self.dice.roll(2) == 0 { OnConflict::Queue } else { OnConflict::Block };
        let action = Action::Start {
            declaration: Declaration {
                intent_id: IntentId::parse(format!("i-{}", self.n_intents)).expect("an id"),
                description: String::new(),
                expected_effects: Vec::new(),
                scope: IntentScope { allowed_files: [Entry::new(path)].into(), ..IntentScope::default() },
                ttl_seconds: 600,
                lease_seconds: 60,
                base: Base::default(),
            },
            dirty_scope_policy: DirtyScopePolicy::Block,
            on_conflict,
        };
        let done = self.act(who, action);
        self.hold(who, done);
    }

    fn promote(&mut self, who: usize) {
        let name = self.agents[who].name.clone();
        let waits =
            |intent: &&Intent| intent.status == Status::Queued && intent.owner.token.as_ref() == Some(&name);
        let first = self.agents[who].shell.registry().intents().find(waits).map(|intent| intent.id.clone());
        let Some(intent_id) = first else { return };
        let policy = DirtyScopePolicy::Block;
        let done =
            self.act(who, Action::Promote { intent_id, base: Base::default(), dirty_scope_policy: policy });
        self.hold(who, done);
    }

    fn hold(&mut self, who: usize, done: Result<Done, Fault>) {
        let Ok(Done { event: Some(event), .. }) = done else { return };
        if !matches!(event.change, Change::Queued { .. })
            && let Some(id) = event.change.intent_id()
        {
            self.agents[who].held.insert(id.clone(), event.seq);
        }
    }

    fn release(&mut self, who: usize) {
        let Some((intent_id, token)) = self.agents[who].held.pop_first() else { return };
        self.agents[who].old.push((intent_id.clone(), token));
        // It may have been displaced or be over: then it is refused, and the agent knows.
        let _ = self.act(who, Action::Release { intent_id, token, receipt: None });
    }

    fn release_with_an_old_token(&mut self, who: usize) {
        let Some((intent_id, token)) = self.agents[who].old.pop() else { return };
        let done = self.act(who, Action::Release { intent_id: intent_id.clone(), token, receipt: None });
        assert!(done.is_err(), "{intent_id} was released by a token that was given back");
    }

    fn renew(&mut self, who: usize) {
        let Some(intent_id) = self.agents[who].held.keys().next().cloned() else { return };
        let _ = self.act(who, Action::Renew { intent_id, lease_seconds: 60, ttl_seconds: None });
        let agent = &self.agents[who];
        agent.shell.touch(&agent.owner()).expect("the store answers");
    }

    /// The process dies; another one begins under the same name and knows nothing.
    fn crash(&mut self, who: usize) {
        self.n_pids += 1;
        lock(&self.world.dead).insert(self.agents[who].pid);
        let held = std::mem::take(&mut self.agents[who].held);
        let agent = &mut self.agents[who];
        agent.pid = self.n_pids;
        agent.shell = Shell::over(&self.memory, self.world.clone());
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
        let action = Action::Recover { intent_id: intent_id.clone(), lease_seconds: 60, ttl_seconds: 600 };
        let Ok(done) = self.act(who, action) else { return };
        for agent in &mut self.agents {
            if let Some(token) = agent.held.remove(&intent_id) {
                agent.old.push((intent_id.clone(), token));
            }
        }
        let intent = self.agents[who].shell.registry().intent(&intent_id).cloned();
        if intent.is_some_and(|intent| intent.status == Status::Active) {
            self.hold(who, Ok(done));
        }
    }

    /// The clock goes on, leaps, or goes back.
    fn jump(&mut self) {
        let forward = [1, 30, 61, 601][self.dice.roll(4)];
        let mut now = lock(&self.world.now);
        *now = if self.dice.roll(5) == 0 { now.saturating_sub(45) } else { *now + forward };
        self.memory.advance(Duration::from_secs(forward));
    }

    fn check(&mut self) {
        self.reader.refresh().expect("the log is whole");
        let intents = self.reader.registry().intents();
        let active: Vec<&Intent> = intents.filter(|intent| intent.status == Status::Active).collect();
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

    /// Every command is in the log once, and no grant went past somebody whose turn it was.
    fn check_order(&self) {
        let records = self.memory.log(NAME).read_after(0, 10_000).expect("reads");
        let commands: BTreeSet<&str> = records.iter().map(|record| record.command.as_str()).collect();
        assert_eq!(commands.len(), records.len(), "every command is in the log once");
        let mut registry = Registry::default();
        for record in &records {
            let event = parse(record).expect("an event");
            let granted = match &event.change {
                Change::Granted { declaration, .. } => Some((&declaration.scope, None)),
                Change::Promoted { intent_id, .. } => {
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
            registry.apply(&event);
        }
    }

    /// Whether it was surely a waiter's turn: another's, alive and heard of, with nobody at all in its way.
    fn is_next(&self, registry: &Registry, waiter: &Intent, event: &Event) -> bool {
        let holds = |other: &Intent| other.status == Status::Active && overlap(&waiter.scope, &other.scope);
        waiter.status == Status::Queued
            && !waiter.owner.is(&event.by)
            && waiter.expires_at > event.at
            && waiter.lease.is_fresh(event.at)
            && !lock(&self.world.dead).contains(&waiter.owner.pid)
            && !registry.intents().any(holds)
    }
}

/// Says which seed failed.
struct Named(u64);

impl Drop for Named {
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
        let _named = Named(seed);
        let mut simulation = Simulation::new(seed);
        for _ in 0..STEPS {
            simulation.step();
        }
        simulation.check_acknowledged();
        simulation.check_order();
        n_events += simulation.memory.log(NAME).head().expect("reads");
    }
    assert!(n_events > 0, "something happened");
}
