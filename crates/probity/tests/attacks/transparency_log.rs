//! Attempts to shorten or rewrite a log without being noticed.

use crate::repo::{Outcome, Repo, has};
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const STATE: &str = ".git/probity";

fn state(repo: &Repo) -> PathBuf {
    repo.path().join(STATE)
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status().expect("cp starts");
    assert!(status.success());
}

fn propose(repo: &Repo, handle: &str) -> Outcome {
    let mut command = repo.probity(&["ledger", "propose", "--json", "--said", "We decided it."]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let delta = serde_json::json!({
        "kind": "decision_made", "handle": handle, "summary": format!("Use {handle}"), "confidence": "high",
    });
    child.stdin.take().expect("a pipe").write_all(delta.to_string().as_bytes()).expect("takes it");
    repo.outcome(&child.wait_with_output().expect("ends"))
}

/// Starts and finishes a change, which leaves a receipt.
fn change(repo: &Repo) {
    let started = repo.ask(&["start", "src/b.py", "--intent", "a change"]);
    assert_eq!(started.exit_code, Some(0), "{started:#?}");
    let id = started.json["intent_id"].as_str().expect("an id").to_owned();
    repo.sh("echo 'print(1)' >> src/b.py");
    let finished = repo.ask(&["finish", &id]);
    assert!(finished.json["receipt"].is_object(), "{finished:#?}");
    repo.sh("git commit -qam change");
}

/// Asserts that each of these commands ends with 1 and names a code of the log.
fn notice(repo: &Repo, commands: &[&[&str]], code: &str) {
    for command in commands {
        let outcome = repo.ask(command);
        assert_eq!(outcome.exit_code, Some(1), "{command:?}: {outcome:#?}");
        assert!(outcome.json.to_string().contains(code), "{command:?}: {outcome:#?}");
    }
}

/// Every command that answers from something in the log.
const READERS: &[&[&str]] = &[
    &["evidence", "list"],
    &["evidence", "chain"],
    &["receipt", "list"],
    &["ledger", "show"],
    &["ledger", "replay"],
    &["status"],
    &["doctor"],
    &["log", "show"],
];

#[test]
fn the_newest_bundle_cannot_go_unnoticed() {
    for with_key in [false, true] {
        let repo = Repo::new();
        if with_key {
            repo.ask(&["keys", "generate"]);
        }
        repo.run("true").passes();
        let before = repo.outside().join("before.checkpoint");
        fs::copy(state(&repo).join("log.checkpoint"), &before).expect("copies");
        let newest = repo.run("true").evidence_dir();
        fs::remove_dir_all(newest).expect("removes");
        fs::copy(before, state(&repo).join("log.checkpoint")).expect("sets it back");
        let readers: &[&[&str]] =
            &[&["evidence", "list"], &["evidence", "chain"], &["status"], &["doctor"], &["log", "show"]];
        notice(&repo, readers, "LOG.SHORTENED");
    }
}

#[test]
fn a_bundle_in_the_middle_is_missed() {
    let repo = Repo::new();
    let second = [repo.run("true"), repo.run("true"), repo.run("true")][1].evidence_dir();
    fs::remove_dir_all(second).expect("removes");
    notice(&repo, &[&["evidence", "chain"]], "LOG.SHORTENED");
}

#[test]
fn a_store_replaced_by_an_older_copy_is_noticed() {
    let repo = Repo::new();
    repo.run("true").passes();
    let older = repo.outside().join("older");
    copy(&state(&repo), &older);
    repo.run("true").passes();
    change(&repo);
    propose(&repo, "db");
    for file in ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"] {
        let _ = fs::remove_file(state(&repo).join(file));
    }
    for file in ["store.sqlite", "store.sqlite-wal"] {
        fs::copy(older.join(file), state(&repo).join(file)).expect("replaces");
    }
    notice(&repo, READERS, "LOG.SHORTENED");
    notice(&repo, &[&["start", "src/a.py", "--intent", "x"]], "LOG.SHORTENED");
    assert_eq!(propose(&repo, "more").exit_code, Some(1));
    // Nothing is left that says the log was longer but what is in it.
    fs::copy(older.join("log.checkpoint"), state(&repo).join("log.checkpoint")).expect("replaces");
    let readers: &[&[&str]] =
        &[&["evidence", "list"], &["evidence", "chain"], &["receipt", "list"], &["status"], &["doctor"]];
    for command in readers {
        let outcome = repo.ask(command);
        assert_eq!(outcome.exit_code, Some(1), "{command:?}: {outcome:#?}");
    }
}

