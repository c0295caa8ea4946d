//! Cases 59–73: git's own directory, and history.

use crate::repo::Repo;

#[test]
fn a_planted_hook_is_a_protected_change() {
    let outcome = Repo::new().run("echo 'exit 0' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit");
    outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", ".git/hooks/pre-commit");
    assert_eq!(outcome.json["reason"], "PROTECTED.CHANGED");
    Repo::new()
        .run_with(&["--scope", "**", "--grant", ".git/hooks/*"], "echo 'exit 0' > .git/hooks/pre-commit")
        .passes();
}

#[test]
fn git_configuration_is_protected() {
    Repo::new().run("git config core.hooksPath evil").finds("PROTECTED.CHANGED", ".git/config");
    Repo::new()
        .run("echo '* -text' > .git/info/attributes")
        .finds("PROTECTED.CHANGED", ".git/info/attributes");
    let alternates = ".git/objects/info/alternates";
    Repo::new()
        .run(&format!("mkdir -p .git/objects/info; echo /tmp > {alternates}"))
        .finds("PROTECTED.CHANGED", alternates);
    Repo::new().run("echo x > .git/unheard-of").finds("PROTECTED.CHANGED", ".git/unheard-of");
}

#[test]
fn committing_hides_nothing() {
    let outcome = Repo::new().run("echo x >> docs/d.md; git add .; git commit -qm sneaky");
    outcome.is_out(&["docs/d.md"]);
    let moved = outcome.json["ref_movements"].to_string();
    assert!(moved.contains("refs/heads/main"), "{moved}");
}

#[test]
fn rewriting_history_hides_nothing() {
    Repo::new().run("echo x >> docs/d.md; git commit -qa --amend -m start").is_out(&["docs/d.md"]);
    Repo::new()
        .run("git checkout -qb other; git rm -q docs/d.md; git commit -qm gone")
        .is_out(&["docs/d.md"]);
    Repo::new()
        .run("umask 022; echo x >> docs/d.md; git commit -qam one; git rebase -q --root")
        .is_out(&["docs/d.md"]);
}

#[test]
fn a_new_git_directory_hides_nothing() {
    let script = "echo x >> docs/d.md; rm -rf .git; git init -q -b main; git add .; git commit -qm start";
    let repo = Repo::new();
    let outcome = repo.run(script);
    assert_eq!(outcome.exit_code, Some(1), "{outcome:#?}");
    // The new history holds every file as new.
    let untracked = serde_json::json!([".gitignore", "docs/d.md", "src/b.py"]);
    assert_eq!(outcome.json["untracked_delta_paths"], untracked);
    assert!(outcome.has_reason("PROTECTED.CHANGED"), "{outcome:#?}");
    assert!(outcome.evidence_dir().join("manifest.json").exists());
}

#[test]
fn a_redirected_git_directory_is_protected() {
    let script = "mv .git ../moved; echo \"gitdir: $PWD/../moved\" > .git; echo x >> docs/d.md";
    let repo = Repo::new();
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-ec", script]);
    // The evidence goes there, because the state moved away with git's directory.
    let output = command.env("TMPDIR", repo.outside()).output().expect("starts");
    let outcome = repo.outcome(&output);
    assert_eq!(outcome.exit_code, Some(1), "{outcome:#?}");
    assert!(outcome.evidence_dir().starts_with(repo.outside()), "{outcome:#?}");
    assert!(
        outcome.has_reason("PROTECTED.CHANGED") && outcome.has_reason("RECON.UNTRACKED_DELTA"),
        "{outcome:#?}"
    );
    Repo::new().run("git config core.worktree /tmp; echo x >> docs/d.md").is_out(&["docs/d.md"]);
}

#[test]
fn a_stash_is_recorded() {
    Repo::new().run("umask 022; echo x >> docs/d.md; git stash -q").is_out(&["docs/d.md"]);
    let outcome = Repo::new().run("umask 022; echo x >> src/a.py; git stash -q");
    outcome.passes();
    assert!(outcome.json["ref_movements"].to_string().contains("refs/stash"), "{outcome:#?}");
}

#[test]
fn new_refs_are_recorded_and_can_be_protected() {
    let repo = Repo::new();
    let outcome = repo.run("git tag v1; git branch topic");
    outcome.passes();
    let moved = outcome.json["ref_movements"].to_string();
    assert!(moved.contains("refs/tags/v1") && moved.contains("refs/heads/topic"), "{moved}");
    repo.write("probity.toml", "[workspace]\nrefs = \"protect\"\n");
    repo.run("git tag v2").fails_with("PROTECTED.CHANGED");
}

#[test]
fn a_corrupt_index_is_protected_and_changes_no_verdict() {
    let outcome = Repo::new().run("echo garbage > .git/index; echo x >> docs/d.md");
    outcome.is_out(&["docs/d.md"]).finds("PROTECTED.CHANGED", ".git/index");
}

#[test]
fn a_stale_index_lock_changes_no_verdict() {
    let repo = Repo::new();
    repo.sh("touch .git/index.lock");
    repo.run("echo x >> src/a.py").passes();
    repo.run("echo x >> docs/d.md").is_out(&["docs/d.md"]);
}

fn with_submodule() -> Repo {
    let repo = Repo::new();
    repo.sh("git init -q ../sub; cd ../sub; echo x > f; git add .; git commit -qm sub");
    repo.sh("git -c protocol.file.allow=always submodule --quiet add ../sub sub; git commit -qm submodule");
    repo
}

#[test]
fn content_of_submodules_is_judged() {
    with_submodule().run("echo y >> sub/f").is_out(&["sub/f"]);
}

#[test]
fn git_configuration_does_not_hide_submodules() {
    let repo = with_submodule();
    repo.sh("git config diff.ignoreSubmodules all");
    repo.run("echo y >> sub/f").is_out(&["sub/f"]);
    repo.run("echo 'exit 0' > .git/modules/sub/hooks/pre-commit")
        .finds("PROTECTED.CHANGED", ".git/modules/sub/hooks/pre-commit");
}

#[test]
fn a_nested_repository_is_content() {
    let outcome = Repo::new().run("git init -q nested; echo x > nested/f");
    outcome.fails_with("RECON.UNTRACKED_DELTA");
    let delta = outcome.delta();
    assert!(delta.contains(&"nested/f".into()) && delta.contains(&"nested/.git/config".into()), "{delta:?}");
}

#[test]
fn a_staged_change_alone_is_judged() {
    let script =
        "cp -p docs/d.md ../aside; echo x >> docs/d.md; git add .; cat ../aside > docs/d.md; rm ../aside";
    let outcome = Repo::new().run(script);
    outcome.is_out(&["docs/d.md"]);
    assert_eq!(outcome.json["index_changed"], true, "{outcome:#?}");
}

#[test]
fn a_new_worktree_is_recorded() {
    let outcome = Repo::new().run("git worktree add -q ../other -b other");
    outcome.passes();
    assert!(outcome.json["ref_movements"].to_string().contains("refs/heads/other"), "{outcome:#?}");
}
