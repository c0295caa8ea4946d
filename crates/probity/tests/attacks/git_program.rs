//! Attempts to have the judge start a git that the judged wrote (law 8).

use crate::repo::Repo;
use std::path::{Path, PathBuf};

/// A git that says that it was started, and then does what it was asked.
const PLANTED: &str = "#!/bin/sh\ntouch \"$(dirname \"$0\")/started\"\nexec /usr/bin/env -i PATH=/usr/bin:/bin:/usr/local/bin git \"$@\"\n";

/// Puts a git into `directory`, with which the search path is to begin.
fn plant(repo: &Repo, directory: &Path) {
    std::fs::create_dir_all(directory).expect("creates");
    std::fs::write(directory.join("git"), PLANTED).expect("writes");
    repo.sh(&format!("chmod +x '{}/git'", directory.display()));
}

fn path_with(entry: &str) -> String {
    format!("{entry}:{}", std::env::var("PATH").expect("a path"))
}

/// Runs every command that asks git in `tree`, with `entry` first on the search path.
fn runs_without(repo: &Repo, tree: &Path, entry: &str, planted: &Path) {
    for words in [
        &["run", "--json", "--scope", "**", "--", "true"][..],
        &["status", "--json"],
        &["start", "--json", "--intent", "try", "docs/d.md"],
        &["doctor", "--json"],
    ] {
        let mut command = repo.probity(words);
        command.current_dir(tree).env("PATH", path_with(entry)).output().expect("starts");
        assert!(!planted.join("started").exists(), "{words:?} started the planted git");
    }
    // The control: the same run works with the git of the machine.
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "true"]);
    command.current_dir(tree).env("PATH", path_with(entry));
    repo.outcome(&command.output().expect("starts")).passes();
    assert!(!planted.join("started").exists(), "the planted git was started");
}

fn entry_of(directory: &Path) -> String {
    directory.to_str().expect("text").to_owned()
}

#[test]
fn git_of_a_linked_worktree_is_not_started() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../linked -b linked");
    let linked = repo.outside().join("linked");
    plant(&repo, &linked.join("bin"));
    runs_without(&repo, &linked, &entry_of(&linked.join("bin")), &linked.join("bin"));
}

#[test]
fn git_of_another_worktree_of_the_repository_is_not_started() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../linked -b linked");
    let (linked, main) = (repo.outside().join("linked"), repo.path());
    plant(&repo, &main.join("bin"));
    runs_without(&repo, &linked, &entry_of(&main.join("bin")), &main.join("bin"));
    plant(&repo, &linked.join("bin"));
    runs_without(&repo, &main, &entry_of(&linked.join("bin")), &linked.join("bin"));
}

#[test]
fn git_of_a_tree_with_a_separate_git_directory_is_not_started() {
    let repo = Repo::new();
    repo.sh("git init -q --separate-git-dir ../elsewhere");
    for bin in [repo.path().join("bin"), repo.outside().join("elsewhere/bin")] {
        plant(&repo, &bin);
        runs_without(&repo, &repo.path(), &entry_of(&bin), &bin);
    }
}

#[test]
fn git_of_a_root_below_the_top_is_not_started() {
    let repo = Repo::new();
    repo.write("part/probity.toml", "");
    repo.write("part/src/a.py", "");
    plant(&repo, &repo.path().join("bin"));
    runs_without(
        &repo,
        &repo.path().join("part"),
        &entry_of(&repo.path().join("bin")),
        &repo.path().join("bin"),
    );
}

#[test]
fn git_of_the_tree_around_a_submodule_is_not_started() {
    let repo = Repo::new();
    repo.sh("git clone -q . ../library && git -c protocol.file.allow=always submodule --quiet add ../library part");
    plant(&repo, &repo.path().join("bin"));
    runs_without(
        &repo,
        &repo.path().join("part"),
        &entry_of(&repo.path().join("bin")),
        &repo.path().join("bin"),
    );
}

#[test]
fn git_of_a_tree_without_git_around_a_repository_is_not_started() {
    let repo = Repo::new();
    // A tree with a policy of its own, and the repository in it.
    let outer = repo.outside().join("outer");
    repo.write("../outer/probity.toml", "");
    repo.write("../outer/src/a.py", "");
    repo.sh("git clone -q . ../outer/inner");
    plant(&repo, &outer.join("bin"));
    runs_without(&repo, &outer, &entry_of(&outer.join("bin")), &outer.join("bin"));
}

#[test]
fn git_of_an_entry_relative_to_the_tree_is_not_started() {
    let repo = Repo::new();
    plant(&repo, &repo.path());
    for entry in ["", "."] {
        runs_without(&repo, &repo.path(), entry, &repo.path());
    }
}

#[test]
fn git_behind_a_link_into_the_tree_is_not_started() {
    let repo = Repo::new();
    plant(&repo, &repo.path().join("bin"));
    repo.sh("ln -s repo/bin ../alias && mkdir ../links && ln -s ../repo/bin/git ../links/git");
    for entry in ["alias", "links"] {
        let entry = entry_of(&repo.outside().join(entry));
        runs_without(&repo, &repo.path(), &entry, &repo.path().join("bin"));
    }
}

#[test]
fn git_that_others_can_write_is_not_started() {
    let repo = Repo::new();
    let open: PathBuf = repo.outside().join("open");
    plant(&repo, &open);
    for mode in ["chmod 777 ../open", "chmod 755 ../open; chmod 777 ../open/git"] {
        repo.sh(mode);
        runs_without(&repo, &repo.path(), &entry_of(&open), &open);
    }
}

#[test]
fn git_that_the_judged_replaced_is_not_started() {
    let repo = Repo::new();
    let bin = repo.outside().join("bin");
    repo.sh("mkdir ../bin && cp \"$(command -v git)\" ../bin/git");
    repo.write("../planted", PLANTED);
    let script = "cp ../planted ../new && chmod +x ../new && mv ../new ../bin/git";
    let mut command = repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-ec", script]);
    command.env("PATH", path_with(&entry_of(&bin))).output().expect("starts");
    assert!(!bin.join("started").exists(), "the replaced git was started");
}

#[test]
fn a_planted_git_cannot_widen_the_scope_of_the_run_that_starts_it() {
    let repo = Repo::new();
    repo.sh("git worktree add -q ../linked -b linked");
    let linked = repo.outside().join("linked");
    let bin = linked.join("bin");
    plant(&repo, &bin);
    // It would stay, wait for the run and amend it as if from outside.
    let amend = format!(
        "#!/bin/sh\ntouch {bin}/started\n(setsid sh -c 'while ! {probity} --root {tree} amend open --add \"**\" --by boss --why \"it belongs to it\"; do sleep 0.01; done; touch {bin}/amended' > /dev/null 2>&1 &)\nexec /usr/bin/git \"$@\"\n",
        bin = bin.display(),
        probity = env!("CARGO_BIN_EXE_probity"),
        tree = linked.display(),
    );
    std::fs::write(bin.join("git"), amend).expect("writes");
    let mut command =
        repo.probity(&["run", "--json", "--scope", "src/a.py", "--", "sh", "-c", "echo evil >> docs/d.md"]);
    command.current_dir(&linked).env("PATH", path_with(&entry_of(&bin)));
    repo.outcome(&command.output().expect("starts")).is_out(&["docs/d.md"]);
    assert!(!bin.join("started").exists(), "the planted git was started");
}