#[test]
fn a_store_that_is_gone_is_not_begun_again() {
    let repo = Repo::new();
    repo.run("true").passes();
    repo.sh("rm .git/probity/store.sqlite*");
    notice(&repo, READERS, "LOG.SHORTENED");
    // Without its note either, the bundle says that there was a log.
    repo.sh("rm .git/probity/log.checkpoint");
    notice(&repo, &[&["evidence", "list"], &["status"], &["evidence", "chain"]], "");
}

#[test]
fn receipts_cannot_go_unnoticed() {
    let repo = Repo::new();
    change(&repo);
    change(&repo);
    copy(&state(&repo).join("receipts"), &repo.outside().join("receipts"));
    for removal in ["rm .git/probity/receipts/00000002.json", "rm -r .git/probity/receipts"] {
        repo.sh(removal);
        let list = repo.ask(&["receipt", "list"]);
        assert_eq!(list.exit_code, Some(1), "{removal}: {list:#?}");
        assert!(list.json.to_string().contains("missing, but the log lists it"), "{removal}: {list:#?}");
        notice(&repo, &[&["status"], &["doctor"]], "LOG.SHORTENED");
    }
    copy(&repo.outside().join("receipts"), &state(&repo).join("receipts"));
    assert_eq!(repo.ask(&["receipt", "list"]).exit_code, Some(0));
}

/// Returns the offsets at which the frames of the ledger's journal end.
fn frame_ends(journal: &[u8]) -> Vec<usize> {
    let mut ends = vec![16];
    while let Some(at) = ends.last().copied().filter(|at| *at < journal.len()) {
        let length = u32::from_le_bytes(journal[at..at + 4].try_into().expect("4 bytes"));
        ends.push(at + 40 + length as usize);
    }
    ends
}

#[test]
fn the_ledger_cannot_be_cut_or_removed() {
    let repo = Repo::new();
    for handle in ["a", "b", "c"] {
        assert_eq!(propose(&repo, handle).exit_code, Some(0));
    }
    let path = state(&repo).join("ledger/log");
    let whole = fs::read(&path).expect("reads");
    let readers: &[&[&str]] = &[&["ledger", "show"], &["ledger", "replay"], &["status"], &["doctor"]];
    for end in &frame_ends(&whole)[..3] {
        fs::write(&path, &whole[..*end]).expect("cuts");
        notice(&repo, readers, "LOG.SHORTENED");
        assert_eq!(propose(&repo, "d").exit_code, Some(1));
        assert_eq!(fs::metadata(&path).expect("is there").len(), *end as u64, "nothing was appended");
    }
    fs::remove_file(&path).expect("removes");
    notice(&repo, readers, "LOG.SHORTENED");
    assert_eq!(propose(&repo, "d").exit_code, Some(1));
    fs::write(&path, &whole).expect("restores");
    assert_eq!(repo.ask(&["ledger", "show"]).exit_code, Some(0));
}

#[test]
fn every_flipped_byte_of_the_ledger_is_noticed() {
    let repo = Repo::new();
    propose(&repo, "a");
    propose(&repo, "b");
    let path = state(&repo).join("ledger/log");
    let whole = fs::read(&path).expect("reads");
    let shown = repo.ask(&["ledger", "show"]).json;
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at % 8);
        fs::write(&path, flipped).expect("flips");
        let outcome = repo.ask(&["ledger", "show"]);
        let harmless = outcome.json == shown;
        assert!(outcome.exit_code != Some(0) || harmless, "byte {at}: {outcome:#?}");
    }
    // Bytes after the last frame were never acknowledged: they are told, and nothing is lost.
    fs::write(&path, [whole.as_slice(), b"half a frame"].concat()).expect("tears");
    let torn = repo.ask(&["ledger", "show"]);
    assert_eq!(torn.exit_code, Some(0), "{torn:#?}");
    assert!(torn.json["notices"].to_string().contains("torn end, 12 bytes"), "{torn:#?}");
}

