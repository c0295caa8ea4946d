//! Measures claims of a team on etcd through the rules as they are shipped, with real processes; the embedded store beside it in
//! the same run. `cargo xtask team bench`, or `cargo bench -p probity-changes --bench team -- [ROUNDS]`.
//!
//! Every claim is a grant with a lease and a life, and a clear. Each process says which events held the path, so that a path which two
//! held at once is noticed.

#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

mod shared;

use probity_changes::registry::{IntentService, TreeFacts};
use probity_changes::team::{self, TeamInit, TeamInitStore};
use probity_intents::registry::RegistryAction;
use probity_intents::{IntentId, IntentOwner};
use probity_testkit::etcd_cluster::EtcdCluster;
use probity_workspace::{ServiceError, Workspace};
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const RACERS: usize = 8;
const ROUNDS: usize = 400;
const MEMBERS: usize = 3;

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["racer", directory, name, rounds] => race(Path::new(directory), name, rounds.parse()?),
        [rounds] => measure(rounds.parse()?),
        _ => measure(ROUNDS),
    }
}

fn measure(rounds: usize) -> Outcome {
    let Some(cluster) = EtcdCluster::start(MEMBERS, &[]) else {
        println!("no etcd: `cargo xtask team install` brings it");
        return Ok(());
    };
    let place = tempfile::tempdir()?;
    let alone = repository(place.path(), "alone", None)?;
    let one = repository(place.path(), "one", Some(&cluster))?;
    for (name, directory) in [("embedded", &alone), ("etcd, 3 members", &one)] {
        for n in [1, RACERS] {
            let places = vec![directory.clone(); n];
            println!(
                "{name}, {n} processes on one path: {} claims/s",
                claims_per_second(&places, rounds, true)?
            );
        }
    }
    let many: Vec<PathBuf> = (0..RACERS)
        .map(|n| repository(place.path(), &format!("many-{n}"), Some(&cluster)))
        .collect::<Outcome<_>>()?;
    println!(
        "etcd, {RACERS} repositories with a process each: {} claims/s",
        claims_per_second(&many, rounds, false)?
    );
    Ok(())
}

/// Makes a repository, in a team of its own if there is a cluster.
fn repository(place: &Path, name: &str, cluster: Option<&EtcdCluster>) -> Outcome<PathBuf> {
    let directory = place.join(name);
    std::fs::create_dir(&directory)?;
    let workspace = Workspace::find(Some(&directory), &directory)?;
    IntentService::open(&workspace)?;
    if let Some(cluster) = cluster {
        let endpoints = cluster.endpoints();
        let store = TeamInitStore::Etcd { endpoints, ca: None, user: None, namespace: None };
        team::init(&workspace, &TeamInit { store, line: Some("main".into()) })?;
    }
    Ok(directory)
}

/// Has a process in each place claim its path `rounds` times in all.
fn claims_per_second(places: &[PathBuf], rounds: usize, is_one_path: bool) -> Outcome<u128> {
    let each = (rounds / places.len()).max(1);
    let began = Instant::now();
    let run = format!("{:x}", began.elapsed().as_nanos() + u128::from(std::process::id()));
    let racers: Vec<Child> = places
        .iter()
        .enumerate()
        .map(|(n, directory)| {
            let name = format!("{run}-{}-{n}", places.len());
            Command::new(std::env::current_exe()?)
                .args(["racer".as_ref(), directory.as_os_str(), name.as_ref(), each.to_string().as_ref()])
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .spawn()
        })
        .collect::<Result<_, _>>()?;
    let mut held: Vec<(u64, u64)> = Vec::new();
    for mut racer in racers {
        let mut words = String::new();
        racer.stdout.take().ok_or("no output")?.read_to_string(&mut words)?;
        assert!(racer.wait()?.success(), "a racer failed");
        for line in words.lines() {
            let (from, to) = line.split_once(' ').ok_or("a line has two numbers")?;
            held.push((from.parse()?, to.parse()?));
        }
    }
    let took = began.elapsed();
    assert_eq!(held.len(), each * places.len(), "a claim is missing");
    held.sort_unstable();
    let is_doubled = is_one_path && held.windows(2).any(|pair| pair[1].0 < pair[0].1);
    assert!(!is_doubled, "a claim was granted while another held the path");
    Ok(held.len() as u128 * 1_000 / took.as_millis().max(1))
}

/// Claims and releases the path `rounds` times; prints the events between which it was held.
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
    let mut held = String::new();
    for n in 0..rounds {
        let intent_id = IntentId::parse(format!("{name}-{n}"))?;
        let granted = loop {
            match shell.execute(&by, shared::start(intent_id.clone()), &tree) {
                Ok(granted) => break granted,
                // Look at what is known before asking again, as everybody does who waits for a path.
                Err(ServiceError::Intent(_)) => loop {
                    shell.wait(Duration::from_millis(50))?;
                    if shell.registry().open_intents().next().is_none() {
                        break;
                    }
                },
                Err(fault) => return Err(fault.into()),
            }
        };
        let cleared = shell.execute(&by, RegistryAction::Clear { intent_id }, &tree)?;
        let events = granted.event.zip(cleared.event).ok_or("a command was repeated")?;
        writeln!(held, "{} {}", events.0.seq, events.1.seq)?;
    }
    print!("{held}");
    Ok(())
}
