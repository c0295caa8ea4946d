//! The longest test: `cargo xtask team soak`. Something is broken every few seconds, for as long as it is told to.

use super::claim_workers::{ClaimRun, judged_by_witness, run_workers};
use super::{NO_ETCD, options};
use probity_storage::ports::StorageEngine as _;
use probity_team::etcd::{EtcdOptions, EtcdStore, EtcdTimeouts};
use probity_testkit::etcd_cluster::EtcdCluster;
use probity_testkit::history::CallOutcome;
use probity_testkit::member_network::{self, NetworkPlace};
use probity_testkit::skip;
use std::time::{Duration, Instant};

const MINUTES_VARIABLE: &str = "PROBITY_SOAK_MINUTES";
const SEED_VARIABLE: &str = "PROBITY_SOAK_SEED";
const DEFAULT_SEED: u64 = 20_261_119;
/// Ten agents on each of eight machines would only wait for each other on two cores.
const WORKERS: usize = 16;
const PATHS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];
/// Events while something is broken, and between two faults.
const EVENTS: u64 = 200;
const MEMBERS: usize = 3;

/// What is broken next, and which member.
struct FaultChoice(u64);

impl FaultChoice {
    fn next(&mut self, n: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % n).unwrap_or_default()
    }
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

#[test]
#[ignore = "long: `cargo xtask team soak`"]
fn claims_stay_sound_whatever_is_broken() {
    let has_network = match member_network::enter("soak::claims_stay_sound_whatever_is_broken") {
        NetworkPlace::Passed => return,
        NetworkPlace::Inside => true,
        NetworkPlace::Refused(why) => {
            println!("without cuts: {why}");
            false
        }
    };
    let started = if has_network {
        EtcdCluster::start_in_namespaces(MEMBERS)
    } else {
        EtcdCluster::start(MEMBERS, &[])
    };
    let Some(mut cluster) = started else { return skip!("{NO_ETCD}") };
    let seed = setting(SEED_VARIABLE, DEFAULT_SEED);
    let lasts = Duration::from_secs(60 * setting(MINUTES_VARIABLE, 1));
    println!("seed {seed}, {} min", lasts.as_secs() / 60);
    let endpoints = cluster.endpoints();
    let open = |_| {
        let timeouts = EtcdTimeouts { store: Duration::from_secs(30), ..EtcdTimeouts::default() };
        EtcdStore::open(EtcdOptions { timeouts, ..options(endpoints.clone()) }).expect("opens")
    };
    let run = ClaimRun::new(WORKERS, &PATHS);
    let mut n_faults = 0;
    run_workers(&run, open, || {
        let (mut choice, end) = (FaultChoice(seed | 1), Instant::now() + lasts);
        while Instant::now() < end {
            run.wait_for_events(EVENTS);
            break_something(&mut cluster, &run, &mut choice, has_network);
            n_faults += 1;
        }
    });
    let n_events = judged_by_witness(&run, &*open(0).log("claims"));
    let calls = run.calls();
    let n_unknown = calls.iter().filter(|call| call.outcome == CallOutcome::Unknown).count();
    println!(
        "{n_faults} faults, {n_events} events, {} calls, {n_unknown} without an answer, 0 breaches",
        calls.len()
    );
}

fn break_something(cluster: &mut EtcdCluster, run: &ClaimRun, choice: &mut FaultChoice, has_network: bool) {
    // The leader half of the time: the others are missed less.
    let n = if choice.next(2) == 0 { cluster.leader() } else { choice.next(MEMBERS as u64) };
    match choice.next(if has_network { 6 } else { 3 }) {
        0 => {
            cluster.kill(n);
            run.wait_for_events(EVENTS);
            cluster.start_member(n);
        }
        1 => {
            cluster.stop(n);
            run.wait_for_events(EVENTS);
            cluster.resume(n);
        }
        2 => {
            cluster.post(n, "/v3/maintenance/defragment", "{}");
        }
        3 => {
            cluster.network().cut_off(n);
            run.wait_for_events(EVENTS);
        }
        4 => {
            cluster.network().deafen(n);
            run.wait_for_events(EVENTS);
        }
        _ => {
            cluster.network().isolate(n);
            run.wait_for_events(EVENTS);
        }
    }
    if has_network {
        cluster.network().heal();
    }
    cluster.wait_until_led();
}