/// Changes the store with SQL, as any process of the user can.
const SQL: &str = "import sqlite3, sys\nd = sqlite3.connect('.git/probity/store.sqlite')\n\
                   d.executescript(sys.argv[1])\nd.commit()\n";

#[test]
fn the_log_cannot_be_cut_or_rewritten_in_the_store() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    for (sql, code) in [
        ("DELETE FROM leaf WHERE number = (SELECT max(number) FROM leaf)", "LOG.SHORTENED"),
        ("DELETE FROM leaf; DELETE FROM event", "LOG."),
        (
            "UPDATE event SET event = CAST(replace(event, 'sha256:', 'sha256;') AS BLOB) WHERE log = 'bundles' AND seq = 1",
            "",
        ),
        ("UPDATE leaf SET hashes = zeroblob(length(hashes))", "LOG.INCONSISTENT"),
        ("DELETE FROM event WHERE log = 'bundles' AND seq = 2", ""),
    ] {
        let repo = Repo::new();
        repo.run("true").passes();
        repo.run("true").passes();
        repo.write("../sql.py", SQL);
        repo.sh(&format!("python3 ../sql.py \"{sql}\""));
        let chain = repo.ask(&["evidence", "chain"]);
        assert_ne!(chain.exit_code, Some(0), "{sql}: {chain:#?}");
        assert!(chain.json.to_string().contains(code), "{sql}: {chain:#?}");
        assert_ne!(repo.ask(&["log", "show"]).exit_code, Some(0), "{sql}");
    }
}

#[test]
fn without_the_key_nobody_can_note_a_shorter_log() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let repo = Repo::new();
    repo.ask(&["keys", "generate"]);
    repo.run("true").passes();
    let shorter = repo.ask(&["log", "checkpoint", "--size", "1"]).json["checkpoint"].clone();
    let newest = repo.run("true").evidence_dir();
    repo.write("../sql.py", SQL);
    repo.sh(
        "python3 ../sql.py \"DELETE FROM leaf WHERE number > 0; DELETE FROM event WHERE log = 'bundles'\"",
    );
    fs::remove_dir_all(newest).expect("removes");
    let text = shorter.as_str().expect("text").split("\n\n").next().expect("a body").to_owned() + "\n";
    fs::write(state(&repo).join("log.checkpoint"), text).expect("forges");
    notice(&repo, &[&["evidence", "list"], &["evidence", "chain"], &["status"]], "LOG.INCONSISTENT");
}

#[test]
fn a_governed_command_cannot_forge_entries() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    for sql in [
        "INSERT INTO event VALUES ('receipts', 1, '1', x'00')",
        "DELETE FROM leaf WHERE number > 0",
        "INSERT INTO leaf SELECT max(number) + 1, 'other', 1, zeroblob(320) FROM leaf",
    ] {
        let repo = Repo::new();
        repo.run("true").passes();
        repo.write("../sql.py", SQL);
        let outcome = repo.run(&format!("python3 ../sql.py \"{sql}\""));
        outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", ".git/probity/store.sqlite");
    }
    let repo = Repo::new();
    repo.run("true").passes();
    let outcome = repo.run("echo forged > .git/probity/log.checkpoint");
    outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", ".git/probity/log.checkpoint");
}

#[test]
fn changes_in_another_worktree_are_no_forgery() {
    let repo = Repo::new();
    repo.run("true").passes();
    repo.sh("git worktree add -q ../other -b other");
    let binary = env!("CARGO_BIN_EXE_probity");
    // What another agent does in its own worktree while this command runs.
    let script = format!(
        "cd ../other; unset PROBITY_RUN_ID; '{binary}' start docs/d.md --intent other --json > ../started; \
         '{binary}' run --scope src/b.py --json -- sh -c 'echo x >> src/b.py' > ../ran"
    );
    let outcome = repo.run(&script);
    outcome.passes();
    let chain = repo.ask(&["evidence", "chain"]);
    assert_eq!(chain.json["outcome"], "PASS", "{chain:#?}");
    assert_eq!(repo.ask(&["log", "show"]).exit_code, Some(0));
}

