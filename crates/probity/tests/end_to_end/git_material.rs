//! Git features: movements of refs and submodules, filtered files, partial clones.

use crate::repo::{Repo, verify};
use serde_json::{Value, json};
use std::process::Command;

/// Runs git in a directory below the repository; returns its output.
fn git(repo: &Repo, dir: &str, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .arg("-C")
        .arg(repo.path().join(dir))
        .args(arguments)
        .output()
        .expect("git starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// Finds the movement of a ref in the answer of a run.
fn movement(answer: &Value, repository: &Value, name: &str) -> Value {
    let movements = answer["ref_movements"].as_array().expect("movements");
    let found = movements.iter().find(|it| it["repository"] == *repository && it["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {movements:#?}")).clone()
}

fn run_id(answer: &Value) -> String {
    answer["run_id"].as_str().expect("an id").to_owned()
}

fn with_submodule() -> Repo {
    let repo = Repo::new();
    repo.sh("git init -q -b main ../sub; cd ../sub; echo x > f; git add .; git commit -qm sub");
    repo.sh("git -c protocol.file.allow=always submodule --quiet add ../sub dep; git commit -qm submodule");
    repo
}

const COMMIT_IN_DEP: &str = "cd dep; echo y >> f; git commit -qam inside";

#[test]
fn a_commit_inside_a_submodule_is_a_change_of_its_path_and_a_moved_head() {
    let repo = with_submodule();
    let before = git(&repo, "dep", &["rev-parse", "HEAD"]);
    let outcome = repo.run(COMMIT_IN_DEP);
    let after = git(&repo, "dep", &["rev-parse", "HEAD"]);
    outcome.is_out(&["dep", "dep/f"]);
    let head = movement(&outcome.json, &json!("dep"), "HEAD");
    assert_eq!(
        (&head["before"], &head["after"], &head["change"]),
        (&json!(before), &json!(after), &json!("moved"))
    );
    let row = format!("dep: HEAD moved {} → {}", &before[..10], &after[..10]);
    assert!(outcome.words.contains(&row), "{}", outcome.words);
}

#[test]
fn a_commit_inside_a_submodule_that_is_in_scope_passes() {
    let repo = with_submodule();
    repo.run_with(&["--scope", "dep", "--scope", "dep/**"], COMMIT_IN_DEP).passes();
    // No content changes, but the commit recorded for the submodule does.
    let outcome = repo.run_with(&["--scope", "dep"], "cd dep; git commit -q --allow-empty -m nothing");
    outcome.passes();
    assert_eq!(outcome.delta(), ["dep"]);
    repo.run("cd dep; git commit -q --allow-empty -m nothing").is_out(&["dep"]);
}

/// A commit inside a submodule is gone with the view, like one of the tree itself: that is said, and the file lands.
#[test]
fn a_commit_inside_a_submodule_in_a_view_is_told() {
    let repo = with_submodule();
    let before = git(&repo, "dep", &["rev-parse", "HEAD"]);
    let outcome =
        repo.run_with(&["--enforce", "overlay", "--scope", "dep", "--scope", "dep/**"], COMMIT_IN_DEP);
    if outcome.json["reason"] == "ENFORCE.UNAVAILABLE" {
        probity_testkit::skip!("there are no views here");
        return;
    }
    outcome.passes();
    assert_eq!(outcome.delta(), ["dep/f"]);
    assert_eq!(movement(&outcome.json, &json!("dep"), "HEAD")["change"], "moved");
    assert_eq!(git(&repo, "dep", &["rev-parse", "HEAD"]), before);
    assert_eq!(verify(&outcome.evidence_dir(), None).json["outcome"], "PASS");
}

#[test]
fn references_of_submodules_are_protected_with_the_others() {
    let repo = with_submodule();
    repo.write("probity.toml", "[workspace]\nrefs = \"protect\"\n");
    let outcome = repo.run_with(&["--scope", "dep", "--scope", "dep/**"], "git -C dep branch topic");
    outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", "dep");
    assert_eq!(movement(&outcome.json, &json!("dep"), "refs/heads/topic")["change"], "created");
}

#[test]
fn a_revert_says_that_a_submodules_head_is_not_undone_and_how_to_undo_it() {
    let repo = with_submodule();
    let before = git(&repo, "dep", &["rev-parse", "HEAD"]);
    let id = run_id(&repo.run(COMMIT_IN_DEP).json);
    let reverted = repo.ask(&["revert", &id]);
    assert_eq!(reverted.exit_code, Some(1), "{reverted:#?}");
    let of = |path: &str| {
        let paths = reverted.json["paths"].as_array().expect("paths");
        paths.iter().find(|it| it["path"] == path).expect("is told").clone()
    };
    assert_eq!(of("dep/f")["action"], "restored");
    assert_eq!(
        (&of("dep")["action"], &of("dep")["reason"]),
        (&json!("refused"), &json!("REVERT.REF_NOT_UNDONE"))
    );
    let command = format!("git -C dep reset --mixed {before}");
    assert!(of("dep")["detail"].as_str().is_some_and(|it| it.contains(&command)), "{reverted:#?}");
    // The printed command works, and leaves nothing to undo.
    repo.sh(&command);
    assert_eq!(git(&repo, "", &["status", "--porcelain"]), "");
    assert_eq!(repo.ask(&["revert", &id, "--dry-run"]).json["paths"][0]["action"], "restored");
}

#[test]
fn a_revert_after_a_commit_says_that_the_commit_stays_and_how_to_drop_it() {
    let repo = Repo::new();
    let before = git(&repo, "", &["rev-parse", "HEAD"]);
    let outcome = repo.run("echo x >> docs/d.md; echo y >> src/a.py; git commit -qam both");
    outcome.is_out(&["docs/d.md"]);
    let reverted = repo.ask(&["revert", &run_id(&outcome.json)]);
    assert_eq!(reverted.exit_code, Some(0), "{reverted:#?}");
    let note = &reverted.json["refs"][0];
    let detail = note["detail"].as_str().expect("text");
    let after = git(&repo, "", &["rev-parse", "HEAD"]);
    let moved =
        format!("branch main moved from {} to {} during the run (1 commit)", &before[..10], &after[..10]);
    assert!(
        detail.starts_with(&moved) && detail.contains("the commit still contains the change"),
        "{detail}"
    );
    assert_eq!(note["command"], format!("git reset --mixed {before}"));
    repo.sh(note["command"].as_str().expect("a command"));
    assert_eq!(git(&repo, "", &["status", "--porcelain"]), "M src/a.py", "what was in scope stays");
}

/// One commit may place thousands of changes: it is asked about once, and the list does not say the same of each.
#[test]
fn a_revert_asks_once_about_a_commit_with_many_paths() {
    let repo = Repo::new();
    let script = "for i in $(seq 60); do echo $i > docs/n$i.md; done; git add docs; git commit -qm many; git rm -q 'docs/n*'; git commit -qm gone";
    let outcome = repo.run(script);
    let untracked = outcome.json["untracked_delta_paths"].as_array().map_or(0, Vec::len);
    assert!(untracked >= 60, "{outcome:#?}");
    let output = repo.probity(&["--timings", "revert", "last"]).output().expect("probity starts");
    let (told, work) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let n_git: usize = work
        .lines()
        .find_map(|line| line.strip_suffix("  git processes")?.trim().parse().ok())
        .unwrap_or_else(|| panic!("no count of git processes: {work}"));
    assert!(n_git < 30, "{n_git} git processes: {work}");
    assert!(told.contains(" holds it: undo the commit REVERT.REF_NOT_UNDONE"), "{told}");
    assert!(told.contains(" more in the same way"), "{told}");
    assert!(told.lines().count() < 20, "{told}");
}

/// Changes in scope stay, and a path that is named goes back whatever the scope was.
#[test]
fn a_named_path_is_undone_although_it_was_in_scope() {
    let repo = Repo::new();
    let run = repo
        .run_with(&["--enforce", "observe", "--scope", "src/**"], "echo x >> src/a.py; echo y > src/new.py");
    run.passes();
    let output = repo.probity(&["revert", "last"]).output().expect("probity starts");
    let words = String::from_utf8_lossy(&output.stdout).into_owned();
    let id = run_id(&run.json);
    for part in [
        format!("nothing to undo: no out-of-scope change of run {id} is in the tree\n"),
        "  kept      src/a.py and 1 more  in scope\n".to_owned(),
        format!("to undo that, too: probity revert {id} 'src/a.py'\n"),
    ] {
        assert!(words.contains(&part), "no `{part}` in {words}");
    }
    let reverted = repo.ask(&["revert", "last", "src/a.py", "src/new.py"]);
    assert_eq!(reverted.exit_code, Some(0), "{reverted:#?}");
    assert_eq!(git(&repo, "", &["status", "--porcelain"]), "");
    assert_eq!(verify(&reverted.evidence_dir(), None).json["outcome"], "PASS");
    assert_eq!(repo.ask(&["revert", "last"]).json["kept"], json!([]));
    repo.ask(&["revert", "last", "docs/d.md"]).refused_with("PATH.INVALID");
}

#[test]
fn a_branch_that_moved_again_after_the_run_gets_no_command() {
    let repo = Repo::new();
    let outcome = repo.run("echo x >> docs/d.md; git commit -qam one");
    repo.sh("git commit -q --allow-empty -m later");
    let note = repo.ask(&["revert", &run_id(&outcome.json)]).json["refs"][0].clone();
    assert_eq!(note["command"], Value::Null, "{note}");
    assert!(note["detail"].as_str().is_some_and(|it| it.contains("by now")), "{note}");
}

#[test]
fn a_switched_branch_can_be_switched_back_with_the_files_kept() {
    let repo = Repo::new();
    let outcome = repo.run("git checkout -qb topic; echo x >> docs/d.md; git commit -qam one");
    assert!(outcome.words.contains("new branch topic at "), "{}", outcome.words);
    assert_eq!(movement(&outcome.json, &Value::Null, "refs/heads/topic")["change"], "created");
    let reverted = repo.ask(&["revert", &run_id(&outcome.json)]);
    let commands =
        || reverted.json["refs"].as_array().expect("notes").iter().filter_map(|it| it["command"].as_str());
    assert_eq!(
        commands().collect::<Vec<_>>(),
        ["git symbolic-ref HEAD refs/heads/main && git reset --mixed", "git branch -D topic"]
    );
    commands().for_each(|command| repo.sh(command));
    assert_eq!(git(&repo, "", &["status", "--porcelain", "--branch"]), "## main");
}

#[test]
fn a_deleted_branch_is_said_to_be_deleted() {
    let repo = Repo::new();
    repo.sh("git branch old");
    let outcome = repo.run("git branch -qD old");
    outcome.passes();
    assert_eq!(movement(&outcome.json, &Value::Null, "refs/heads/old")["change"], "deleted");
    assert!(outcome.words.contains("branch old deleted (was at "), "{}", outcome.words);
}

#[test]
fn a_rename_is_one_row_with_both_verdicts() {
    let repo = Repo::new();
    let outcome = repo.run("git mv src/a.py docs/a.py");
    outcome.is_out(&["docs/a.py"]);
    assert_eq!(outcome.delta(), ["docs/a.py", "src/a.py"]);
    assert_eq!(outcome.json["renames"], json!([{ "from": "src/a.py", "to": "docs/a.py" }]));
    assert!(outcome.words.contains("src/a.py → docs/a.py  in scope → out of scope"), "{}", outcome.words);
}

#[test]
fn a_file_of_large_file_storage_can_be_started_and_is_no_change() {
    let repo = Repo::new();
    repo.sh(
        "printf '*.bin filter=lfs diff=lfs merge=lfs -text\\n' > .gitattributes; printf 'large' > a.bin; \
         oid=$(sha256sum a.bin | cut -d' ' -f1); \
         blob=$(printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize 5\\n' $oid | git hash-object -w --stdin); \
         git update-index --add --cacheinfo 100644,$blob,a.bin; git add .gitattributes; git commit -qm lfs",
    );
    assert_eq!(repo.ask(&["status"]).json["dirty"]["count"], 0);
    let verified = repo.ask(&["contract", "verify"]);
    assert_eq!(verified.json["changed_files"], json!([]), "{verified:#?}");
    let started = repo.ask(&["start", "a.bin", "--intent", "change it"]);
    assert_eq!(started.json["edit_allowed"], true, "{started:#?}");
}

/// Creates a partial clone beside the repository, with every file of HEAD written by hand: it has no blobs.
fn partial_clone(repo: &Repo) -> Repo {
    repo.sh("git config uploadpack.allowFilter true; echo more >> src/b.py; git commit -qam second");
    repo.sh("mkdir ../part; git clone -q --no-checkout --filter=blob:none \"file://$PWD\" ../part/repo; \
             for f in $(git ls-files); do mkdir -p ../part/repo/$(dirname $f); cp $f ../part/repo/$f; done; \
             cd ../part/repo; git read-tree HEAD");
    Repo::existing(repo, "part")
}

#[test]
fn a_partial_clone_says_which_content_it_lacks_before_anything_is_done() {
    let origin = Repo::new();
    let part = partial_clone(&origin);
    let refused = part.ask(&["contract", "verify", "--base", "HEAD^1"]);
    refused.refused_with("GIT.OBJECT_MISSING");
    let message = refused.json["message"].as_str().expect("a message");
    assert!(message.contains("of `src/b.py` (partial clone)"), "{message}");
    let id = git(&part, "", &["rev-parse", "HEAD^1:src/b.py"]);
    let missing = git(&part, "", &["rev-list", "--objects", "--missing=print", "HEAD"]);
    assert!(missing.contains(&format!("?{id}")), "nothing was fetched: {missing}");
    git(&part, "", &["cat-file", "-e", &id]);
    assert_ne!(part.ask(&["contract", "verify", "--base", "HEAD^1"]).json["reason"], "GIT.OBJECT_MISSING");
}

#[test]
fn what_a_partial_clone_lacks_is_kept_at_the_start_and_can_be_reverted() {
    let origin = Repo::new();
    let part = partial_clone(&origin);
    let outcome = part.run("rm docs/d.md");
    outcome.is_out(&["docs/d.md"]);
    let reverted = part.ask(&["revert", &run_id(&outcome.json)]);
    assert_eq!(reverted.exit_code, Some(0), "{reverted:#?}");
    assert_eq!(std::fs::read_to_string(part.path().join("docs/d.md")).expect("is back"), "# D\n");
}

#[test]
fn a_shallow_clone_says_that_the_base_is_not_in_it() {
    let origin = Repo::new();
    origin.sh("git commit -q --allow-empty -m second; mkdir ../part; git clone -q --depth 1 \"file://$PWD\" ../part/repo");
    let shallow = Repo::existing(&origin, "part");
    let refused = shallow.ask(&["contract", "verify", "--base", "HEAD^1"]);
    refused.refused_with("GIT.HISTORY_MISSING");
    assert!(
        refused.json["next_step"].as_str().is_some_and(|it| it.contains("git fetch --unshallow")),
        "{refused:#?}"
    );
}

#[test]
fn a_broken_repository_is_told_in_gits_own_words() {
    let repo = Repo::new();
    let tree = git(&repo, "", &["rev-parse", "HEAD^{tree}"]);
    repo.sh(&format!("rm -f .git/objects/{}/{}", &tree[..2], &tree[2..]));
    let failed = repo.ask(&["contract", "verify"]);
    assert_eq!(
        (failed.exit_code, &failed.json["reason"]),
        (Some(70), &json!("GIT.COMMAND_FAILED")),
        "{failed:#?}"
    );
    let message = failed.json["message"].as_str().expect("a message");
    assert!(
        message.starts_with("`git ls-tree ") && message.contains("failed with exit code 128: "),
        "{message}"
    );
}
