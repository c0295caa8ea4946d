//! The ledger on disk: durable appends, opening a million deltas from the log and from a snapshot, `changed since`.
//!
//! `cargo bench -p probity-knowledge --bench ledger` writes the log in its own directory, opens it in separate
//! processes (so that each is charged for its own memory only), and prints the figures. `-- 100000` uses fewer deltas.

#![expect(clippy::print_stdout, reason = "a benchmark reports")]

use probity_knowledge::ledger::{LedgerService, replay};
use probity_ledger::wire::{LedgerEvent, encode};
use probity_ledger::{
    BatchMode, ConfidenceLevel, DeltaProposal, ItemChange, ItemContent, ItemDelta, ProposedDelta, TurnSource,
};
use probity_workspace::Workspace;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const WORDS: &[&str] = &[
    "cache", "token", "parser", "store", "index", "queue", "merge", "commit", "snapshot", "ledger", "agent",
    "review", "gate", "policy", "scope", "intent", "claim", "lease", "graph", "metric", "report", "bundle",
    "chain", "digest",
];

/// Deltas per transaction while the log is written.
const TOGETHER: usize = 1000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["open", place] => open(Path::new(place)),
        ["replay", place] => {
            println!("{}", replay(&at(Path::new(place)), None).expect("replays").state_digest);
        }
        [n] => measure(n.parse().expect("a number of deltas")),
        _ => measure(1_000_000),
    }
}

fn at(place: &Path) -> Workspace {
    Workspace::find(Some(place), place).expect("is a directory")
}

fn measure(n_deltas: usize) {
    let directory = tempfile::tempdir().expect("a directory");
    let workspace = at(directory.path());
    append_one_by_one(&workspace);
    let log = directory.path().join(".probity/ledger");
    std::fs::remove_dir_all(&log).expect("removes");
    make_log(&workspace, n_deltas);
    let bytes = std::fs::metadata(log.join("log")).expect("is there").len();
    println!("{n_deltas} deltas: log of {} MB", bytes >> 20);
    let _ = std::fs::remove_file(log.join("snapshot"));
    for _ in 0..3 {
        itself(&["open", &directory.path().display().to_string()], "from the log");
    }
    let began = Instant::now();
    LedgerService::open(&workspace, None)
        .and_then(|mut service| service.save_snapshot())
        .expect("writes a snapshot");
    let size = std::fs::metadata(log.join("snapshot")).expect("is there").len();
    println!("open and write a snapshot of {} MB: {} ms", size >> 20, began.elapsed().as_millis());
    for _ in 0..3 {
        itself(&["open", &directory.path().display().to_string()], "from a snapshot");
    }
    let twice = [0; 2].map(|_| itself(&["replay", &directory.path().display().to_string()], "replay"));
    assert_eq!(twice[0], twice[1], "two replays give one digest");
}

/// Runs this program again and returns its output.
fn itself(arguments: &[&str], what: &str) -> String {
    let program = std::env::current_exe().expect("has a name");
    let output = Command::new(program).args(arguments).output().expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("text").trim().to_owned();
    println!("{what}: {said}");
    said
}

fn open(place: &Path) {
    let workspace = at(place);
    let (began, cpu) = (Instant::now(), cpu_ms());
    let service = LedgerService::open(&workspace, None).expect("opens");
    let (wall, cpu) = (began.elapsed(), cpu_ms() - cpu);
    let ledger = service.book().main();
    let head = i64::try_from(ledger.head().get()).expect("small");
    let began = Instant::now();
    let changed = ledger.changed_since(ledger.position(head - 10).expect("is a position")).len();
    let asked = began.elapsed();
    println!(
        "{head} inputs in {} ms ({cpu} ms of processor), {} MB at most; {changed} changed since the last ten, in {asked:?}",
        wall.as_millis(),
        peak_mb()
    );
}

/// One transaction per delta: the cost of one acknowledged proposal.
fn append_one_by_one(workspace: &Workspace) {
    let mut service = LedgerService::open(workspace, None).expect("opens");
    let mut mix = Mix::new();
    add_turns(&mut service);
    let mut times: Vec<Duration> = (0..300)
        .map(|_| {
            let began = Instant::now();
            append(&mut service, &mut mix, 1);
            began.elapsed()
        })
        .collect();
    times.sort();
    println!("durable append of one delta: median {:?}, 95 % within {:?}", times[150], times[285]);
}