/// Returns the trust file of a repository with a key, and perhaps of a witness.
fn trust(repo: &Repo, witness: Option<&Value>) -> PathBuf {
    let key = repo.ask(&["keys", "show"]).json;
    let mut trust = serde_json::json!({
        "schema": "probity/trust/v1", "signature": "required",
        "keys": { key["key_id"].as_str().expect("an id"): key["public_key"] },
    });
    if let Some(witness) = witness {
        trust["witnesses"] =
            serde_json::json!({ witness["witness"].as_str().expect("a name"): witness["public"] });
        trust["required_witnesses"] = 1.into();
    }
    let path = repo.outside().join("trust.json");
    fs::write(&path, trust.to_string()).expect("writes");
    path
}

/// Verifies a bundle with a proof from a directory that has nothing to do with the repository.
fn verify(bundle: &Path, proof: &Path, trust: &Path) -> (Option<i32>, Value) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
    command.current_dir("/").args(["evidence", "verify", "--json"]).arg(bundle);
    let output = command.arg("--proof").arg(proof).arg("--trust").arg(trust).output().expect("starts");
    (output.status.code(), serde_json::from_slice(&output.stdout).expect("JSON"))
}

#[test]
fn a_proof_convinces_a_stranger_and_a_corrupted_one_does_not() {
    let repo = Repo::new();
    repo.ask(&["keys", "generate"]);
    let bundles = [repo.run("true").evidence_dir(), repo.run("true").evidence_dir()];
    change(&repo);
    let proof = repo.outside().join("proof.json");
    let id = bundles[0].file_name().expect("a name").to_str().expect("text").to_owned();
    let made = repo.ask(&["evidence", "prove", &id, "-o", proof.to_str().expect("text")]);
    assert_eq!(made.exit_code, Some(0), "{made:#?}");
    let trust = trust(&repo, None);
    let (code, answer) = verify(&bundles[0], &proof, &trust);
    assert_eq!((code, &answer["outcome"]), (Some(0), &"PASS".into()), "{answer:#}");
    let (code, answer) = verify(&bundles[1], &proof, &trust);
    assert_eq!(code, Some(1), "{answer:#}");
    assert!(answer["codes"].to_string().contains("LOG.PROOF_INVALID"), "{answer:#}");
    let good: Value = serde_json::from_slice(&fs::read(&proof).expect("reads")).expect("JSON");
    let root = good["checkpoint"].as_str().expect("text").lines().nth(1).expect("a size").to_owned();
    let corruptions: [&dyn Fn(&mut Value); 5] = [
        &|proof| proof["index"] = 0.into(),
        &|proof| proof["hashes"][0] = format!("sha256:{}", "0".repeat(64)).into(),
        &|proof| drop(proof["hashes"].as_array_mut().expect("hashes").pop()),
        &|proof| proof["leaf"]["seq"] = 2.into(),
        &|proof| {
            let note =
                proof["checkpoint"].as_str().expect("text").replace(&format!("\n{root}\n"), "\n9999\n");
            proof["checkpoint"] = note.into();
        },
    ];
    for corrupt in corruptions {
        let mut bad = good.clone();
        corrupt(&mut bad);
        fs::write(&proof, bad.to_string()).expect("writes");
        let (code, answer) = verify(&bundles[0], &proof, &trust);
        assert_eq!(code, Some(1), "{answer:#}");
        assert!(answer["codes"].to_string().contains("LOG."), "{answer:#}");
    }
}

