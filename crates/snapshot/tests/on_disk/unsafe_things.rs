//! What is unsafe to judge is reported, and never followed, waited for or skipped.

use crate::common::{Tree, findings};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs;
use std::os::unix::net::UnixListener;

#[test]
fn pipes_and_sockets_are_reported_and_a_file_that_becomes_one_is_modified() {
    let tree = Tree::with(&[("a", "a"), ("b", "b")]);
    let delta = tree.delta(|tree| {
        for name in ["a", "b"] {
            fs::remove_file(tree.path(name)).expect("removed");
        }
        mknodat(CWD, tree.path("a"), FileType::Fifo, Mode::from_raw_mode(0o644), 0).expect("a pipe");
        drop(UnixListener::bind(tree.path("b")).expect("a socket"));
    });
    assert_eq!(delta, ["modified a", "modified b"]);
    assert_eq!(findings(&tree.see()), ["UNSAFE.FIFO a", "UNSAFE.SOCKET b"]);
}

#[test]
fn devices_are_reported_and_their_number_counts() {
    let tree = Tree::new();
    let make = |tree: &Tree, minor| {
        let number = rustix::fs::makedev(1, minor);
        mknodat(CWD, tree.path("null"), FileType::CharacterDevice, Mode::from_raw_mode(0o600), number)
    };
    if let Err(error) = make(&tree, 3) {
        return probity_testkit::skip!("this user may not make device files: {error}");
    }
    let delta = tree.delta(|tree| {
        fs::remove_file(tree.path("null")).expect("removed");
        make(tree, 5).expect("a device");
    });
    assert_eq!(delta, ["modified null"]);
    assert_eq!(findings(&tree.see()), ["UNSAFE.DEVICE null"]);
}

#[test]
fn a_link_that_leaves_the_tree_is_reported_however_it_does() {
    let tree = Tree::with(&[("src/deep/x", "x")]);
    fs::write(tree.outside().join("secret"), "s").expect("an outside file");
    tree.link("/etc/passwd", "absolute");
    tree.link("../secret", "up");
    tree.link("src/../../secret", "through");
    tree.link("../../../secret", "src/deep/up3");
    tree.link("src", "alias");
    tree.link("alias/../..", "by_alias");
    tree.link("up", "chain");
    tree.link("..", "parent");
    tree.link("src/deep", "short");
    tree.link("short/../../../x", "behind_a_link");
    let expected =
        ["absolute", "behind_a_link", "by_alias", "chain", "parent", "src/deep/up3", "through", "up"];
    let expected: Vec<_> = expected.iter().map(|path| format!("UNSAFE.LINK_ESCAPES {path}")).collect();
    assert_eq!(findings(&tree.see()), expected);
}

#[test]
fn a_link_that_stays_in_the_tree_is_not_reported() {
    let tree = Tree::with(&[("src/deep/x", "x")]);
    tree.link("src/deep", "plain");
    tree.link("../../src/deep/x", "src/deep/y");
    tree.link("plain/../../plain/x", "winding");
    tree.link("nothing/here", "dangling");
    tree.link("self", "self");
    tree.link("ping", "pong");
    tree.link("pong", "ping");
    tree.link(tree.path("src"), "absolute");
    let snapshot = tree.see();
    assert_eq!(findings(&snapshot), [""; 0]);
    let notes: Vec<_> = snapshot.notes().iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["the link `absolute` names its target absolutely"]);
}

#[test]
fn a_hard_link_is_reported_when_a_name_lies_outside() {
    let tree = Tree::with(&[("a", "a"), ("dir/b", "b"), (".git/objects/x", "x")]);
    fs::hard_link(tree.path("a"), tree.path("dir/a2")).expect("a link inside");
    assert_eq!(findings(&tree.see()), [""; 0]);
    fs::hard_link(tree.path("dir/b"), tree.outside().join("b")).expect("a link outside");
    fs::hard_link(tree.path(".git/objects/x"), tree.path("x")).expect("a link into .git");
    assert_eq!(findings(&tree.see()), ["UNSAFE.HARD_LINK dir/b", "UNSAFE.HARD_LINK x"]);
    let delta = tree.delta(|tree| fs::write(tree.path("a"), "A").expect("written"));
    assert_eq!(delta, ["modified a", "modified dir/a2"]);
}

#[test]
fn names_that_pass_for_git_are_reported_at_any_level() {
    let tree =
        Tree::with(&[("sub/.GIT/config", "x"), ("git~1", "x"), (".git /x", "x"), ("sub/.git/config", "x")]);
    let expected =
        ["UNSAFE.GIT_LOOK_ALIKE .git ", "UNSAFE.GIT_LOOK_ALIKE git~1", "UNSAFE.GIT_LOOK_ALIKE sub/.GIT"];
    assert_eq!(findings(&tree.see()), expected);
}
