//! Measures how many claims per second eight processes get on one contended path, and checks that none is granted twice.
//!
//! `cargo bench -p probity-changes --bench registry [ROUNDS]`. Every claim and every release is one durable append.
//! The parent starts itself once per racer, waits for all of them, then reads the log: grants and releases must
//! alternate. For comparison, the same number of processes insert as many single rows into a plain `SQLite` table
//! with the same durability.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

mod shared;

use probity_changes::registry::{IntentService, TreeFacts, audit};
use probity_intents::registry::{RegistryAction, RegistryChange};
use probity_intents::{IntentId, IntentOwner};
use probity_workspace::{ServiceError, Workspace};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RACERS: usize = 8;
const ROUNDS: usize = 10_000;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["racer", directory, name, rounds] => race(Path::new(directory), name, rounds.parse()?),
        ["writer", directory, name, rounds] => insert(Path::new(directory), name, rounds.parse()?),
        [rounds] => measure(rounds.parse()?),
        _ => measure(ROUNDS),
    }
}

fn measure(rounds: usize) -> Outcome {
    let dir = tempfile::tempdir()?;
    let workspace = Workspace::find(Some(dir.path()), dir.path())?;
    IntentService::open(&workspace)?;
    let took = together("racer", dir.path(), rounds / RACERS)?;
    let n_claims = rounds / RACERS * RACERS;
    let log = Log::read(&workspace, n_claims)?;
    let doubled = log.n_doubled;
    let a_second = |n: usize, took: Duration| n as u128 * 1000 / took.as_millis().max(1);
    println!(
        "{n_claims} claims of one path by {RACERS} processes: {} claims/s, {doubled} granted twice",
        a_second(n_claims, took)
    );
    assert_eq!(doubled, 0, "a claim was granted while another held the path");
    let (most, usual) = log.patience();
    println!(
        "when the quickest had its {} claims, the slowest had {}; between two claims of one there are {usual} of other racers \
         at most in 95 %, {most} in all",
        rounds / RACERS,
        log.fewest(rounds / RACERS)
    );
    plain(&dir.path().join("plain.sqlite"))?.execute("CREATE TABLE row (name TEXT, value BLOB)", [])?;
    let plainly = together("writer", dir.path(), 2 * rounds / RACERS)?;
    println!(
        "durable writes by {RACERS} processes: {}/s here, {}/s as plain inserts",
        a_second(2 * n_claims, took),
        a_second(2 * n_claims, plainly)
    );
    Ok(())
}

/// Starts one process per racer and waits for all of them.
fn together(part: &str, directory: &Path, rounds: usize) -> Result<Duration, Box<dyn std::error::Error>> {
    let began = Instant::now();
    let mut racers = Vec::new();
    for racer in 0..RACERS {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(part).arg(directory).arg(format!("{part}-{racer}"));
        racers.push(command.arg(rounds.to_string()).stdin(Stdio::null()).spawn()?);
    }
    for mut racer in racers {
        assert!(racer.wait()?.success(), "a {part} failed");
    }
    Ok(began.elapsed())
}

fn plain(path: &Path) -> rusqlite::Result<rusqlite::Connection> {
    let connection = rusqlite::Connection::open(path)?;
    connection.busy_timeout(Duration::from_mins(1))?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

/// Inserts `rounds` rows of the size of an event, each in its own transaction.
fn insert(directory: &Path, name: &str, rounds: usize) -> Outcome {
    let connection = plain(&directory.join("plain.sqlite"))?;
    let mut insert = connection.prepare("INSERT INTO row VALUES (?, ?)")?;
    for _ in 0..rounds {
        insert.execute((name, [7u8; 700].as_slice()))?;
    }
    Ok(())
}

#[derive(Default)]
struct Log {
    /// Grants of a path that was already held.
    n_doubled: usize,
    /// The names of the racers that were granted the path, in order.
    winners: Vec<String>,
}

impl Log {
    /// Reads the log, in which every claim and every release must appear.
    fn read(workspace: &Workspace, n_claims: usize) -> Result<Self, Box<dyn std::error::Error>> {
        let (mut log, mut holder, mut seen) = (Self::default(), None, 0);
        loop {
            let part = audit::read_log(workspace, seen, 10_000)?;
            let Some(last) = part.events.last() else { break };
            seen = last.event.seq.0;
            for event in &part.events {
                match &event.event.change {
                    RegistryChange::Granted { declaration, .. } => {
                        let other = holder.replace(declaration.intent_id.clone());
                        log.n_doubled += usize::from(other.is_some());
                        log.winners.push(event.event.by.label.clone());
                    }
                    _ => holder = None,
                }
            }
        }
        assert_eq!(seen, 2 * n_claims as u64, "an event is missing");
        Ok(log)
    }

    /// Returns how many claims the slowest racer had when the fastest had all of its own.
    fn fewest(&self, rounds: usize) -> usize {
        let mut wins: BTreeMap<&str, usize> = self.winners.iter().map(|name| (name.as_str(), 0)).collect();
        for name in &self.winners {
            let won = wins.entry(name).or_default();
            *won += 1;
            if *won == rounds {
                break;
            }
        }
        wins.into_values().min().unwrap_or(0)
    }

    /// Returns the longest wait of a racer, counted in claims of other racers, and the 95th percentile.
    fn patience(&self) -> (usize, usize) {
        let mut last: BTreeMap<&str, usize> = BTreeMap::new();
        let between = |(at, name)| last.insert(name, at).map_or(at, |before| at - before - 1);
        let mut waits: Vec<usize> =
            self.winners.iter().map(String::as_str).enumerate().map(between).collect();
        waits.sort_unstable();
        (waits.last().copied().unwrap_or(0), waits.get(waits.len() * 19 / 20).copied().unwrap_or(0))
    }
}

/// Claims and releases the path `rounds` times.
fn race(directory: &Path, name: &str, rounds: usize) -> Outcome {
    let workspace = Workspace::find(Some(directory), directory)?;
    let mut shell = IntentService::open(&workspace)?;
    let by = IntentOwner {
        host: "bench".into(),
        token: Some(name.into()),
        label: name.into(),
        ..IntentOwner::default()
    };
    let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
    let mut won = 0;
    while won < rounds {
        let intent_id = IntentId::parse(format!("{name}-{won}"))?;
        match shell.execute(&by, shared::start(intent_id.clone()), &tree) {
            Ok(_) => {
                shell.execute(&by, RegistryAction::Clear { intent_id }, &tree)?;
                won += 1;
            }
            Err(ServiceError::Intent(_)) => shell.wait(Duration::from_millis(50))?,
            Err(fault) => return Err(fault.into()),
        }
    }
    Ok(())
}
