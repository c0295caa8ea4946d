//! Attempts to carry an out-of-scope change out of a shared tree past `finish`: by other references, from outside of the
//! root, and by other gate programs than at the start.

use crate::repo::{Outcome, Repo};
use serde_json::Value;

/// Writes a commit of `docs/d.md` on top of `HEAD` without touching the working tree or the index.
const PLUMBING_COMMIT: &str = "export GIT_INDEX_FILE=.git/probe-index; git read-tree HEAD; \
     blob=$(echo evil | git hash-object -w --stdin); git update-index --cacheinfo 100644,$blob,docs/d.md; \
     commit=$(git commit-tree -p HEAD -m x $(git write-tree)); rm .git/probe-index; unset GIT_INDEX_FILE;";

/// Starts a change of `src/a.py`, lets `script` work, and finishes strictly and then plainly.
fn finish(repo: &Repo, script: &str) -> [Outcome; 2] {
    repo.ask(&["start", "src/a.py", "--intent", "x"]);
    repo.sh(script);
    [repo.ask(&["finish", "--strict"]), repo.ask(&["finish"])]
}

fn elsewhere(outcome: &Outcome) -> &Value {
    &outcome.json["committed_elsewhere"][0]
}

#[test]
fn a_finish_sees_what_is_only_on_another_reference() {
    for (script, reference) in [
        (format!("{PLUMBING_COMMIT} git branch topic $commit"), "refs/heads/topic"),
        (format!("{PLUMBING_COMMIT} git tag v1 $commit"), "refs/tags/v1"),
        (format!("{PLUMBING_COMMIT} git tag -a -m x v1 $commit"), "refs/tags/v1"),
        (format!("{PLUMBING_COMMIT} git update-ref refs/custom/x $commit"), "refs/custom/x"),
        ("echo evil > docs/d.md; git stash -q".to_owned(), "refs/stash"),
        ("git checkout -qb topic; echo evil > docs/d.md; git commit -qam x; git checkout -q main".to_owned(), "refs/heads/topic"),
        // Covered by a later commit on the same branch.
        ("git checkout -qb topic; echo evil > docs/d.md; git commit -qam x; git revert --no-edit HEAD > /dev/null; git checkout -q main"
            .to_owned(), "refs/heads/topic"),
    ] {
        let repo = Repo::new();
        let [strict, plain] = finish(&repo, &script);
        assert_eq!(strict.exit_code, Some(3), "{script}: {strict:#?}");
        assert!(strict.json.to_string().contains("own_unscoped_dirty"), "{script}: {strict:#?}");
        // Nothing proves whose it is: it is named.
        assert_eq!(plain.exit_code, Some(0), "{script}: {plain:#?}");
        let found = elsewhere(&plain);
        assert_eq!((&found["path"], &found["ref"]), (&"docs/d.md".into(), &reference.into()), "{script}: {plain:#?}");
        assert_eq!(found["attribution"], "unattributed");
        assert_eq!(plain.json["committed_outside_scope"], serde_json::json!(["docs/d.md"]));
    }
}

/// What such a reference leads to can be pushed, and no path of it can be held against a scope.
#[test]
fn a_finish_names_references_that_lead_to_no_commit() {
    for (script, reference) in [
        ("git tag v1 $(echo evil | git hash-object -w --stdin)".to_owned(), "refs/tags/v1"),
        ("git tag v1 'HEAD^{tree}'".to_owned(), "refs/tags/v1"),
        (
            format!(
                "{PLUMBING_COMMIT} echo $commit > .git/ORIG_HEAD; echo 'ref: ORIG_HEAD' > .git/refs/heads/topic"
            ),
            "refs/heads/topic",
        ),
    ] {
        let repo = Repo::new();
        let [strict, plain] = finish(&repo, &script);
        assert_eq!(strict.exit_code, Some(3), "{script}: {strict:#?}");
        let found = elsewhere(&plain);
        let path = format!(".git/{reference}");
        assert_eq!(
            (&found["path"], &found["ref"]),
            (&path.into(), &reference.into()),
            "{script}: {plain:#?}"
        );
    }
    let repo = Repo::new();
    let script = format!("{PLUMBING_COMMIT} printf '%s\\trefs/heads/topic\\n' $commit > .git/packed-refs");
    for outcome in finish(&repo, &script) {
        assert_ne!(outcome.exit_code, Some(0), "{outcome:#?}");
    }
    let [strict, plain] = finish(&Repo::new(), &format!("{PLUMBING_COMMIT} echo $commit > .git/MERGE_HEAD"));
    assert_eq!(strict.exit_code, Some(3), "{strict:#?}");
    assert_eq!(elsewhere(&plain)["path"], "docs/d.md", "{plain:#?}");
}

