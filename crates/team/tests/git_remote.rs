//! The engine on a git remote keeps the promises of the ports, against a real repository.

use probity_snapshot::git::GitLayout;
use probity_storage::StoreError;
use probity_storage::conformance;
use probity_storage::ports::{AppendOutcome, EventLog, StorageEngine};
use probity_team::GitRemoteStore;
use std::path::{Path, PathBuf};
use std::process::Command;

const REPOSITORY: &str = "0123456789abcdef";

struct TestRemote {
    directory: tempfile::TempDir,
}

impl TestRemote {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let remote = Self { directory };
        remote.git(&["init", "-q", "--bare", "remote.git"]);
        remote.git(&["init", "-q", "clone"]);
        remote
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().expect("is there").join(name)
    }

    fn git(&self, words: &[&str]) -> String {
        let output = Command::new("git")
            .args(words)
            .current_dir(self.directory.path())
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .expect("git starts");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the store as a machine of its own sees it.
    fn machine(&self, name: &str) -> GitRemoteStore {
        self.machine_at(name, &self.path("remote.git"))
    }

    fn machine_at(&self, name: &str, remote: &Path) -> GitRemoteStore {
        let layout = GitLayout::find(&self.path("clone")).expect("a repository");
        let directory = self.path("machines").join(name).join("git");
        GitRemoteStore::open(&layout, directory, &remote.display().to_string(), REPOSITORY).expect("opens")
    }
}

#[test]
fn a_git_remote_keeps_every_promise() {
    let remote = TestRemote::new();
    conformance::check(&remote.machine("one"), "t").expect("keeps them");
}

#[test]
fn machines_see_each_other_and_one_of_two_wins() {
    let remote = TestRemote::new();
    let (one, two) = (remote.machine("one").log("intents"), remote.machine("two").log("intents"));
    assert_eq!(one.append(0, "a", b"1").expect("appends"), AppendOutcome::At(1));
    assert_eq!(two.head().expect("reads"), 1);
    assert_eq!(two.append(1, "b", b"2").expect("appends"), AppendOutcome::At(2));
    // The first has not looked since, so that its push itself must notice.
    let moved = one.append(1, "c", b"3").expect("answers");
    assert!(matches!(&moved, AppendOutcome::Moved { head: 2, news } if news[0].command == "b"), "{moved:?}");
    assert_eq!(one.append(1, "b", b"2").expect("answers"), AppendOutcome::Known { at: 2 });
    assert_eq!(one.find("b").expect("reads"), Some(2));
}

#[test]
fn a_long_log_is_read_from_anywhere() {
    let remote = TestRemote::new();
    let one = remote.machine("one").log("intents");
    for n in 0..80 {
        if n == 40 {
            assert_eq!(one.void("never").expect("voids"), None);
        }
        assert_eq!(one.append(n, &format!("c{n}"), b"{}").expect("appends"), AppendOutcome::At(n + 1));
    }
    let two = remote.machine("two").log("intents");
    for (after, limit, expected) in [(0, 100, 80), (3, 10, 10), (79, 10, 1), (80, 10, 0), (38, 5, 5)] {
        let read = two.read_after(after, limit).expect("reads");
        let numbers: Vec<u64> = read.iter().map(|record| record.seq).collect();
        let wanted: Vec<u64> = (after + 1..=after + expected).collect();
        assert_eq!(numbers, wanted, "after {after}");
    }
    assert_eq!(two.find("c0").expect("reads"), Some(1));
    assert_eq!(two.find("never").expect("reads"), None);
}

#[test]
fn a_log_that_was_cut_or_removed_is_noticed() {
    let remote = TestRemote::new();
    let one = remote.machine("one").log("intents");
    for n in 0..3 {
        one.append(n, &format!("c{n}"), b"{}").expect("appends");
    }
    let two = remote.machine("two");
    assert_eq!(two.log("intents").head().expect("reads"), 3);
    let name = format!("refs/probity/{REPOSITORY}/log/n-intents");
    remote.git(&["-C", "remote.git", "update-ref", &name, &format!("{name}~1")]);
    let cut = remote.machine("two").log("intents").head();
    assert!(matches!(cut, Err(StoreError::Shortened { .. })), "{cut:?}");
    remote.git(&["-C", "remote.git", "update-ref", "-d", &name]);
    let gone = remote.machine("two").log("intents").head();
    assert!(matches!(gone, Err(StoreError::Shortened { .. })), "{gone:?}");
}

#[test]
fn a_remote_that_is_not_there_is_unreachable_and_one_that_refuses_denies() {
    let remote = TestRemote::new();
    let nowhere = remote.machine_at("one", &remote.path("nowhere.git"));
    assert!(matches!(nowhere.log("l").head(), Err(StoreError::Unreachable { .. })));
    assert!(matches!(nowhere.log("l").append(0, "a", b"1"), Err(StoreError::Unreachable { .. })));
    let hook = remote.path("remote.git/hooks/pre-receive");
    std::fs::create_dir_all(hook.parent().expect("has one")).expect("creates");
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").expect("writes");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("sets");
    let denied = remote.machine("two").log("l").append(0, "a", b"1");
    assert!(matches!(denied, Err(StoreError::Denied { .. })), "{denied:?}");
}

#[test]
fn nothing_that_the_clone_configures_is_started() {
    let remote = TestRemote::new();
    let mark = remote.path("started");
    let trap = format!("!touch {}; false", mark.display());
    for (name, value) in [
        ("credential.helper", trap.as_str()),
        ("core.sshCommand", "touch started"),
        ("core.fsmonitor", "touch started"),
    ] {
        remote.git(&["-C", "clone", "config", name, value]);
    }
    let hook = remote.path("clone/.git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().expect("has one")).expect("creates");
    std::fs::write(&hook, format!("#!/bin/sh\ntouch {}\n", mark.display())).expect("writes");
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("sets");
    let one = remote.machine("one");
    std::fs::write(
        remote.path("machines/one/git/config"),
        format!(
            "[core]\n\tsshCommand = touch {0}\n\tbare = true\n[credential]\n\thelper = {trap}\n",
            mark.display()
        ),
    )
    .expect("writes");
    drop(one);
    let one = remote.machine("one");
    assert_eq!(one.log("l").append(0, "a", b"1").expect("appends"), AppendOutcome::At(1));
    assert!(!mark.exists(), "a program of the clone was started");
    let log: &dyn EventLog = &*one.log("l");
    assert_eq!(log.head().expect("reads"), 1);
}
