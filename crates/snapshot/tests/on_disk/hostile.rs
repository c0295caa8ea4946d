//! Trees made to hide something, to exhaust the observer, or to change while being read.

use crate::common::{Tree, findings, paths};
use probity_core::{Digest, ReasonCode};
use probity_paths::RepoPath;
use probity_snapshot::{Snapshot, SnapshotEntryKind, SnapshotOptions, TreeError};
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, RenameFlags};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn any_byte_may_be_in_a_name() {
    let names: [&[u8]; 9] = [
        b"new\nline",
        b"not utf-8 \xff\xfe",
        b"src\\a.py",
        b"trailing ",
        b"trailing\n",
        b" ",
        b"-rf",
        "bidi\u{202e}txt".as_bytes(),
        b"\x1b[31mred",
    ];
    let tree = Tree::new();
    for name in names.iter().chain([&&[b'x'; 255][..]]) {
        fs::write(tree.root().join(OsStr::from_bytes(name)), "x").expect("written");
    }
    let snapshot = tree.see();
    assert_eq!(snapshot.n_entries(), names.len() + 1);
    for name in names {
        assert!(snapshot.get(&RepoPath::parse(name).expect("a path")).is_some(), "{name:?}");
    }
    assert!(paths(&snapshot).iter().all(|shown| !shown.contains(['\n', '\x1b', '\u{202e}'])));
}

/// Creates `depth` nested directories, each with what `fill` puts there; returns the last one.
fn dig(tree: &Tree, depth: usize, name: &[u8], fill: impl Fn(&OwnedFd)) -> OwnedFd {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut dir = rustix::fs::open(tree.root(), flags, Mode::empty()).expect("the root");
    for _ in 0..depth {
        rustix::fs::mkdirat(&dir, name, Mode::from_raw_mode(0o755)).expect("made");
        dir = rustix::fs::openat(&dir, name, flags, Mode::empty()).expect("opened");
        fill(&dir);
    }
    dir
}

fn put(dir: &OwnedFd, name: &str, content: &[u8]) {
    let flags = OFlags::WRONLY | OFlags::CREATE;
    let file = rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o644)).expect("made");
    rustix::io::write(&file, content).expect("written");
}

#[test]
fn no_path_is_too_long() {
    let tree = Tree::new();
    let last = dig(&tree, 120, &[b'd'; 60], |_| ());
    let before = tree.see();
    assert_eq!(before.n_entries(), 120);
    put(&last, "payload", b"p");
    let delta = probity_snapshot::delta(&before, &tree.see());
    assert_eq!(delta.len(), 1);
    assert_eq!(delta[0].path.as_bytes().len(), 120 * 61 + "payload".len());
    assert_eq!(delta[0].after.and_then(|side| side.digest), Some(Digest::of(b"p")));
}

#[test]
fn a_deep_tree_with_many_branches_does_not_use_up_the_handles() {
    const DEPTH: usize = 300;
    let tree = Tree::new();
    let last = dig(&tree, DEPTH, b"d", |dir| {
        rustix::fs::mkdirat(dir, "z", Mode::from_raw_mode(0o755)).expect("made");
    });
    put(&last, "z/bottom", b"b");
    let snapshot = tree.see();
    assert_eq!(findings(&snapshot), [""; 0]);
    assert_eq!(snapshot.n_entries(), 2 * DEPTH + 1);
}

#[test]
fn a_large_directory_is_seen_whole_and_in_order() {
    let tree = Tree::new();
    let expected: Vec<String> = (0..2000).map(|n| format!("f{n:05}")).collect();
    for name in &expected {
        fs::write(tree.path(name), name).expect("written");
    }
    for n_threads in [1, 2, 5] {
        let options = SnapshotOptions { n_threads: Some(n_threads), ..SnapshotOptions::default() };
        let snapshot = Snapshot::take(&tree.root(), &options, None).expect("a snapshot");
        assert_eq!(paths(&snapshot), expected);
        let is_right = |entry: probity_snapshot::SnapshotEntry<'_>| {
            entry.digest() == Some(Digest::of(entry.path().as_bytes()))
        };
        assert!(snapshot.entries().all(is_right));
    }
}

#[test]
fn a_large_file_with_holes_is_read_to_its_end() {
    let tree = Tree::with(&[("huge", "")]);
    let file = fs::File::options().write(true).open(tree.path("huge")).expect("opened");
    std::os::unix::fs::FileExt::write_all_at(&file, b"x", (256 << 20) - 1)
        .expect("256 MiB, all but the last byte a hole");
    let digest = tree.see().entries().next().and_then(|entry| entry.digest()).expect("a digest");
    assert_eq!(digest.to_hex(), "280d8d0a9a07ae6909c1dd4e19df470560ed96ea8ea0e49b32973c0f5b187c3d");
}

