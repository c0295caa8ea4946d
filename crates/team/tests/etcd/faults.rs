//! The long tests: `cargo xtask team faults`. Every row hurts a cluster while claims go on, and both judges look at the history.

#![expect(clippy::print_stdout, reason = "the rows of the table are its output")]

use super::claim_workers::{ClaimRun, judged, run_workers};
use super::{NO_ETCD, options};
use probity_storage::ports::StorageEngine as _;
use probity_team::etcd::{EtcdOptions, EtcdStore, EtcdTimeouts};
use probity_testkit::etcd_cluster::EtcdCluster;
use probity_testkit::history::CallOutcome;
use probity_testkit::lossy_proxy::LossyProxy;
use probity_testkit::member_network::{self, NetworkPlace};
use probity_testkit::skip;
use std::time::Duration;

/// Eight workers on four paths, as eight machines without a common lock.
const WORKERS: usize = 8;
const PATHS: [&str; 4] = ["a", "b", "c", "d"];
/// Events before, during and after a fault.
const EVENTS: u64 = 60;
/// How often the table is run through; `cargo xtask team faults --rounds` sets it.
const ROUNDS_VARIABLE: &str = "PROBITY_FAULT_ROUNDS";
/// How long a cluster stays without a majority.
const MINORITY_TIMEOUT: Duration = Duration::from_secs(3);

/// Runs one row of the table in a log of its own.
fn row(cluster: &mut EtcdCluster, round: usize, name: &str, fault: impl FnOnce(&mut EtcdCluster, &ClaimRun)) {
    let endpoints = cluster.endpoints();
    judged_row(cluster, &endpoints, round, name, fault);
}

/// Runs one row with clients that use `endpoints`. They have the ordinary deadline of one member, and a longer one for the
/// store, so that workers outlast an election on a busy machine.
fn judged_row(
    cluster: &mut EtcdCluster,
    endpoints: &[String],
    round: usize,
    name: &str,
    fault: impl FnOnce(&mut EtcdCluster, &ClaimRun),
) {
    let repository = format!("{name:->16}-{round}").replace([' ', ','], "-");
    let open = |_| {
        let timeouts = EtcdTimeouts { store: Duration::from_secs(30), ..EtcdTimeouts::default() };
        let options = EtcdOptions { timeouts, repository: repository.clone(), ..options(endpoints.to_vec()) };
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
        "{round:>3} {name:<24} longest silence {:>6} ms, {n_events} events, {n_unknown} calls without an answer, 0 breaches",
        silence / 1_000_000
    );
}

