//! Many who contend through the file system: every round has one winner.
//!
//! `PROBITY_ROUNDS` sets how many claims each racer must win (`cargo xtask race` uses many).

use super::tests::{clear, owner, start, tree};
use super::*;
use intent::registry::Change;
use std::time::Instant;

const RACERS: usize = 8;

#[test]
fn of_many_racers_one_wins_each_round() {
    let rounds = std::env::var("PROBITY_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let dir = tempfile::tempdir().expect("a directory");
    let began = Instant::now();
    let race = |racer: usize| {
        // A connection, a lock and a cache of its own, as another process would have.
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
        let mut shell = Shell::open(&workspace).expect("opens");
        let by = owner(&format!("racer-{racer}"), 0);
        let mut won = 0;
        while won < rounds {
            let id = format!("i-{racer}-{won}");
            match shell.execute(&by, start(&id, "contended"), &tree()) {
                Ok(_) => {
                    shell.execute(&by, clear(&id), &tree()).expect("is the racer's own");
                    won += 1;
                }
                Err(Fault::Intent(_)) => shell.wait(Duration::from_millis(50)).expect("waits"),
                Err(fault) => panic!("{fault}"),
            }
        }
    };
    std::thread::scope(|scope| {
        for racer in 0..RACERS {
            scope.spawn(move || race(racer));
        }
    });
    let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("is found");
    let part = audit::read_log(&workspace, 0, 10_000).expect("the log is whole");
    let n_events = RACERS * rounds * 2;
    assert_eq!(part.head.seq.0, n_events as u64, "every claim and every end is there once");
    for pair in part.events.chunks(2) {
        assert!(matches!(pair[0].change, Change::Granted { .. }), "nobody is granted what is held");
        assert_eq!(pair[0].change.intent_id(), pair[1].change.intent_id());
    }
    audit::check(&workspace).expect("the cache says what the log says");
    println!("{} claims by {RACERS} racers in {:?}", n_events / 2, began.elapsed());
}
