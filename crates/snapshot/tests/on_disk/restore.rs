//! Reverting a delta.

use crate::common::{Tree, show};
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_snapshot::restore::{TreeRestorer, WantedEntry};
use probity_snapshot::{Snapshot, SnapshotEntryKind, TreeChange, delta};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Returns the content of every file and link, as a before-image would.
fn images(tree: &Tree, snapshot: &Snapshot) -> BTreeMap<RepoPath, Vec<u8>> {
    let read = |path: &RepoPath, kind| {
        let at = tree.root().join(std::ffi::OsStr::from_bytes(path.as_bytes()));
        match kind {
            SnapshotEntryKind::File => fs::read(at).expect("a file"),
            _ => fs::read_link(at).expect("a link").into_os_string().as_bytes().to_vec(),
        }
    };
    snapshot
        .entries()
        .filter(|entry| entry.digest().is_some())
        .map(|entry| (entry.path().clone(), read(entry.path(), entry.kind())))
        .collect()
}

/// Reverts `changes`: deepest first for removals, highest first for additions.
fn revert(tree: &Tree, before: &Snapshot, images: &BTreeMap<RepoPath, Vec<u8>>, changes: &[TreeChange]) {
    let dir_mode = |path: &RepoPath| {
        before
            .get(path)
            .filter(|entry| entry.kind() == SnapshotEntryKind::Directory)
            .map(|entry| entry.mode())
    };
    let restorer = TreeRestorer::open(&tree.root(), &dir_mode).expect("a tree");
    for change in changes.iter().rev().filter(|change| change.before.is_none()) {
        restorer.restore(&change.path, change.after.as_ref(), &WantedEntry::Nothing).expect("removed");
    }
    for change in changes {
        let Some(side) = &change.before else { continue };
        let wanted = match side.kind {
            SnapshotEntryKind::File => WantedEntry::File { bytes: &images[&change.path], mode: side.mode },
            SnapshotEntryKind::Symlink => WantedEntry::Symlink { target: &images[&change.path] },
            _ => WantedEntry::Directory { mode: side.mode },
        };
        restorer.restore(&change.path, change.after.as_ref(), &wanted).expect("restored");
    }
}

#[test]
fn a_reverted_tree_is_the_tree_from_before() {
    let tree =
        Tree::with(&[("src/a", "a"), ("src/b", "b"), ("gone/deep/x", "x"), ("swap/y", "y"), ("f", "f")]);
    tree.link("src/a", "link");
    tree.mode("gone", 0o700);
    tree.mode("src/b", 0o4711);
    fs::create_dir(tree.path("empty")).expect("made");
    let before = tree.see();
    let images = images(&tree, &before);
    tree.write("src/a", "changed");
    tree.mode("src/b", 0o600);
    fs::remove_dir_all(tree.path("gone")).expect("removed");
    fs::remove_dir(tree.path("empty")).expect("removed");
    fs::remove_dir_all(tree.path("swap")).expect("removed");
    tree.write("swap", "now a file");
    fs::remove_file(tree.path("f")).expect("removed");
    tree.write("f/new/deep", "now a directory");
    fs::remove_file(tree.path("link")).expect("removed");
    tree.link("f", "link");
    tree.write("added/very/deep", "n");
    tree.mode("src", 0o711);
    let changes = delta(&before, &tree.see());
    revert(&tree, &before, &images, &changes);
    let after = tree.see();
    assert_eq!(show(&delta(&before, &after)), [""; 0]);
    assert_eq!(before.root(), after.root());
}

/// Restores `a` although something unexpected is there.
fn refused(tree: &Tree, change: impl FnOnce(&Tree)) -> ReasonCode {
    let path = RepoPath::parse(b"dir/a").expect("a path");
    let before = tree.see();
    tree.write("dir/a", "theirs");
    let expected = delta(&before, &tree.see());
    change(tree);
    let during = tree.see();
    let restorer = TreeRestorer::open(&tree.root(), &|_| Some(0o755)).expect("a tree");
    let wanted = WantedEntry::File { bytes: b"mine", mode: 0o644 };
    let error = restorer.restore(&path, expected[0].after.as_ref(), &wanted).expect_err("refused");
    assert_eq!(tree.see().root(), during.root(), "a refusal leaves everything as it is");
    error.reason
}

#[test]
fn what_changed_since_is_left_alone() {
    let tree = || Tree::with(&[("dir/a", "mine")]);
    assert_eq!(refused(&tree(), |tree| tree.write("dir/a", "newer!")), ReasonCode::RevertChangedSince);
    assert_eq!(refused(&tree(), |tree| tree.mode("dir/a", 0o600)), ReasonCode::RevertChangedSince);
    let gone = |tree: &Tree| fs::remove_file(tree.path("dir/a")).expect("removed");
    assert_eq!(refused(&tree(), gone), ReasonCode::RevertChangedSince);
}

#[test]
fn no_link_leads_a_restore_out_of_the_tree() {
    let tree = Tree::with(&[("dir/a", "mine")]);
    let outside = tree.outside().join("elsewhere");
    fs::create_dir(&outside).expect("made");
    let swap = |tree: &Tree| {
        fs::rename(tree.path("dir"), tree.path("moved")).expect("moved");
        tree.link("../elsewhere", "dir");
        fs::write(outside.join("a"), "theirs").expect("written");
    };
    assert_eq!(refused(&tree, swap), ReasonCode::RevertChangedSince);
    assert_eq!(fs::read(outside.join("a")).expect("there"), b"theirs");
}

#[test]
fn a_directory_that_is_not_empty_does_not_give_way() {
    let tree = Tree::with(&[("d/x", "x")]);
    let snapshot = tree.see();
    let path = RepoPath::parse(b"d").expect("a path");
    let entry = snapshot.get(&path).expect("there");
    let side = probity_snapshot::EntryState {
        kind: SnapshotEntryKind::Directory,
        mode: entry.mode(),
        size: 0,
        digest: None,
    };
    let restorer = TreeRestorer::open(&tree.root(), &|_| None).expect("a tree");
    for wanted in [
        WantedEntry::Nothing,
        WantedEntry::File { bytes: b"f", mode: 0o644 },
        WantedEntry::Symlink { target: b"t" },
    ] {
        let error = restorer.restore(&path, Some(&side), &wanted).expect_err("refused");
        assert_eq!(error.reason, ReasonCode::TreeUnavailable);
    }
    assert_eq!(tree.see().root(), snapshot.root());
}
