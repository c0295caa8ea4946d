//! The engine on etcd keeps the promises of the ports, on real members that are killed, stopped and cut short meanwhile.

#![cfg(feature = "etcd")]

mod bench;
mod claim_workers;
mod faults;
mod rights;
mod soak;

use claim_workers::{ClaimRun, judged, run_workers};
use probity_storage::StoreError;
use probity_storage::conformance;
use probity_storage::ports::{AppendOutcome, StorageEngine};
use probity_team::etcd::{Credentials, EtcdOptions, EtcdStore, EtcdTimeouts};
use probity_testkit::etcd_cluster::EtcdCluster;
use probity_testkit::lossy_proxy::LossyProxy;
use probity_testkit::member_network::{self, NetworkPlace};
use probity_testkit::{skip, wait_until};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const NO_ETCD: &str = "no etcd: `cargo xtask team install` brings it";

/// Options that a busy machine cannot break: a slow answer is still an answer.
fn options(endpoints: Vec<String>) -> EtcdOptions {
    EtcdOptions {
        endpoints,
        ca: None,
        namespace: "test".into(),
        repository: "0123456789abcdef".into(),
        credentials: Credentials::default(),
        cluster: None,
        objects: Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("etcd-{}-objects", std::process::id())),
        timeouts: EtcdTimeouts { member: Duration::from_secs(6), store: Duration::from_mins(2) },
    }
}

fn store(endpoints: Vec<String>) -> EtcdStore {
    EtcdStore::open(options(endpoints)).expect("opens")
}

#[test]
fn one_member_and_three_members_keep_every_promise() {
    for n_members in [1, 3] {
        let Some(cluster) = EtcdCluster::start(n_members, &[]) else { return skip!("{NO_ETCD}") };
        conformance::check(&store(cluster.endpoints()), "t").expect("keeps them");
    }
}

#[test]
fn claims_stay_sound_while_the_leader_is_killed_and_while_one_is_stopped() {
    let Some(mut cluster) = EtcdCluster::start(3, &[]) else { return skip!("{NO_ETCD}") };
    let endpoints = cluster.endpoints();
    let run = ClaimRun::new(4, &["a", "b"]);
    run_workers(
        &run,
        |_| store(endpoints.clone()),
        || {
            run.wait_for_events(20);
            let killed = cluster.leader();
            cluster.kill(killed);
            run.wait_for_events(20);
            cluster.start_member(killed);
            cluster.wait_until_led();
            let stopped = cluster.leader();
            cluster.stop(stopped);
            run.wait_for_events(20);
            cluster.resume(stopped);
            run.wait_for_events(20);
        },
    );
    let n_events = judged(&run, &*store(endpoints).log("claims"));
    assert!(n_events >= 80, "only {n_events} events");
}

#[test]
fn claims_stay_sound_while_the_leader_is_cut_off_and_clients_still_reach_it() {
    match member_network::enter("claims_stay_sound_while_the_leader_is_cut_off_and_clients_still_reach_it") {
        NetworkPlace::Passed => return,
        NetworkPlace::Refused(why) => return skip!("{why}"),
        NetworkPlace::Inside => {}
    }
    let Some(mut cluster) = EtcdCluster::start_in_namespaces(3) else { return skip!("{NO_ETCD}") };
    let endpoints = cluster.endpoints();
    let run = ClaimRun::new(4, &["a", "b"]);
    run_workers(
        &run,
        |_| store(endpoints.clone()),
        || {
            run.wait_for_events(20);
            cluster.network().cut_off(cluster.leader());
            run.wait_for_events(20);
            cluster.network().heal();
            cluster.wait_until_led();
            cluster.network().deafen(cluster.leader());
            run.wait_for_events(20);
            cluster.network().heal();
            run.wait_for_events(20);
        },
    );
    let n_events = judged(&run, &*store(endpoints).log("claims"));
    assert!(n_events >= 80, "only {n_events} events");
}

#[test]
fn lost_replies_are_found_by_their_commands() {
    let Some(cluster) = EtcdCluster::start(1, &[]) else { return skip!("{NO_ETCD}") };
    let proxy = LossyProxy::start(cluster.client_ports()[0], 8);
    let run = ClaimRun::new(4, &["a"]);
    run_workers(
        &run,
        |_| store(vec![proxy.url()]),
        || {
            wait_until("some replies are lost", || proxy.n_lost() >= 20 && run.n_events() >= 60);
        },
    );
    proxy.heal();
    judged(&run, &*store(cluster.endpoints()).log("claims"));
}

#[test]
fn the_next_member_is_asked_and_nobody_is_unreachable() {
    let Some(cluster) = EtcdCluster::start(1, &[]) else { return skip!("{NO_ETCD}") };
    let nobody = "http://127.0.0.1:1".to_owned();
    let found = store(vec![nobody.clone(), cluster.endpoints()[0].clone(), nobody.clone()]);
    assert_eq!(found.log("l").append(0, "a", b"1").expect("appends"), AppendOutcome::At(1));
    let timeouts = EtcdTimeouts { member: Duration::from_millis(200), store: Duration::from_millis(200) };
    let alone = EtcdStore::open(EtcdOptions { timeouts, ..options(vec![nobody]) }).expect("opens");
    assert!(matches!(alone.log("l").head(), Err(StoreError::Unreachable { .. })));
    // Nothing was sent, so nothing is unknown.
    assert!(matches!(alone.log("l").append(0, "a", b"1"), Err(StoreError::Unreachable { .. })));
}

