//! What a team of many machines asks of its store: a simulation with the real rules, the real events and an assumed network.
//!
//! `cargo xtask team numbers`, or `cargo bench -p probity-changes --bench team_size -- MACHINES AGENTS MINUTES`. Agents of
//! every machine start, finish and land one change after the other; each machine appends one event at a time (the turn lock),
//! and machines race for the end of the log by compare-and-append. Time is simulated, sizes are those of the real events and
//! snapshots, and the seconds of processor time are measured.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

use probity_core::merkle::{self, completed_subtrees, consistency_proof, leaf_hash};
use probity_core::{Digest, json};
use probity_intents::clone_logs::CloneLogHead;
use probity_intents::coherence::{PathContent, ReleasedWork, StaleBaseRule};
use probity_intents::registry::{
    CommandContext, CommandDecision, EventSeq, IntentBase, IntentDeclaration, RegistryAction, RegistryChange,
    RegistryCommand, RegistryEvent, RegistrySnapshot,
};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{CommandId, IntentId, IntentOwner, IntentRegistry, IntentScope, ScopeEntry, Timestamp};
use probity_paths::RepoPath;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::convert::Infallible;
use std::time::{Duration, Instant};

const SEED: u64 = 0x5eed_2026;
/// Assumed, in microseconds: the way to the store and back in one data center, and a write that a majority has flushed.
const ROUND_TRIP_MICROS: u64 = 1_000;
const WRITE_MICROS: u64 = 2_000;
/// What a command pauses after its second lost race, and at most; as the loop of commands does.
const FIRST_PAUSE_MICROS: u64 = 10_000;
const MAX_PAUSE_MICROS: u64 = 500_000;
const MICROS_PER_SECOND: u64 = 1_000_000;
/// A change is worked on for five to fifteen minutes, and lands a minute after its finish.
const WORK_SECONDS: (u64, u64) = (300, 900);
const LANDING_SECONDS: u64 = 60;
/// How many files the repository has.
const FILES: u64 = 100_000;
/// What the loop of commands and the engine on etcd do.
const EVENTS_PER_CUT: u64 = 250;
const KEPT_EVENTS: usize = 100;
const KEPT_CLOSED: usize = 100;
const COMMANDS_PER_CUT: usize = 50;
/// Bytes of a lease or a life in the answer of etcd's gateway. Every command reads those of all open intents.
const LEASE_ANSWER_BYTES: u64 = 250;
/// Bytes that etcd keeps for the keys of an event, and for those of a lease or a life.
const EVENT_KEY_BYTES: usize = 260;
const LEASE_BYTES: usize = 150;

/// Numbers that look random (xorshift), the same in every run.
struct PseudoRandomNumbers(u64);

impl PseudoRandomNumbers {
    const fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// The own log of a machine: two entries for each change.
#[derive(Default)]
struct OwnLog {
    size: u64,
    published: u64,
    subtrees: BTreeMap<(u32, u64), Digest>,
}

impl OwnLog {
    fn grow(&mut self, name: &str) {
        let number = self.size;
        let lookup = |level, position| Ok::<_, Infallible>(self.subtrees[&(level, position)]);
        let Ok(hashes) = completed_subtrees(number, leaf_hash(name.as_bytes()), lookup);
        for (level, hash) in (0_u32..).zip(hashes) {
            self.subtrees.insert((level, number >> level), hash);
        }
        self.size += 1;
    }

