//! Forged and inconsistent evidence bundles.

use crate::repo::{Outcome, Repo, verify};
use probity_core::{Digest, json};
use probity_evidence::{BundleVerdict, StoredManifest, TrustRequirements, bundle, summary, verify_bundle};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

pub(crate) const MANIFEST: &[u8] = b"manifest.json";
pub(crate) const SEAL: &[u8] = b"seal.json";
const DELTA: &[u8] = b"delta.json";
const SUMMARY: &[u8] = b"summary.md";

/// A policy with two gates, a build output, a protected path and no amendments while a run goes on.
const POLICY: &str = "[workspace]\nbuild_outputs = [\"gen/**\"]\nprotected = [\"docs/**\"]\n\
    [amend]\nduring = \"deny\"\nafter = \"allow\"\n\
    [[gate]]\nid = \"check\"\nrun = [\"true\"]\n\
    [[gate]]\nid = \"size\"\nrun = [\"false\"]\nrequired = false\n";

/// A run that changes a file, writes a build output and touches another file.
pub(crate) fn governed() -> Repo {
    let repo = Repo::new();
    repo.write("probity.toml", POLICY);
    repo.write("gen/old", "1\n");
    repo.sh("git add -f probity.toml && git commit -q -m policy");
    repo
}

pub(crate) fn passing_run(repo: &Repo) -> PathBuf {
    let outcome = repo.run_with(&["--scope", "src/a.py", "--scope", "src/new.py"], AGENT);
    outcome.passes().evidence_dir()
}

const AGENT: &str = "echo more >> src/a.py; echo new > src/new.py; echo 2 > gen/old; touch src/b.py";

/// The files of a bundle, to be edited and hashed again by someone without a key.
pub(crate) struct ForgedBundle {
    pub(crate) files: BTreeMap<Vec<u8>, Vec<u8>>,
    place: tempfile::TempDir,
}

impl ForgedBundle {
    pub(crate) fn of(bundle: &Path) -> Self {
        let files = bundle::read_bundle(bundle).expect("a bundle");
        Self { files, place: tempfile::tempdir().expect("a directory") }
    }

    pub(crate) fn document(&self, name: &[u8]) -> Value {
        json::parse(&self.files[name]).expect("JSON")
    }

    pub(crate) fn set(&mut self, name: &[u8], document: &Value) {
        let end: &[u8] = if name == MANIFEST { b"\n" } else { b"" };
        self.files.insert(name.to_vec(), [&json::canonical(document), end].concat());
    }

    pub(crate) fn edit(&mut self, name: &[u8], edit: impl FnOnce(&mut Value)) -> &mut Self {
        let mut document = self.document(name);
        edit(&mut document);
        self.set(name, &document);
        self
    }

    pub(crate) fn manifest(&mut self, edit: impl FnOnce(&mut Value)) -> &mut Self {
        self.edit(MANIFEST, edit)
    }

    /// Makes the page for people say what the manifest says.
    pub(crate) fn render_again(&mut self) -> &mut Self {
        if let Ok(stored) = StoredManifest::parse(&self.files[MANIFEST]) {
            self.files.insert(SUMMARY.to_vec(), summary::render(&stored.manifest).into_bytes());
        }
        self
    }

    /// Hashes the seal again and enters it in the manifest.
    pub(crate) fn seal_again(&mut self) -> &mut Self {
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
    pub(crate) fn hash_again(&mut self) -> &mut Self {
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
    pub(crate) fn verified(&self) -> Outcome {
        let dir = self.place.path().join("bundle");
        for (name, content) in &self.files {
            let path = dir.join(String::from_utf8_lossy(name).as_ref());
            fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
            fs::write(path, content).expect("writes");
        }
        verify(&dir, None)
    }

    pub(crate) fn is_refused_with(&mut self, code: &str) {
        let verified = self.hash_again().verified();
        assert_eq!((verified.json["outcome"].as_str(), verified.exit_code), (Some("FAIL"), Some(1)));
        assert!(verified.codes().iter().any(|it| it == code), "no {code}: {verified:#?}");
    }

    pub(crate) fn verdict(&self) -> BundleVerdict {
        let trust = TrustRequirements {
            signature: probity_evidence::SignatureRule::Ignore,
            ..TrustRequirements::default()
        };
        verify_bundle(&self.files, &trust).verdict
    }
}

/// Forges a passing bundle and expects `code`.
fn refuses(code: &str, forge: impl FnOnce(&mut ForgedBundle)) {
    let repo = governed();
    let mut forgery = ForgedBundle::of(&passing_run(&repo));
    forge(&mut forgery);
    forgery.is_refused_with(code);
}

#[test]
fn hashing_a_sound_bundle_again_keeps_it_sound() {
    let repo = governed();
    let bundle = passing_run(&repo);
    let mut forgery = ForgedBundle::of(&bundle);
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
fn refuses_to_whitewash(script: &str, code: &str, forge: impl FnOnce(&mut ForgedBundle)) {
    let repo = governed();
    let bundle = repo.run(script).evidence_dir();
    let mut forgery = ForgedBundle::of(&bundle);
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
        let mut forgery = ForgedBundle::of(&bundle);
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
        let mut forgery = ForgedBundle::of(&passing_run(&repo));
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
            let mut forgery = ForgedBundle::of(&bundle);
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
    let sound = ForgedBundle::of(bundle);
    assert_eq!(sound.verdict(), BundleVerdict::Pass);
    let mut unnoticed = BTreeSet::new();
    for file in [MANIFEST, SEAL, DELTA] {
        let document = sound.document(file);
        let mut all = Vec::new();
        places(&document, "", &mut all);
        for place in all {
            for other in other_values(document.pointer(&place).expect("a value")) {
                let mut forgery = ForgedBundle {
                    files: sound.files.clone(),
                    place: tempfile::tempdir().expect("a directory"),
                };
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
