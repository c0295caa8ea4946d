//! Measures the reconciler on the reference mix: half creates, a quarter revisions, the rest closes and supersessions,
//! two percent invalid, summaries of eight words.
//!
//! `cargo bench -p probity-ledger` prints the criterion figures; the million-delta run also prints its rate and the
//! memory of the process.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use probity_ledger::{
    BatchMode, ConfidenceLevel, DeltaProposal, ItemChange, ItemContent, ItemDelta, Ledger, ProposedDelta,
    TurnSource,
};
use probity_prose::normal_form::normal_form;
use std::hint::black_box;

const WORDS: &[&str] = &[
    "cache", "token", "parser", "store", "index", "queue", "merge", "commit", "snapshot", "ledger", "agent",
    "review", "gate", "policy", "scope", "intent", "claim", "lease", "graph", "metric", "report", "bundle",
    "chain", "digest", "stream", "branch", "turn", "source", "budget", "prompt", "window", "stage",
];

/// A small generator, so that every run reconciles the same deltas.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// The texts of one delta; candidates borrow from it.
struct Line {
    turn: String,
    name: String,
    text: String,
    act: Act,
}

enum Act {
    Decide,
    Open,
    Revise,
    Close,
    Supersede,
    Nonsense,
}

struct Mix {
    dice: Dice,
    n_items: u64,
    open_tasks: Vec<u64>,
    decisions: Vec<u64>,
}

impl Mix {
    fn new() -> Self {
        Self { dice: Dice(0x2545_f491_4f6c_dd1d), n_items: 0, open_tasks: Vec::new(), decisions: Vec::new() }
    }

    fn text(&mut self) -> String {
        let mut text = String::from("Use");
        for _ in 0..7 {
            let at = usize::try_from(self.dice.roll(WORDS.len() as u64)).unwrap_or(0);
            text.push(' ');
            text.push_str(WORDS[at]);
        }
        text
    }

    fn target(&mut self, take_task: bool, remove: bool) -> Option<String> {
        let pool = if take_task { &mut self.open_tasks } else { &mut self.decisions };
        if pool.is_empty() {
            return None;
        }
        let at = usize::try_from(self.dice.roll(pool.len() as u64)).unwrap_or(0);
        let item = if remove { pool.swap_remove(at) } else { pool[at] };
        Some(format!("i{item}"))
    }

    fn line(&mut self) -> Line {
        let turn = format!("t{}", self.dice.roll(10_000));
        let (act, target) = match self.dice.roll(100) {
            0..2 => (Act::Nonsense, Some("nobody".to_owned())),
            2..28 => (Act::Revise, self.target(false, false)),
            28..38 => (Act::Close, self.target(true, true)),
            38..50 => (Act::Supersede, self.target(false, true)),
            _ => (Act::Decide, None),
        };
        let text = self.text();
        if let Some(name) = target {
            return Line { turn, name, text, act };
        }
        self.n_items += 1;
        let is_task = self.n_items.is_multiple_of(3);
        if is_task { &mut self.open_tasks } else { &mut self.decisions }.push(self.n_items);
        let act = if is_task { Act::Open } else { Act::Decide };
        Line { turn, name: format!("i{}", self.n_items), text, act }
    }
}

fn proposal(line: &Line) -> DeltaProposal<'_> {
    let change = |change| ItemDelta::Change { target: &line.name, change };
    let delta = match line.act {
        Act::Decide => ItemDelta::Create {
            handle: &line.name,
            content: ItemContent::Decision { summary: &line.text, confidence: ConfidenceLevel::High },
        },
        Act::Open => {
            ItemDelta::Create { handle: &line.name, content: ItemContent::Task { summary: &line.text } }
        }
        Act::Revise => change(ItemChange::ReviseDecision { summary: &line.text, confidence: None }),
        Act::Close | Act::Nonsense => change(ItemChange::CloseTask { resolution: "done" }),
        Act::Supersede => change(ItemChange::Supersede { reason: "better", by: None }),
    };
    ProposedDelta { key: None, sources: vec![TurnSource::turn(&line.turn)], delta }.into()
}