    fn head(&self, machine: usize) -> Option<CloneLogHead> {
        if self.size == self.published {
            return None;
        }
        let lookup = |level, position| Ok::<_, Infallible>(self.subtrees[&(level, position)]);
        let Ok(head) = merkle::head(self.size, lookup);
        let Ok(proof) = consistency_proof(self.published, self.size, lookup);
        let clone = format!("{machine:032x}");
        let origin = format!("probity.dev/log/{machine:016x}");
        Some(CloneLogHead { clone, origin, head, proof: proof.unwrap_or_default() })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum AgentStep {
    Start,
    Finish(IntentId, EventSeq, u64),
    Land(IntentId),
}

/// One try of an agent, at a simulated time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct AgentAttempt {
    at: u64,
    agent: usize,
    step: AgentStep,
    asked_at: u64,
    n_lost: u32,
}

#[derive(Default)]
struct TeamTotals {
    events: u64,
    event_bytes: u64,
    lost: u64,
    blocked: u64,
    waits: Vec<u64>,
    read_bytes: u64,
    cuts: u64,
    cut_bytes: u64,
    max_snapshot: usize,
    max_store: usize,
    decisions: u64,
    decided: Duration,
    folded: Duration,
}

struct SimulatedTeam {
    n_agents: usize,
    registry: IntentRegistry,
    seen: CommandContext,
    numbers: PseudoRandomNumbers,
    logs: Vec<OwnLog>,
    /// When the machine may append again, and how much of the log it has read.
    machines: Vec<(u64, u64)>,
    /// When the last event reaches the store.
    moved_at: u64,
    /// Bytes of all events up to each one, the newest last.
    tail: VecDeque<usize>,
    tail_bytes: usize,
    sums: Vec<u64>,
    snapshot_bytes: usize,
    n_commands: u64,
    totals: TeamTotals,
}

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes: Vec<(usize, usize, u64)> = match given[..] {
        [machines, agents, minutes] => vec![(machines, agents, minutes as u64)],
        _ => vec![(5, 1, 24 * 60), (10, 10, 8 * 60), (100, 10, 120), (1_000, 10, 30)],
    };
    println!(
        "seed {SEED:#x}; assumed: {ROUND_TRIP_MICROS} µs to the store and back, {WRITE_MICROS} µs a write"
    );
    for (machines, agents, minutes) in sizes {
        SimulatedTeam::new(machines, agents).run(minutes);
    }
}

impl SimulatedTeam {
    fn new(n_machines: usize, n_agents: usize) -> Self {
        Self {
            n_agents,
            registry: IntentRegistry::default(),
            seen: CommandContext {
                run_available: true,
                lives: Some(BTreeMap::new()),
                // Everybody fetches before a start; here nobody has a tree to compare.
                stale_base: StaleBaseRule::Warn,
                ..CommandContext::default()
            },
            numbers: PseudoRandomNumbers(SEED),
            logs: (0..n_machines).map(|_| OwnLog::default()).collect(),
            machines: vec![(0, 0); n_machines],
            moved_at: 0,
            tail: VecDeque::new(),
            tail_bytes: 0,
            sums: vec![0],
            snapshot_bytes: 0,
            n_commands: 0,
            totals: TeamTotals::default(),
        }
    }

    fn run(mut self, minutes: u64) {
        let end = minutes * 60 * MICROS_PER_SECOND;
        let mut queue = BinaryHeap::new();
        for agent in 0..self.machines.len() * self.n_agents {
            // They do not all begin at once.
            let at = self.numbers.next(WORK_SECONDS.1 * MICROS_PER_SECOND);
            queue.push(Reverse(AgentAttempt { at, agent, step: AgentStep::Start, asked_at: at, n_lost: 0 }));
        }
        while let Some(Reverse(attempt)) = queue.pop() {
            if attempt.at > end {
                break;
            }
            queue.push(Reverse(self.attempt(attempt)));
        }
        self.report(minutes);
    }

