//! Which level of enforcement a run gets, what is refused instead of weakened, and views in unusual repositories.

use crate::repo::{Outcome, Repo, has, verify};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

const POLICY: &str = "[[gate]]\nid = \"ok\"\nrun = [\"true\"]\n";

/// A repository that is not in the directory for temporary files: what is beside it is the real thing in a view.
fn repo_with_real_neighbors() -> Repo {
    Repo::at(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory"))
}

/// Starts a script beside the repository, which ends by itself if nobody answers it.
fn person_beside(repo: &Repo, script: &str) -> std::process::Child {
    let mut command = Command::new("timeout");
    command.args(["300", "sh", "-c", script]).current_dir(repo.outside());
    with_environment(&mut command, &repo.probity(&[]));
    command.spawn().expect("starts")
}

fn with_environment(command: &mut Command, like: &Command) {
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
}

fn end(mut person: std::process::Child) {
    person.kill().expect("ends");
    person.wait().expect("is reaped");
}

/// Runs `probity run` where no user namespace can be made, as in many containers; `None` where that cannot be arranged.
fn run_without_namespaces(repo: &Repo, options: &[&str], script: &str) -> Option<Outcome> {
    let probity = repo.probity(&["run", "--json"]);
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "sh", "-c"]);
    command.args(["echo 0 > /proc/sys/user/max_user_namespaces || exit 77; exec \"$@\"", "sh"]);
    command.arg(probity.get_program()).args(probity.get_args()).args(options);
    command.args(["--", "sh", "-ec", script]).current_dir(repo.path());
    with_environment(&mut command, &probity);
    command.env_remove("PROBITY_ENFORCE");
    let output = command.output().ok()?;
    if output.status.code() == Some(77) || output.stdout.is_empty() {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        probity_testkit::skip!("user namespaces cannot be forbidden here: {words}");
        return None;
    }
    Some(repo.outcome(&output))
}

fn run_at(repo: &Repo, level: &str, options: &[&str], script: &str) -> Option<Outcome> {
    let mut all = vec!["--enforce", level];
    all.extend(options);
    let outcome = repo.run_with(&all, script);
    if outcome.json["reason"] == "ENFORCE.UNAVAILABLE" {
        probity_testkit::skip!("the level {level} cannot be had here");
        return None;
    }
    Some(outcome)
}

fn confinement(outcome: &Outcome) -> &Value {
    &outcome.json["confinement"]
}