#[test]
fn references_from_before_the_start_and_in_scope_are_not_of_the_change() {
    let repo = Repo::new();
    repo.sh(&format!(
        "{PLUMBING_COMMIT} git branch old $commit; git update-ref refs/remotes/origin/main HEAD"
    ));
    let script = format!(
        "git branch again old; git branch topic; echo 1 >> src/a.py; git stash -q; git stash apply -q; \
         {PLUMBING_COMMIT} git update-ref refs/remotes/origin/main $commit"
    );
    let [strict, _] = finish(&repo, &script);
    assert_eq!(strict.exit_code, Some(0), "{strict:#?}");
    assert_eq!(strict.json["committed_elsewhere"], Value::Null);
}

#[test]
fn another_worktree_is_told_and_not_blamed() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../known");
    let script = "(cd ../known; echo 1 > docs/d.md; git commit -qam other)
        git worktree add -q ../new; cd ../new; echo 2 > docs/d.md; git commit -qam other";
    let [strict, _] = finish(&repo, script);
    assert_eq!(strict.exit_code, Some(0), "{strict:#?}");
    let found = elsewhere(&strict);
    assert_eq!(
        (&found["ref"], &found["attribution"]),
        (&"refs/heads/new".into(), &"other_worktree".into()),
        "{strict:#?}"
    );
    assert_eq!(strict.json["committed_elsewhere"][1], Value::Null, "{strict:#?}");
}

#[test]
fn what_an_intent_of_another_worktree_holds_is_its_own() {
    let repo = Repo::new();
    repo.ask(&["start", "src/a.py", "--intent", "x"]);
    repo.sh("git worktree add -q -b topic ../new");
    let other = |arguments: &[&str]| {
        let mut command = repo.probity(arguments);
        command.arg("--json").current_dir(repo.outside().join("new"));
        repo.outcome(&command.output().expect("probity starts"))
    };
    other(&["start", "docs/d.md", "--intent", "y", "--agent", "ben"]);
    repo.sh("cd ../new; echo 2 > docs/d.md; git commit -qam other; cd ../repo; git worktree remove --force ../new");
    let strict = repo.ask(&["finish", "--strict"]);
    assert_eq!(strict.exit_code, Some(0), "{strict:#?}");
    let found = elsewhere(&strict);
    assert_eq!(
        (&found["attribution"], &found["agent"]),
        (&"held_by_intent".into(), &"ben".into()),
        "{strict:#?}"
    );
}

#[test]
fn files_of_git_and_of_probity_cannot_be_declared() {
    let repo = Repo::new();
    for path in [".git/config", ".git", ".probity/x"] {
        repo.ask(&["start", path, "--intent", "x"]).refused_with("PATH.INVALID");
    }
    assert_eq!(repo.ask(&["start", ".gitattributes", ".github/x", "--intent", "x"]).exit_code, Some(0));
}

#[test]
fn a_start_record_without_its_references_accepts_nothing() {
    let repo = Repo::new();
    repo.ask(&["start", "src/a.py", "--intent", "x"]);
    repo.sh(&format!("{PLUMBING_COMMIT} git branch topic $commit; echo 1 >> src/a.py"));
    // The only object with a list of references.
    repo.sh("grep -rlZ '\"elsewhere\"' .git/probity/objects | xargs -0 rm -f");
    let finished = repo.ask(&["finish"]);
    assert_eq!(finished.exit_code, Some(3), "{finished:#?}");
    assert_eq!(finished.json["reason"], "start_record_missing", "{finished:#?}");
}

/// A repository whose root is `src`, below its top.
fn below_the_top(repo: &Repo, arguments: &[&str]) -> Outcome {
    let mut command = repo.probity(arguments);
    command.args(["--json", "--root"]).arg(repo.path().join("src"));
    repo.outcome(&command.output().expect("probity starts"))
}

fn run_below_the_top(repo: &Repo, script: &str) -> Outcome {
    let mut command = repo.probity(&["run", "--json", "--root"]);
    command.arg(repo.path().join("src")).args(["--scope", "a.py", "--", "sh", "-ec", script]);
    repo.outcome(&command.output().expect("probity starts"))
}

