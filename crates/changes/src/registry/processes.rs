//! Tests one registry with real processes: races, and kills at random points.
//!
//! The test binary starts itself again with a variable that makes the child play its part in [`part`]. A child prints
//! every acknowledgment, and the parent compares them with the log. `PROBITY_ROUNDS` and `PROBITY_KILLS` set the
//! duration (`cargo xtask race` and `cargo xtask kill registry` use large values).

use super::tests::{clear, owner, start, tree};
use super::*;
use probity_intents::IntentStatus;
use probity_intents::registry::Intent;
use probity_intents::registry::RegistryChange;
use probity_workspace::Workspace;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

const RACERS: usize = 4;
/// The child's part, name, rounds and directory.
const PART: &str = "PROBITY_TEST_PART";

fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

fn child(part: &str, folder: &Path, name: &str, rounds: usize) -> Child {
    Command::new(std::env::current_exe().expect("has a name"))
        .args(["--exact", "registry::processes::part", "--nocapture", "--test-threads=1"])
        .env(PART, format!("{part} {name} {rounds} {}", folder.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("starts")
}

#[test]
fn part() {
    let Ok(setting) = std::env::var(PART) else { return };
    let words: Vec<&str> = setting.splitn(4, ' ').collect();
    let [part, name, rounds, folder] = words.as_slice() else { panic!("a part has four words: {setting}") };
    let workspace = Workspace::find(Some(Path::new(folder)), Path::new(folder)).expect("is found");
    let mut shell = IntentService::open(&workspace).expect("opens");
    let by = owner(name, 0);
    let rounds = rounds.parse().expect("a number");
    let mut won = 0;
    while won < rounds {
        let id = format!("{name}-{won}");
        // Killed children leave claims behind, so each pair contends for its own files.
        let pair = name.split('-').next().unwrap_or_default();
        let path = if *part == "race" { "contended".to_owned() } else { format!("{pair}-{}", won % 3) };
        match shell.execute(&by, start(&id, &path), &tree()) {
            // Nobody reads a racer's output before it ends: printing could block it while it holds what the others wait for.
            Ok(_) if *part == "race" => {
                shell.execute(&by, clear(&id), &tree()).expect("is its own");
                won += 1;
            }
            Ok(done) => {
                told(&done);
                if won % 64 != 63 {
                    told(&shell.execute(&by, clear(&id), &tree()).expect("is its own"));
                }
                won += 1;
            }
            Err(ServiceError::Intent(_)) if *part == "race" => {
                shell.wait(Duration::from_millis(50)).expect("waits");
            }
            // It is held, perhaps by a killed child: try the next path.
            Err(ServiceError::Intent(_)) => won += 1,
            Err(fault) => panic!("{fault}"),
        }
    }
}

/// Prints an acknowledgment as one line.
fn told(done: &CommandResult) {
    let event = done.event.as_ref().expect("an event");
    println!("told {} {}", event.seq, event.digest());
}

/// Reads a child's acknowledgments until it ends. A truncated line does not count.
fn hear(child: &mut Child) -> impl Iterator<Item = (u64, String)> + use<> {
    let output = BufReader::new(child.stdout.take().expect("a pipe"));
    output.lines().map_while(Result::ok).filter_map(|line| {
        let mut words = line.split("told ").nth(1)?.split(' ');
        let (seq, digest) = (words.next()?.parse().ok()?, words.next()?);
        (digest.len() == "sha256:".len() + 64).then(|| (seq, digest.to_owned()))
    })
}

fn whole_log(workspace: &Workspace) -> Vec<RegistryEvent> {
    let mut events: Vec<RegistryEvent> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq.0);
        let part = audit::read_log(workspace, after, 5_000).expect("the log is whole");
        if part.events.is_empty() {
            assert_eq!(part.head.seq.0, after);
            return events;
        }
        events.extend(part.events.into_iter().map(|logged| logged.event));
    }
}

/// Checks event by event that no path is ever held twice.
fn check_no_double_grant(events: &[RegistryEvent]) {
    let mut registry = IntentRegistry::default();
    for event in events {
        if let RegistryChange::Granted { declaration, displaced, .. } = &event.change {
            let holds = |intent: &&Intent| {
                intent.status == IntentStatus::Active
                    && !displaced.contains(&intent.id)
                    && probity_intents::overlap(&intent.scope, &declaration.scope)
            };
            let holder = registry.intents().find(holds).map(|intent| &intent.id);
            assert_eq!(holder, None, "event {} grants what is held", event.seq);
        }
        registry.apply(event);
    }
}

#[test]
fn of_many_processes_one_wins_each_round() {
    let rounds = setting("PROBITY_ROUNDS", 6);
    let dir = tempfile::tempdir().expect("a directory");
    let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
    let racers: Vec<Child> =
        (0..RACERS).map(|racer| child("race", dir.path(), &format!("racer-{racer}"), rounds)).collect();
    for racer in racers {
        let output = racer.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let events = whole_log(&workspace);
    assert_eq!(events.len(), RACERS * rounds * 2, "every claim and every end is there once");
    for pair in events.chunks(2) {
        assert!(matches!(pair[0].change, RegistryChange::Granted { .. }), "nobody is granted what is held");
        assert_eq!(pair[0].change.intent_id(), pair[1].change.intent_id());
    }
    audit::check(&workspace).expect("the cache says what the log says");
}

#[test]
fn a_kill_at_any_point_loses_and_doubles_nothing() {
    let kills = setting("PROBITY_KILLS", 12);
    let dir = tempfile::tempdir().expect("a directory");
    let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
    IntentService::open(&workspace).expect("opens");
    let mut acknowledged: Vec<(u64, String)> = Vec::new();
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    for kill in 0..kills {
        let mut pair: Vec<Child> =
            (0..2).map(|n| child("kill", dir.path(), &format!("k{kill}-{n}"), 1_000_000)).collect();
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        let mut told: Vec<_> = pair.iter_mut().map(hear).collect();
        // Kills at a random point: in every other round possibly before the first command, else after it.
        if kill % 2 == 0 {
            acknowledged.extend(told[0].next());
        }
        std::thread::sleep(Duration::from_micros(dice % 60_000));
        for (child, told) in pair.iter_mut().zip(told) {
            child.kill().expect("is killed");
            acknowledged.extend(told);
            child.wait().expect("ends");
        }
        // Whatever was left half done, the next process can continue at once.
        let mut shell = IntentService::open(&workspace).expect("the registry opens after a kill");
        shell
            .execute(&owner("after", 0), start(&format!("after-{kill}"), "after"), &tree())
            .expect("is free");
        shell.execute(&owner("after", 0), clear(&format!("after-{kill}")), &tree()).expect("is its own");
    }
    let events = whole_log(&workspace);
    for (seq, digest) in &acknowledged {
        let event = usize::try_from(*seq).ok().and_then(|seq| events.get(seq - 1));
        assert_eq!(event.map(|event| event.digest().to_string()).as_ref(), Some(digest), "event {seq}");
    }
    check_no_double_grant(&events);
    audit::check(&workspace).expect("the cache says what the log says");
    println!(
        "{} kills, {} events, {} of them acknowledged to the killed",
        2 * kills,
        events.len(),
        acknowledged.len()
    );
    assert!(acknowledged.len() >= kills.div_ceil(2), "every other round waits for the first command");
}