/// Repeats `disturb` in another thread while `test` runs.
fn meanwhile<T>(mut disturb: impl FnMut() + Send, test: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                disturb();
            }
        });
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(test));
        done.store(true, Ordering::Relaxed);
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Repeats `look` until `unrest` is seen: on a busy machine the disturbing thread may not run for a while.
fn until<T>(mut look: impl FnMut() -> T, unrest: impl Fn(&T) -> bool) -> T {
    for _ in 0..100 {
        let seen = look();
        if unrest(&seen) {
            return seen;
        }
    }
    panic!("a hundred looks met no unrest")
}

#[test]
fn a_file_that_never_rests_is_unstable() {
    let tree = Tree::with(&[("calm", "c"), ("dir/hot", "")]);
    let file = fs::File::options().write(true).open(tree.path("dir/hot")).expect("opened");
    file.set_len(16 << 20).expect("large");
    let touch = || std::os::unix::fs::FileExt::write_all_at(&file, b"x", 0).expect("written");
    let is_unstable = |snapshot: &Snapshot| findings(snapshot) == ["TREE.UNSTABLE dir/hot"];
    let snapshot = meanwhile(touch, || until(|| tree.see(), is_unstable));
    let hot = snapshot.get(&RepoPath::parse(b"dir/hot").expect("a path")).expect("never skipped");
    assert_eq!((hot.kind(), hot.digest()), (SnapshotEntryKind::File, None));
}

/// Creates a directory of many files, and returns a function that keeps it changing.
fn restless(tree: &Tree, dir: &str) -> impl FnMut() + Send + use<> {
    for n in 0..1000 {
        tree.write(&format!("{dir}/f{n}"), "f");
    }
    let (one, other) = (tree.path(dir).join("one"), tree.path(dir).join("other"));
    move || {
        fs::write(&one, "x").expect("written");
        fs::rename(&one, &other).expect("renamed");
    }
}

#[test]
fn a_directory_that_never_rests_is_unstable() {
    let tree = Tree::new();
    let toggle = restless(&tree, "busy");
    let is_unstable = |snapshot: &Snapshot| findings(snapshot).contains(&"TREE.UNSTABLE busy".to_owned());
    meanwhile(toggle, || until(|| tree.see(), is_unstable));
}

#[test]
fn a_root_that_never_rests_is_an_error() {
    let tree = Tree::new();
    let toggle = restless(&tree, ".");
    let look = || Snapshot::take(&tree.root(), &SnapshotOptions::default(), None);
    let is_unstable = |seen: &Result<Snapshot, TreeError>| {
        seen.as_ref().is_err_and(|error| error.reason == ReasonCode::TreeUnstable)
    };
    meanwhile(toggle, || until(look, is_unstable)).expect_err("it was unstable");
}

#[test]
fn a_directory_swapped_for_a_link_never_leads_outside() {
    let tree = Tree::with(&[("dir/inside", "i")]);
    fs::create_dir(tree.outside().join("elsewhere")).expect("made");
    fs::write(tree.outside().join("elsewhere/secret"), "s").expect("written");
    tree.link("../elsewhere", "link");
    let (dir, link) = (tree.path("dir"), tree.path("link"));
    let swap = || rustix::fs::renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).expect("swapped");
    meanwhile(swap, || {
        for _ in 0..50 {
            if let Ok(snapshot) = Snapshot::take(&tree.root(), &SnapshotOptions::default(), None) {
                let paths = paths(&snapshot);
                assert!(paths.iter().all(|path| !path.ends_with("secret")), "{paths:?}");
            }
        }
    });
}

#[test]
fn our_own_state_is_left_out_at_the_top_only() {
    let tree =
        Tree::with(&[(".probity/state", "s"), ("sub/.probity/state", "s"), (".git/x", "x"), ("a", "a")]);
    let options = SnapshotOptions { own_state: vec![b".probity".to_vec()], ..SnapshotOptions::default() };
    let snapshot = Snapshot::take(&tree.root(), &options, None).expect("a snapshot");
    assert_eq!(paths(&snapshot), ["a", "sub", "sub/.probity", "sub/.probity/state"]);
    let options = SnapshotOptions { dot_git_is_content: true, ..options };
    let snapshot = Snapshot::take(&tree.root(), &options, None).expect("a snapshot");
    assert_eq!(paths(&snapshot)[..2], [".git", ".git/x"]);
}

#[test]
fn a_root_that_is_no_directory_is_an_error_that_says_so() {
    let tree = Tree::with(&[("file", "f")]);
    for path in ["file", "missing"] {
        let error = Snapshot::take(&tree.path(path), &SnapshotOptions::default(), None).expect_err("no tree");
        assert_eq!(error.reason, ReasonCode::TreeUnavailable);
        assert_eq!(error.root, tree.path(path));
    }
}