fn codes(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn what_landlock_grants_beyond_the_scope_is_in_the_evidence() {
    let repo = Repo::new();
    let script = "echo x > src/a.py; ! echo x > docs/d.md";
    let Some(run) = run_at(&repo, "landlock", &["--scope", "src/a.py"], script) else { return };
    assert_eq!((run.exit_code, &run.json["enforcement"]), (Some(0), &json!("landlock")), "{run:#?}");
    let granted = codes(&confinement(&run)["granted_beyond_scope"]);
    let src = repo.path().canonicalize().expect("is there").join("src");
    assert!(granted.contains(&src.to_str().expect("text")), "{granted:?}");
    // The tree may be in a directory for temporary files, which must not open it.
    let is_around = |directory: &&str| *directory != src.as_os_str() && src.starts_with(directory);
    assert_eq!(granted.iter().copied().find(is_around), None, "{granted:?}");
    let limits = codes(&confinement(&run)["limits"]);
    assert!(limits.contains(&"LIMIT.METADATA") && !limits.contains(&"LIMIT.PROTECTED_OPEN"), "{limits:?}");
    let seal = fs::read_to_string(run.evidence_dir().join("seal.json")).expect("a seal");
    assert!(seal.contains("granted_beyond_scope"), "{seal}");
    assert_eq!(verify(&run.evidence_dir(), None).json["outcome"], "PASS");
}

#[test]
fn a_scope_at_the_top_says_that_landlock_does_not_protect_git() {
    let repo = Repo::new();
    let script = "echo x > new; git config core.fsmonitor touch";
    let Some(run) = run_at(&repo, "landlock", &["--scope", "**"], script) else { return };
    assert!(codes(&confinement(&run)["limits"]).contains(&"LIMIT.PROTECTED_OPEN"), "{run:#?}");
    assert_eq!(run.json["reason"], "PROTECTED.CHANGED", "it is found afterwards: {run:#?}");
}

#[test]
fn gates_are_confined_to_the_tree_by_landlock() {
    let repo = Repo::new();
    let gate = "echo gate > docs/gate.txt && ! echo x > \\\"$HOME/planted\\\"";
    repo.write(
        "probity.toml",
        &format!("[[gate]]\nid = \"g\"\nrun = [\"sh\", \"-c\", \"{gate}\"]\nenv = [\"HOME\"]\noutputs = [\"docs/**\"]\n"),
    );
    repo.sh("git add . && git commit -qm policy");
    let Some(run) = run_at(&repo, "landlock", &["--scope", "src/**"], "echo x > src/a.py") else { return };
    assert_eq!(run.json["gate_results"][0]["status"], "pass", "{run:#?}");
    assert_eq!(run.exit_code, Some(0), "{run:#?}");
    assert!(!repo.outside().join("planted").exists());
}

#[test]
fn a_weaker_level_is_said_and_recorded() {
    let repo = Repo::new();
    let Some(run) = run_without_namespaces(&repo, &["--scope", "src/**"], "echo x > src/a.py") else {
        return;
    };
    assert_eq!(run.exit_code, Some(0), "{run:#?}");
    assert_ne!(run.json["enforcement"], "overlay");
    let said = |finding: &Value| finding["code"] == "ENFORCE.DEGRADED";
    let findings = run.json["findings"].as_array().expect("findings");
    let detail = findings.iter().find(|finding| said(finding)).map(|finding| finding["detail"].to_string());
    assert!(detail.is_some_and(|detail| detail.contains("max_user_namespaces")), "{run:#?}");
    // Who trusts only views refuses this evidence.
    let trust = repo.outside().join("trust.json");
    fs::write(&trust, "{\"schema\": \"probity/trust/v1\", \"enforcement\": \"overlay\"}").expect("writes");
    let verified = verify(&run.evidence_dir(), Some(&trust));
    assert_eq!(verified.json["outcome"], "FAIL", "{verified:#?}");
    assert!(verified.json.to_string().contains("EVIDENCE.ENFORCEMENT_TOO_WEAK"), "{verified:#?}");
}

#[test]
fn demands_are_refused_and_not_weakened() {
    let repo = Repo::new();
    let Some(named) = run_without_namespaces(&repo, &["--enforce", "overlay", "--scope", "src/**"], "true")
    else {
        return;
    };
    named.refused_with("ENFORCE.UNAVAILABLE");
    repo.write("probity.toml", &format!("[enforce]\nminimum = \"overlay\"\n{POLICY}"));
    repo.sh("git add . && git commit -qm policy");
    let minimum = run_without_namespaces(&repo, &["--scope", "src/**"], "echo x > src/a.py");
    minimum.expect("ran before").refused_with("ENFORCE.UNAVAILABLE");
    repo.run_with(&["--enforce", "observe", "--scope", "src/**"], "true").refused_with("ENFORCE.UNAVAILABLE");
    repo.sh("test -z \"$(git status --porcelain)\"");
}

#[test]
fn no_network_is_a_demand_as_well() {
    let repo = Repo::new();
    for level in ["observe", "landlock"] {
        let options = ["--enforce", level, "--network", "off", "--scope", "src/**"];
        repo.run_with(&options, "true").refused_with("ENFORCE.UNAVAILABLE");
    }
}

#[test]
fn neighbors_of_a_tree_in_the_temporary_directory_are_seen_and_not_changed() {
    let repo = Repo::new();
    fs::write(repo.outside().join("helper.sh"), "echo helped > src/a.py\n").expect("writes");
    let name = format!("/tmp/probity-neighbor-{}", std::process::id());
    let script = format!("sh ../helper.sh; echo x > {name}; test -s {name}");
    let Some(run) = run_at(&repo, "overlay", &["--scope", "src/**"], &script) else { return };
    assert_eq!(run.exit_code, Some(0), "{run:#?}");
    assert_eq!(fs::read_to_string(repo.path().join("src/a.py")).expect("reads"), "helped\n");
    assert!(!std::path::Path::new(&name).exists(), "what is written beside the tree is thrown away");
}

#[test]
fn a_linked_worktree_has_a_view_of_its_own_and_commits_stay_in_it() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../other/repo -b other");
    let other = Repo::existing(&repo, "other");
    let script = "echo x > src/a.py; git commit -qam inside; git log -1 --format=%s";
    let Some(run) = run_at(&other, "overlay", &["--scope", "src/**"], script) else { return };
    assert_eq!(run.json["landing"]["state"], "landed", "{run:#?}");
    other.sh("test \"$(cat src/a.py)\" = x; test \"$(git log -1 --format=%s)\" = start");
    assert_eq!(run.json["ref_movements"][0]["name"], "refs/heads/other", "{run:#?}");
    repo.sh("test -z \"$(git status --porcelain)\"");
}

#[test]
fn a_root_below_the_top_of_its_repository_works_in_a_view() {
    let repo = Repo::new();
    repo.sh("mkdir -p part/src && echo p > part/src/p && git add . && git commit -qm part");
    let mut command = repo.probity(&["--root", "part", "run", "--json", "--enforce", "overlay"]);
    command.args(["--scope", "/src/**", "--", "sh", "-ec", "git status --short; echo q > part/src/p"]);
    let run = repo.outcome(&command.output().expect("starts"));
    if run.json["reason"] == "ENFORCE.UNAVAILABLE" {
        return probity_testkit::skip!("there are no views here");
    }
    assert_eq!(run.json["landing"]["paths"], json!(["src/p"]), "{run:#?}");
    repo.sh("test \"$(cat part/src/p)\" = q; test \"$(git status --porcelain)\" = ' M part/src/p'");
}