    /// Carries out one try; returns what its agent does next, and when.
    fn attempt(&mut self, attempt: AgentAttempt) -> AgentAttempt {
        let AgentAttempt { at, agent, step, asked_at, n_lost } = attempt;
        let machine = agent / self.n_agents;
        if self.machines[machine].0 > at {
            // Another agent of the machine has the turn.
            return AgentAttempt { at: self.machines[machine].0, agent, step, asked_at, n_lost };
        }
        self.read_news(machine);
        self.seen.now = Timestamp(at / MICROS_PER_SECOND);
        let command = self.command(agent, &step, at);
        self.seen.clone_log = self.logs[machine].head(machine);
        let began = Instant::now();
        let decision = self.registry.decide(&self.seen, &command);
        self.totals.decided += began.elapsed();
        self.totals.decisions += 1;
        let event = match decision {
            Ok(CommandDecision::Append(event)) => event,
            Ok(other) => panic!("a new command leads to an event, not to {other:?}"),
            Err(_) => {
                // Another file, after a look around.
                self.totals.blocked += 1;
                let at = at + MICROS_PER_SECOND;
                return AgentAttempt { at, agent, step: AgentStep::Start, asked_at: at, n_lost: 0 };
            }
        };
        // An event that was on its way when this machine read moves the end of the log before this one arrives.
        let is_lost = self.moved_at > at;
        let written = at + ROUND_TRIP_MICROS / 2 + WRITE_MICROS;
        let answered = written + ROUND_TRIP_MICROS / 2;
        self.machines[machine].0 = answered;
        if is_lost {
            self.totals.lost += 1;
            let pause = match n_lost {
                0 => 0,
                n => {
                    let most = (FIRST_PAUSE_MICROS << (n - 1).min(16)).min(MAX_PAUSE_MICROS);
                    most / 2 + self.numbers.next(most / 2)
                }
            };
            return AgentAttempt { at: answered + pause, agent, step, asked_at, n_lost: n_lost + 1 };
        }
        self.moved_at = written;
        self.append(machine, &event);
        self.totals.waits.push(answered - asked_at);
        self.next_step(agent, &event, answered)
    }

    /// Counts what a machine reads before it decides: the events since its last look.
    fn read_news(&mut self, machine: usize) {
        let head = self.registry.head().seq.0;
        let known = usize::try_from(self.machines[machine].1).unwrap_or_default();
        self.totals.read_bytes += self.sums.last().copied().unwrap_or_default() - self.sums[known];
        self.machines[machine].1 = head;
    }

    fn append(&mut self, machine: usize, event: &RegistryEvent) {
        self.apply(event);
        self.machines[machine].1 = event.seq.0;
        if event.clone_log.is_some() {
            self.logs[machine].published = self.logs[machine].size;
        }
        let lives = self.seen.lives.as_mut().expect("is a team");
        match &event.change {
            RegistryChange::Granted { declaration, .. } => {
                lives.insert(declaration.intent_id.clone(), declaration.ttl_seconds);
                self.seen.leases.insert(declaration.intent_id.clone(), declaration.lease_seconds);
            }
            RegistryChange::Landed { intent_id, .. } => {
                lives.remove(intent_id);
                self.seen.leases.remove(intent_id);
            }
            _ => {}
        }
        let every = EVENTS_PER_CUT
            * (self.registry.n_intents() as u64).div_ceil(EVENTS_PER_CUT).max(1).next_power_of_two();
        if event.seq.0.is_multiple_of(every) {
            self.cut();
        }
        let n_open = self.seen.lives.as_ref().map_or(0, BTreeMap::len);
        let store = self.tail_bytes + self.snapshot_bytes + n_open * 2 * LEASE_BYTES;
        self.totals.max_store = self.totals.max_store.max(store);
    }

    fn apply(&mut self, event: &RegistryEvent) {
        let bytes = json::canonical_of(event);
        let began = Instant::now();
        self.registry.apply_stored(event, Digest::of(&bytes));
        self.totals.folded += began.elapsed();
        self.totals.events += 1;
        self.totals.event_bytes += bytes.len() as u64;
        self.sums.push(self.sums.last().copied().unwrap_or_default() + bytes.len() as u64);
        self.tail.push_back(bytes.len() + EVENT_KEY_BYTES);
        self.tail_bytes += bytes.len() + EVENT_KEY_BYTES;
    }

    fn cut(&mut self) {
        self.collect();
        let bytes =
            serde_json::to_vec(&self.registry.snapshot_with_commands(COMMANDS_PER_CUT)).expect("is written");
        self.snapshot_bytes = bytes.len();
        self.totals.cuts += 1;
        self.totals.cut_bytes += bytes.len() as u64;
        self.totals.max_snapshot = self.totals.max_snapshot.max(bytes.len());
        while self.tail.len() > KEPT_EVENTS {
            self.tail_bytes -= self.tail.pop_front().unwrap_or_default();
        }
    }