#[test]
fn a_witness_notices_what_no_file_of_the_repository_can() {
    let repo = Repo::new();
    repo.ask(&["keys", "generate"]);
    repo.run("true").passes();
    let whole = repo.outside().join("whole");
    copy(&state(&repo), &whole);
    let newest = repo.run("true").evidence_dir();
    let witness = ["log", "witness", "--key", "../w.key", "--memory", "../w.checkpoint"];
    let signed = repo.ask(&witness);
    assert_eq!(signed.exit_code, Some(0), "{signed:#?}");
    let proof = repo.outside().join("proof.json");
    let made =
        repo.ask(&["evidence", "prove", "last", "--checkpoint", "../w.checkpoint", "-o", "../proof.json"]);
    assert_eq!(made.exit_code, Some(0), "{made:#?}");
    let (code, answer) = verify(&newest, &proof, &trust(&repo, Some(&signed.json)));
    assert_eq!(code, Some(0), "{answer:#}");
    // A proof that no witness countersigned is refused where one is required.
    repo.ask(&["evidence", "prove", "last", "-o", "../proof.json"]);
    let (code, answer) = verify(&newest, &proof, &trust(&repo, Some(&signed.json)));
    assert_eq!(code, Some(1), "{answer:#}");
    assert!(answer["codes"].to_string().contains("LOG.WITNESSES_MISSING"), "{answer:#}");
    repo.run("true").passes();
    assert_eq!(repo.ask(&witness).exit_code, Some(0), "a log that grew is countersigned again");
    // The whole state directory is set back: everything in it agrees, and only the witness knows more.
    fs::remove_dir_all(state(&repo)).expect("removes");
    copy(&whole, &state(&repo));
    assert_eq!(repo.ask(&["evidence", "chain"]).exit_code, Some(0));
    notice(&repo, &[&witness, &["log", "consistency", "../w.checkpoint", "1"]], "LOG.SHORTENED");
    repo.run("true").passes();
    repo.run("true").passes();
    repo.run("true").passes();
    notice(&repo, &[&witness], "LOG.INCONSISTENT");
}

#[test]
fn a_state_directory_from_before_the_log_is_taken_over_once() {
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/state-before-the-log");
    let repo = Repo::new();
    copy(Path::new(old), &state(&repo));
    let chain = repo.ask(&["evidence", "chain"]);
    assert_eq!(chain.json["outcome"], "PASS", "{chain:#?}");
    assert_eq!(chain.json["links"].as_array().map(Vec::len), Some(2), "{chain:#?}");
    let log = repo.ask(&["log", "show"]).json;
    assert_eq!(log["entries"], serde_json::json!({ "bundles": 2, "ledger": 1, "log": 1 }), "{log:#}");
    assert!(!state(&repo).join("chain.json").exists(), "the old head is not kept beside the log");
    assert_eq!(propose(&repo, "next").exit_code, Some(0));
    repo.run("true").passes();
    // The old head cannot be planted again to begin again with less.
    repo.sh("rm .git/probity/store.sqlite*");
    fs::copy(Path::new(old).join("chain.json"), state(&repo).join("chain.json")).expect("plants");
    notice(&repo, &[&["evidence", "chain"], &["evidence", "list"]], "LOG.SHORTENED");
}