#[test]
fn a_git_directory_elsewhere_works_in_a_view() {
    let repo = Repo::new();
    repo.sh("git init -q --separate-git-dir ../elsewhere.git .");
    let script = "echo x > src/a.py; git commit -qam inside";
    let Some(run) = run_at(&repo, "overlay", &["--scope", "src/**"], script) else { return };
    assert_eq!(run.json["landing"]["state"], "landed", "{run:#?}");
    repo.sh("test \"$(git log -1 --format=%s)\" = start; test \"$(cat src/a.py)\" = x");
}

#[test]
fn a_submodule_is_in_the_view_and_its_own_commits_do_not_leave_it() {
    let repo = Repo::new();
    repo.sh("git init -q ../sub; (cd ../sub; echo s > f; git add f; git commit -qm s)
             git -c protocol.file.allow=always submodule add -q ../sub sub; git commit -qm sub");
    let script = "git -C sub log -1 --format=%s; echo x > src/a.py";
    let Some(run) = run_at(&repo, "overlay", &["--scope", "src/**"], script) else { return };
    assert_eq!(run.json["landing"]["state"], "landed", "{run:#?}");
    let script = "echo t > sub/f; git -C sub commit -qam t";
    let Some(run) = run_at(&repo, "overlay", &["--scope", "src/**"], script) else { return };
    assert_eq!((run.exit_code, &run.json["landing"]["state"]), (Some(1), &json!("held")), "{run:#?}");
    repo.sh("test \"$(cat sub/f)\" = s; test \"$(git -C sub log -1 --format=%s)\" = s");
}

/// A gate that changes the real tree each time it runs, as a person who saves files would.
#[test]
fn gates_run_again_when_the_tree_moves_and_not_forever() {
    let repo = repo_with_real_neighbors();
    // The gate says on a pipe that it runs; the person answers when the tree has changed.
    repo.sh("mkfifo ../asks ../answers");
    let gate = "echo run >> docs/rounds; echo ask > ../asks; read _ < ../answers";
    repo.write("probity.toml", &format!("[[gate]]\nid = \"g\"\nrun = [\"sh\", \"-c\", \"{gate}\"]\n"));
    repo.sh("git add . && git commit -qm policy");
    let person =
        "for n in 1 2 3; do read _ < asks || exit; echo $n > repo/docs/person; echo ok > answers; done";
    let mut person = person_beside(&repo, person);
    let run = run_at(&repo, "overlay", &["--scope", "src/**"], "echo x > src/a.py");
    let Some(run) = run else { return end(person) };
    assert!(person.wait().expect("ends").success(), "the gate ran three times: {run:#?}");
    assert_eq!((run.exit_code, &run.json["reason"]), (Some(5), &json!("LAND.BASE_MOVES")), "{run:#?}");
    assert_eq!(run.json["landing"]["state"], "held");
    let told = repo.ask(&["evidence", "chain"]);
    assert_eq!(told.json["outcome"], "PASS", "{told:#?}");
    assert_eq!(n_bundles(&repo), 2, "the refusal has evidence of its own");
    // When the tree is quiet it lands.
    repo.write("probity.toml", POLICY);
    assert_eq!(repo.ask(&["discard", "last"]).exit_code, Some(0));
}

fn n_bundles(repo: &Repo) -> usize {
    fs::read_dir(repo.path().join(".git/probity/evidence")).expect("evidence").count()
}

#[test]
fn a_conflict_leaves_evidence_of_the_refused_landing() {
    let repo = repo_with_real_neighbors();
    repo.sh("mkfifo ../ready ../go");
    let script = "echo agent > src/a.py; echo > ../ready; read _ < ../go";
    let person = "read _ < ready; echo person > repo/src/a.py; echo > go";
    let mut person = person_beside(&repo, person);
    let run = run_at(&repo, "overlay", &["--scope", "src/**"], script);
    let Some(run) = run else { return end(person) };
    person.wait().expect("ends");
    assert_eq!((run.exit_code, &run.json["reason"]), (Some(5), &json!("LAND.CONFLICT")), "{run:#?}");
    assert_eq!(n_bundles(&repo), 2);
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
    repo.sh("test \"$(cat src/a.py)\" = person");
}

#[test]
fn a_run_carries_out_an_intent() {
    let repo = Repo::new();
    let start = repo.ask(&["start", "src/a.py", "--intent", "edit the first"]);
    let id = start.json["intent_id"].as_str().unwrap_or_default().to_owned();
    assert!(!id.is_empty(), "{start:#?}");
    let Some(run) = run_at(&repo, "overlay", &["--intent", &id], "echo x > src/a.py; echo y > src/b.py")
    else {
        return;
    };
    assert_eq!((run.exit_code, &run.json["landing"]["state"]), (Some(1), &json!("held")), "{run:#?}");
    let run = run_at(&repo, "overlay", &["--intent", &id], "echo x > src/a.py").expect("ran before");
    assert_eq!((run.exit_code, &run.json["intent_id"]), (Some(0), &json!(id)), "{run:#?}");
    let seal = fs::read_to_string(run.evidence_dir().join("seal.json")).expect("a seal");
    assert!(seal.contains(&id), "{seal}");
    let finished = repo.ask(&["finish", &id]);
    assert_eq!(finished.exit_code, Some(0), "{finished:#?}");
    // It is over now.
    assert_ne!(repo.run_with(&["--intent", &id], "true").exit_code, Some(0));
}

#[test]
fn what_an_intent_loses_meanwhile_does_not_land() {
    let repo = repo_with_real_neighbors();
    let start = repo.ask(&["start", "src/a.py", "--intent", "edit the first"]);
    let id = start.json["intent_id"].as_str().unwrap_or_default().to_owned();
    repo.sh("mkfifo ../ready ../go");
    let script = "echo agent > src/a.py; echo > ../ready; read _ < ../go";
    let clear = format!(
        "read _ < ready; cd repo; '{}' intent clear {id} >/dev/null 2>&1; echo > ../go",
        repo.probity(&[]).get_program().display()
    );
    let mut person = person_beside(&repo, &clear);
    let run = run_at(&repo, "overlay", &["--intent", &id], script);
    let Some(run) = run else { return end(person) };
    person.wait().expect("ends");
    assert_eq!((run.exit_code, &run.json["landing"]["state"]), (Some(5), &json!("held")), "{run:#?}");
    repo.sh("test -z \"$(git status --porcelain)\"");
}

/// Runs in a file system of a few megabytes.
#[test]
fn a_command_that_fills_the_disk_fails_with_evidence_and_loses_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    let repo = Repo::at(tempfile::tempdir_in(place.path()).expect("a directory"));
    let probity = repo.probity(&["run", "--json", "--enforce", "overlay", "--scope", "src/**"]);
    let mut command = Command::new("unshare");
    let script = "mount -t tmpfs -o size=12m none \"$1\" && cp -a repo \"$1/repo\" && cd \"$1/repo\" || exit 77; shift; \
                  \"$@\"; echo \"code $?\"; git status --porcelain; ls .git/probity/evidence | wc -l; \
                  ls .git/probity/layers | wc -l";
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
    let full = repo.outside().join("full");
    fs::create_dir(&full).expect("creates");
    command.arg(&full).arg(probity.get_program()).args(probity.get_args());
    command.args(["--", "sh", "-c", "echo work > src/a.py; yes > src/big; exit 0"]);
    command.current_dir(repo.outside());
    with_environment(&mut command, &probity);
    let output = command.output().expect("starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) || !printed.contains("code ") || words.contains("ENFORCE.UNAVAILABLE")
    {
        return probity_testkit::skip!("a file system with views cannot be mounted here: {words}");
    }
    let after = printed.rsplit_once("code ").expect("a code").1;
    let lines: Vec<&str> = after.lines().collect();
    // The command passed, but there is no room to land its changes: they are held.
    assert_eq!(lines.first(), Some(&"5"), "{printed}\n{words}");
    assert!(printed.contains("LAND.FAILED"), "{printed}\n{words}");
    assert_eq!(lines.last(), Some(&"1"), "the layer is kept: {printed}\n{words}");
    assert_eq!(lines.len(), 3, "the tree is as it was: {printed}\n{words}");
}

/// A build in a view, with the compiler's caches read-only.
#[test]
fn package_managers_work_in_a_view() {
    let repo = Repo::new();
    repo.write("src/Cargo.toml", "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    repo.write("src/src/lib.rs", "pub fn one() -> u8 { 1 }\n");
    repo.write(
        "src/package.json",
        "{\"name\":\"t\",\"version\":\"1.0.0\",\"dependencies\":{\"dep\":\"file:./dep\"}}\n",
    );
    repo.write("src/dep/package.json", "{\"name\":\"dep\",\"version\":\"1.0.0\",\"main\":\"i.js\"}\n");
    repo.write("src/dep/i.js", "module.exports = 1\n");
    repo.sh("git add . && git commit -qm packages");
    let mut builds: Vec<&str> = Vec::new();
    if has("cargo") {
        builds.push("cargo build --offline --manifest-path src/Cargo.toml");
    }
    if has("npm") {
        builds.push("cd src && npm install --offline --no-audit --no-fund && node -e 'require(\"dep\")'");
    }
    if builds.is_empty() {
        return probity_testkit::skip!("neither cargo nor npm is here");
    }
    for build in builds {
        let mut command = repo.probity(&["run", "--json", "--enforce", "overlay", "--scope", "src/**"]);
        // The toolchain is found through the user's own home.
        for name in ["HOME", "CARGO_HOME", "RUSTUP_HOME"] {
            match std::env::var_os(name) {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.args(["--", "sh", "-ec", build]);
        let run = repo.outcome(&command.output().expect("starts"));
        if run.json["reason"] == "ENFORCE.UNAVAILABLE" {
            return probity_testkit::skip!("there are no views here");
        }
        assert_eq!(
            (run.exit_code, &run.json["landing"]["state"]),
            (Some(0), &json!("landed")),
            "{build}: {run:#?}"
        );
    }
}

/// A repository whose policy imports commits.
fn importing_repo() -> Repo {
    let repo = Repo::new();
    repo.write("probity.toml", "[git]\ncommits = \"import\"\n");
    repo.sh("git add . && git commit -qm policy");
    repo
}

#[test]
fn commits_in_scope_are_imported_without_hooks_or_settings_of_the_layer() {
    let repo = importing_repo();
    let script = "echo 1 > src/a.py; git commit -qam first; echo 2 > src/b.py; git commit -qam second; git gc -q; \
                  git branch side";
    let Some(run) = run_at(&repo, "overlay", &["--scope", "src/**"], script) else { return };
    assert_eq!((run.exit_code, &run.json["landing"]["state"]), (Some(0), &json!("landed")), "{run:#?}");
    let imported = run.json["landing"]["imported"].as_array().expect("branches");
    let main = imported.iter().find(|branch| branch["name"] == "refs/heads/main").expect("main");
    assert_eq!((&main["n_commits"], &main["note"]), (&json!(2), &Value::Null), "{run:#?}");
    repo.sh("test \"$(git log -3 --format=%s | tr '\\n' ' ')\" = 'second first policy '; test -z \"$(git status --porcelain)\"");
    repo.sh("git fsck --strict --no-dangling; test \"$(git rev-parse side)\" = \"$(git rev-parse main)\"");
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
}

#[test]
fn commits_that_leave_the_scope_or_rewrite_history_are_not_imported() {
    let repo = importing_repo();
    // The tree at the end is in scope; a commit on the way is not.
    let script = "echo x > docs/d.md; git commit -qam out; git revert --no-edit HEAD -q || git revert --no-edit HEAD; \
                  echo 1 > src/a.py; git commit -qam in";
    let Some(run) = run_at(&repo, "overlay", &["--scope", "src/**"], script) else { return };
    assert_eq!(run.json["landing"]["state"], "landed", "{run:#?}");
    let branch = &run.json["landing"]["imported"][0];
    assert_eq!(branch["n_commits"], Value::Null, "{run:#?}");
    assert!(branch["note"].as_str().is_some_and(|note| note.contains("docs/d.md")), "{run:#?}");
    let script = "echo 2 > src/a.py; git commit -qa --amend -m rewritten";
    let run = run_at(&repo, "overlay", &["--scope", "src/**"], script).expect("ran before");
    let note = run.json["landing"]["imported"][0]["note"].as_str().unwrap_or_default().to_owned();
    assert!(note.contains("rewritten"), "{run:#?}");
    repo.sh("test \"$(git log -1 --format=%s)\" = policy");
}

/// The other store shows a harmless tree under the id of one that changes everything.
#[test]
fn objects_that_are_not_what_their_ids_say_are_not_believed() {
    let repo = importing_repo();
    // A tree that exists here already, with a change out of scope.
    repo.sh("echo evil > docs/d.md; git commit -qam evil; git branch -q kept; git reset -q --hard HEAD~1");
    let script = r#"
evil=$(git rev-parse kept^{tree}); echo 1 > src/a.py; git add src/a.py; good=$(git write-tree)
commit=$(git commit-tree -p HEAD -m forged "$evil")
mkdir -p .git/objects/${evil%"${evil#??}"}
python3 - "$evil" "$good" <<'PY'
import os, sys
evil, good = sys.argv[1:]
at = lambda name: f".git/objects/{name[:2]}/{name[2:]}"
os.chmod(at(evil), 0o644) if os.path.exists(at(evil)) else None
open(at(evil), "wb").write(open(at(good), "rb").read())
PY
git update-ref refs/heads/main "$commit""#;
    let Some(run) = run_at(&repo, "overlay", &["--scope", "src/**"], script) else { return };
    let imported = run.json["landing"]["imported"].as_array().cloned().unwrap_or_default();
    assert!(imported.iter().all(|branch| branch["n_commits"].is_null()), "{run:#?}");
    repo.sh("test \"$(git log -1 --format=%s)\" = policy; git fsck --strict --no-dangling");
}

/// Returns what a person sees of a run in a view.
fn shown_view_run(repo: &Repo, scope: &str, script: &str) -> Option<String> {
    let mut command = repo.probity(&["run", "--enforce", "overlay", "--scope", scope, "--", "sh", "-ec"]);
    let output = command.arg(script).output().expect("starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if text.contains("ENFORCE.UNAVAILABLE") {
        probity_testkit::skip!("there are no views here");
        return None;
    }
    Some(text)
}

/// `-- sh /tmp/agent.sh` fails with "no such file" although the file is there: that is said before it happens.
#[test]
fn a_command_that_names_a_file_out_of_sight_is_warned_of() {
    let repo = Repo::new();
    if repo.path().starts_with("/var/tmp") {
        probity_testkit::skip!("the tree is in the directory that would be empty");
        return;
    }
    let file = tempfile::NamedTempFile::new_in("/var/tmp").expect("a file");
    let name = file.path().to_str().expect("text");
    let mut command = repo.probity(&["run", "--enforce", "overlay", "--scope", "src/**", "--", "cat", name]);
    let text = String::from_utf8_lossy(&command.output().expect("starts").stderr).into_owned();
    if text.contains("ENFORCE.UNAVAILABLE") {
        probity_testkit::skip!("there are no views here");
        return;
    }
    assert!(text.contains(&format!("warning   `{name}` is not there in the private view")), "{text}");
    let text = shown_view_run(&repo, "src/**", "cat src/a.py").expect("ran before");
    assert!(!text.contains("is not there in the private view"), "{text}");
}

/// Cargo fails in a home without its cache unless it is given another.
#[test]
fn cargo_gets_a_cache_in_a_home_without_one() {
    let repo = Repo::new();
    // Beside the tree it would be part of a directory in which everything can be written.
    let home = tempfile::tempdir_in("/var/tmp").expect("a home");
    if repo.path().starts_with("/var/tmp") {
        probity_testkit::skip!("the tree is beside the home");
        return;
    }
    let shown = |script: &str| {
        let mut command =
            repo.probity(&["run", "--enforce", "overlay", "--scope", "src/**", "--", "sh", "-ec"]);
        let command = command.arg(script).env("HOME", home.path()).env_remove("CARGO_HOME");
        String::from_utf8_lossy(&command.output().expect("starts").stderr).into_owned()
    };
    let use_cache = "mkdir -p ${CARGO_HOME:-$HOME/.cargo}/registry/index";
    let text = shown(use_cache);
    if text.contains("ENFORCE.UNAVAILABLE") {
        probity_testkit::skip!("there are no views here");
        return;
    }
    assert!(text.contains("PASS nothing changed"), "{text}");
    // Installed but never used: its settings are read, and what it downloads is thrown away.
    fs::create_dir(home.path().join(".cargo")).expect("a directory");
    fs::write(home.path().join(".cargo/config.toml"), "[net]\n").expect("settings");
    let text = shown(&format!("test -z \"$CARGO_HOME\"; cat ~/.cargo/config.toml; {use_cache}"));
    assert!(text.contains("PASS nothing changed"), "{text}");
    assert!(!home.path().join(".cargo/registry").exists());
}

#[test]
fn commits_that_stay_in_the_view_are_not_told_as_landed() {
    let repo = Repo::new();
    let script = "echo 1 > src/a.py; git commit -qam first";
    let Some(text) = shown_view_run(&repo, "src/**", script) else { return };
    assert!(text.contains("commits   made in the private view, and gone with it: only files land"), "{text}");
    assert!(text.contains("`commits = \"import\"` under `[git]` in probity.toml"), "{text}");
    let repo = importing_repo();
    let script = "echo 1 > src/a.py; git commit -qam first; git switch -qc feature; echo 2 > src/b.py; git commit -qam second";
    let text = shown_view_run(&repo, "src/**", script).expect("ran before");
    assert!(!text.contains("gone with it"), "{text}");
    assert!(text.contains("imported  branch feature, 2 commits"), "{text}");
    assert!(text.contains("imported  branch main, now at "), "{text}");
}

#[test]
fn a_revert_tells_how_imported_commits_are_taken_back() {
    let repo = importing_repo();
    repo.sh("git for-each-ref > ../before");
    let script = "echo 1 > src/a.py; git commit -qam first; git branch side";
    let Some(run) = run_at(&repo, "overlay", &["--scope", "src/**"], script) else { return };
    assert_eq!(run.json["landing"]["state"], "landed", "{run:#?}");
    let reverted = repo.ask(&["revert", "last"]);
    let notes = reverted.json["refs"].as_array().expect("notes");
    assert_eq!(notes.len(), 2, "{reverted:#?}");
    for note in notes {
        repo.sh(note["command"].as_str().unwrap_or_else(|| panic!("no command: {note:#}")));
    }
    repo.sh("git for-each-ref > ../after; diff ../before ../after; test -z \"$(git status --porcelain)\"");
}

#[test]
fn a_failed_run_that_changed_nothing_holds_nothing() {
    let repo = Repo::new();
    let Some(failed) = run_at(&repo, "overlay", &["--scope", "src/**"], "exit 3") else { return };
    failed.fails_with("RUN.COMMAND_FAILED");
    assert_eq!(failed.json["landing"]["state"], "none", "{failed:#?}");
    assert_eq!(verify(&failed.evidence_dir(), None).exit_code, Some(1), "sound, and the run failed");
    repo.ask(&["discard", "last"]).refused_with("LAYER.UNKNOWN");
}

#[test]
fn what_is_in_scope_is_listed_before_renames_out_of_scope() {
    let repo = Repo::new();
    let script = "echo 1 > src/a.py; git mv docs/d.md docs/e.md; echo x > stray";
    let Some(text) = shown_view_run(&repo, "src/**", script) else { return };
    let place = |row: &str| text.find(row).unwrap_or_else(|| panic!("no `{row}` in {text}"));
    let rows = [
        place("~ src/a.py  in scope, held"),
        place("docs/d.md → docs/e.md  out of scope, held"),
        place("+ stray  out of scope, held"),
    ];
    assert!(rows.is_sorted(), "{text}");
}

#[test]
fn a_small_directory_of_the_scope_is_renamed_and_a_large_one_says_why_not() {
    let repo = Repo::new();
    repo.write("src/part/a.py", "x\n");
    let rename = "python3 -c \"import os; os.rename('src/part', 'src/moved')\"";
    let Some(small) = shown_view_run(&repo, "src/**", rename) else { return };
    assert!(small.contains("PASS") && repo.path().join("src/moved/a.py").exists(), "{small}");
    for number in 0..=100 {
        repo.write(&format!("src/part/{number}.txt"), "x\n");
    }
    let note = "VIEW.NO_DIR_RENAME";
    let failed = shown_view_run(&repo, "src/**", rename).expect("there is a view");
    assert!(failed.contains("EXDEV") && failed.contains(note), "{failed}");
    let quiet = shown_view_run(&repo, "src/**", "true").expect("there is a view");
    assert!(!quiet.contains(note), "{quiet}");
}

#[test]
fn what_a_failed_command_changed_in_scope_can_be_landed() {
    let repo = Repo::new();
    let Some(failed) = run_at(&repo, "overlay", &["--scope", "src/**"], "echo 1 > src/a.py; exit 3") else {
        return;
    };
    failed.fails_with("RUN.COMMAND_FAILED");
    let steps = failed.json["next_steps"].as_array().expect("steps");
    let part = steps.iter().find(|step| step["way"] == "part").expect("a part to land");
    assert!(part["command"].as_str().is_some_and(|command| command.ends_with(" --in-scope")), "{part:#}");
    assert_eq!(repo.ask(&["land", "last", "--in-scope"]).json["state"], "landed");
    repo.sh("test \"$(cat src/a.py)\" = 1");
}

/// Returns what a run with the scope `src/**` says about the first branch that it did not take over.
fn refused_import(repo: &Repo, script: &str) -> Option<String> {
    let run = run_at(repo, "overlay", &["--scope", "src/**"], script)?;
    assert_eq!(run.json["landing"]["state"], "landed", "{run:#?}");
    let imported = run.json["landing"]["imported"].as_array().expect("branches");
    let refused = imported.iter().find(|branch| branch["n_commits"].is_null());
    Some(refused.unwrap_or_else(|| panic!("{run:#?}"))["note"].as_str().expect("a note").to_owned())
}

/// Gates judge the tree, and what leaves the machine is the commit.
#[test]
fn a_branch_whose_last_commit_is_not_the_judged_tree_is_not_imported() {
    let scripts = [
        "echo evil > src/a.py; git commit -qam x; echo good > src/a.py",
        "echo evil > src/new.py; git add .; git commit -qm x; rm src/new.py; echo good > src/a.py",
        "ln -s /etc/passwd src/link; git add .; git commit -qm x; rm src/link; echo good > src/a.py",
        "echo good > src/a.py; chmod +x src/b.py; git commit -qam x; chmod -x src/b.py",
        "git update-index --add --cacheinfo 160000,1111111111111111111111111111111111111111,src/sub; \
         git commit -qm x; git reset -q; echo good > src/a.py",
    ];
    for script in scripts {
        let repo = importing_repo();
        let Some(note) = refused_import(&repo, script) else { return };
        assert!(note.contains("otherwise than the tree that was judged"), "{script}: {note}");
        repo.sh("test \"$(git log -1 --format=%s)\" = policy");
    }
}

/// A commit that another branch leads to is not new, and its content was not judged by this run all the same.
#[test]
fn a_branch_that_moves_to_a_known_commit_is_held_to_the_scope_and_the_judged_tree() {
    for (known, words) in
        [("docs/d.md", "out of scope"), ("src/b.py", "otherwise than the tree that was judged")]
    {
        let repo = importing_repo();
        repo.sh(&format!(
            "git checkout -qb side; echo known > {known}; git commit -qam side; git checkout -q main"
        ));
        let script = "echo 1 > src/a.py; git update-ref refs/heads/main refs/heads/side";
        let Some(note) = refused_import(&repo, script) else { return };
        assert!(note.contains(words), "{known}: {note}");
        repo.sh("test \"$(git log -1 --format=%s)\" = policy");
    }
}

/// The files and the index there would still be those of the former commit, and the next commit would take this one back.
#[test]
fn a_branch_of_another_worktree_is_not_imported() {
    let repo = importing_repo();
    repo.sh("git branch side; git worktree add -q ../side side");
    let script = "echo 1 > src/a.py; git commit -qam x; git update-ref refs/heads/side HEAD";
    let Some(note) = refused_import(&repo, script) else { return };
    assert!(note.contains("another worktree has it checked out"), "{note}");
    repo.sh("test \"$(git log -1 --format=%s)\" = x; test -z \"$(git -C ../side status --porcelain)\"");
}

/// What git stores in another form than the tree has is the same content.
#[test]
fn a_branch_with_converted_line_ends_is_imported() {
    let repo = importing_repo();
    repo.write(".gitattributes", "*.py text eol=crlf\n");
    repo.sh("git add . && git commit -qm attributes");
    let script = "printf 'a\\r\\nb\\r\\n' > src/a.py; git commit -qam x; git cat-file -p HEAD:src/a.py | grep -qv '\r'";
    let Some(run) = run_at(&repo, "overlay", &["--scope", "src/**"], script) else { return };
    assert_eq!(run.json["landing"]["imported"][0]["n_commits"], 1, "{run:#?}");
}

/// Git takes a word that begins with a hyphen for an option, and `--output` empties any file.
#[test]
fn values_and_names_of_branches_are_no_options_of_git() {
    let repo = importing_repo();
    let victim = repo.outside().join("victim");
    fs::write(&victim, "kept").expect("writes");
    for name in ["main", "new"] {
        let value = format!("--output={}", victim.display());
        let script = format!("echo 1 > src/a.py; echo '{value}' > .git/refs/heads/{name}");
        let Some(note) = refused_import(&repo, &script) else { return };
        assert_eq!(note, "it holds no id");
        assert_eq!(fs::read_to_string(&victim).expect("is there"), "kept");
        repo.sh("git checkout -q -- .");
    }
    let script = "echo 1 > src/a.py; git commit -qam x; cp .git/refs/heads/main .git/refs/heads/-x; \
                  mv .git/refs/heads/main .git/refs/heads/HEAD";
    let Some(note) = refused_import(&repo, script) else { return };
    assert_eq!(note, "git does not make branches of this name");
    repo.sh("test \"$(git for-each-ref --format='%(refname)')\" = refs/heads/main");
}

#[test]
fn many_branches_are_not_looked_at_one_by_one() {
    let repo = importing_repo();
    let script = "echo 1 > src/a.py; i=0; while test $i -lt 2000; do echo \"$(cat .git/refs/heads/main) refs/heads/b$i\"; \
                  i=$((i + 1)); done > .git/packed-refs";
    let Some(note) = refused_import(&repo, script) else { return };
    assert!(note.starts_with("more than 32 branches"), "{note}");
}

/// Nothing can be mounted over a file that is not there, so what an agent's program makes is told.
#[test]
fn settings_of_an_agent_that_a_command_makes_are_told() {
    let repo = repo_with_real_neighbors();
    let home = repo.outside().join("home");
    fs::create_dir_all(home.join(".claude")).expect("creates");
    fs::create_dir_all(home.join("dotfiles")).expect("creates");
    fs::write(home.join("dotfiles/md"), "").expect("writes");
    std::os::unix::fs::symlink("../dotfiles/md", home.join(".claude/CLAUDE.md")).expect("links");
    let script = "echo {} > ~/.claude/settings.json; echo x > ~/.claude/other; rm ~/.claude/CLAUDE.md; \
                  echo x > ~/.claude/CLAUDE.md";
    let mut command = repo.probity(&["run", "--json", "--enforce", "overlay", "--scope", "src/**"]);
    command.env("HOME", &home).args(["--", "sh", "-ec", script]);
    let run = repo.outcome(&command.output().expect("starts"));
    if run.json["reason"] == "ENFORCE.UNAVAILABLE" {
        return probity_testkit::skip!("there are no views here");
    }
    let findings = run.json["findings"].as_array().expect("findings");
    let told: Vec<&str> = findings
        .iter()
        .filter(|finding| finding["code"] == "PROTECTED.CHANGED")
        .filter_map(|finding| finding["detail"].as_str())
        .collect();
    assert_eq!(told.len(), 2, "{run:#?}");
    assert!(told[0].contains("settings.json") && told[1].contains("CLAUDE.md"), "{run:#?}");
}
