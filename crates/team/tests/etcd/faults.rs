//! The long tests: `cargo xtask team faults`. Every row hurts a cluster while claims go on, and both judges look at the history.

use super::claim_workers::{ClaimRun, judged, run_workers};
use super::{NO_ETCD, options, store};
use probity_storage::ports::{AppendOutcome, EventLog, StorageEngine};
use probity_storage::sqlite::SqliteStore;
use probity_team::etcd::{EtcdOptions, EtcdStore, EtcdTimeouts};
use probity_testkit::etcd_cluster::EtcdCluster;
use probity_testkit::history::CallOutcome;
use probity_testkit::skip;
use std::time::{Duration, Instant};

/// Eight workers on four paths, as eight machines without a common lock.
const WORKERS: usize = 8;
const PATHS: [&str; 4] = ["a", "b", "c", "d"];
/// Events before, during and after a fault.
const EVENTS: u64 = 60;
/// How long one measurement lasts.
const MEASUREMENT_INTERVAL: Duration = Duration::from_secs(10);

/// Runs one row of the table: the store has its ordinary deadlines, as for users.
fn row(cluster: &mut EtcdCluster, name: &str, fault: impl FnOnce(&mut EtcdCluster, &ClaimRun)) {
    let endpoints = cluster.endpoints();
    let repository = format!("{name:->16}").replace(' ', "-");
    let open = |_| {
        let timeouts = EtcdTimeouts { store: Duration::from_secs(30), ..EtcdTimeouts::default() };
        let options = EtcdOptions { timeouts, repository: repository.clone(), ..options(endpoints.clone()) };
        EtcdStore::open(options).expect("opens")
    };
    let run = ClaimRun::new(WORKERS, &PATHS);
    run_workers(&run, open, || {
        run.wait_for_events(EVENTS);
        fault(cluster, &run);
        run.wait_for_events(EVENTS);
    });
    let n_events = judged(&run, &*open(0).log("claims"));
    let calls = run.calls();
    let mut ends: Vec<u64> = calls
        .iter()
        .filter(|call| matches!(call.outcome, CallOutcome::Done(_)))
        .map(|call| call.ended)
        .collect();
    ends.sort_unstable();
    let silence = ends.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let n_unknown = calls.iter().filter(|call| call.outcome == CallOutcome::Unknown).count();
    println!(
        "{name:<24} longest silence {:>6} ms, {n_events} events, {n_unknown} calls without an answer, 0 breaches",
        silence / 1_000_000
    );
}

#[test]
#[ignore = "long: `cargo xtask team faults`"]
fn claims_survive_every_fault() {
    let Some(mut cluster) = EtcdCluster::start(3, &[]) else { return skip!("{NO_ETCD}") };
    row(&mut cluster, "nothing", |_, run| run.wait_for_events(EVENTS));
    row(&mut cluster, "leader killed", |cluster, run| {
        let killed = cluster.leader();
        cluster.kill(killed);
        run.wait_for_events(EVENTS);
        cluster.start_member(killed);
        cluster.wait_until_led();
    });
    row(&mut cluster, "leader stopped", |cluster, run| {
        let stopped = cluster.leader();
        cluster.stop(stopped);
        run.wait_for_events(EVENTS);
        cluster.resume(stopped);
        cluster.wait_until_led();
    });
    row(&mut cluster, "rolling restart", |cluster, run| {
        for n in 0..3 {
            cluster.kill(n);
            run.wait_for_events(EVENTS / 4);
            cluster.start_member(n);
            cluster.wait_until_led();
        }
    });
    row(&mut cluster, "majority stopped", |cluster, run| {
        let leader = cluster.leader();
        let others: Vec<usize> = (0..3).filter(|n| *n != leader).collect();
        others.iter().for_each(|n| cluster.stop(*n));
        let n_before = run.n_events();
        // One write may already have been agreed on; nothing more can be.
        std::thread::sleep(Duration::from_secs(3));
        assert!(run.n_events() <= n_before + WORKERS as u64, "claims were granted without a majority");
        others.iter().for_each(|n| cluster.resume(*n));
        cluster.wait_until_led();
    });
    row(&mut cluster, "compaction, defragment", |cluster, run| {
        for round in 0..3 {
            let answer = cluster.post(round, "/v3/kv/range", r#"{"key":"YQ=="}"#).expect("answers");
            let revision = answer.split_once("\"revision\":\"").expect("a revision").1;
            let revision = revision.split('"').next().expect("a number");
            cluster.post(
                round,
                "/v3/kv/compaction",
                &format!(r#"{{"revision":"{revision}","physical":true}}"#),
            );
            cluster.post(round, "/v3/maintenance/defragment", "{}");
            run.wait_for_events(EVENTS / 4);
        }
    });
}

/// Counts claims (a claim and its release: two durable appends) in a fixed time, on one contended path.
fn claims_per_second<S: StorageEngine>(store: impl Fn(usize) -> S + Sync, n_workers: usize) -> (u64, usize) {
    let run = ClaimRun::new(n_workers, &["a"]);
    let began = Instant::now();
    run_workers(&run, store, || std::thread::sleep(MEASUREMENT_INTERVAL));
    let took_ms = u64::try_from(began.elapsed().as_millis()).expect("is short");
    let n_refused = run.calls().iter().filter(|call| matches!(call.outcome, CallOutcome::Refused(_))).count();
    (run.n_events() * 1_000 / 2 / took_ms, n_refused)
}

#[test]
#[ignore = "a measurement: `cargo xtask team faults`"]
fn claims_per_second_beside_sqlite() {
    let Some(cluster) = EtcdCluster::start(3, &[]) else { return skip!("{NO_ETCD}") };
    let directory = tempfile::tempdir().expect("a directory");
    let sqlite = |_| SqliteStore::open(&directory.path().join("store.sqlite")).expect("opens");
    for n_workers in [1, 8] {
        let endpoints = cluster.endpoints();
        let etcd = |_| {
            let repository = format!("0123456789-{n_workers}");
            EtcdStore::open(EtcdOptions { repository, ..options(endpoints.clone()) }).expect("opens")
        };
        let (on_etcd, refused) = claims_per_second(etcd, n_workers);
        println!("etcd, 3 members, {n_workers} workers on one path: {on_etcd} claims/s, {refused} refusals");
    }
    let (on_sqlite, refused) = claims_per_second(sqlite, 8);
    println!("SQLite, 8 workers on one path: {on_sqlite} claims/s, {refused} refusals");
}

#[test]
#[ignore = "a measurement: `cargo xtask team faults`"]
fn a_warm_read_is_one_round_trip() {
    let Some(cluster) = EtcdCluster::start(1, &[]) else { return skip!("{NO_ETCD}") };
    let store = store(cluster.endpoints());
    let log: &dyn EventLog = &*store.log("l");
    assert_eq!(log.append(0, "a", &[b'x'; 1_200]).expect("appends"), AppendOutcome::At(1));
    let before = store.traffic();
    let began = Instant::now();
    assert_eq!(log.read_after(0, 1_000).expect("reads").len(), 1);
    let (requests, bytes) = store.traffic();
    println!(
        "a read that finds the last event (1.2 kB) and nothing new: {} request, {} bytes, {} µs",
        requests - before.0,
        bytes - before.1,
        began.elapsed().as_micros()
    );
    assert_eq!(requests - before.0, 1);
}
