//! Forged and hostile receipts.

use crate::repo::Repo;
use probity_core::{Digest, json};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A repository with one receipt, and the receipt's file.
fn with_receipt() -> (Repo, PathBuf) {
    let repo = Repo::new();
    repo.sh("echo \"print('more')\" >> src/a.py");
    let made = repo.ask(&["contract", "verify", "--receipt", "--allow", "src/a.py"]);
    let path = made.json["receipt"]["path"].as_str().expect("a receipt").to_owned();
    let path = repo.path().join(path);
    (repo, path)
}

fn receipt_is_refused_with(repo: &Repo, bytes: &[u8], code: &str) {
    let path = repo.outside().join("forged.json");
    fs::write(&path, bytes).expect("writes");
    let verified = repo.ask(&["receipt", "verify", "../forged.json"]);
    assert_eq!((verified.exit_code, verified.json["outcome"].as_str()), (Some(1), Some("FAIL")));
    assert!(verified.codes().iter().any(|it| it == code), "no {code}: {verified:#?}");
}

/// Changes a receipt and computes its digest again.
fn forged_receipt(document: &Value, edit: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut forged = document.clone();
    edit(&mut forged);
    forged.as_object_mut().expect("an object").remove("digest");
    forged["digest"] = Digest::of_json(&forged).to_string().into();
    [json::canonical(&forged), b"\n".to_vec()].concat()
}

#[test]
fn a_receipt_has_one_form_and_its_parts_agree() {
    let (repo, path) = with_receipt();
    let bytes = fs::read(&path).expect("reads");
    let document = json::parse(&bytes).expect("JSON");
    fs::write(repo.outside().join("sound.json"), forged_receipt(&document, |_| {})).expect("writes");
    assert_eq!(repo.ask(&["receipt", "verify", "../sound.json"]).json["outcome"], "PASS");
    for end in ["", "\n\n", " \n", "\r\n"] {
        let other = [bytes.trim_ascii_end(), end.as_bytes()].concat();
        receipt_is_refused_with(&repo, &other, "EVIDENCE.NOT_CANONICAL");
    }
    let refused = |edit: &dyn Fn(&mut Value)| {
        receipt_is_refused_with(&repo, &forged_receipt(&document, edit), "EVIDENCE.DERIVED_MISMATCH");
    };
    refused(&|it| it["scope_check"]["unexpected_files"] = json!(["docs/d.md"]));
    refused(&|it| it["scope_check"]["forbidden_touched"] = json!(["docs/d.md"]));
    refused(&|it| it["gates"] = json!([{"id": "t", "kind": "tests", "result": "failed", "required": true}]));
    refused(&|it| it["outcome"]["blocking_violations"] = json!(["scope_violation"]));
    refused(&|it| {
        let again = it["delta"][0].clone();
        it["delta"].as_array_mut().expect("a list").push(again);
    });
}

#[test]
fn a_hostile_receipt_fails_with_a_code() {
    let (repo, _) = with_receipt();
    receipt_is_refused_with(
        &repo,
        &[&b"["[..], &b"1,".repeat(5_000_000), b"1]"].concat(),
        "EVIDENCE.TOO_LARGE",
    );
    receipt_is_refused_with(&repo, &b"[".repeat(1_000_000), "EVIDENCE.SCHEMA_INVALID");
    let payload = format!(r#"{{"payload":"{}","payloadType":"x","signatures":[]}}"#, "A".repeat(1_000));
    receipt_is_refused_with(&repo, format!("{payload}\n").as_bytes(), "EVIDENCE.SCHEMA_INVALID");
    repo.sh("rm -f ../forged.json; truncate -s 8G ../forged.json");
    let verified = repo.ask(&["receipt", "verify", "../forged.json"]);
    assert_eq!((verified.exit_code, verified.codes()), (Some(1), vec!["EVIDENCE.TOO_LARGE".to_owned()]));
}

#[test]
fn an_envelope_left_by_a_kill_is_not_taken_for_that_of_the_next_receipt() {
    let (repo, path) = with_receipt();
    // As after a kill between the envelope and the receipt, with the key gone since.
    let next = path.with_file_name("00000002.dsse.json");
    fs::write(&next, "{\"payload\":\"\",\"payloadType\":\"x\",\"signatures\":[]}\n").expect("writes");
    let made = repo.ask(&["contract", "verify", "--receipt", "--allow", "src/a.py"]);
    assert_eq!(made.json["receipt"]["signed"], false, "{made:#?}");
    assert!(!next.exists());
    assert_eq!(repo.ask(&["receipt", "verify", "last"]).json["outcome"], "PASS");
}
