use super::*;
use std::process::Command;
use tempfile::TempDir;

fn sh(dir: &TempDir, script: &str) -> String {
    let mut command = Command::new("sh");
    command.arg("-ec").arg(script).current_dir(dir.path());
    command.env("HOME", "/nowhere").env("GIT_CONFIG_NOSYSTEM", "1");
    for (name, value) in [("NAME", "t"), ("EMAIL", "t@example.org")] {
        command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
    }
    let output = command.output().expect("sh starts");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text").trim().to_owned()
}

/// A repository in `repo` with two commits of the file `f`.
fn repository() -> (TempDir, Workspace) {
    let dir = tempfile::tempdir().expect("a directory");
    sh(
        &dir,
        "git init -q -b main repo; cd repo; echo 1 > f; git add .; git commit -qm 1; echo 2 > f; git commit -qam 2",
    );
    let workspace = workspace(&dir, "repo");
    (dir, workspace)
}

fn workspace(dir: &TempDir, name: &str) -> Workspace {
    let root = dir.path().join(name);
    Workspace::find(Some(&root), &root).expect("a workspace")
}

#[test]
fn an_unknown_name_is_told_from_a_git_that_fails() {
    let (dir, workspace) = repository();
    assert_eq!(find_commit(&workspace, "HEAD").expect("answers"), head(&workspace).expect("answers"));
    for unknown in ["HEAD^5", "nope", "--help", "HEAD:f"] {
        let fault = commit_id(&workspace, unknown).expect_err("is unknown");
        assert_eq!(fault.code(), "INPUT.MISSING", "{fault:?}");
        assert!(fault.to_string().contains(&format!("git knows no commit `{unknown}` here")), "{fault}");
    }
    let id = sh(&dir, "cd repo; git rev-parse HEAD^");
    let object = format!("repo/.git/objects/{}/{}", &id[..2], &id[2..]);
    sh(&dir, &format!("chmod u+w {object}; echo garbage > {object}"));
    let fault = commit_id(&workspace, "HEAD^").expect_err("fails");
    assert_eq!((fault.code(), fault.exit_code().number()), ("GIT.COMMAND_FAILED", 70), "{fault}");
    let words = fault.to_string();
    assert!(words.starts_with("`git rev-parse HEAD^^{commit}` failed with exit code 128: "), "{words}");
    assert!(words.contains("is corrupt"), "{words}");
}

#[test]
fn git_says_itself_why_it_lists_no_tree() {
    let (_dir, workspace) = repository();
    let fault = tree_of(&workspace, "feedfeedfeedfeedfeedfeedfeedfeedfeedfeed").expect_err("fails");
    let words = fault.to_string();
    let expected =
        "`git ls-tree feedfeedfeedfeedfeedfeedfeedfeedfeedfeed` failed with exit code 128: fatal: ";
    assert!(words.starts_with(expected), "{words}");
}

#[test]
fn what_a_partial_clone_lacks_is_named_and_not_fetched() {
    let (dir, origin) = repository();
    sh(
        &dir,
        "git -C repo config uploadpack.allowFilter true; git clone -q --no-checkout --filter=blob:none \"file://$PWD/repo\" part",
    );
    // The fetch program that the repository configures must not be started.
    sh(
        &dir,
        "printf '#!/bin/sh\\ntouch %s/started\\n' \"$PWD\" > up; chmod +x up; git -C part config remote.origin.uploadpack \"$PWD/up\"",
    );
    let part = workspace(&dir, "part");
    let git = part.git.as_ref().expect("git");
    assert!(git.is_partial() && !origin.git.as_ref().expect("git").is_partial());
    let path = RepoPath::parse(b"f").expect("a path");
    let id =
        tree_of(&part, &commit_id(&part, "HEAD^").expect("a commit")).expect("a tree")[&path].1.to_string();
    let fault = blobs(git, &[(&path, id.clone())]).expect_err("is not there");
    assert_eq!((fault.code(), fault.exit_code().number()), ("GIT.OBJECT_MISSING", 2));
    assert!(fault.to_string().contains(&format!("lacks blob {id} of `f` (partial clone)")), "{fault}");
    let wanted = [id.clone()];
    assert_eq!(absent_blobs(git, &wanted).expect("answers"), wanted);
    assert_eq!(blob(git, &id).expect("answers"), None);
    assert!(!dir.path().join("started").exists());
    let full = origin.git.as_ref().expect("git");
    assert_eq!(blob(full, &id).expect("answers").as_deref(), Some(&b"1\n"[..]));
    assert!(absent_blobs(full, &[id]).expect("answers").is_empty());
}

#[test]
fn a_clone_without_trees_says_so() {
    let (dir, _origin) = repository();
    sh(
        &dir,
        "git -C repo config uploadpack.allowFilter true; git clone -q --no-checkout --filter=tree:0 \"file://$PWD/repo\" part",
    );
    let part = workspace(&dir, "part");
    let id = commit_id(&part, "HEAD^").expect("a commit");
    let fault = tree_of(&part, &id).expect_err("is not there");
    assert_eq!(fault.code(), "GIT.OBJECT_MISSING", "{fault}");
    assert!(fault.to_string().contains(&format!("`git ls-tree -r {id}` gets what is missing")), "{fault}");
    sh(&dir, &format!("git -C part ls-tree -r {id}"));
    assert_eq!(tree_of(&part, &id).expect("is there").len(), 1);
}

#[test]
fn a_commit_beyond_a_shallow_clone_is_said_to_be() {
    let (dir, _origin) = repository();
    sh(&dir, "git clone -q --depth 1 \"file://$PWD/repo\" shallow");
    let fault = commit_id(&workspace(&dir, "shallow"), "HEAD^").expect_err("is not there");
    assert_eq!(fault.code(), "GIT.HISTORY_MISSING");
    assert!(fault.next_step().contains("git fetch --unshallow"), "{}", fault.next_step());
}

#[test]
fn only_a_shortage_is_tried_again() {
    let (_dir, workspace) = repository();
    let command = git_command(workspace.git.as_ref().expect("git"), &["rev-parse", "HEAD"]);
    let failure = |cause, stderr: &[u8]| GitFailure::new(&command, cause, stderr).is_transient();
    let io = |code| GitFailureCause::Io(io::Error::from_raw_os_error(code));
    let (again, no_memory, too_many_files, not_there) = (11, 12, 23, 2);
    for code in [again, no_memory, too_many_files] {
        assert!(failure(io(code), b""), "{code}");
    }
    assert!(failure(GitFailureCause::Signal(9), b""));
    assert!(failure(
        GitFailureCause::Exit(128),
        b"fatal: unable to create thread: Resource temporarily unavailable"
    ));
    assert!(!failure(io(not_there), b""));
    assert!(!failure(GitFailureCause::Exit(128), b"fatal: not a git repository"));
    assert!(!failure(GitFailureCause::TimedOut(GIT_TIMEOUT), b""));
}
