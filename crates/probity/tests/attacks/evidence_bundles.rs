//! Forged, inconsistent and hostile evidence bundles.

use crate::repo::{Outcome, Repo, verify};
use probity_core::{Digest, json};
use probity_evidence::{BundleVerdict, StoredManifest, TrustRequirements, bundle, summary, verify_bundle};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MANIFEST: &[u8] = b"manifest.json";
const SEAL: &[u8] = b"seal.json";
const DELTA: &[u8] = b"delta.json";
const SUMMARY: &[u8] = b"summary.md";

/// A policy with two gates, a build output, a protected path and no amendments while a run goes on.
const POLICY: &str = "[workspace]\nbuild_outputs = [\"gen/**\"]\nprotected = [\"docs/**\"]\n\
    [amend]\nduring = \"deny\"\nafter = \"allow\"\n\
    [[gate]]\nid = \"check\"\nrun = [\"true\"]\n\
    [[gate]]\nid = \"size\"\nrun = [\"false\"]\nrequired = false\n";

/// A run that changes a file, writes a build output and touches another file.
fn governed() -> Repo {
    let repo = Repo::new();
    repo.write("probity.toml", POLICY);
    repo.write("gen/old", "1\n");
    repo.sh("git add -f probity.toml && git commit -q -m policy");
    repo
}

fn passing_run(repo: &Repo) -> PathBuf {
    let outcome = repo.run_with(&["--scope", "src/a.py", "--scope", "src/new.py"], AGENT);
    outcome.passes().evidence_dir()
}

const AGENT: &str = "echo more >> src/a.py; echo new > src/new.py; echo 2 > gen/old; touch src/b.py";

/// The files of a bundle, to be edited and hashed again by someone without a key.
struct Forgery {
    files: BTreeMap<Vec<u8>, Vec<u8>>,
    place: tempfile::TempDir,
}

impl Forgery {
    fn of(bundle: &Path) -> Self {
        let files = bundle::read_bundle(bundle).expect("a bundle");
        Self { files, place: tempfile::tempdir().expect("a directory") }
    }

    fn document(&self, name: &[u8]) -> Value {
        json::parse(&self.files[name]).expect("JSON")
    }

    fn set(&mut self, name: &[u8], document: &Value) {
        let end: &[u8] = if name == MANIFEST { b"\n" } else { b"" };
        self.files.insert(name.to_vec(), [&json::canonical(document), end].concat());
    }

    fn edit(&mut self, name: &[u8], edit: impl FnOnce(&mut Value)) -> &mut Self {
        let mut document = self.document(name);
        edit(&mut document);
        self.set(name, &document);
        self
    }

    fn manifest(&mut self, edit: impl FnOnce(&mut Value)) -> &mut Self {
        self.edit(MANIFEST, edit)
    }

    /// Makes the page for people say what the manifest says.
    fn render_again(&mut self) -> &mut Self {
        if let Ok(stored) = StoredManifest::parse(&self.files[MANIFEST]) {
            self.files.insert(SUMMARY.to_vec(), summary::render(&stored.manifest).into_bytes());
        }
        self
    }

    /// Hashes the seal again and enters it in the manifest.
    fn seal_again(&mut self) -> &mut Self {
        self.edit(SEAL, |seal| {
            let members = seal.as_object_mut().expect("an object");
            members.remove("seal_hash");
            if let Some(plan) = members.get("plan") {
                let hash = Digest::of_json(plan).to_string();
                members.insert("plan_hash".into(), hash.into());
            }
            let hash = Digest::of_json(seal).to_string();
            seal["seal_hash"] = hash.into();
        });
        let hash = self.document(SEAL)["seal_hash"].clone();
        self.manifest(|it| it["seal_hash"] = hash)
    }

    /// Lists every file with its hash, and hashes the manifest.
    fn hash_again(&mut self) -> &mut Self {
        let listed = self.files.iter().filter(|(name, _)| *name != MANIFEST).map(
            |(name, content)| json!({"path": String::from_utf8_lossy(name), "sha256": Digest::of(content)}),
        );
        let listed: Vec<Value> = listed.collect();
        self.manifest(|it| {
            it["artifact_hashes"] = listed.into();
            let mut hashed = it.clone();
            let members = hashed.as_object_mut().expect("an object");
            members.remove("run_hash");
            members.remove("signature");
            it["run_hash"] = Digest::of_json(&hashed).to_string().into();
        })
    }

