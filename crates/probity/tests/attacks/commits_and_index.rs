//! Attempts to carry an out-of-scope change out by a commit, a reference or the index alone.

use crate::repo::{Outcome, Repo};
use serde_json::Value;

/// Writes a commit of `docs/d.md` on top of `HEAD` without touching the working tree or the index, and prints its id.
const PLUMBING_COMMIT: &str = "export GIT_INDEX_FILE=.git/probe-index; git read-tree HEAD; \
     blob=$(echo evil | git hash-object -w --stdin); git update-index --cacheinfo 100644,$blob,docs/d.md; \
     commit=$(git commit-tree -p HEAD -m x $(git write-tree)); rm .git/probe-index; unset GIT_INDEX_FILE;";

/// Returns where the change of `path` was found, from the evidence.
fn place(outcome: &Outcome, path: &str) -> Value {
    let manifest = std::fs::read(outcome.evidence_dir().join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
    let delta = manifest["delta"].as_array().expect("a delta").clone();
    let row = delta.into_iter().find(|row| row["path"] == path).expect("a row of the path");
    row["place"].clone()
}

/// Runs `script` with `src/a.py` as its scope and asserts that `docs/d.md` is found in a commit that `reference` holds.
fn is_committed(repo: &Repo, script: &str, reference: &str) {
    let outcome = repo.run(script);
    outcome.is_out(&["docs/d.md"]);
    let place = place(&outcome, "docs/d.md");
    assert_eq!(
        (&place["in"], &place["ref"]),
        (&"commit".into(), &reference.into()),
        "{script}: {outcome:#?}"
    );
    let findings = outcome.json["findings"].to_string();
    let id = place["commit"].as_str().expect("an id");
    assert!(findings.contains(&id[..10]), "the finding names the commit: {findings}");
}

fn is_staged(repo: &Repo, script: &str) {
    let outcome = repo.run(script);
    outcome.is_out(&["docs/d.md"]);
    assert_eq!(place(&outcome, "docs/d.md")["in"], "index", "{script}: {outcome:#?}");
}

#[test]
fn a_commit_holds_what_the_tree_does_not() {
    let script = "echo evil > docs/d.md; git commit -qam x; git checkout -q HEAD~ -- docs/d.md; git reset -q";
    is_committed(&Repo::new(), script, "refs/heads/main");
}

#[test]
fn a_commit_is_made_by_plumbing_alone() {
    let script = format!("{PLUMBING_COMMIT} git update-ref refs/heads/main $commit");
    is_committed(&Repo::new(), &script, "refs/heads/main");
}

#[test]
fn a_commit_is_hidden_on_another_reference() {
    for reference in ["refs/heads/topic", "refs/tags/v1", "refs/stash", "refs/custom/x", "refs/replace/x"] {
        let script = format!("{PLUMBING_COMMIT} git update-ref {reference} $commit");
        is_committed(&Repo::new(), &script, reference);
    }
    let annotated = format!("{PLUMBING_COMMIT} git tag -a -m x v1 $commit");
    is_committed(&Repo::new(), &annotated, "refs/tags/v1");
}

/// A remote-tracking reference that nobody fetched excuses nothing.
#[test]
fn a_tag_is_covered_by_a_remote_tracking_reference() {
    let script = format!(
        "{PLUMBING_COMMIT} git update-ref refs/remotes/origin/x $commit; git update-ref refs/tags/v1 $commit"
    );
    is_committed(&Repo::new(), &script, "refs/tags/v1");
}

#[test]
fn a_commit_is_left_on_a_detached_head() {
    let script = format!("{PLUMBING_COMMIT} git update-ref --no-deref HEAD $commit");
    is_committed(&Repo::new(), &script, "HEAD");
}

#[test]
fn a_commit_is_hidden_behind_a_symbolic_reference() {
    for target in ["refs/remotes/origin/x", "refs/notes/x", "refs/prefetch/x"] {
        let script = format!(
            "{PLUMBING_COMMIT} git update-ref {target} $commit; git symbolic-ref refs/heads/topic {target}"
        );
        is_committed(&Repo::new(), &script, "refs/heads/topic");
        let script =
            format!("{PLUMBING_COMMIT} git update-ref {target} $commit; git symbolic-ref HEAD {target}");
        is_committed(&Repo::new(), &script, "HEAD");
    }
    // The reference was there, and what it leads to moved.
    let repo = Repo::new();
    repo.sh(
        "git update-ref refs/remotes/origin/x HEAD; git symbolic-ref refs/heads/topic refs/remotes/origin/x",
    );
    let script = format!("{PLUMBING_COMMIT} git update-ref refs/remotes/origin/x $commit");
    is_committed(&repo, &script, "refs/heads/topic");
}

#[test]
fn a_commit_is_left_without_a_branch_in_a_new_worktree() {
    let script = "git worktree add -q --detach ../new; cd ../new; echo evil > docs/d.md; git commit -qam x";
    is_committed(&Repo::new(), script, "worktrees/new/HEAD");
    let repo = Repo::new();
    let [strict, _] = finish(&repo, script);
    assert_eq!(strict.exit_code, Some(0), "{strict:#?}");
    assert_eq!(strict.json["committed_elsewhere"][0]["attribution"], "other_worktree", "{strict:#?}");
}

#[test]
fn an_evil_commit_is_covered_by_a_good_one() {
    let script = "echo evil > docs/d.md; git commit -qam x; git revert --no-edit HEAD > /dev/null";
    is_committed(&Repo::new(), script, "refs/heads/main");
}

#[test]
fn a_stash_is_pushed_below_another_one() {
    let script = "echo evil > docs/d.md; git stash -q; echo 1 >> src/a.py; git stash -q; git stash apply -q";
    is_committed(&Repo::new(), script, "refs/stash");
}

#[test]
fn a_merge_holds_what_no_side_holds() {
    let script = "git checkout -qb side; echo 1 >> src/a.py; git commit -qam side; git checkout -q main; \
                  git merge -q --no-ff --no-commit side; echo evil > docs/d.md; git add docs/d.md; \
                  git commit -qm merge; git checkout -q HEAD~ -- docs/d.md; git reset -q";
    is_committed(&Repo::new(), script, "refs/heads/main");
}

#[test]
fn a_merge_drops_what_one_side_changed() {
    let repo = Repo::new();
    repo.sh("git branch old; echo fixed > docs/d.md; git commit -qam fix");
    let script =
        "commit=$(git commit-tree -p HEAD -p old -m x 'old^{tree}'); git update-ref refs/heads/main $commit";
    is_committed(&repo, script, "refs/heads/main");
    repo.sh("git reset -q --hard main~");
    let swapped = "commit=$(git commit-tree -p old -p main -m x 'old^{tree}'); git branch topic $commit";
    is_committed(&repo, swapped, "refs/heads/topic");
}

#[test]
fn replaced_and_grafted_objects_do_not_hide_a_commit() {
    let replaced =
        format!("{PLUMBING_COMMIT} git update-ref refs/heads/main $commit; git replace $commit HEAD~");
    let outcome = Repo::new().run(&replaced);
    outcome.is_out(&["docs/d.md"]);
    let grafted =
        format!("{PLUMBING_COMMIT} git update-ref refs/heads/main $commit; echo $commit > .git/info/grafts");
    let outcome = Repo::new().run_with(&["--scope", "src/a.py", "--grant", ".git/info/**"], &grafted);
    outcome.is_out(&["docs/d.md"]);
}

#[test]
fn a_commit_in_the_scope_of_a_protected_path_is_a_violation() {
    let script = "printf '[workspace]\\nbuild_outputs = [\"**\"]\\n' > src/probity.toml; git add src; \
                  git commit -qm x; git rm -q --cached src/probity.toml; rm src/probity.toml";
    let outcome = Repo::new().run_with(&["--scope", "src/**"], script);
    outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", "src/probity.toml");
}

#[test]
fn a_build_output_that_is_committed_or_staged_is_judged() {
    for (leave, found) in [("git commit -qm x", "commit"), ("true", "index")] {
        let repo = Repo::new();
        repo.write("probity.toml", "[workspace]\nbuild_outputs = [\"build/**\"]\n");
        repo.run("mkdir -p build; echo evil > build/x").passes();
        let outcome = repo.run(&format!("mkdir -p build; echo evil2 > build/x; git add -f build/x; {leave}"));
        outcome.is_out(&["build/x"]);
        assert_eq!(place(&outcome, "build/x")["in"], found, "{outcome:#?}");
        assert_eq!(outcome.json["exempt_delta_paths"], serde_json::json!([]));
    }
}

#[test]
fn what_git_tracks_is_no_build_output() {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nbuild_outputs = [\"docs/**\"]\n");
    repo.run("echo evil > docs/d.md").is_out(&["docs/d.md"]);
}

#[test]
fn a_change_is_only_staged() {
    for script in [
        "echo evil > docs/d.md; git add docs/d.md; git cat-file blob HEAD:docs/d.md > docs/d.md",
        "git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),docs/d.md",
        "git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),docs/d.md; \
         git update-index --skip-worktree docs/d.md",
        "git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),docs/d.md; \
         git update-index --assume-unchanged docs/d.md",
        "git rm -q --cached docs/d.md",
        "git update-index --chmod=+x docs/d.md",
        "git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),docs/d.md; git update-index --split-index",
        "git update-index --index-version 4 --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),docs/d.md",
        "id=$(echo evil | git hash-object -w --stdin); \
         printf '0 0000000000000000000000000000000000000000\\tdocs/d.md\\n100644 %s 2\\tdocs/d.md\\n' $id | git update-index --index-info",
        // Flags that hide later edits from git.
        "git update-index --skip-worktree docs/d.md",
        "git update-index --assume-unchanged docs/d.md",
    ] {
        is_staged(&Repo::new(), script);
    }
}

#[test]
fn a_new_file_is_only_staged() {
    let script = "echo evil > NEW; git add NEW; rm NEW";
    let outcome = Repo::new().run(script);
    outcome.is_out(&["NEW"]);
    assert_eq!(place(&outcome, "NEW")["in"], "index");
    let outcome = Repo::new().run("echo evil > NEW; git add -N NEW; rm NEW");
    outcome.is_out(&["NEW"]);
}

#[test]
fn a_submodule_takes_a_commit_on_a_branch_that_is_not_checked_out() {
    let repo = Repo::new();
    repo.sh("git init -q -b main ../dep; cd ../dep; echo d > d; git add .; git commit -qm d; cd ../repo; \
             git -c protocol.file.allow=always submodule --quiet add ../dep dep; git commit -qm dep");
    let script = "cd dep; git checkout -qb evil; echo evil > d; git commit -qam x; git checkout -q main";
    let outcome = repo.run(script);
    outcome.is_out(&["dep/d"]);
    let place = place(&outcome, "dep/d");
    assert_eq!((&place["ref"], &place["repository"]), (&"refs/heads/evil".into(), &"dep".into()), "{place}");
    let staged =
        repo.run("cd dep; git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),d");
    staged.is_out(&["dep/d"]);
}

#[test]
fn a_reference_that_leads_to_no_readable_commit_is_a_violation() {
    for script in [
        "echo feedfeedfeedfeedfeedfeedfeedfeedfeedfeed > .git/refs/heads/evil",
        "git tag evil $(echo evil | git hash-object -w --stdin)",
        "git tag evil 'HEAD^{tree}'",
        "echo garbage > .git/refs/heads/evil",
    ] {
        let outcome = Repo::new().run(script);
        assert_eq!(outcome.exit_code, Some(1), "{script}: {outcome:#?}");
        assert!(outcome.json["findings"].to_string().contains("evil"), "{script}: {outcome:#?}");
    }
}

/// Asserts that git takes the reference for the commit that `script` made, so that a push would take it along.
fn is_read_by_git(repo: &Repo, reference: &str) {
    repo.sh(&format!("test \"$(git rev-parse {reference})\" = \"$(cat .git/description)\""));
}

/// Git reads references in more ways than it writes them.
#[test]
fn a_reference_that_git_reads_otherwise_than_we_do_hides_no_commit() {
    let commit = format!("{PLUMBING_COMMIT} old=$(git rev-parse HEAD);");
    let twice = |name: &str| {
        format!(
            "rm -f .git/{name}; {{ echo '# pack-refs with: peeled fully-peeled sorted '; for i in 1 2 3 4 5 6 7; do \
             echo $commit {name}; done; echo $old {name}; }} > .git/packed-refs;"
        )
    };
    for (script, reference) in [
        (twice("refs/heads/main"), "main"),
        (twice("refs/heads/topic"), "topic"),
        ("printf '%s\\trefs/heads/topic\\n' $commit > .git/packed-refs;".to_owned(), "topic"),
        (
            "mkdir src/refs; echo $commit > src/refs/topic; ln -s ../../../src/refs .git/refs/heads/d;"
                .to_owned(),
            "d/topic",
        ),
        ("echo $commit > src/a.py; ln -s ../../../src/a.py .git/refs/heads/topic;".to_owned(), "topic"),
        ("echo $commit > .git/ORIG_HEAD; echo 'ref: ORIG_HEAD' > .git/refs/heads/topic;".to_owned(), "topic"),
        (
            "echo $commit > .git/FETCH_HEAD; echo 'ref: FETCH_HEAD' > .git/refs/tags/v1;".to_owned(),
            "refs/tags/v1",
        ),
        ("echo $commit > .git/logs/HEAD; echo 'ref: logs/HEAD' > .git/refs/heads/topic;".to_owned(), "topic"),
        (
            "echo $commit > .git/ORIG_HEAD; echo 'ref: main-worktree/ORIG_HEAD' > .git/refs/heads/topic;"
                .to_owned(),
            "topic",
        ),
    ] {
        let repo = Repo::new();
        // The scope takes in what the scripts write to the tree.
        let script = format!("{commit} {script} echo $commit > .git/COMMIT_EDITMSG");
        let outcome = repo.run_with(&["--scope", "src/**"], &script);
        outcome.fails_with("PROTECTED.CHANGED");
        repo.sh("cp .git/COMMIT_EDITMSG .git/description");
        is_read_by_git(&repo, reference);
    }
}

/// Puts a false tree of `docs` into the index, next to true entries: the next commit of anybody takes it from there.
fn index_with_a_false_tree(repo: &Repo) -> std::path::PathBuf {
    repo.sh("git read-tree HEAD; git update-index -q --refresh; cp .git/index ../true-index
        blob=$(echo evil | git hash-object -w --stdin); printf '100644 blob %s\\td.md\\n' $blob | git mktree > ../evil
        git rev-parse HEAD:docs > ../good");
    let outside = repo.path().parent().expect("a parent").to_owned();
    let id = |name: &str| {
        let hex = std::fs::read_to_string(outside.join(name)).expect("an id");
        let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
        (0..20).map(|at| digit(2 * at)).collect::<Vec<u8>>()
    };
    let (good, evil) = (id("good"), id("evil"));
    let mut bytes = std::fs::read(outside.join("true-index")).expect("an index");
    let at = bytes.windows(20).position(|window| window == good).expect("git keeps the tree of `docs`");
    bytes[at..at + 20].copy_from_slice(&evil);
    // Git takes zeros for a checksum that was skipped.
    let end = bytes.len() - 20;
    bytes[end..].fill(0);
    let forged = outside.join("forged-index");
    std::fs::write(&forged, bytes).expect("writes");
    forged
}

#[test]
fn an_index_with_a_false_tree_is_found() {
    let repo = Repo::new();
    let forged = index_with_a_false_tree(&repo);
    let script = format!("cp '{}' .git/index", forged.display());
    let outcome = repo.run(&script);
    outcome.fails_with("PROTECTED.CHANGED");
    assert!(outcome.json["findings"].to_string().contains("docs/"), "{outcome:#?}");
    let repo = Repo::new();
    let forged = index_with_a_false_tree(&repo);
    let [strict, plain] = finish(&repo, &format!("cp '{}' .git/index", forged.display()));
    assert_eq!(strict.exit_code, Some(3), "{strict:#?}");
    assert!(plain.json.to_string().contains(".git/index"), "{plain:#?}");
    // It is no false alarm: git takes the tree for what it commits.
    repo.sh(
        "echo 1 >> src/a.py; git add src/a.py; git commit -qm x; test \"$(git show HEAD:docs/d.md)\" = evil",
    );
    // What git makes by itself is true.
    let repo = Repo::new();
    repo.run("git read-tree HEAD; echo 1 >> src/a.py; git add src/a.py; git write-tree; git update-index --split-index; git add .")
        .passes();
}

/// The next commit of anybody would have it as a parent.
#[test]
fn a_commit_waits_in_a_merge_that_was_begun() {
    let script = format!("{PLUMBING_COMMIT} echo $commit > .git/MERGE_HEAD");
    is_committed(&Repo::new(), &script, "MERGE_HEAD");
    let second =
        format!("{PLUMBING_COMMIT} printf '%s\\n%s\\n' $(git rev-parse HEAD) $commit > .git/MERGE_HEAD");
    is_committed(&Repo::new(), &second, "MERGE_HEAD 2");
    let repo = Repo::new();
    repo.sh("git checkout -qb topic; echo theirs > src/a.py; git commit -qam t; git checkout -q main; echo ours > src/a.py; git commit -qam o");
    repo.run("git merge -q topic || true; test -e .git/MERGE_HEAD").passes();
}

#[test]
fn amend_and_revert_know_what_is_only_committed_or_staged() {
    let repo = Repo::new();
    let script = format!("{PLUMBING_COMMIT} git update-ref refs/heads/main $commit; git reset -q");
    repo.run(&script).is_out(&["docs/d.md"]);
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!(reverted.exit_code, Some(1), "{reverted:#?}");
    let words = reverted.json.to_string();
    assert!(words.contains("REVERT.REF_NOT_UNDONE") && words.contains("git reset --mixed"), "{reverted:#?}");
    let amended = repo.ask(&["amend", "last", "--add", "docs/**", "--why", "meant", "--by", "ann"]);
    assert_eq!(amended.json["status"], "pass", "{amended:#?}");
    let repo = Repo::new();
    repo.run("git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),docs/d.md")
        .is_out(&["docs/d.md"]);
    let reverted = repo.ask(&["revert", "last"]);
    assert!(reverted.json.to_string().contains("git restore --staged -- docs/d.md"), "{reverted:#?}");
    repo.sh("git restore --staged docs/d.md");
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!(reverted.json["paths"][0]["action"], "already_undone", "{reverted:#?}");
}

/// Starts a change of `src/a.py`, lets `script` work, and finishes strictly and then plainly.
fn finish(repo: &Repo, script: &str) -> [Outcome; 2] {
    repo.ask(&["start", "src/a.py", "--intent", "x"]);
    repo.sh(script);
    [repo.ask(&["finish", "--strict"]), repo.ask(&["finish"])]
}

#[test]
fn a_finish_sees_what_is_only_committed_or_staged() {
    for script in [
        "echo evil > docs/d.md; git commit -qam x; git cat-file blob HEAD~:docs/d.md > docs/d.md".to_owned(),
        "echo evil > docs/d.md; git commit -qam x; git revert --no-edit HEAD > /dev/null".to_owned(),
        format!("{PLUMBING_COMMIT} git update-ref refs/heads/main $commit; git reset -q"),
        "git update-index --cacheinfo 100644,$(echo evil | git hash-object -w --stdin),docs/d.md".to_owned(),
        "git rm -q --cached docs/d.md".to_owned(),
        // A submodule is named by a commit alone: nothing in the tree need be of it.
        "git rm -q --cached docs/d.md; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),docs/d.md"
            .to_owned(),
        "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),lib/docs/d.md".to_owned(),
        "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),lib/docs/d.md; git commit -qm x; \
         git rm -q --cached lib/docs/d.md"
            .to_owned(),
        "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),lib/docs/d.md; git commit -qm x"
            .to_owned(),
    ] {
        let repo = Repo::new();
        let [strict, plain] = finish(&repo, &script);
        assert_eq!(strict.exit_code, Some(3), "{script}: {strict:#?}");
        assert!(strict.json.to_string().contains("own_unscoped_dirty"), "{script}: {strict:#?}");
        // Nothing proves whose it is: it is named.
        assert_eq!(plain.exit_code, Some(0), "{script}: {plain:#?}");
        assert!(plain.json.to_string().contains("docs/d.md"), "{script}: {plain:#?}");
    }
}

#[test]
fn what_was_staged_before_the_start_is_not_of_the_change() {
    let repo = Repo::new();
    repo.sh("git update-index --cacheinfo 100644,$(echo old | git hash-object -w --stdin),docs/d.md");
    let [strict, _] = finish(&repo, "echo 1 >> src/a.py; git add src/a.py");
    assert_eq!(strict.exit_code, Some(0), "{strict:#?}");
    let repo = Repo::new();
    let [strict, _] = finish(&repo, "echo 1 >> src/a.py; git commit -qam own");
    assert_eq!(strict.exit_code, Some(0), "{strict:#?}");
}
