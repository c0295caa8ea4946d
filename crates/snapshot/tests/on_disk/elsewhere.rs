//! Tests that need other privileges or mounts: the test starts itself again where it has them.

use crate::common::{Tree, findings, paths};
use probity_core::ReasonCode;
use probity_snapshot::{Snapshot, SnapshotOptions, delta};
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Passes the tree to the second run.
const TREE: &str = "PROBITY_TEST_TREE";

/// Runs the test `name` again under `wrapper`, for the tree at `root`. Returns the reason if it could not even start.
fn again(wrapper: &[&str], name: &str, root: &Path) -> Result<(), String> {
    let can = Command::new(wrapper[0]).args(&wrapper[1..]).arg("true").output();
    match can {
        Ok(done) if done.status.success() => {}
        Ok(done) => return Err(String::from_utf8_lossy(&done.stderr).into_owned()),
        Err(error) => return Err(error.to_string()),
    }
    // Another user may not have access to the directory of this program.
    let program = root.parent().expect("a parent").join("program");
    probity_testkit::copy_program(std::env::current_exe().expect("a program"), &program);
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("made runnable");
    let done = Command::new(wrapper[0])
        .args(&wrapper[1..])
        .arg(&program)
        .args(["--exact", name, "--nocapture"])
        .env(TREE, root)
        .output()
        .expect("it could start before");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
    assert!(String::from_utf8_lossy(&done.stdout).contains("1 passed"), "the second run found no test");
    Ok(())
}

fn inner_tree() -> Option<PathBuf> {
    std::env::var_os(TREE).map(PathBuf::from)
}

fn take(root: &Path) -> Snapshot {
    Snapshot::take(root, &SnapshotOptions::default(), None).expect("a snapshot")
}

#[test]
fn what_cannot_be_read_is_named_and_never_skipped() {
    if let Some(root) = inner_tree() {
        return look_at_unreadable(&root);
    }
    let tree = Tree::with(&[("open", "o"), ("secret", "s"), ("closed/x", "x"), ("blind/y", "y")]);
    tree.mode("secret", 0o000);
    tree.mode("closed", 0o000);
    tree.mode("blind", 0o444);
    fs::set_permissions(tree.outside(), fs::Permissions::from_mode(0o755)).expect("let in");
    if geteuid().is_root() {
        let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        let name = "elsewhere::what_cannot_be_read_is_named_and_never_skipped";
        if let Err(why) = again(&nobody, name, &tree.root()) {
            probity_testkit::skip!(
                "this is root, who can read everything, and cannot become another user: {why}"
            );
        }
    } else {
        look_at_unreadable(&tree.root());
    }
    tree.mode("closed", 0o700);
    tree.mode("blind", 0o700);
}

fn look_at_unreadable(root: &Path) {
    let snapshot = take(root);
    let expected = ["TREE.UNAVAILABLE blind/y", "TREE.UNAVAILABLE closed", "TREE.UNAVAILABLE secret"];
    assert_eq!(findings(&snapshot), expected);
    assert_eq!(paths(&snapshot), ["blind", "blind/y", "closed", "open", "secret"]);
    assert_eq!(delta(&snapshot, &take(root)), []);
    assert_eq!(postcard::from_bytes(&postcard::to_stdvec(&snapshot).expect("bytes")), Ok(snapshot));
}

#[test]
fn a_root_that_cannot_be_listed_is_an_error() {
    if let Some(root) = inner_tree() {
        return look_at_unlistable(&root);
    }
    let tree = Tree::with(&[("a", "a")]);
    fs::set_permissions(tree.root(), fs::Permissions::from_mode(0o311)).expect("closed");
    fs::set_permissions(tree.outside(), fs::Permissions::from_mode(0o755)).expect("let in");
    if geteuid().is_root() {
        let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
        let name = "elsewhere::a_root_that_cannot_be_listed_is_an_error";
        if let Err(why) = again(&nobody, name, &tree.root()) {
            probity_testkit::skip!(
                "this is root, who can read everything, and cannot become another user: {why}"
            );
        }
    } else {
        look_at_unlistable(&tree.root());
    }
    fs::set_permissions(tree.root(), fs::Permissions::from_mode(0o700)).expect("opened");
}

fn look_at_unlistable(root: &Path) {
    let error = Snapshot::take(root, &SnapshotOptions::default(), None).expect_err("it cannot be read");
    assert_eq!(error.reason, ReasonCode::TreeUnavailable);
}

#[test]
fn mounts_are_reported_and_not_looked_into() {
    if let Some(root) = inner_tree() {
        return look_at_mounts(&root);
    }
    let tree = Tree::with(&[("plain/x", "x"), ("file", "f"), ("other", "o")]);
    for dir in ["tmpfs", "bind"] {
        fs::create_dir(tree.path(dir)).expect("made");
    }
    let name = "elsewhere::mounts_are_reported_and_not_looked_into";
    if let Err(why) = again(&["unshare", "--map-root-user", "--mount"], name, &tree.root()) {
        probity_testkit::skip!("this system does not let a test mount anything: {why}");
    }
}

fn look_at_mounts(root: &Path) {
    let before = take(root);
    assert_eq!(findings(&before), [""; 0]);
    let mount = |args: &[&str], at: &str| {
        let done = Command::new("mount").args(args).arg(root.join(at)).output().expect("mount runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let path = |path: &str| root.join(path).to_str().expect("text").to_owned();
    mount(&["-t", "tmpfs", "none"], "tmpfs");
    fs::write(root.join("tmpfs/hidden"), "h").expect("written");
    // The same file system twice: only the mount differs.
    mount(&["--bind", &path("plain")], "bind");
    mount(&["--bind", &path("other")], "file");
    let after = take(root);
    let expected = ["UNSAFE.MOUNT_POINT bind", "UNSAFE.MOUNT_POINT file", "UNSAFE.MOUNT_POINT tmpfs"];
    assert_eq!(findings(&after), expected);
    assert_eq!(paths(&after), paths(&before));
    let changed: Vec<_> = delta(&before, &after).iter().map(|change| change.path.to_string()).collect();
    assert_eq!(changed, ["bind", "file", "tmpfs"]);
}