    /// Writes the bundle and asks the binary.
    fn verified(&self) -> Outcome {
        let dir = self.place.path().join("bundle");
        for (name, content) in &self.files {
            let path = dir.join(String::from_utf8_lossy(name).as_ref());
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            fs::write(path, content).expect("writes");
        }
        verify(&dir, None)
    }

    fn is_refused_with(&mut self, code: &str) {
        let verified = self.hash_again().verified();
        assert_eq!((verified.json["outcome"].as_str(), verified.exit_code), (Some("FAIL"), Some(1)));
        assert!(verified.codes().iter().any(|it| it == code), "no {code}: {verified:#?}");
    }

    fn verdict(&self) -> BundleVerdict {
        let trust = TrustRequirements {
            signature: probity_evidence::SignatureRule::Ignore,
            ..TrustRequirements::default()
        };
        verify_bundle(&self.files, &trust).verdict
    }
}

/// Forges a passing bundle and expects `code`.
fn refuses(code: &str, forge: impl FnOnce(&mut Forgery)) {
    let repo = governed();
    let mut forgery = Forgery::of(&passing_run(&repo));
    forge(&mut forgery);
    forgery.is_refused_with(code);
}

#[test]
fn hashing_a_sound_bundle_again_keeps_it_sound() {
    let repo = governed();
    let bundle = passing_run(&repo);
    let mut forgery = Forgery::of(&bundle);
    let before = forgery.files.clone();
    forgery.seal_again().render_again().hash_again();
    assert_eq!(forgery.files, before);
    assert_eq!(forgery.verified().json["outcome"], "PASS");
}

#[test]
fn a_path_cannot_be_dropped_from_the_manifest_alone() {
    refuses("EVIDENCE.DELTA_MISMATCH", |it| {
        it.manifest(|it| {
            it["delta"].as_array_mut().expect("a list").remove(0);
            it["workspace_delta_paths"].as_array_mut().expect("a list").remove(0);
        })
        .render_again();
    });
}

#[test]
fn recorded_changes_cannot_be_emptied() {
    refuses("EVIDENCE.DELTA_MISMATCH", |it| {
        it.edit(DELTA, |it| it["changes"] = json!([]));
    });
}

#[test]
fn recorded_changes_cannot_be_left_out() {
    refuses("EVIDENCE.PART_MISSING", |it| drop(it.files.remove(DELTA)));
    refuses("EVIDENCE.PART_MISSING", |it| drop(it.files.remove(SEAL)));
    refuses("EVIDENCE.PART_MISSING", |it| drop(it.files.remove(SUMMARY)));
}

#[test]
fn a_bare_manifest_is_no_bundle_of_a_run() {
    refuses("EVIDENCE.SCHEMA_INVALID", |it| {
        it.files.retain(|name, _| name == MANIFEST || name.starts_with(b"logs/"));
        it.manifest(|it| {
            let members = it.as_object_mut().expect("an object");
            members.remove("schema");
            members.remove("seal_hash");
        });
    });
}

/// A failed run, whose evidence is forged to a pass in every obvious place.
fn refuses_to_whitewash(script: &str, code: &str, forge: impl FnOnce(&mut Forgery)) {
    let repo = governed();
    let bundle = repo.run(script).evidence_dir();
    let mut forgery = Forgery::of(&bundle);
    forgery.manifest(|it| {
        it["status"] = "pass".into();
        it["reason"] = Value::Null;
        it["reasons"] = json!([]);
    });
    forge(&mut forgery);
    forgery.render_again();
    forgery.is_refused_with(code);
}

#[test]
fn a_finding_that_fails_a_run_stays_a_reason() {
    let script = "echo x > docs/d.md; git checkout -q docs/d.md; mkfifo src/pipe; echo y > docs/e.md; rm docs/e.md; echo z > docs/f.md";
    refuses_to_whitewash(script, "EVIDENCE.FINDING_MISMATCH", |it| {
        it.manifest(|it| it["scope"] = it["plan"]["scope"].clone());
    });
}