fn n_rounds() -> usize {
    std::env::var(ROUNDS_VARIABLE).ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

#[test]
#[ignore = "long: `cargo xtask team faults`"]
fn claims_survive_every_fault() {
    for round in 1..=n_rounds() {
        let Some(mut cluster) = EtcdCluster::start(3, &[]) else { return skip!("{NO_ETCD}") };
        run_table(&mut cluster, round);
    }
}

#[test]
#[ignore = "long: `cargo xtask team faults`"]
fn claims_survive_every_cut() {
    match member_network::enter("faults::claims_survive_every_cut") {
        NetworkPlace::Passed => return,
        NetworkPlace::Refused(why) => return skip!("{why}"),
        NetworkPlace::Inside => {}
    }
    for round in 1..=n_rounds() {
        let Some(mut cluster) = EtcdCluster::start_in_namespaces(3) else { return skip!("{NO_ETCD}") };
        run_cuts(&mut cluster, round);
    }
    // Two members of five are lost, and the rest goes on.
    let Some(mut cluster) = EtcdCluster::start(5, &[]) else { return skip!("{NO_ETCD}") };
    row(&mut cluster, 1, "two of five killed", |cluster, run| {
        let leader = cluster.leader();
        let other = (leader + 1) % 5;
        for n in [leader, other] {
            cluster.kill(n);
        }
        run.wait_for_events(EVENTS);
        for n in [leader, other] {
            cluster.start_member(n);
        }
        cluster.wait_until_led();
    });
}

/// Something that is done to the network of a cluster.
type NetworkFault = fn(&EtcdCluster);

/// Cuts ways between members that clients still reach.
fn run_cuts(cluster: &mut EtcdCluster, round: usize) {
    let cuts: [(&str, NetworkFault); 4] = [
        ("leader cut off", |cluster| cluster.network().cut_off(cluster.leader())),
        ("leader deaf", |cluster| cluster.network().deafen(cluster.leader())),
        ("leader isolated", |cluster| cluster.network().isolate(cluster.leader())),
        // Its followers hear it, and it hears one of them: no election is needed.
        ("one way lost", |cluster| {
            let leader = cluster.leader();
            cluster.network().cut((leader + 1) % 3, leader);
        }),
    ];
    for (name, cut) in cuts {
        row(cluster, round, name, |cluster, run| {
            cut(cluster);
            run.wait_for_events(EVENTS);
            cluster.network().heal();
            cluster.wait_until_led();
        });
    }
    row(cluster, round, "six cuts in turn", |cluster, run| {
        for n in 0..6 {
            cluster.network().cut_off(n % 3);
            run.wait_for_events(EVENTS / 6);
            cluster.network().heal();
            cluster.wait_until_led();
        }
    });
}

fn run_table(cluster: &mut EtcdCluster, round: usize) {
    row(cluster, round, "nothing", |_, run| run.wait_for_events(EVENTS));
    row(cluster, round, "leader killed", |cluster, run| {
        let killed = cluster.leader();
        cluster.kill(killed);
        run.wait_for_events(EVENTS);
        cluster.start_member(killed);
        cluster.wait_until_led();
    });
    row(cluster, round, "leader stopped", |cluster, run| {
        let stopped = cluster.leader();
        cluster.stop(stopped);
        run.wait_for_events(EVENTS);
        cluster.resume(stopped);
        cluster.wait_until_led();
    });
    row(cluster, round, "rolling restart", |cluster, run| {
        for n in 0..3 {
            cluster.kill(n);
            run.wait_for_events(EVENTS / 4);
            cluster.start_member(n);
            cluster.wait_until_led();
        }
    });
    row(cluster, round, "majority stopped", |cluster, run| {
        let leader = cluster.leader();
        let others: Vec<usize> = (0..3).filter(|n| *n != leader).collect();
        for n in &others {
            cluster.stop(*n);
        }
        let n_before = run.n_events();
        // One write may already have been agreed on; nothing more can be.
        std::thread::sleep(MINORITY_TIMEOUT);
        assert!(run.n_events() <= n_before + WORKERS as u64, "claims were granted without a majority");
        for n in &others {
            cluster.resume(*n);
        }
        cluster.wait_until_led();
    });
    row(cluster, round, "compaction, defragment", |cluster, run| {
        for n in 0..3 {
            let answer = cluster.post(n, "/v3/kv/range", r#"{"key":"YQ=="}"#).expect("answers");
            let revision = answer.split_once("\"revision\":\"").expect("a revision").1;
            let revision = revision.split('"').next().expect("a number");
            cluster.post(n, "/v3/kv/compaction", &format!(r#"{{"revision":"{revision}","physical":true}}"#));
            cluster.post(n, "/v3/maintenance/defragment", "{}");
            run.wait_for_events(EVENTS / 4);
        }
    });
    let proxies: Vec<LossyProxy> =
        cluster.client_ports().iter().map(|port| LossyProxy::start(*port, 8)).collect();
    let endpoints: Vec<String> = proxies.iter().map(LossyProxy::url).collect();
    judged_row(cluster, &endpoints, round, "lost replies", |cluster, run| {
        run.wait_for_events(EVENTS);
        let killed = cluster.leader();
        cluster.kill(killed);
        run.wait_for_events(EVENTS);
        cluster.start_member(killed);
        cluster.wait_until_led();
        proxies.iter().for_each(LossyProxy::heal);
    });
}
