//! Facts about real repositories, with git itself to create them and to compare with.

use crate::common::Tree;
use probity_snapshot::git::{
    GitLayout, IndexState, RefListing, ZoneClass, index_state, ls_tree_command, parse_ls_tree,
    protected_snapshot, refs, zone_delta,
};
use probity_snapshot::{ObjectFormat, Snapshot, SnapshotOptions};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns git without the user's settings and without the environment of a git hook.
fn plain_git() -> Command {
    let mut git = Command::new("git");
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            git.env_remove(name);
        }
    }
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    git
}

fn git(dir: &Path, args: &[&str]) -> String {
    let done = plain_git()
        .arg("-C")
        .arg(dir)
        .args(["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "protocol.file.allow=always"])
        .args(args)
        .output()
        .expect("git runs");
    assert!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).expect("text").trim().to_owned()
}

fn repository(init: &[&str]) -> Tree {
    let tree = Tree::with(&[("src/a.py", "a"), ("name\nwith newline", "n")]);
    git(&tree.root(), &[&["init", "-q", "-b", "main"], init].concat());
    git(&tree.root(), &["add", "."]);
    git(&tree.root(), &["commit", "-q", "-m", "first"]);
    tree
}

fn layout(tree: &Tree) -> GitLayout {
    GitLayout::find(&tree.root()).expect("a repository")
}

/// Returns the effect of `change` on the zone, as lines like `protected added .git/hooks/x`.
fn zone(root: &Path, change: impl FnOnce()) -> Vec<String> {
    let layout = GitLayout::find(root).expect("a repository");
    let before = protected_snapshot(&layout, &[b"probity"], None);
    change();
    let after = protected_snapshot(&layout, &[b"probity"], None);
    assert_eq!(after.findings, []);
    let shown = |class| if class == ZoneClass::Protected { "protected" } else { "recorded" };
    zone_delta(&before, &after)
        .iter()
        .map(|change| format!("{} {} {}", shown(change.class), change.change, change.path))
        .collect()
}

#[test]
fn hooks_configuration_attributes_and_alternates_are_protected() {
    let tree = repository(&[]);
    let delta = zone(&tree.root(), || {
        tree.write(".git/hooks/pre-commit", "#!/bin/sh\n");
        tree.write(".git/config", "[core]\n\thooksPath = /tmp\n");
        tree.write(".git/info/exclude", "*\n");
        tree.write(".git/info/attributes", "* filter=x\n");
        tree.write(".git/objects/info/alternates", "/elsewhere\n");
        tree.write(".git/unheard-of", "x");
        tree.mode(".git/description", 0o755);
    });
    let expected = [
        "protected modified .git/config",
        "protected modified .git/description",
        "protected added .git/hooks/pre-commit",
        "protected modified .git/info/exclude",
        "protected added .git/info/attributes",
        "protected added .git/objects/info/alternates",
        "protected added .git/unheard-of",
    ];
    let mut expected: Vec<_> = expected.map(String::from).to_vec();
    expected.sort_by_key(|line| line.rsplit(' ').next().map(str::to_owned));
    assert_eq!(delta, expected);
}

#[test]
fn ordinary_work_is_recorded_only() {
    let tree = repository(&[]);
    let delta = zone(&tree.root(), || {
        tree.write("src/b.py", "b");
        git(&tree.root(), &["add", "."]);
        git(&tree.root(), &["commit", "-q", "-m", "second"]);
        git(&tree.root(), &["tag", "v1"]);
        git(&tree.root(), &["checkout", "-q", "-b", "other"]);
        tree.write("src/b.py", "stashed");
        git(&tree.root(), &["stash", "-q"]);
        tree.write(".git/index.lock", "");
        tree.write(".git/probity/state", "our own");
        git(&tree.root(), &["gc", "-q"]);
        git(&tree.root(), &["worktree", "add", "-q", "../linked"]);
    });
    assert!(delta.iter().all(|line| line.starts_with("recorded ")), "{delta:#?}");
    for path in [".git/HEAD", ".git/packed-refs", ".git/index.lock", ".git/worktrees/linked/gitdir"] {
        assert!(delta.iter().any(|line| line.ends_with(path)), "{path} in {delta:#?}");
    }
}

#[test]
fn a_repository_made_anew_is_seen() {
    let tree = repository(&[]);
    let delta = zone(&tree.root(), || {
        fs::remove_dir_all(tree.path(".git")).expect("removed");
        git(&tree.root(), &["init", "-q", "-b", "main"]);
    });
    assert!(delta.contains(&"protected modified .git".to_owned()), "{delta:#?}");
    assert!(delta.contains(&"protected modified .git/objects".to_owned()), "{delta:#?}");
    let delta = zone(&tree.root(), || fs::remove_dir_all(tree.path(".git")).expect("removed"));
    assert!(delta.contains(&"protected deleted .git".to_owned()), "{delta:#?}");
}

#[test]
fn a_git_directory_that_becomes_a_pointer_elsewhere_is_seen() {
    let tree = repository(&[]);
    let delta = zone(&tree.root(), || {
        fs::rename(tree.path(".git"), tree.outside().join("moved")).expect("moved");
        tree.write(".git", "gitdir: ../moved\n");
    });
    assert!(delta.contains(&"protected modified .git".to_owned()), "{delta:#?}");
    assert!(delta.contains(&"protected deleted .git/config".to_owned()), "{delta:#?}");
    assert_eq!(layout(&tree).git_dir, tree.outside().join("moved").canonicalize().expect("there"));
}

#[test]
fn a_linked_worktree_has_its_own_head_and_shares_the_rest() {
    let tree = repository(&[]);
    git(&tree.root(), &["worktree", "add", "-q", "-b", "side", "../linked"]);
    let linked = tree.outside().join("linked");
    let layout = GitLayout::find(&linked).expect("a worktree");
    assert!(layout.is_linked());
    assert_eq!(layout.common_dir, tree.path(".git").canonicalize().expect("there"));
    let delta = zone(&linked, || {
        fs::write(linked.join("new"), "n").expect("written");
        git(&linked, &["add", "."]);
        git(&linked, &["commit", "-q", "-m", "aside"]);
        tree.write(".git/hooks/post-commit", "x");
        tree.write(".git/worktrees/linked/commondir", "/elsewhere\n");
        fs::write(linked.join(".git"), "gitdir: /elsewhere\n").expect("written");
    });
    let expected = [
        "protected modified .git",
        "protected added .git/hooks/post-commit",
        "recorded modified .git/refs/heads/side",
        "protected modified .git/worktrees/linked/commondir",
    ];
    let told: Vec<_> = delta.iter().filter(|line| !line.ends_with("COMMIT_EDITMSG")).collect();
    assert_eq!(told, expected.iter().collect::<Vec<_>>());
    let snapshot = Snapshot::take(&linked, &SnapshotOptions::default(), None).expect("a snapshot");
    assert!(snapshot.entries().all(|entry| entry.path().as_bytes() != b".git"));
}

#[test]
fn the_git_directory_of_a_submodule_follows_the_same_rules() {
    let inner = repository(&[]);
    let tree = repository(&[]);
    let url = inner.root();
    git(&tree.root(), &["submodule", "--quiet", "add", url.to_str().expect("text"), "deep/sub"]);
    let module = ".git/modules/deep/sub";
    let delta = zone(&tree.root(), || {
        tree.write(&format!("{module}/hooks/pre-commit"), "x");
        tree.write(&format!("{module}/refs/heads/new"), "x");
        tree.write(&format!("{module}/objects/ab/{}", "0".repeat(38)), "x");
        tree.write(&format!("{module}/objects/ab/cd"), "x");
        tree.write(&format!("{module}/logs/HEAD"), "x");
        tree.write(&format!("{module}/logs/x"), "x");
    });
    let expected = [
        format!("protected added {module}/hooks/pre-commit"),
        format!("protected added {module}/logs/x"),
        format!("protected added {module}/objects/ab/cd"),
        format!("recorded added {module}/refs/heads/new"),
    ];
    assert_eq!(delta, expected);
    let delta = tree.delta(|tree| tree.write("deep/sub/src/a.py", "dirty"));
    assert_eq!(delta, ["modified deep/sub/src/a.py"]);
}

#[test]
fn refs_agree_with_git() {
    for init in [&[][..], &["--object-format=sha256"]] {
        let tree = repository(init);
        let root = tree.root();
        git(&root, &["tag", "-a", "-m", "annotated", "v1"]);
        git(&root, &["branch", "topic/one"]);
        git(&root, &["pack-refs", "--all"]);
        git(&root, &["branch", "topic/two"]);
        tree.write("src/a.py", "later");
        git(&root, &["commit", "-q", "-a", "-m", "second"]);
        let RefListing::Read { head, refs } = refs(&layout(&tree)) else { panic!("they are files") };
        assert_eq!(head.as_deref(), Some("ref: refs/heads/main"));
        let shown: Vec<_> = refs.iter().map(|(name, id)| format!("{id} {name}")).collect();
        let mut expected: Vec<_> = git(&root, &["show-ref"]).lines().map(str::to_owned).collect();
        expected.sort_by_key(|line| line.split(' ').nth(1).map(str::to_owned));
        assert_eq!(shown, expected);
    }
}

#[test]
fn refs_in_tables_are_said_to_be_not_readable() {
    let tree = Tree::new();
    let init = plain_git().args(["init", "-q", "--ref-format=reftable"]).arg(tree.root()).output();
    if !init.expect("git runs").status.success() {
        return probity_testkit::skip!("this git does not know reftable");
    }
    let RefListing::NotReadable { why } = refs(&layout(&tree)) else { panic!("they are tables") };
    assert_eq!(why, "refs are kept as `reftable`, which is not readable here");
}

#[test]
fn the_index_is_sound_until_someone_damages_it() {
    for init in [&[][..], &["--object-format=sha256"]] {
        let tree = repository(init);
        let layout = layout(&tree);
        assert_eq!(index_state(&layout), IndexState::Sound);
        tree.write(".git/index", "garbage");
        assert_eq!(index_state(&layout), IndexState::Damaged);
        fs::remove_file(tree.path(".git/index")).expect("removed");
        assert_eq!(index_state(&layout), IndexState::Absent);
    }
}

#[test]
fn the_tree_of_head_has_the_ids_that_the_snapshot_computes() {
    for (init, format) in [(&[][..], ObjectFormat::Sha1), (&["--object-format=sha256"], ObjectFormat::Sha256)]
    {
        let tree = repository(init);
        let layout = layout(&tree);
        assert_eq!(layout.object_format, format);
        // None of this may run or matter.
        tree.write(".git/trap", "#!/bin/sh\ntouch \"$(dirname \"$0\")/sprung\"\n");
        tree.mode(".git/trap", 0o755);
        git(&tree.root(), &["config", "core.fsmonitor", ".git/trap"]);
        git(&tree.root(), &["config", "core.pager", ".git/trap"]);
        let command = ls_tree_command(&layout, "HEAD");
        let done =
            Command::new(&command.argv[0]).args(&command.argv[1..]).env_clear().envs(command.env).output();
        let done = done.expect("git runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        assert!(!tree.path(".git/sprung").exists());
        let head = parse_ls_tree(&done.stdout).expect("an answer");
        let options = SnapshotOptions { git_ids: Some(format), ..SnapshotOptions::default() };
        let snapshot = Snapshot::take(&tree.root(), &options, None).expect("a snapshot");
        assert_eq!(head.len(), 2);
        for (path, (mode, id)) in &head {
            let entry = snapshot.get(path).expect("it is in the tree");
            assert_eq!((entry.git_id().as_ref(), *mode), (Some(id), 0o100_644));
        }
    }
}

#[test]
fn where_there_is_no_repository_none_is_found() {
    let tree = Tree::with(&[("a", "a")]);
    assert_eq!(GitLayout::find(&tree.root()), None);
    fs::create_dir(tree.path(".git")).expect("an empty directory");
    assert_eq!(GitLayout::find(&tree.root()), None);
    fs::remove_dir(tree.path(".git")).expect("removed");
    tree.write(".git", "gitdir: nowhere\n");
    assert_eq!(GitLayout::find(&tree.root()), None);
}