#[test]
fn a_finding_cannot_be_turned_into_a_note() {
    refuses_to_whitewash("echo x > docs/d.md", "EVIDENCE.FINDING_MISMATCH", |it| {
        it.manifest(|it| {
            for list in ["protected", "findings"] {
                for finding in it[list].as_array_mut().expect("a list") {
                    finding["detail"] = format!("note: {}", finding["detail"].as_str().expect("text")).into();
                }
            }
        });
    });
}

#[test]
fn a_finding_cannot_be_removed_while_its_path_is_recorded() {
    refuses_to_whitewash("echo x > docs/d.md", "EVIDENCE.FINDING_MISMATCH", |it| {
        it.manifest(|it| {
            it["protected"] = json!([]);
            it["findings"] = json!([]);
        });
    });
}

#[test]
fn a_failed_command_does_not_pass() {
    refuses_to_whitewash("exit 3", "EVIDENCE.FINDING_MISMATCH", |it| {
        it.manifest(|it| it["findings"] = json!([]));
    });
}

#[test]
fn what_no_sealed_output_covers_is_not_exempt() {
    refuses_to_whitewash("echo x > other.txt", "EVIDENCE.EXEMPTION_UNSEALED", |it| {
        it.edit(DELTA, |it| it["changes"] = json!([]));
        it.manifest(|it| {
            for list in ["delta", "workspace_delta_paths", "untracked_delta_paths", "findings"] {
                it[list] = json!([]);
            }
            it["exempt_delta_paths"] = json!(["other.txt"]);
        });
    });
}

#[test]
fn a_wider_build_output_in_the_manifest_is_not_the_sealed_one() {
    refuses("EVIDENCE.SEAL_MISMATCH", |it| {
        it.manifest(|it| it["build_outputs"] = json!(["**"])).render_again();
    });
}

#[test]
fn a_wider_scope_is_not_the_sealed_one() {
    refuses("EVIDENCE.SEAL_MISMATCH", |it| {
        it.manifest(|it| {
            it["scope"] = json!(["**"]);
            it["plan"]["scope"] = json!(["**"]);
            it["plan_hash"] = Digest::of_json(&it["plan"]).to_string().into();
        })
        .render_again();
    });
}

#[test]
fn the_seal_is_the_one_that_the_manifest_names() {
    refuses("EVIDENCE.SEAL_MISMATCH", |it| {
        it.manifest(|it| it["seal_hash"] = Digest::of(b"x").to_string().into());
    });
    refuses("SEAL.DAMAGED", |it| {
        it.edit(SEAL, |it| it["plan"]["scope"] = json!(["**"]));
    });
    refuses("EVIDENCE.SEAL_MISMATCH", |it| {
        it.edit(SEAL, |it| it["plan"]["scope"] = json!(["**"])).seal_again();
    });
}

#[test]
fn the_run_is_the_one_that_was_sealed() {
    let id = "0190c1a2-0000-7000-8000-000000000001";
    refuses("EVIDENCE.SEAL_MISMATCH", |it| {
        it.manifest(|it| it["run_id"] = id.into()).render_again();
    });
    // A run that was judged again has another id, but then it has an amendment.
    refuses("EVIDENCE.AMENDMENT_INVALID", |it| {
        it.manifest(|it| {
            it["run_id"] = id.into();
            it["amended_from"] = Digest::of(b"x").to_string().into();
        })
        .render_again();
    });
}

#[test]
fn the_page_for_people_says_what_the_manifest_says() {
    refuses("EVIDENCE.SUMMARY_MISMATCH", |it| {
        it.files.insert(SUMMARY.to_vec(), b"# PASS: everything is fine\n".to_vec());
    });
    refuses("EVIDENCE.SUMMARY_MISMATCH", |it| {
        let page = String::from_utf8(it.files[SUMMARY].clone()).expect("text");
        it.files.insert(SUMMARY.to_vec(), page.replace("new.py", "old.py").into_bytes());
    });
    refuses("EVIDENCE.SUMMARY_MISMATCH", |it| {
        it.files.get_mut(SUMMARY).expect("a page").extend(b"\n## Approved\n\n- by security\n");
    });
}