fn ledger_with_turns() -> Ledger {
    let mut ledger = Ledger::new();
    (0..10_000).for_each(|n| ledger.add_turn(&format!("t{n}")));
    ledger
}

fn reconcile(ledger: &mut Ledger, proposals: &[DeltaProposal<'_>]) -> usize {
    ledger.reconcile("bench", BatchMode::BestEffort, proposals).map_or(0, |outcomes| outcomes.len())
}

fn mix(c: &mut Criterion) {
    let mut source = Mix::new();
    let lines: Vec<_> = (0..100_000).map(|_| source.line()).collect();
    let proposals: Vec<_> = lines.iter().map(proposal).collect();
    let mut group = c.benchmark_group("reconcile");
    group.sample_size(10).throughput(Throughput::Elements(100_000));
    group.bench_function("mix of 100,000", |b| {
        b.iter_batched_ref(ledger_with_turns, |ledger| reconcile(ledger, &proposals), BatchSize::LargeInput);
    });
    group.finish();
}

fn hot_item(c: &mut Criterion) {
    let texts: Vec<_> =
        (0..20_000).map(|n| (format!("t{}", n % 10_000), format!("Use Postgres {n} for orders"))).collect();
    let revise = |(turn, text)| ProposedDelta {
        key: None,
        sources: vec![TurnSource { turn, range: Some((0, 9)) }],
        delta: ItemDelta::Change {
            target: "d",
            change: ItemChange::ReviseDecision { summary: text, confidence: None },
        },
    };
    let proposals: Vec<_> = texts
        .iter()
        .map(|(turn, text)| DeltaProposal::from(revise((turn.as_str(), text.as_str()))))
        .collect();
    let with_item = || {
        let mut ledger = ledger_with_turns();
        let content = ItemContent::Decision { summary: "Use Postgres", confidence: ConfidenceLevel::High };
        let create = ItemDelta::Create { handle: "d", content };
        let first = ProposedDelta { key: None, sources: vec![TurnSource::turn("t0")], delta: create };
        reconcile(&mut ledger, &[first.into()]);
        ledger
    };
    let mut group = c.benchmark_group("reconcile");
    group.sample_size(10).throughput(Throughput::Elements(20_000));
    group.bench_function("one item revised 20,000 times", |b| {
        b.iter_batched_ref(with_item, |ledger| reconcile(ledger, &proposals), BatchSize::LargeInput);
    });
    group.finish();
}

fn identity(c: &mut Criterion) {
    c.bench_function("identity/eight words", |b| {
        b.iter(|| normal_form(black_box("Use the Redis cache for tokens and sessions")));
    });
}

/// A million deltas in batches of a thousand, as a session would produce them.
#[expect(clippy::print_stdout, reason = "a benchmark reports")]
fn million(_: &mut Criterion) {
    let mut source = Mix::new();
    let mut ledger = ledger_with_turns();
    let mut spent = 0;
    for _ in 0..1000 {
        let lines: Vec<_> = (0..1000).map(|_| source.line()).collect();
        let proposals: Vec<_> = lines.iter().map(proposal).collect();
        let start = cpu_ns();
        reconcile(&mut ledger, &proposals);
        spent += cpu_ns() - start;
    }
    let start = cpu_ns();
    let since = ledger.position(999_990).map_or(0, |since| ledger.changed_since(since).len());
    let changed = cpu_ns() - start;
    let status = read("/proc/self/status");
    let memory = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or("VmHWM unknown");
    println!(
        "million: {} deltas in {} ms, {} items, {memory}",
        ledger.head(),
        spent / 1_000_000,
        ledger.ids().count()
    );
    println!("million: {since} items changed since the last ten, found in {changed} ns");
}

/// Returns the CPU time of this thread, which excludes other work on the machine.
fn cpu_ns() -> u64 {
    read("/proc/thread-self/schedstat").split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

#[expect(clippy::disallowed_methods, reason = "the kernel tells the figures in files")]
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

criterion_group!(benches, million, mix, hot_item, identity);
criterion_main!(benches);
