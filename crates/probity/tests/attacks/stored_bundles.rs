//! Planted and hostile bundles among the evidence, and evidence on a full disk.

use crate::evidence_bundles::{ForgedBundle, MANIFEST, SEAL, governed, passing_run};
use crate::repo::{Outcome, Repo, verify};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Copies a bundle under a new id, with everything hashed again and linked to the head.
fn plant(repo: &Repo, bundle: &Path) -> String {
    let id = "ffffffff-ffff-7fff-bfff-ffffffffffff";
    let mut forgery = ForgedBundle::of(bundle);
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
fn a_sound_bundle_in_the_place_of_another_does_not_pass_for_it() {
    let repo = governed();
    let other = governed();
    let passed = passing_run(&other);
    let failed = repo.run("echo evil >> README.md");
    failed.fails_with("RECON.UNTRACKED_DELTA");
    let place = failed.evidence_dir();
    let run = place.file_name().and_then(|name| name.to_str()).expect("text").to_owned();
    repo.sh(&format!("chmod -R u+w {0} && rm -r {0} && cp -r {1} {0}", place.display(), passed.display()));
    for name in ["last", &run, place.to_str().expect("text")] {
        let verified = repo.ask(&["evidence", "verify", name]);
        assert_eq!(
            (verified.exit_code, &verified.json["outcome"]),
            (Some(1), &"FAIL".into()),
            "{verified:#?}"
        );
        assert_eq!(verified.json["codes"], serde_json::json!(["EVIDENCE.NOT_ON_CHAIN"]), "{verified:#?}");
    }
    // Where it was made, and for a stranger, it is sound.
    assert_eq!(other.ask(&["evidence", "verify", "last"]).exit_code, Some(0));
    let copy = repo.outside().join("copy");
    repo.sh(&format!("cp -r {} {}", passed.display(), copy.display()));
    assert_eq!(repo.ask(&["evidence", "verify", copy.to_str().expect("text")]).exit_code, Some(0));
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