#[test]
fn an_amendment_that_the_seal_denies_is_refused() {
    refuses("EVIDENCE.AMENDMENT_INVALID", |it| {
        it.manifest(|it| {
            it["amendments"] =
                json!([{"add": ["docs/**"], "by": "ada", "why": "needed", "at": "2026-03-01T10:00:00.000Z"}]);
        })
        .render_again();
    });
}

#[test]
fn an_amendment_is_complete_and_in_order() {
    let repo = governed();
    let run = repo.run("echo x >> src/a.py; echo y > other.txt; echo z > more.txt");
    assert_eq!(run.json["status"], "fail");
    for path in ["other.txt", "more.txt"] {
        repo.ask(&["amend", "last", "--add", path, "--why", "it belongs to it"]);
    }
    let amended = repo.ask(&["evidence", "list"]);
    let last = amended.json["runs"].as_array().expect("runs").last().expect("a run")["run_id"].clone();
    let bundle = repo.path().join(".git/probity/evidence").join(last.as_str().expect("an id"));
    assert_eq!(verify(&bundle, None).json["outcome"], "PASS");
    let refused = |edit: &dyn Fn(&mut Value)| {
        let mut forgery = Forgery::of(&bundle);
        forgery.manifest(|it| edit(&mut it["amendments"])).render_again();
        forgery.is_refused_with("EVIDENCE.AMENDMENT_INVALID");
    };
    refused(&|it| it[0]["why"] = "...".into());
    refused(&|it| it[0]["by"] = " ada".into());
    refused(&|it| it[0]["at"] = "later".into());
    refused(&|it| it.as_array_mut().expect("a list").swap(0, 1));
}

#[test]
fn gate_results_are_those_of_the_sealed_gates() {
    let result = |id: &str| json!({"gate_id": id, "status": "pass", "exit_code": 0, "duration_ms": 1, "log_paths": []});
    refuses("EVIDENCE.GATE_MISMATCH", |it| {
        it.manifest(|it| it["gate_results"].as_array_mut().expect("a list").push(result("audit")))
            .render_again();
    });
    refuses("EVIDENCE.GATE_MISMATCH", |it| {
        it.manifest(|it| drop(it["gate_results"].as_array_mut().expect("a list").remove(1))).render_again();
    });
    refuses("EVIDENCE.GATE_MISMATCH", |it| {
        it.manifest(|it| {
            let again = it["gate_results"][0].clone();
            it["gate_results"].as_array_mut().expect("a list").push(again);
        })
        .render_again();
    });
}

#[test]
fn a_gate_passes_exactly_with_exit_code_0() {
    for (gate, exit_code) in [(0, json!(1)), (0, Value::Null)] {
        refuses("EVIDENCE.GATE_MISMATCH", |it| {
            it.manifest(|it| it["gate_results"][gate]["exit_code"] = exit_code).render_again();
        });
    }
    refuses("EVIDENCE.GATE_MISMATCH", |it| {
        it.manifest(|it| it["gate_results"][1]["status"] = "pass".into()).render_again();
    });
}

#[test]
fn a_change_fits_its_two_sides() {
    let digest = Digest::of(b"x").to_string();
    refuses("EVIDENCE.CHANGE_MISMATCH", |it| {
        it.manifest(|it| it["delta"][1]["before"] = digest.clone().into());
        it.edit(DELTA, |it| {
            let mut side = it["changes"][1]["after"].clone();
            side["digest"] = digest.clone().into();
            it["changes"][1]["before"] = side;
        });
        it.render_again();
    });
    refuses("EVIDENCE.CHANGE_MISMATCH", |it| {
        it.manifest(|it| it["delta"][0]["change"] = "added".into());
        it.edit(DELTA, |it| it["changes"][0]["change"] = "added".into());
        it.render_again();
    });
}

#[test]
fn a_path_is_listed_once() {
    for list in ["workspace_delta_paths", "exempt_delta_paths"] {
        let repo = governed();
        let mut forgery = Forgery::of(&passing_run(&repo));
        forgery.manifest(|it| {
            let again = it[list][0].clone();
            it[list].as_array_mut().expect("a list").push(again);
        });
        let verified = forgery.render_again().hash_again().verified();
        assert_eq!(verified.json["outcome"], "FAIL", "{list}");
    }
    refuses("EVIDENCE.CHANGE_MISMATCH", |it| {
        let twice = |it: &mut Value| {
            let again = it[0].clone();
            it.as_array_mut().expect("a list").insert(0, again);
        };
        it.manifest(|it| {
            twice(&mut it["delta"]);
            twice(&mut it["workspace_delta_paths"]);
        });
        it.edit(DELTA, |it| twice(&mut it["changes"])).render_again();
    });
}

