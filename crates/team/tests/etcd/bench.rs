//! Measurements: `cargo xtask team bench`. They hold nothing against a bar, because other programs share the machine; every
//! figure stands beside one of SQLite in the same run.

#![expect(clippy::print_stdout, reason = "the figures are what a measurement prints")]

use super::claim_workers::{ClaimRun, judged_by_witness, run_workers};
use super::{NO_ETCD, options, store};
use probity_storage::ports::{AppendOutcome, EventsSince, StorageEngine};
use probity_storage::sqlite::SqliteStore;
use probity_team::etcd::{EtcdOptions, EtcdStore};
use probity_testkit::etcd_cluster::EtcdCluster;
use probity_testkit::history::CallOutcome;
use probity_testkit::skip;
use std::time::{Duration, Instant};

/// How many events one measurement takes.
const EVENTS: u64 = 2_000;
const WORKERS: usize = 8;
/// What 10,000 open intents of some 600 bytes come to.
const SNAPSHOT_BYTES: usize = 6_000_000;

const MAX_WARM_READ_BYTES: u64 = 2_000;

/// Claims per second: each is two events.
fn claims_per_second(n_events: u64, took: Duration) -> u128 {
    u128::from(n_events) * 500 / took.as_millis().max(1)
}

fn in_repository(cluster: &EtcdCluster, repository: &str) -> EtcdStore {
    let options = EtcdOptions { repository: repository.into(), ..options(cluster.endpoints()) };
    EtcdStore::open(options).expect("opens")
}

/// Measures claims (a claim and its release: two durable appends) on one contended path.
fn claims_on_one_path<S: StorageEngine>(name: &str, run: &ClaimRun, store: impl Fn() -> S + Sync) {
    let began = Instant::now();
    run_workers(run, |_| store(), || run.wait_for_events(EVENTS));
    let rate = claims_per_second(run.n_events(), began.elapsed());
    let n_refused = run.calls().iter().filter(|call| matches!(call.outcome, CallOutcome::Refused(_))).count();
    judged_by_witness(run, &*store().log("claims"));
    println!("{name}: {rate} claims/s, {n_refused} refusals");
}

#[test]
#[ignore = "a measurement: `cargo xtask team bench`"]
fn claims_per_second_beside_sqlite() {
    let Some(cluster) = EtcdCluster::start(3, &[]) else { return skip!("{NO_ETCD}") };
    let directory = tempfile::tempdir().expect("a directory");
    let workers = |n| ClaimRun::new(n, &["a"]).waiting();
    let eight = format!("{WORKERS} workers of one machine on one path");
    for (n, what) in [(1, "one worker"), (WORKERS, &*eight)] {
        let repository = format!("0123456789-{n}");
        let open = || in_repository(&cluster, &repository);
        claims_on_one_path(&format!("etcd, 3 members, {what}"), &workers(n).on_one_machine(), open);
        let file = directory.path().join(format!("{n}.sqlite"));
        let open = || SqliteStore::open(&file).expect("opens");
        claims_on_one_path(&format!("SQLite, {what}"), &workers(n).on_one_machine(), open);
    }
    let name = format!("etcd, 3 members, {WORKERS} machines on one path");
    claims_on_one_path(&name, &workers(WORKERS), || in_repository(&cluster, "0123456789-machines"));
    let runs: Vec<ClaimRun> = (0..WORKERS).map(|_| ClaimRun::new(1, &["a"])).collect();
    let began = Instant::now();
    std::thread::scope(|scope| {
        for (n, run) in runs.iter().enumerate() {
            let cluster = &cluster;
            scope.spawn(move || {
                let open = |_| in_repository(cluster, &format!("0123456789-at-once-{n}"));
                run_workers(run, open, || run.wait_for_events(EVENTS));
            });
        }
    });
    let n_events: u64 = runs.iter().map(ClaimRun::n_events).sum();
    let rate = claims_per_second(n_events, began.elapsed());
    println!("etcd, 3 members, {WORKERS} repositories with one worker each: {rate} claims/s");
}

#[test]
fn a_warm_read_is_one_short_round_trip() {
    let Some(cluster) = EtcdCluster::start(3, &[]) else { return skip!("{NO_ETCD}") };
    let store = store(cluster.endpoints());
    let log = store.log("intents");
    let command = "01a1f048-15d3-7549-a552-22eca9fea0ab";
    assert_eq!(log.append(0, command, &[b'x'; 1_200]).expect("appends"), AppendOutcome::At(1));
    let before = store.traffic();
    let began = Instant::now();
    assert_eq!(log.read_since(1, command, 1_000).expect("reads"), EventsSince::After(Vec::new()));
    let took = began.elapsed();
    let (requests, bytes) = store.traffic();
    let (requests, bytes) = (requests - before.0, bytes - before.1);
    println!(
        "a read with nothing new behind an event of 1.2 kB: {requests} request, {bytes} bytes, {took:.1?}"
    );
    assert_eq!(requests, 1);
    assert!(bytes <= MAX_WARM_READ_BYTES, "{bytes} bytes");
}

#[test]
#[ignore = "a measurement: `cargo xtask team bench`"]
fn a_cold_start_reads_the_snapshot() {
    let Some(cluster) = EtcdCluster::start(3, &[]) else { return skip!("{NO_ETCD}") };
    let log = store(cluster.endpoints()).log("l");
    assert_eq!(log.append(0, "a", b"1").expect("appends"), AppendOutcome::At(1));
    log.cut(1, &vec![b'x'; SNAPSHOT_BYTES]).expect("is cut");
    let cold = store(cluster.endpoints()).log("l");
    let began = Instant::now();
    let snapshot = cold.snapshot().expect("reads").expect("is there");
    assert_eq!(snapshot.bytes.len(), SNAPSHOT_BYTES);
    println!("a cold start with a snapshot of {} MB: {:.1?}", SNAPSHOT_BYTES / 1_000_000, began.elapsed());
}