#[test]
fn another_cluster_and_a_team_that_nobody_made_are_unfit() {
    let Some(cluster) = EtcdCluster::start(1, &[]) else { return skip!("{NO_ETCD}") };
    let unmade = store(cluster.endpoints()).identify();
    assert!(matches!(&unmade, Err(StoreError::Unfit { why, .. }) if why.contains("team init")), "{unmade:?}");
    let made = store(cluster.endpoints()).establish().expect("is made");
    assert_eq!(store(cluster.endpoints()).establish().expect("is found"), made);
    let joined = EtcdOptions { cluster: Some(made.cluster.clone()), ..options(cluster.endpoints()) };
    assert_eq!(EtcdStore::open(joined).expect("opens").identify().expect("is the same"), made);
    // What a backup is restored to has another number.
    let other = EtcdOptions { cluster: Some("1".into()), ..options(cluster.endpoints()) };
    let swapped = EtcdStore::open(other).expect("opens").log("l").head();
    assert!(matches!(&swapped, Err(StoreError::Unfit { why, .. }) if why.contains("backup")), "{swapped:?}");
    let members = store(cluster.endpoints()).members().expect("answer");
    let warnings = store(cluster.endpoints()).warnings(&members).expect("are known");
    assert!(warnings.iter().any(|warning| warning.what.contains("single member")), "{warnings:?}");
}

#[test]
fn a_full_store_says_so_and_goes_on_after_the_way_out() {
    let Some(cluster) = EtcdCluster::start(1, &["--quota-backend-bytes=16777216"]) else {
        return skip!("{NO_ETCD}");
    };
    let log = store(cluster.endpoints()).log("l");
    let event = vec![b'x'; 900_000];
    let mut head = 0;
    let full = loop {
        match log.append(head, &format!("c{head}"), &event) {
            Ok(AppendOutcome::At(at)) => head = at,
            other => break other,
        }
    };
    assert!(matches!(full, Err(StoreError::Full { .. })), "{full:?}");
    assert_eq!(log.head().expect("reads go on"), head);
    let found = store(cluster.endpoints());
    let warnings = found.warnings(&found.members().expect("answer")).expect("are known");
    assert!(warnings.iter().any(|warning| warning.what.contains("NOSPACE")), "{warnings:?}");
    // The way out: delete, compact, defragment, disarm.
    let (from, to) = ("L3Byb2JpdHkv", "L3Byb2JpdHkw");
    let deleted = cluster.post(0, "/v3/kv/deleterange", &format!(r#"{{"key":"{from}","range_end":"{to}"}}"#));
    let revision =
        deleted.as_deref().and_then(|answer| answer.split_once("\"revision\":\"")).expect("a revision").1;
    let revision = revision.split('"').next().expect("a number");
    let raised = cluster.post(0, "/v3/maintenance/alarm", r#"{"action":"GET"}"#).expect("answers");
    let member =
        raised.split_once("\"memberID\":\"").expect("an alarm").1.split('"').next().expect("a number");
    for (path, body) in [
        ("/v3/kv/compaction", format!(r#"{{"revision":"{revision}","physical":true}}"#)),
        ("/v3/maintenance/defragment", "{}".to_owned()),
        (
            "/v3/maintenance/alarm",
            format!(r#"{{"action":"DEACTIVATE","memberID":"{member}","alarm":"NOSPACE"}}"#),
        ),
    ] {
        let answer = cluster.post(0, path, &body).expect("answers");
        assert!(!answer.contains("\"error\""), "{path}: {answer}");
    }
    assert_eq!(log.append(0, "again", b"1").expect("appends"), AppendOutcome::At(1));
}

#[test]
fn a_write_that_arrives_late_is_kept_out_by_voiding_it() {
    let Some(mut cluster) = EtcdCluster::start(3, &[]) else { return skip!("{NO_ETCD}") };
    let leader = cluster.leader();
    let timeouts = EtcdTimeouts { member: Duration::from_millis(700), store: Duration::from_mins(2) };
    let slow = EtcdOptions { timeouts, ..options(vec![cluster.endpoints()[leader].clone()]) };
    let slow = EtcdStore::open(slow).expect("opens").log("l");
    // The connection stands before the member is stopped. A busy machine may need longer than the timeout for that.
    wait_until("the member has answered", || matches!(slow.head(), Ok(0)));
    cluster.stop(leader);
    assert_eq!(slow.append(0, "late", b"1").expect("answers"), AppendOutcome::Unknown);
    let others = (0..3).filter(|n| *n != leader).map(|n| cluster.endpoints()[n].clone()).collect();
    let other = store(others).log("l");
    assert_eq!(other.void("late").expect("voids"), None);
    cluster.resume(leader);
    cluster.wait_until_led();
    assert_eq!(other.append(0, "next", b"2").expect("appends"), AppendOutcome::At(1));
    assert_eq!(other.find("late").expect("reads"), None);
}

#[test]
fn someone_who_waits_is_woken_by_another_client() {
    let Some(cluster) = EtcdCluster::start(1, &[]) else { return skip!("{NO_ETCD}") };
    let waits = AtomicBool::new(false);
    let seen = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let log = store(cluster.endpoints()).log("l");
            waits.store(true, Ordering::SeqCst);
            log.watch(0, Duration::from_mins(5))
        });
        wait_until("somebody waits", || waits.load(Ordering::SeqCst));
        store(cluster.endpoints()).log("l").append(0, "a", b"1").expect("appends");
        waiter.join().expect("ends")
    });
    assert_eq!(seen.expect("is woken"), 1);
}
