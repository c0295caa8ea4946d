//! What counts as a change, on a real file system.

use crate::common::{Tree, paths};
use probity_core::Digest;
use std::fs;

fn tree() -> Tree {
    Tree::with(&[("src/a.py", "a"), ("src/b.py", "b"), ("docs/d.md", "d")])
}

#[test]
fn nothing_changed_is_an_empty_delta() {
    let tree = tree();
    assert_eq!(tree.delta(|_| ()), [""; 0]);
    assert_eq!(tree.delta(|tree| tree.write("src/a.py", "a")), [""; 0]);
}

#[test]
fn edits_additions_and_deletions_are_told_apart() {
    let delta = tree().delta(|tree| {
        tree.write("src/a.py", "A");
        tree.write("src/c.py", "c");
        fs::remove_file(tree.path("docs/d.md")).expect("removed");
    });
    assert_eq!(delta, ["deleted docs/d.md", "modified src/a.py", "added src/c.py"]);
}

#[test]
fn a_rename_is_a_deletion_and_an_addition() {
    let delta = tree().delta(|tree| {
        fs::create_dir(tree.path("evil")).expect("a directory");
        fs::rename(tree.path("src/a.py"), tree.path("evil/payload.py")).expect("renamed");
    });
    assert_eq!(delta, ["added evil/payload.py", "deleted src/a.py"]);
}

#[test]
fn every_permission_bit_counts() {
    let tree = tree();
    tree.mode("src/a.py", 0o644);
    for (mode, expected) in [(0o755, 1), (0o755, 0), (0o600, 1), (0o4600, 1), (0o2600, 1), (0o1600, 1)] {
        let delta = tree.delta(|tree| tree.mode("src/a.py", mode));
        assert_eq!(delta.len(), expected, "{mode:o}");
    }
    assert_eq!(tree.delta(|tree| tree.mode("src", 0o700)), ["modified src"]);
}

#[test]
fn a_change_of_type_is_a_modification_and_its_children_come_or_go() {
    let tree = tree();
    let to_file = tree.delta(|tree| {
        fs::remove_dir_all(tree.path("src")).expect("removed");
        tree.write("src", "now a file");
    });
    assert_eq!(to_file, ["modified src", "deleted src/a.py", "deleted src/b.py"]);
    let to_link = tree.delta(|tree| {
        fs::remove_file(tree.path("src")).expect("removed");
        tree.link("docs", "src");
    });
    assert_eq!(to_link, ["modified src"]);
    let to_directory = tree.delta(|tree| {
        fs::remove_file(tree.path("src")).expect("removed");
        tree.write("src/new", "n");
    });
    assert_eq!(to_directory, ["modified src", "added src/new"]);
}

#[test]
fn an_empty_directory_counts_and_a_full_one_is_told_by_its_content() {
    let tree = tree();
    let make = |path: &'static str| move |tree: &Tree| fs::create_dir_all(tree.path(path)).expect("made");
    assert_eq!(tree.delta(make("empty/inner")), ["added empty/inner"]);
    assert_eq!(tree.delta(|tree| tree.write("empty/inner/f", "f")), ["added empty/inner/f"]);
    assert_eq!(
        tree.delta(|tree| fs::remove_dir_all(tree.path("empty")).expect("removed")),
        ["deleted empty/inner/f"]
    );
    assert_eq!(tree.delta(make("empty")), ["added empty"]);
    assert_eq!(tree.delta(|tree| fs::remove_dir(tree.path("empty")).expect("removed")), ["deleted empty"]);
}

#[test]
fn the_target_of_a_link_counts_and_nothing_behind_it() {
    let tree = tree();
    tree.link("src/a.py", "link");
    assert_eq!(tree.delta(|tree| tree.write("src/a.py", "through")), ["modified src/a.py"]);
    let delta = tree.delta(|tree| {
        fs::remove_file(tree.path("link")).expect("removed");
        tree.link("src/b.py", "link");
    });
    assert_eq!(delta, ["modified link"]);
}

#[test]
fn ignored_files_caches_and_nested_repositories_are_content() {
    let tree = tree();
    tree.write(".gitignore", "*\n");
    tree.write(".git/config", "[core]\n");
    let delta = tree.delta(|tree| {
        tree.write("__pycache__/payload.pyc", "x");
        tree.write("hidden/.gitignore", "*\n");
        tree.write("hidden/x", "x");
        tree.write("sub/.git/hooks/pre-commit", "x");
        tree.write(".git/config", "[core]\nbare = true\n");
    });
    let expected = [
        "added __pycache__/payload.pyc",
        "added hidden/.gitignore",
        "added hidden/x",
        "added sub/.git/hooks/pre-commit",
    ];
    assert_eq!(delta, expected);
}

/// Returns the bytes of one child in the hash of its directory, as documented.
fn child(name: &str, mode: u16, tag: u8, held: &[u8]) -> Vec<u8> {
    let len = u32::try_from(name.len()).expect("short").to_be_bytes();
    [&len[..], name.as_bytes(), &mode.to_be_bytes(), &[tag], held].concat()
}

fn directory(children: &[Vec<u8>]) -> Digest {
    let n = (children.len() as u64).to_be_bytes();
    Digest::of(&[b"probity/tree/v1\0", &n[..], &children.concat()].concat())
}

#[test]
fn the_root_hash_is_what_the_documentation_says() {
    let tree = Tree::with(&[("dir/x", "x"), ("a", "content")]);
    tree.link("dir/x", "link");
    tree.mode("a", 0o4755);
    tree.mode("dir", 0o750);
    tree.mode("dir/x", 0o600);
    let dir = directory(&[child("x", 0o600, b'f', Digest::of(b"x").as_bytes())]);
    let root = directory(&[
        child("a", 0o4755, b'f', Digest::of(b"content").as_bytes()),
        child("dir", 0o750, b'd', dir.as_bytes()),
        child("link", 0o777, b'l', Digest::of(b"dir/x").as_bytes()),
    ]);
    assert_eq!(tree.see().root(), root);
}

#[test]
fn entries_come_in_the_order_of_their_bytes() {
    let names = ["a", "a-/x", "a-/y/z", "a.c", "a/b", "a/b.d", "a0", "b/c/d", "b/c-", "b-"];
    let tree = Tree::new();
    for name in names.iter().filter(|name| **name != "a") {
        tree.write(name, name);
    }
    let paths = paths(&tree.see());
    let mut sorted = paths.clone();
    sorted.sort_unstable();
    assert_eq!(paths, sorted);
    assert!(names.iter().all(|name| paths.iter().any(|path| path == name)), "{paths:?}");
}