#[test]
fn a_run_below_the_top_sees_commits_outside_of_its_root() {
    for script in [
        "echo evil > ../docs/d.md; git commit -qam x; git checkout -q HEAD~ -- ../docs/d.md; git reset -q",
        "echo evil > ../docs/d.md; git commit -qam x",
        "echo evil > ../docs/d.md; git stash -q",
        "git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),docs/d.md",
        "git rm -q --cached ../docs/d.md",
    ] {
        // `git` finds the repository from the root, wherever the command starts.
        let script = format!("cd \"$(git rev-parse --show-toplevel)/src\"; {script}");
        let outcome = run_below_the_top(&Repo::new(), &script);
        outcome.fails_with("RECON.OUTSIDE_ROOT");
        assert!(outcome.json["findings"].to_string().contains("`docs/d.md`"), "{script}: {outcome:#?}");
    }
    let own = "cd \"$(git rev-parse --show-toplevel)/src\"; echo 1 >> a.py; git commit -qam own";
    run_below_the_top(&Repo::new(), own).passes();
}

#[test]
fn a_finish_below_the_top_sees_commits_outside_of_its_root() {
    let repo = Repo::new();
    below_the_top(&repo, &["start", "a.py", "--intent", "x"]);
    repo.sh("echo evil > docs/d.md; echo 1 >> src/a.py; git commit -qam x");
    let strict = below_the_top(&repo, &["finish", "--strict"]);
    assert_eq!(strict.exit_code, Some(3), "{strict:#?}");
    let plain = below_the_top(&repo, &["finish"]);
    assert_eq!(plain.exit_code, Some(0), "{plain:#?}");
    assert_eq!(elsewhere(&plain)["path"], "docs/d.md", "{plain:#?}");
}

/// A repository with the gate `check` that runs `program`, committed.
fn with_gate(program: &str, more: &str) -> Repo {
    let repo = Repo::new();
    repo.write(
        "probity.toml",
        &format!("[[gate]]\nid = \"check\"\nrun = [\"{program}\"]\nkind = \"lint\"\n{more}"),
    );
    repo.write("tools/check", "#!/bin/sh\nexit 1\n");
    repo.sh("chmod +x tools/check; git add .; git commit -qm gate");
    repo
}

fn finish_with_path(repo: &Repo, directory: &std::path::Path) -> Outcome {
    let mut path = directory.as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").expect("a search path"));
    let mut command = repo.probity(&["finish", "--json"]);
    repo.outcome(&command.env("PATH", path).output().expect("probity starts"))
}

#[test]
fn a_gate_program_that_changed_since_the_start_is_not_run() {
    let repo = with_gate("tools/check", "");
    repo.ask(&["start", "src/a.py", "--intent", "x"]);
    repo.sh("echo 1 >> src/a.py; printf '#!/bin/sh\\nexit 0\\n' > tools/check");
    let finished = repo.ask(&["finish"]);
    assert_eq!(finished.exit_code, Some(1), "{finished:#?}");
    let gate = &finished.json["failed_gates"][0];
    let detail = gate["detail"].as_str().expect("a detail");
    assert!(detail.ends_with("tools/check has changed since the change was started"), "{finished:#?}");
}

#[test]
fn a_gate_program_planted_before_the_one_of_the_start_is_not_run() {
    let repo = with_gate("true", "");
    repo.ask(&["start", "src/a.py", "--intent", "x"]);
    repo.sh("echo 1 >> src/a.py; mkdir ../bin; printf '#!/bin/sh\\ntouch ../planted\\n' > ../bin/true; chmod +x ../bin/true");
    // The search path of the start counts, so the planted program is not even found.
    let finished = finish_with_path(&repo, &repo.outside().join("bin"));
    assert_eq!(finished.exit_code, Some(0), "{finished:#?}");
    assert!(!repo.outside().join("planted").exists());
}

#[test]
fn an_input_that_the_policy_declares_stops_the_gate_at_the_finish() {
    let repo = with_gate("true", "inputs = [\"docs/**\"]\n");
    repo.ask(&["start", "src/a.py", "--intent", "x"]);
    repo.sh("echo 1 >> src/a.py; echo evil > docs/d.md");
    let finished = repo.ask(&["finish"]);
    assert_eq!(finished.exit_code, Some(1), "{finished:#?}");
    assert!(finished.json["failed_gates"].to_string().contains("`docs/d.md` has changed"), "{finished:#?}");
    repo.sh("git checkout -q docs/d.md");
    assert_eq!(repo.ask(&["finish"]).exit_code, Some(0));
}

