//! Receipts under stress: many concurrent writers, and kills at random instants. The chain stays intact, nothing is
//! half written, and acknowledged receipts stay (law 10).

use super::{committed, verify};
use crate::repo::Repo;
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// Creates a signed repository with a change.
fn changed() -> Repo {
    let repo = committed(&[("app.py", "print(1)\n")]);
    repo.ask(&["keys", "generate"]);
    repo.write("app.py", "print(2)\n");
    repo
}

fn writer(repo: &Repo) -> Command {
    let mut command = repo.probity(&["contract", "verify", "--receipt", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Returns the digest of the receipt that a writer acknowledged, if it got that far.
fn acknowledged(child: Child) -> Option<String> {
    let output = child.wait_with_output().expect("ends");
    let document: Value =
        output.status.success().then(|| serde_json::from_slice(&output.stdout).expect("JSON"))?;
    document["receipt"]["digest"].as_str().map(str::to_owned)
}

/// Checks that every acknowledged receipt is in an intact chain, and that each is signed and valid alone.
fn check(repo: &Repo, acknowledged: &[String]) -> usize {
    let listed = repo.ask(&["receipt", "list"]).json;
    assert_eq!(listed["broken_links"], serde_json::json!([]), "{listed:#}");
    let rows = listed["receipts"].as_array().expect("receipts");
    for digest in acknowledged {
        assert!(rows.iter().any(|row| row["digest"] == **digest), "{digest} is lost");
    }
    for row in rows {
        let verified = repo.ask(&["receipt", "verify", &row["number"].to_string()]).json;
        assert_eq!(verified["outcome"], "PASS", "{verified:#}");
        let signature =
            verified["checks"].as_array().into_iter().flatten().find(|it| it["name"] == "signature");
        assert_eq!(signature.expect("a check")["status"], "passed", "{verified:#}");
    }
    rows.len()
}

#[test]
fn many_writers_make_one_chain() {
    let repo = changed();
    let writers: Vec<Child> = (0..6).map(|_| writer(&repo).spawn().expect("starts")).collect();
    let made: Vec<String> = writers.into_iter().filter_map(acknowledged).collect();
    assert_eq!(made.len(), 6);
    assert_eq!(check(&repo, &made), 6);
}

#[test]
fn a_kill_at_any_instant_leaves_no_half_receipt() {
    let setting =
        |name: &str, default| std::env::var(name).ok().and_then(|it| it.parse().ok()).unwrap_or(default);
    let kills: u32 = setting("PROBITY_KILLS", 30);
    let repo = changed();
    let began = Instant::now();
    let mut made: Vec<String> = acknowledged(writer(&repo).spawn().expect("starts")).into_iter().collect();
    let whole = began.elapsed() * 5 / 4;
    for round in 0..kills {
        let mut child = writer(&repo).spawn().expect("starts");
        // The golden ratio spreads the instants evenly, for any number of rounds.
        std::thread::sleep(whole * (round * 618 % 1000) / 1000);
        child.kill().expect("is killed, or has ended");
        made.extend(acknowledged(child));
    }
    let before = check(&repo, &made);
    let last = verify(&repo, &["--receipt"]);
    assert_eq!(last.json["receipt"]["number"].as_u64(), Some(before as u64 + 1));
    check(&repo, &made);
}