#[test]
fn each_document_has_one_form() {
    let repo = governed();
    let bundle = passing_run(&repo);
    for (name, other_ends) in
        [(MANIFEST, &["", "\n\n", " \n", "\r\n"][..]), (SEAL, &["\n", " "][..]), (DELTA, &["\n", " "][..])]
    {
        for end in other_ends {
            let mut forgery = Forgery::of(&bundle);
            let kept = forgery.files[name].trim_ascii_end().to_vec();
            forgery.files.insert(name.to_vec(), [&kept, end.as_bytes()].concat());
            if name != MANIFEST {
                forgery.hash_again();
            }
            assert_eq!(forgery.verified().json["outcome"], "FAIL", "{} {end:?}", name.escape_ascii());
        }
    }
}

/// Members that nothing else in a bundle repeats, so that one of them alone can be changed: the chain, the tree's key, what
/// only the seal fixes, and what only the recorded changes say of an entry.
const RECORDED_ONCE: [&str; 19] = [
    "manifest.json /prev_run_hash",
    "manifest.json /tree",
    "manifest.json /command/log_paths",
    "seal.json /protected",
    "seal.json /log",
    "seal.json /grants",
    "seal.json /refs",
    "seal.json /signature",
    "seal.json /amend",
    "seal.json /gate_settings",
    "seal.json /recognize_outputs",
    "delta.json /directories",
    "delta.json /changes/*/before/type",
    "delta.json /changes/*/before/mode",
    "delta.json /changes/*/before/size",
    "delta.json /changes/*/before/git_id",
    "delta.json /changes/*/after/type",
    "delta.json /changes/*/after/mode",
    "delta.json /changes/*/after/size",
];

/// Members that only the page for people repeats: a forger who renders it again can change them. None of them decides whether
/// the run kept to its plan.
const REPEATED_ON_THE_PAGE: [&str; 11] = [
    "manifest.json /created_at",
    "manifest.json /after_root",
    "manifest.json /tool",
    "manifest.json /enforcement_detail",
    "manifest.json /command/argv",
    "manifest.json /findings",
    "manifest.json /refs",
    "manifest.json /gate_delta_paths",
    "manifest.json /gate_results/*/duration_ms",
    // With what exit code the gate failed that is not required.
    "manifest.json /gate_results/1/exit_code",
    // Paths in sealed build outputs.
    "manifest.json /exempt_delta_paths",
];

/// Every value below the root, by JSON pointer.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut below = |name: &str, value: &Value| {
        let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        found.push(place.clone());
        places(value, &place, found);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| below(name, value)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| below(&index.to_string(), value));
        }
        _ => {}
    }
}

/// Other values of the same kind, and none at all.
fn other_values(value: &Value) -> Vec<Value> {
    let digest = Digest::of(b"another").to_string();
    match value {
        Value::String(text) if text.starts_with("sha256:") => vec![digest.into(), Value::Null],
        Value::String(text) => vec![format!("{text}x").into(), "".into(), Value::Null],
        Value::Number(number) => vec![(number.as_i64().unwrap_or(0) + 1).into(), Value::Null],
        Value::Bool(is_true) => vec![(!is_true).into()],
        Value::Null => vec![digest.into(), "x".into(), 1.into(), true.into()],
        Value::Array(items) => {
            let mut fewer: Vec<Value> = (0..items.len())
                .map(|index| [&items[..index], &items[index + 1..]].concat().into())
                .collect();
            fewer.push(items.iter().chain(items.last()).cloned().collect::<Vec<_>>().into());
            fewer
        }
        Value::Object(_) => vec![Value::Null],
    }
}

