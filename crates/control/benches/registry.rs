//! Eight processes that contend for one path: how many claims a second, and is any of them granted twice?
//!
//! `cargo bench -p probity-control --bench registry [ROUNDS]`. Every claim and every release is one durable append. The
//! parent starts itself again for each racer, waits for all, and then reads the log: grants and releases must alternate.
//! Beside it, what the disk gives: as many processes that insert as many single rows into a plain table of `SQLite`, with
//! the same durability.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

use intent::registry::{Action, Base, Change, Declaration};
use intent::start::{DirtyScopePolicy, OnConflict};
use intent::{Entry, IntentId, IntentScope, Owner};
use probity_control::registry::{Shell, TreeFacts, audit};
use probity_control::{Fault, Workspace};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RACERS: usize = 8;
const ROUNDS: usize = 10_000;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["racer", folder, name, rounds] => race(Path::new(folder), name, rounds.parse()?),
        ["writer", folder, name, rounds] => insert(Path::new(folder), name, rounds.parse()?),
        [rounds] => measure(rounds.parse()?),
        _ => measure(ROUNDS),
    }
}

fn measure(rounds: usize) -> Outcome {
    let dir = tempfile::tempdir()?;
    let workspace = Workspace::find(Some(dir.path()), dir.path())?;
    Shell::open(&workspace)?;
    let took = together("racer", dir.path(), rounds / RACERS)?;
    let n_claims = rounds / RACERS * RACERS;
    let doubled = doubles(&workspace, n_claims)?;
    let a_second = |n: usize, took: Duration| n as u128 * 1000 / took.as_millis().max(1);
    println!(
        "{n_claims} claims of one path by {RACERS} processes: {} claims/s, {doubled} granted twice",
        a_second(n_claims, took)
    );
    assert_eq!(doubled, 0, "a claim was granted while another held the path");
    plain(&dir.path().join("plain.sqlite"))?.execute("CREATE TABLE row (name TEXT, value BLOB)", [])?;
    let plainly = together("writer", dir.path(), 2 * rounds / RACERS)?;
    println!(
        "durable writes by {RACERS} processes: {}/s here, {}/s as plain inserts",
        a_second(2 * n_claims, took),
        a_second(2 * n_claims, plainly)
    );
    Ok(())
}

/// Starts as many processes as there are racers, and waits for all.
fn together(part: &str, folder: &Path, rounds: usize) -> Result<Duration, Box<dyn std::error::Error>> {
    let began = Instant::now();
    let mut racers = Vec::new();
    for racer in 0..RACERS {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(part).arg(folder).arg(format!("{part}-{racer}"));
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

/// Inserts so many rows of the size of an event, each in a transaction of its own.
fn insert(folder: &Path, name: &str, rounds: usize) -> Outcome {
    let connection = plain(&folder.join("plain.sqlite"))?;
    let mut insert = connection.prepare("INSERT INTO row VALUES (?, ?)")?;
    for _ in 0..rounds {
        insert.execute((name, [7u8; 700].as_slice()))?;
    }
    Ok(())
}

/// How often a path was granted while it was held. Every claim and every release must be in the log.
fn doubles(workspace: &Workspace, n_claims: usize) -> Result<usize, Box<dyn std::error::Error>> {
    let (mut holder, mut doubled, mut seen) = (None, 0, 0);
    loop {
        let part = audit::read_log(workspace, seen, 10_000)?;
        let Some(last) = part.events.last() else { break };
        seen = last.seq.0;
        for event in &part.events {
            match &event.change {
                Change::Granted { declaration, .. } => {
                    doubled += usize::from(holder.replace(declaration.intent_id.clone()).is_some());
                }
                _ => holder = None,
            }
        }
    }
    assert_eq!(seen, 2 * n_claims as u64, "an event is missing");
    Ok(doubled)
}

/// Claims and releases the path so many times.
fn race(folder: &Path, name: &str, rounds: usize) -> Outcome {
    let workspace = Workspace::find(Some(folder), folder)?;
    let mut shell = Shell::open(&workspace)?;
    let by = Owner { host: "bench".into(), token: Some(name.into()), label: name.into(), ..Owner::default() };
    let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
    let mut won = 0;
    while won < rounds {
        let intent_id = IntentId::parse(format!("{name}-{won}"))?;
        match shell.execute(&by, start(intent_id.clone()), &tree) {
            Ok(_) => {
                shell.execute(&by, Action::Clear { intent_id }, &tree)?;
                won += 1;
            }
            Err(Fault::Intent(_)) => shell.wait(Duration::from_millis(50))?,
            Err(fault) => return Err(fault.into()),
        }
    }
    Ok(())
}

fn start(intent_id: IntentId) -> Action {
    Action::Start {
        declaration: Declaration {
            intent_id,
            description: "a race".into(),
            expected_effects: Vec::new(),
            scope: IntentScope { allowed_files: [Entry::new("contended")].into(), ..IntentScope::default() },
            ttl_seconds: 3600,
            lease_seconds: 600,
            base: Base::default(),
        },
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict: OnConflict::Block,
    }
}
