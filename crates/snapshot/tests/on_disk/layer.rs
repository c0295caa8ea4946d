//! The tree after a layer is the tree that a real overlay shows.

use probity_snapshot::{ChangeKind, ObjectFormat, Snapshot, SnapshotOptions, delta, touched};
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const N_HISTORIES: u64 = 24;
const N_STEPS: usize = 40;

/// Runs `script` in the view of an overlay on `tree`, then copies what the view shows to `seen`. Returns false if this
/// machine cannot make an overlay.
fn run_in_overlay(place: &Path, script: &str) -> bool {
    for directory in ["upper", "work", "seen"] {
        fs::create_dir(place.join(directory)).expect("creates");
    }
    let mount =
        "mount -t overlay overlay -o lowerdir=tree,upperdir=upper,workdir=work,userxattr tree || exit 9";
    let text = format!("{mount}\ncd tree\n{script}\ncd ..\ncp -a tree/. seen/ || exit 8");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &text])
        .current_dir(place)
        .output()
        .expect("unshare starts");
    match output.status.code() {
        Some(0) => true,
        Some(1 | 9) => false,
        _ => panic!("{script}: {output:?}"),
    }
}

fn start_tree() -> TempDir {
    let place = tempfile::tempdir().expect("a directory");
    for (file, text) in [("a/b/f", "1"), ("a/b/g", "2"), ("a/f", "3"), ("b/f", "4"), ("f", "5"), ("c/g", "6")]
    {
        let path = place.path().join("tree").join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write(path, text).expect("writes");
    }
    std::os::unix::fs::symlink("f", place.path().join("tree/l")).expect("links");
    place
}

fn options() -> SnapshotOptions {
    SnapshotOptions { git_ids: Some(ObjectFormat::Sha1), ..SnapshotOptions::default() }
}

fn snapshot(path: &Path) -> Snapshot {
    Snapshot::take(path, &options(), None).expect("is seen")
}

fn next(state: &mut u64, below: u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state % below
}

/// Returns a random step of a shell script; most fail now and then, which is fine.
fn step(state: &mut u64) -> String {
    const NAMES: [&str; 12] = ["a", "a/b", "a/b/f", "a/f", "b", "b/f", "c", "c/g", "d", "d/f", "f", "l"];
    let (one, other) = (
        NAMES[usize::try_from(next(state, 12)).expect("small")],
        NAMES[usize::try_from(next(state, 12)).expect("small")],
    );
    match next(state, 10) {
        0 => format!("echo {} > {one}", next(state, 100)),
        1 => format!("rm -f {one}"),
        2 => format!("rm -rf {one}"),
        3 => format!("mkdir -p {one}"),
        4 => format!("rm -rf {one}; mkdir {one}"),
        5 => format!("mv -T {one} {other}"),
        6 => format!("chmod {:o} {one}", 0o600 + next(state, 0o200)),
        7 => format!("rm -rf {one}; ln -s {other} {one}"),
        8 => format!("cp -a {one} {other}"),
        _ => format!("chmod 755 {one}; touch {one}; echo x >> {one}"),
    }
}

#[test]
fn a_layer_shows_what_an_overlay_shows() {
    for seed in 1..=N_HISTORIES {
        let place = start_tree();
        let before = snapshot(&place.path().join("tree"));
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let script: Vec<String> =
            (0..N_STEPS).map(|_| format!("({}) 2>/dev/null", step(&mut state))).collect();
        // Unreadable directories would keep the copy from being made by anybody but root.
        let script = format!("{}\nchmod -R u+rwX . 2>/dev/null; true", script.join("\n"));
        if !run_in_overlay(place.path(), &script) {
            return probity_testkit::skip!("this machine cannot make an overlay in a user namespace");
        }
        assert_eq!(snapshot(&place.path().join("tree")).root(), before.root(), "the tree itself changed");
        let (upper, tree) = (place.path().join("upper"), place.path().join("tree"));
        let after = before.with_layer(&upper, &tree, &options()).expect("the layer is read");
        let seen = snapshot(&place.path().join("seen"));
        assert_eq!(delta(&after, &seen), [], "seed {seed}:\n{script}");
        assert_eq!(after.root(), seen.root(), "seed {seed}:\n{script}");
    }
}

#[test]
fn a_restored_file_is_touched_and_not_changed() {
    let place = start_tree();
    let before = snapshot(&place.path().join("tree"));
    if !run_in_overlay(place.path(), "echo x > a/f; printf 3 > a/f; rm f; echo new > b/n") {
        return probity_testkit::skip!("this machine cannot make an overlay in a user namespace");
    }
    let tree = place.path().join("tree");
    let after = before.with_layer(&place.path().join("upper"), &tree, &options()).expect("the layer is read");
    let changes: Vec<_> =
        delta(&before, &after).into_iter().map(|change| (change.path.to_string(), change.change)).collect();
    let expected = [("b/n", ChangeKind::Added), ("f", ChangeKind::Deleted)];
    assert_eq!(changes, expected.map(|(path, change)| (path.to_owned(), change)));
    let touched: Vec<String> = touched(&before, &after).iter().map(|entry| entry.path.to_string()).collect();
    assert!(touched.contains(&"a/f".to_owned()), "{touched:?}");
    assert!(!touched.contains(&"a/b/f".to_owned()), "{touched:?}");
}