fn is_among(list: &[&str], file: &[u8], place: &str) -> bool {
    let general: Vec<&str> =
        place.split('/').map(|part| if part.parse::<usize>().is_ok() { "*" } else { part }).collect();
    let [exact, general] =
        [place, &general.join("/")].map(|it| format!("{} {it}", String::from_utf8_lossy(file)));
    list.iter().any(|known| exact == *known || general == *known || general.starts_with(&format!("{known}/")))
}

/// Changes one value anywhere, hashes everything again and collects what still passes with other facts.
fn unnoticed(bundle: &Path, renders_again: bool) -> BTreeSet<String> {
    let sound = Forgery::of(bundle);
    assert_eq!(sound.verdict(), BundleVerdict::Pass);
    let mut unnoticed = BTreeSet::new();
    for file in [MANIFEST, SEAL, DELTA] {
        let document = sound.document(file);
        let mut all = Vec::new();
        places(&document, "", &mut all);
        for place in all {
            for other in other_values(document.pointer(&place).expect("a value")) {
                let mut forgery =
                    Forgery { files: sound.files.clone(), place: tempfile::tempdir().expect("a directory") };
                forgery.edit(file, |it| *it.pointer_mut(&place).expect("a value") = other.clone());
                if file == SEAL {
                    forgery.seal_again();
                } else if file == MANIFEST && place.starts_with("/plan/") {
                    forgery.manifest(|it| it["plan_hash"] = Digest::of_json(&it["plan"]).to_string().into());
                }
                if renders_again {
                    forgery.render_again();
                }
                forgery.hash_again();
                if forgery.files != sound.files
                    && forgery.verdict() == BundleVerdict::Pass
                    && !is_among(&RECORDED_ONCE, file, &place)
                    && !(renders_again && is_among(&REPEATED_ON_THE_PAGE, file, &place))
                {
                    unnoticed.insert(format!("{} {place} = {other}", String::from_utf8_lossy(file)));
                }
            }
        }
    }
    unnoticed
}

#[test]
fn no_single_value_can_be_changed_unnoticed() {
    let repo = governed();
    let bundle = passing_run(&repo);
    assert_eq!(unnoticed(&bundle, false), BTreeSet::new());
    assert_eq!(unnoticed(&bundle, true), BTreeSet::new());
}

/// Copies a bundle under a new id, with everything hashed again and linked to the head.
fn plant(repo: &Repo, bundle: &Path) -> String {
    let id = "ffffffff-ffff-7fff-bfff-ffffffffffff";
    let mut forgery = Forgery::of(bundle);
    let head = forgery.document(MANIFEST)["run_hash"].clone();
    forgery.edit(SEAL, |it| it["run_id"] = id.into()).seal_again();
    forgery.manifest(|it| {
        it["run_id"] = id.into();
        it["prev_run_hash"] = head;
        it["key_id"] = Value::Null;
        it["signature"] = Value::Null;
    });
    forgery.render_again().hash_again();
    let dir = repo.path().join(".git/probity/evidence").join(id);
    for (name, content) in &forgery.files {
        let path = dir.join(String::from_utf8_lossy(name).as_ref());
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write(path, content).expect("writes");
    }
    id.to_owned()
}

#[test]
fn last_is_never_a_planted_bundle() {
    let repo = governed();
    let bundle = passing_run(&repo);
    let real = bundle.file_name().expect("a name").to_str().expect("text").to_owned();
    let planted = plant(&repo, &bundle);
    assert_eq!(repo.ask(&["evidence", "show", "last"]).json["run_id"], real);
    let listed = repo.ask(&["evidence", "list"]).json["runs"].clone();
    let on_chain = |id: &str| {
        let runs = listed.as_array().expect("runs");
        runs.iter().find(|run| run["run_id"] == id).expect("the run")["on_chain"].clone()
    };
    assert_eq!((on_chain(&real), on_chain(&planted)), (true.into(), false.into()));
    let chain = repo.ask(&["evidence", "chain"]);
    assert_eq!(chain.json["outcome"], "FAIL");
    assert!(chain.json["problems"].to_string().contains(&planted), "{chain:#?}");
    for command in
        [&["amend", &planted, "--add", "docs/**", "--why", "because it is"][..], &["revert", &planted]]
    {
        let refused = repo.ask(command);
        assert_eq!(refused.json["reason"], "EVIDENCE.NOT_ON_CHAIN", "{refused:#?}");
    }
}

