//! Attempts to swap, move or weaken the directory that is judged, and to make a root inside it.

use crate::repo::{Outcome, Repo};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// The run failed, and says that a directory is not what it was.
fn is_displaced(outcome: &Outcome, script: &str) {
    assert_eq!(outcome.exit_code, Some(1), "{script}: {outcome:#?}");
    assert!(outcome.has_reason("PROTECTED.CHANGED"), "{script}: {outcome:#?}");
    let findings = outcome.json["findings"].to_string();
    assert!(findings.contains("was moved away or replaced during the run"), "{script}: {findings}");
}

#[test]
fn the_tree_is_swapped_and_keeps_its_git_directory() {
    let script = "cd ..; mv repo real; mkdir repo; mv real/.git repo; cp -a real/. repo; ln -s ../repo/.git real/.git; \
                  echo evil > real/docs/d.md";
    let outcome = Repo::new().run(script);
    is_displaced(&outcome, script);
    // What is judged is the directory in which the run began.
    assert!(outcome.json["untracked_delta_paths"].to_string().contains("docs/d.md"), "{outcome:#?}");
}

#[test]
fn the_tree_is_replaced_by_a_link_to_itself() {
    let script = "cd ..; mv repo real; ln -s real repo";
    is_displaced(&Repo::new().run(script), script);
}

#[test]
fn the_git_directory_is_replaced_by_a_copy() {
    let script = "mv .git ../old; cp -a ../old .git";
    is_displaced(&Repo::new().run(script), script);
}

#[test]
fn the_common_directory_of_a_worktree_is_replaced_by_a_copy() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../tree -b tree");
    for script in [
        "mv ../repo/.git/worktrees/tree ../old; cp -a ../old ../repo/.git/worktrees/tree",
        "mv ../repo/.git ../old2; cp -a ../old2 ../repo/.git",
    ] {
        let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-ec", script]);
        let outcome =
            repo.outcome(&command.current_dir(repo.outside().join("tree")).output().expect("starts"));
        is_displaced(&outcome, script);
    }
}

#[test]
fn the_mode_of_the_root_is_judged() {
    let repo = Repo::new();
    let outcome = repo.run("chmod 777 .");
    assert!(outcome.has_reason("PROTECTED.CHANGED"), "{outcome:#?}");
    assert!(outcome.json["findings"].to_string().contains("from 0755 to 0777"), "{outcome:#?}");
}

#[test]
fn a_repository_is_planted_in_the_scope() {
    for (script, path) in [
        ("mkdir -p src/auth; git init -q src/auth", "src/auth/.git"),
        ("mkdir -p src/auth; git init -q --separate-git-dir ../elsewhere src/auth", "src/auth/.git"),
        ("mkdir -p src/auth; ln -s ../../.git src/auth/.git", "src/auth/.git"),
    ] {
        let outcome = Repo::new().run_with(&["--scope", "src/**"], script);
        outcome.fails_with("PROTECTED.CHANGED").finds("PROTECTED.CHANGED", path);
        let granted =
            Repo::new().run_with(&["--scope", "src/**", "--grant", "src/auth/.git"], "git init -q src/auth");
        granted.passes().finds("PROTECTED.CHANGED", "src/auth/.git");
    }
}

#[test]
fn a_planted_repository_is_no_way_around_the_policy_above_it() {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nprotected = [\"src/auth/keys\"]\n");
    repo.sh("git add probity.toml; git commit -qm policy; git init -q src/auth");
    let mut command = repo.probity(&["run", "--json", "--scope", "**", "--creates", "--", "true"]);
    let outcome = repo.outcome(&command.current_dir(repo.path().join("src/auth")).output().expect("starts"));
    outcome.refused_with("ROOT.NESTED");
    // The one who means it says so.
    let mut command =
        repo.probity(&["run", "--json", "--root", ".", "--scope", "**", "--creates", "--", "true"]);
    repo.outcome(&command.current_dir(repo.path().join("src/auth")).output().expect("starts")).passes();
    // A submodule and a linked worktree are ordinary.
    repo.sh("rm -rf src/auth/.git; git init -q -b main ../dep; cd ../dep; echo d > d; git add .; git commit -qm d; \
             cd ../repo; git -c protocol.file.allow=always submodule --quiet add ../dep dep; git commit -qm dep; \
             git worktree add -q .trees/one -b one HEAD~2");
    for place in ["dep", ".trees/one"] {
        let mut command = repo.probity(&["run", "--json", "--scope", "**", "--", "true"]);
        repo.outcome(&command.current_dir(repo.path().join(place)).output().expect("starts")).passes();
    }
}

#[test]
fn the_mode_of_the_root_stays_as_it_was_in_an_honest_run() {
    let repo = Repo::new();
    fs::set_permissions(repo.path(), fs::Permissions::from_mode(0o750)).expect("sets the mode");
    repo.run("chmod 700 .; chmod 750 .").passes();
}