    /// Forgets closed intents as a start does in passing.
    fn collect(&mut self) {
        while self.registry.n_forgettable(KEPT_CLOSED) > 0 {
            let action =
                RegistryAction::Collect { retention_seconds: u64::MAX, keep_closed: Some(KEPT_CLOSED) };
            let command = self.command_of(0, action);
            let seen = CommandContext {
                now: self.seen.now,
                lives: self.seen.lives.clone(),
                ..CommandContext::default()
            };
            let Ok(CommandDecision::Append(event)) = self.registry.decide(&seen, &command) else { return };
            self.apply(&event);
        }
    }

    fn next_step(&mut self, agent: usize, event: &RegistryEvent, now: u64) -> AgentAttempt {
        let machine = agent / self.n_agents;
        let (step, seconds) = match &event.change {
            RegistryChange::Granted { declaration, .. } => {
                let (least, most) = WORK_SECONDS;
                let file = declaration.scope.entries().next().map_or(0, file_number);
                // The bundle and the receipt of the change.
                self.logs[machine].grow(&format!("bundle {}", declaration.intent_id));
                self.logs[machine].grow(&format!("receipt {}", declaration.intent_id));
                (
                    AgentStep::Finish(declaration.intent_id.clone(), event.seq, file),
                    least + self.numbers.next(most - least),
                )
            }
            RegistryChange::Released { intent_id, .. } => {
                (AgentStep::Land(intent_id.clone()), LANDING_SECONDS)
            }
            _ => (AgentStep::Start, 1),
        };
        let at = now + seconds * MICROS_PER_SECOND;
        AgentAttempt { at, agent, step, asked_at: at, n_lost: 0 }
    }

    fn command(&mut self, agent: usize, step: &AgentStep, at: u64) -> RegistryCommand {
        let action = match step {
            AgentStep::Start => {
                let file = self.numbers.next(FILES);
                self.start(agent, at, file)
            }
            AgentStep::Finish(intent_id, token, file) => {
                let path = RepoPath::parse(file_name(*file).as_bytes()).expect("a path");
                let became = PathContent { path, content: Some(Digest::of(intent_id.as_str().as_bytes())) };
                RegistryAction::Release {
                    intent_id: intent_id.clone(),
                    token: *token,
                    receipt: Some(Digest::of(b"receipt")),
                    work: Some(ReleasedWork {
                        became: vec![became],
                        hold_seconds: Some(3_600),
                        ..ReleasedWork::default()
                    }),
                }
            }
            AgentStep::Land(intent_id) => RegistryAction::Land {
                intent_id: intent_id.clone(),
                commit: Digest::of(intent_id.as_str().as_bytes()).to_hex()[..40].into(),
                branch: "main".into(),
            },
        };
        self.command_of(agent, action)
    }

    fn start(&self, agent: usize, at: u64, file: u64) -> RegistryAction {
        let digest = |what: &str| Digest::of(format!("{what} {at}").as_bytes());
        RegistryAction::Start {
            declaration: IntentDeclaration {
                intent_id: IntentId::parse(format!(
                    "01a1f048-{:04x}-7549-{agent:04x}-{:012x}",
                    at % 0xffff,
                    self.n_commands
                ))
                .expect("an id"),
                description: "make the error of a missing file name the file".into(),
                expected_effects: Vec::new(),
                scope: IntentScope {
                    allowed_files: [ScopeEntry::new(file_name(file))].into(),
                    ..IntentScope::default()
                },
                ttl_seconds: 3_600,
                lease_seconds: 300,
                base: IntentBase {
                    run_id: format!("01a1f048-15d3-7549-a552-{at:012x}"),
                    report_digest: Some(digest("report").to_string()),
                    head: Some(digest("commit").to_hex()[..40].into()),
                    snapshot_root: Some(digest("tree")),
                    dirty_snapshot: Some(digest("dirty")),
                    tree: Some(format!("{:032x}:", agent / self.n_agents)),
                    line: Some("main".into()),
                    ..IntentBase::default()
                },
                task: None,
            },
            dirty_scope_policy: DirtyScopePolicy::Block,
            on_conflict: OnConflict::Block,
        }
    }