#[test]
fn a_planted_bundle_is_not_exported() {
    let repo = governed();
    repo.ask(&["keys", "generate"]);
    let bundle = passing_run(&repo);
    let planted = plant(&repo, &bundle);
    for format in ["dsse", "statement"] {
        let export = repo.ask(&["evidence", "export", &planted, "--format", format]);
        assert_eq!(export.json["reason"], "EVIDENCE.NOT_ON_CHAIN", "{export:#?}");
    }
    let real = repo.ask(&["evidence", "export", "last"]);
    assert_eq!(real.json["run_id"], bundle.file_name().expect("a name").to_str().expect("text"));
}

#[test]
fn an_unsigned_bundle_is_not_exported_with_a_key() {
    let repo = governed();
    passing_run(&repo);
    repo.ask(&["keys", "generate"]);
    let export = repo.ask(&["evidence", "export", "last"]);
    assert_eq!(export.json["reason"], "EVIDENCE.SIGNATURE_REQUIRED", "{export:#?}");
}

/// A copy of a sound bundle made hostile by a script that runs in it.
fn hostile(script: &str) -> Outcome {
    let repo = governed();
    let bundle = passing_run(&repo);
    let status = Command::new("sh").arg("-ec").arg(script).current_dir(&bundle).status().expect("sh starts");
    assert!(status.success(), "{script}");
    verify(&bundle, None)
}

fn is_refused_as_hostile(script: &str, code: &str) {
    let verified = hostile(script);
    assert_eq!((verified.exit_code, verified.json["outcome"].as_str()), (Some(1), Some("FAIL")), "{script}");
    assert!(verified.codes().iter().any(|it| it == code), "{script}: {verified:#?}");
}

#[test]
fn a_bundle_with_too_many_files_is_refused_unread() {
    is_refused_as_hostile("mkdir many; cd many; seq 20000 | xargs touch", "EVIDENCE.TOO_LARGE");
    is_refused_as_hostile("mkdir many; cd many; seq 20000 | xargs mkdir", "EVIDENCE.TOO_LARGE");
}

#[test]
fn a_bundle_with_too_many_levels_is_refused() {
    let path = vec!["d"; 200].join("/");
    is_refused_as_hostile(&format!("mkdir -p {path}"), "EVIDENCE.TOO_LARGE");
}

#[test]
fn an_enormous_file_is_refused_unread() {
    for name in ["hole", "summary.md", "manifest.json", "logs/001-check.stdout"] {
        is_refused_as_hostile(&format!("truncate -s 8G {name}"), "EVIDENCE.TOO_LARGE");
    }
}

#[test]
fn what_is_no_file_is_refused() {
    for script in [
        "mkfifo pipe",
        "rm summary.md; mkfifo summary.md",
        "rm manifest.json; mkfifo manifest.json",
        "ln -s /dev/zero logs/zero",
        "rm manifest.json; ln -s /dev/zero manifest.json",
        "mv seal.json ../../seal.copy; ln -s ../../seal.copy seal.json",
    ] {
        is_refused_as_hostile(script, "EVIDENCE.PATH_TRAVERSAL");
    }
}

#[test]
fn a_document_with_too_many_values_is_refused_unparsed() {
    let ones = "head -c 16000000 /dev/zero | sed 's/\\x00/1,/g'";
    for name in ["manifest.json", "delta.json", "seal.json"] {
        let script = format!("(printf '['; {ones}; printf '1]') > {name}");
        is_refused_as_hostile(&script, "EVIDENCE.TOO_LARGE");
    }
}

#[test]
fn deep_nesting_is_refused() {
    for name in ["manifest.json", "delta.json", "seal.json"] {
        let verified = hostile(&format!("head -c 1000000 /dev/zero | tr '\\000' '[' > {name}"));
        assert_eq!(
            (verified.exit_code, verified.json["outcome"].as_str()),
            (Some(1), Some("FAIL")),
            "{name}"
        );
    }
}