fn make_log(workspace: &Workspace, n_deltas: usize) {
    let mut service = LedgerService::open(workspace, None).expect("opens");
    let mut mix = Mix::new();
    add_turns(&mut service);
    let began = Instant::now();
    for _ in 0..n_deltas / TOGETHER {
        append(&mut service, &mut mix, TOGETHER);
    }
    let rate = n_deltas as u128 * 1000 / began.elapsed().as_millis().max(1);
    println!(
        "durable append, {TOGETHER} deltas a transaction: {rate} deltas/s (snapshots on the way included)"
    );
}

fn add_turns(service: &mut LedgerService) {
    let names: Vec<String> = (0..10_000).map(|n| format!("t{n}")).collect();
    service
        .transact(|book| {
            let role = probity_ledger::extract::Role::User;
            let events: Vec<_> =
                names.iter().map(|id| LedgerEvent::Turn { id, role, text: "", pending: false }).collect();
            for event in &events {
                book.apply(event).expect("applies");
            }
            Ok((vec![encode(&events)], ()))
        })
        .expect("appends");
}

fn append(service: &mut LedgerService, mix: &mut Mix, n: usize) {
    let lines: Vec<Line> = (0..n).map(|_| mix.line()).collect();
    service
        .transact(|book| {
            let proposals: Vec<_> = lines.iter().map(proposal).collect();
            let (author, mode) = ("bench", BatchMode::BestEffort);
            let batch = LedgerEvent::Batch {
                stream: None,
                author,
                mode,
                proposals: proposals.clone(),
                verdicts: Vec::new(),
            };
            let verdicts =
                book.apply(&batch).expect("applies").iter().map(|outcome| outcome.verdict).collect();
            Ok((vec![encode(&[LedgerEvent::Batch { stream: None, author, mode, proposals, verdicts }])], ()))
        })
        .expect("appends");
}

/// The reference mix: half creates, a quarter revisions, the rest closes and supersessions, two percent invalid,
/// summaries of eight words.
struct Mix {
    dice: u64,
    n_items: u64,
    tasks: Vec<u64>,
    decisions: Vec<u64>,
}

struct Line {
    turn: String,
    name: String,
    text: String,
    act: u8,
}

impl Mix {
    fn new() -> Self {
        Self { dice: 0x2545_f491_4f6c_dd1d, n_items: 0, tasks: Vec::new(), decisions: Vec::new() }
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.dice ^= self.dice << 13;
        self.dice ^= self.dice >> 7;
        self.dice ^= self.dice << 17;
        usize::try_from(self.dice % sides.max(1) as u64).unwrap_or(0)
    }

    fn line(&mut self) -> Line {
        let turn = format!("t{}", self.roll(10_000));
        let words: Vec<&str> = (0..7).map(|_| WORDS[self.roll(WORDS.len())]).collect();
        let text = format!("Use {}", words.join(" "));
        let act = match self.roll(100) {
            0..2 => return Line { turn, name: "nobody".into(), text, act: 3 },
            2..28 => 2,
            28..38 => 3,
            38..50 => 4,
            _ => 0,
        };
        let old = match act {
            2 if !self.decisions.is_empty() => {
                let at = self.roll(self.decisions.len());
                Some(self.decisions[at])
            }
            3 if !self.tasks.is_empty() => {
                let at = self.roll(self.tasks.len());
                Some(self.tasks.swap_remove(at))
            }
            4 if !self.decisions.is_empty() => {
                let at = self.roll(self.decisions.len());
                Some(self.decisions.swap_remove(at))
            }
            _ => None,
        };
        if let Some(item) = old {
            return Line { turn, name: format!("i{item}"), text, act };
        }
        self.n_items += 1;
        let is_task = self.n_items.is_multiple_of(3);
        if is_task { &mut self.tasks } else { &mut self.decisions }.push(self.n_items);
        Line { turn, name: format!("i{}", self.n_items), text, act: u8::from(is_task) }
    }
}

fn proposal(line: &Line) -> DeltaProposal<'_> {
    let change = |change| ItemDelta::Change { target: &line.name, change };
    let create = |content| ItemDelta::Create { handle: &line.name, content };
    let delta = match line.act {
        0 => create(ItemContent::Decision { summary: &line.text, confidence: ConfidenceLevel::High }),
        1 => create(ItemContent::Task { summary: &line.text }),
        2 => change(ItemChange::ReviseDecision { summary: &line.text, confidence: None }),
        3 => change(ItemChange::CloseTask { resolution: "done" }),
        _ => change(ItemChange::Supersede { reason: "better", by: None }),
    };
    ProposedDelta { key: None, sources: vec![TurnSource::turn(&line.turn)], delta }.into()
}

/// Returns the CPU time of this process so far.
fn cpu_ms() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0) / 1_000_000
}

fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}
