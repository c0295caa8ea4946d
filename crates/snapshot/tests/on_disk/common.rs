//! A tree to work in, and helpers for expectations.

use probity_snapshot::{Snapshot, SnapshotOptions, TreeChange, delta};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) struct Tree {
    home: TempDir,
}

impl Tree {
    /// Creates an empty tree. It is one level below a directory of its own, so that there is an outside.
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(home.path().join("root")).expect("the root");
        Self { home }
    }

    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let tree = Self::new();
        for (path, content) in files {
            tree.write(path, content);
        }
        tree
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.home.path().join("root")
    }

    pub(crate) fn outside(&self) -> &Path {
        self.home.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("the directories above");
        fs::write(path, content).expect("the file");
    }

    pub(crate) fn mode(&self, path: &str, mode: u32) {
        fs::set_permissions(self.path(path), fs::Permissions::from_mode(mode)).expect("the mode");
    }

    pub(crate) fn link(&self, target: impl AsRef<Path>, path: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).expect("the link");
    }

    pub(crate) fn see(&self) -> Snapshot {
        Snapshot::take(&self.root(), &SnapshotOptions::default(), None).expect("a snapshot")
    }

    /// Waits until new writes get a later time than all earlier ones.
    pub(crate) fn next_tick(&self) {
        let touch = || {
            let probe = self.outside().join("probe");
            fs::write(&probe, "").expect("the probe");
            let facts = fs::metadata(&probe).expect("the probe is there");
            (facts.ctime(), facts.ctime_nsec())
        };
        let before = touch();
        probity_testkit::wait_until("the clock of the file system goes on", || touch() > before);
    }

    /// Returns the effect of `change` on the tree, as lines like `added a/b`.
    pub(crate) fn delta(&self, change: impl FnOnce(&Self)) -> Vec<String> {
        let before = self.see();
        change(self);
        show(&delta(&before, &self.see()))
    }
}

pub(crate) fn show(changes: &[TreeChange]) -> Vec<String> {
    changes.iter().map(|change| format!("{} {}", change.change, change.path)).collect()
}

pub(crate) fn paths(snapshot: &Snapshot) -> Vec<String> {
    snapshot.entries().map(|entry| entry.path().to_string()).collect()
}

/// Returns the findings as lines like `UNSAFE.FIFO a/b`.
pub(crate) fn findings(snapshot: &Snapshot) -> Vec<String> {
    snapshot.findings().iter().map(|finding| format!("{} {}", finding.reason, finding.path)).collect()
}