#[test]
fn a_hostile_bundle_among_the_evidence_stops_no_question() {
    let repo = governed();
    let bundle = passing_run(&repo);
    let beside = |name: &str| bundle.parent().expect("a parent").join(name);
    for (name, script) in [
        ("fffffffe-0000-7000-8000-000000000000", "mkfifo manifest.json"),
        ("fffffffe-0000-7000-8000-000000000001", "ln -s /dev/zero manifest.json"),
        ("fffffffe-0000-7000-8000-000000000002", "truncate -s 8G manifest.json"),
    ] {
        fs::create_dir(beside(name)).expect("creates");
        let made = Command::new("sh").arg("-ec").arg(script).current_dir(beside(name)).status();
        assert!(made.expect("sh starts").success());
    }
    let all = repo.ask(&["evidence", "list"]);
    assert_eq!((all.exit_code, all.json["runs"].as_array().map(Vec::len)), (Some(1), Some(4)), "{all:#?}");
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "FAIL");
    let last = repo.ask(&["evidence", "show", "last"]);
    assert_eq!(last.json["run_id"], bundle.file_name().expect("a name").to_str().expect("text"));
    repo.run("echo again >> src/a.py").passes();
}

/// Runs a script as root of a mount namespace in which the repository lies on a file system of four megabytes.
fn on_a_small_disk(script: &str) -> Option<String> {
    let probity = env!("CARGO_BIN_EXE_probity");
    let prepare = format!(
        "set -eu; P={probity}; D=$(mktemp -d); trap 'cd /; umount -l $D/disk; rm -rf $D' EXIT; mkdir $D/disk $D/home; mount -t tmpfs -o size=4m tmpfs $D/disk; \
         export PROBITY_ENFORCE=observe HOME=$D/home TMPDIR=$D/home GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@a \
         GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@a; mkdir $D/disk/repo; cd $D/disk/repo; git init -q -b main; \
         mkdir src; echo a > src/a; git add .; git commit -q -m start; {script}"
    );
    let can_mount = |options: &str| {
        let tried = Command::new("unshare").args([options, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
        tried.is_ok_and(|output| output.status.success())
    };
    let options = ["-m", "-Urm"].into_iter().find(|options| can_mount(options))?;
    let output =
        Command::new("unshare").args([options, "sh", "-c", &prepare]).output().expect("unshare starts");
    let (told, words) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{told}\n{words}");
    Some(told.into_owned())
}

/// Fills the disk until nothing fits.
const FILL: &str = "dd if=/dev/zero of=src/fill bs=4k 2>/dev/null || true";

#[test]
fn a_run_that_fills_the_disk_still_leaves_its_failure_on_the_chain() {
    let script = format!(
        "$P run --scope src/a --json -- sh -c '{FILL}' > $D/home/run.json || test $? -eq 1; \
         rm src/fill; ls .git/probity/open; ls $D/home | grep -c probity-evidence || true; \
         $P evidence list --json; $P evidence chain --json"
    );
    let Some(told) = on_a_small_disk(&script) else {
        return probity_testkit::skip!("this user may not mount a file system");
    };
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "0", "no bundle outside of the state directory: {told}");
    assert!(told.contains("RECON.UNTRACKED_DELTA") && told.contains("\"PASS\""), "{told}");
}

#[test]
fn a_bundle_that_found_no_room_is_brought_home() {
    // The changes alone are more than what was reserved.
    let begin = format!(
        "$P run --scope src/a --json -- sh -c 'mkdir src/n; (cd src/n; seq 8000 | xargs touch); {FILL}' \
         > $D/home/run.json || test $? -eq 1; "
    );
    for command in [
        "$P revert $RUN --json",
        "$P amend $RUN --add src/fill --why belongs --json",
        "$P run --scope src/a --json -- true",
    ] {
        let script = format!(
            "{begin} RUN=$(ls .git/probity/open | cut -d. -f1); test -n \"$RUN\"; \
             $P evidence chain --json > $D/home/chain.json && exit 9; grep -q waits $D/home/chain.json; \
             rm src/fill; mount -o remount,size=64m $D/disk; {command} > $D/home/answer.json || test $? -lt 70; \
             ls .git/probity/open; $P evidence show $RUN --json; $P evidence chain --json"
        );
        let Some(told) = on_a_small_disk(&script) else {
            return probity_testkit::skip!("this user may not mount a file system");
        };
        assert!(told.contains("RECON.UNTRACKED_DELTA") && told.contains("\"PASS\""), "{command}: {told}");
    }
}

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