#[test]
fn strangers_can_check_a_proof_with_nothing_but_python() {
    if !has("python3") {
        return probity_testkit::skip!("python3 is not installed");
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/verify-proof.py");
    let repo = Repo::new();
    repo.ask(&["keys", "generate"]);
    let bundle = repo.run("true").evidence_dir();
    repo.run("true").passes();
    let id = bundle.file_name().expect("a name").to_str().expect("text").to_owned();
    repo.ask(&["evidence", "prove", &id, "-o", "../proof.json"]);
    let proof = repo.outside().join("proof.json");
    let key = repo.ask(&["keys", "show"]).json["public_key"].as_str().expect("a key").to_owned();
    let check = |key: &str| {
        let mut command = Command::new("python3");
        command.arg(script).arg(&bundle).arg(&proof).arg(key);
        command.output().expect("python3 starts")
    };
    let good = check(&key);
    assert!(good.status.success(), "{good:?}");
    let other = format!("ed25519:{}", "ab".repeat(32));
    assert!(!check(&other).status.success(), "another key was believed");
    let text = fs::read_to_string(&proof).expect("reads");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let first = document["hashes"][0].as_str().expect("a hash");
    for bad in [
        text.replace(first, &format!("sha256:{}", "1".repeat(64))),
        text.replace(&id, "01a1eb55-0000-7760-8905-474e785343c6"),
        text.replace("\"index\":", "\"index\":1"),
    ] {
        fs::write(&proof, bad).expect("writes");
        let refused = check(&key);
        assert!(!refused.status.success(), "{refused:?}");
    }
}

/// Returns the first entry of the log.
fn first_entry(repo: &Repo) -> Value {
    let script = "import json, sqlite3, sys; database = sqlite3.connect(sys.argv[1]); \
                  print(database.execute(\"select event from event where log = 'log'\").fetchone()[0].decode())";
    let output = Command::new("python3")
        .args(["-c", script])
        .arg(state(repo).join("store.sqlite"))
        .output()
        .expect("starts");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn a_damaged_log_is_begun_again_on_the_record_only() {
    let repo = Repo::new();
    repo.ask(&["keys", "generate"]);
    repo.run("true").passes();
    change(&repo);
    propose(&repo, "db");
    let refused = repo.ask(&["log", "restart", "--why", "tidy"]);
    refused.refused_with("LOG.RESTART_REFUSED");
    let noted = repo.ask(&["log", "show"]).json;
    fs::remove_file(state(&repo).join("ledger/log")).expect("removes");
    notice(&repo, &[&["ledger", "show"], &["status"]], "LOG.SHORTENED");
    repo.ask(&["log", "restart", "--why", " "]).refused_with("LOG.RESTART_REFUSED");
    let restarted = repo.ask(&["log", "restart", "--why", "no backup", "--by", "ann"]);
    assert_eq!(restarted.exit_code, Some(0), "{restarted:#?}");
    assert_eq!(restarted.json["noted"]["head"], noted["head"], "{restarted:#?}");
    let aside = PathBuf::from(restarted.json["aside"].as_str().expect("a directory"));
    assert!(aside.join("receipts/00000001.json").exists() && aside.join("store.sqlite").exists());
    // Everything works again, and the new log says what happened to the old one.
    for reader in READERS {
        let outcome = repo.ask(reader);
        assert_eq!(outcome.exit_code, Some(0), "{reader:?}: {outcome:#?}");
    }
    repo.run("true").passes();
    change(&repo);
    propose(&repo, "db");
    if !has("python3") {
        return probity_testkit::skip!("there is no python3 to read the store with");
    }
    let first = first_entry(&repo);
    assert_eq!((&first["restarted"]["why"], &first["restarted"]["by"]), (&"no backup".into(), &"ann".into()));
    assert_eq!(first["restarted"]["noted"]["origin"], noted["origin"], "{first:#}");
}

#[test]
fn a_lost_store_is_begun_again_on_the_record_only() {
    for lost in [&["store.sqlite"][..], &["store.sqlite", "log.checkpoint"]] {
        let repo = Repo::new();
        repo.run("true").passes();
        for name in lost.iter().chain(&["store.sqlite-wal", "store.sqlite-shm"]) {
            let _ = fs::remove_file(state(&repo).join(name));
        }
        assert_eq!(repo.ask(&["evidence", "list"]).exit_code, Some(1));
        let restarted = repo.ask(&["log", "restart", "--why", "lost"]);
        assert_eq!(restarted.exit_code, Some(0), "{restarted:#?}");
        assert_eq!(restarted.json["noted"].is_null(), lost.len() == 2, "{restarted:#?}");
        repo.run("true").passes();
        assert_eq!(repo.ask(&["evidence", "chain"]).exit_code, Some(0));
    }
}

#[test]
fn the_judged_cannot_begin_the_log_again() {
    let repo = Repo::new();
    repo.run("true").passes();
    let binary = env!("CARGO_BIN_EXE_probity");
    let script = format!(
        "rm -r .git/probity/evidence/*; {binary} log restart --why mine || echo refused > ../refused"
    );
    repo.run(&script).fails_with("PROTECTED.CHANGED");
    assert!(repo.outside().join("refused").exists());
}