    fn command_of(&mut self, agent: usize, action: RegistryAction) -> RegistryCommand {
        self.n_commands += 1;
        let machine = agent / self.n_agents;
        RegistryCommand {
            id: CommandId::parse(format!("01a1f048-15d3-7549-a552-{:012x}", self.n_commands)).expect("an id"),
            by: IntentOwner {
                host: "sandbox".into(),
                boot_id: Some(format!("2f1c0a52-6d1b-4d0e-9a55-{machine:012x}")),
                session: Some(format!("{machine:032x}")),
                token: Some(Digest::of(format!("agent {agent}").as_bytes()).to_hex()),
                label: format!("agent-{agent}"),
                ..IntentOwner::default()
            },
            action,
        }
    }

    fn report(mut self, minutes: u64) {
        self.totals.waits.sort_unstable();
        let TeamTotals { events, lost, decisions, .. } = self.totals;
        let seconds = minutes * 60;
        let n_open = self.registry.open_intents().count();
        let waits = &self.totals.waits;
        let wait =
            |percent: usize| waits.get(waits.len() * percent / 100).copied().unwrap_or_default() / 1_000;
        let micros = |took: Duration, n: u64| took.as_micros() / u128::from(n.max(1));
        println!("\n{} machines with {} agents each, {minutes} minutes:", self.machines.len(), self.n_agents);
        println!(
            "  {} events/s of {} bytes; {lost} lost races ({} %), {} starts blocked",
            tenths(events, seconds),
            self.totals.event_bytes / events.max(1),
            tenths(lost * 100, events + lost),
            self.totals.blocked
        );
        println!("  an append is answered after {} ms (median), {} ms (99 %)", wait(50), wait(99));
        println!(
            "  intents at the end: {n_open} open, {} closed ones remembered",
            self.registry.n_intents() - n_open
        );
        println!(
            "  the store holds {} kB at most; without cutting it would grow by {} MB a day",
            self.totals.max_store / 1_000,
            self.totals.event_bytes * 86_400 / seconds / 1_000_000
        );
        println!(
            "  {} cuts with a snapshot of {} kB at most: {} kB/s, beside {} kB/s of events",
            self.totals.cuts,
            self.totals.max_snapshot / 1_000,
            tenths(self.totals.cut_bytes, seconds * 1_000),
            tenths(self.totals.event_bytes, seconds * 1_000)
        );
        let leases = n_open as u64 * 2 * LEASE_ANSWER_BYTES;
        println!(
            "  all machines together read {} kB/s of events, and {} kB/s of leases and lives: {} kB a command",
            tenths(self.totals.read_bytes, seconds * 1_000),
            tenths(leases * (events + lost), seconds * 1_000),
            leases / 1_000
        );
        println!(
            "  deciding takes {} µs, applying an event {} µs",
            micros(self.totals.decided, decisions),
            micros(self.totals.folded, events)
        );
        let snapshot = self.registry.snapshot_with_commands(COMMANDS_PER_CUT);
        let bytes = serde_json::to_vec(&snapshot).expect("is written");
        let began = Instant::now();
        let read: RegistrySnapshot = serde_json::from_slice(&bytes).expect("is read");
        let cold = IntentRegistry::from(read);
        let took = began.elapsed().as_millis();
        println!("  a cold start reads {} kB and takes {took} ms", bytes.len() / 1_000);
        assert_eq!(cold.open_intents().count(), n_open);
        assert!(
            self.registry.clone_logs().iter().all(|(_, log)| log.breach.is_none()),
            "no log contradicts itself"
        );
    }
}

/// Returns a quotient with one decimal.
fn tenths(number: u64, by: u64) -> String {
    let tenths = number * 10 / by.max(1);
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn file_name(n: u64) -> String {
    format!("services/area{:02}/module{:03}/file{n:05}.rs", n % 40, n % 997)
}

fn file_number(entry: &ScopeEntry) -> u64 {
    let name = String::from_utf8_lossy(entry.as_bytes()).into_owned();
    name.rsplit("file").next().and_then(|rest| rest.trim_end_matches(".rs").parse().ok()).unwrap_or_default()
}