#[test]
fn a_script_that_a_gate_names_is_not_run_if_it_changed_outside_of_the_scope() {
    let started = |run: &str, mode: &str, scope: &[&str]| {
        let repo = with_gate(run, "");
        repo.sh(&format!("chmod {mode} tools/check; git commit -qam mode --allow-empty"));
        repo.ask(&[&["start"], scope, &["--intent", "x"]].concat());
        repo.sh("echo 1 >> src/a.py; printf '#!/bin/sh\\nexit 0\\n' > tools/check");
        repo.ask(&["finish"])
    };
    for (run, mode, detail) in [
        ("sh\", \"tools/check", "-x", "`tools/check`, which its command names, has changed"),
        ("sh\", \"tools/check", "+x", "tools/check has changed since the change was started"),
        ("sh\", \"-c\", \"tools/check src", "+x", "tools/check has changed since the change was started"),
    ] {
        let finished = started(run, mode, &["src/a.py"]);
        assert_eq!(finished.exit_code, Some(1), "{run}: {finished:#?}");
        assert!(finished.json["failed_gates"].to_string().contains(detail), "{run}: {finished:#?}");
    }
    // What was declared may change, unless it is a program.
    let declared = started("sh\", \"tools/check", "-x", &["src/a.py", "tools/check"]);
    assert_eq!(declared.exit_code, Some(0), "{declared:#?}");
}

#[test]
fn a_lost_record_of_gate_programs_accepts_nothing() {
    let repo = with_gate("true", "");
    repo.ask(&["start", "src/a.py", "--intent", "x"]);
    repo.sh("echo 1 >> src/a.py; grep -rlZ '\"search_path\"' .git/probity/objects | xargs -0 rm -f");
    let finished = repo.ask(&["finish"]);
    assert_eq!(finished.json["reason"], "start_record_missing", "{finished:#?}");
}

/// A repository whose references are kept as tables; `None` if this git has none.
fn with_tables() -> Option<Repo> {
    let repo = Repo::new();
    repo.sh("rm -rf .git; git init -q -b main --ref-format=reftable 2> /dev/null && git add . && git commit -q -m start || true");
    repo.path().join(".git/reftable").exists().then_some(repo)
}

#[test]
fn references_kept_as_tables_hide_nothing() {
    let Some(_) = with_tables() else { return probity_testkit::skip!("this git does not know reftable") };
    for (script, reference) in [
        (
            "echo evil > docs/d.md; git commit -qam x; git checkout -q HEAD~ -- docs/d.md; git reset -q"
                .to_owned(),
            "refs/heads/main",
        ),
        (format!("{PLUMBING_COMMIT} git branch topic $commit"), "refs/heads/topic"),
        (format!("{PLUMBING_COMMIT} git tag -a -m x v1 $commit"), "refs/tags/v1"),
        (format!("{PLUMBING_COMMIT} git update-ref --no-deref HEAD $commit"), "HEAD"),
        ("echo evil > docs/d.md; git stash -q; echo 1 >> src/a.py; git stash -q".to_owned(), "refs/stash"),
        (
            "git worktree add -q -b topic ../new; cd ../new; echo evil > docs/d.md; git commit -qam x"
                .to_owned(),
            "refs/heads/topic",
        ),
    ] {
        let repo = with_tables().expect("this git knows reftable");
        let outcome = repo.run(&script);
        outcome.is_out(&["docs/d.md"]);
        assert!(outcome.json.to_string().contains(reference), "{script}: {outcome:#?}");
        if reference != "refs/heads/topic" {
            continue;
        }
        let repo = with_tables().expect("this git knows reftable");
        repo.ask(&["start", "src/a.py", "--intent", "x"]);
        repo.sh(&script);
        let plain = repo.ask(&["finish"]);
        assert_eq!(elsewhere(&plain)["path"], "docs/d.md", "{script}: {plain:#?}");
    }
    let repo = with_tables().expect("this git knows reftable");
    repo.run("echo 1 >> src/a.py; git commit -qam own; git branch topic").passes();
    // Tables that git cannot read any more are no reason to pass.
    let outcome = repo.run("for table in .git/reftable/*.ref; do echo garbage > $table; done");
    assert_eq!(outcome.exit_code, Some(1), "{outcome:#?}");
}

#[test]
fn a_change_of_the_format_of_references_hides_nothing() {
    let Some(_) = with_tables() else { return probity_testkit::skip!("this git does not know reftable") };
    let repo = Repo::new();
    let script = format!(
        "{PLUMBING_COMMIT} git branch topic $commit; rm -r .git/logs; git refs migrate --ref-format=reftable"
    );
    let granted = repo.run_with(&["--scope", "src/a.py", "--grant", ".git/**"], &script);
    granted.fails_with("PROTECTED.CHANGED");
}
