//! Where Probity's files lie.
//!
//! In a git repository: `<git common dir>/probity`, so that all worktrees of a clone agree and no state file is ever
//! part of a tree. Elsewhere: `.probity` at the root.
//!
//! ```text
//! open/<run id>/         runs that have no evidence yet: the seal, and the socket that takes amendments
//! evidence/<run id>/     finished bundles
//! chain.json             the head of the evidence chain
//! objects/               before-images
//! cache/                 stat caches; may be deleted at any time
//! keys/                  the signing key, if there is one
//! locks/                 who works on which tree
//! ```

use crate::{Chain, Objects, StoreError};
use canon::Digest;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The state directory of one repository.
#[derive(Debug, Clone)]
pub struct State {
    dir: PathBuf,
}

impl State {
    /// The state below `dir`. Nothing is created until something is written.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder of a run that has no evidence yet.
    pub fn open_run(&self, run_id: &str) -> PathBuf {
        self.dir.join("open").join(run_id)
    }

    /// The ids of all runs that have no evidence yet, sorted.
    pub fn open_runs(&self) -> Result<Vec<String>, StoreError> {
        list(&self.dir.join("open"))
    }

    /// The folder of all finished bundles.
    pub fn evidence(&self) -> PathBuf {
        self.dir.join("evidence")
    }

    /// The ids of all finished runs, sorted: ids begin with their time, so the oldest comes first.
    pub fn bundles(&self) -> Result<Vec<String>, StoreError> {
        list(&self.evidence())
    }

    /// The objects.
    pub fn objects(&self) -> Objects {
        Objects::new(self.dir.join("objects"))
    }

    /// The evidence chain, locked for appending.
    pub fn chain(&self) -> Result<Chain, StoreError> {
        Chain::lock(self.dir.join("chain.json"))
    }

    /// The stat cache of the tree at `root`.
    pub fn cache(&self, root: &Path) -> PathBuf {
        self.dir.join("cache").join(key(root))
    }

    /// The lock of the tree at `root`.
    pub fn tree_lock(&self, root: &Path) -> PathBuf {
        self.dir.join("locks").join(key(root))
    }

    /// The signing key.
    pub fn signing_key(&self) -> PathBuf {
        self.dir.join("keys").join("signing.json")
    }
}

/// A file name for a tree: worktrees of one repository share a state directory, but neither locks nor caches.
fn key(root: &Path) -> String {
    Digest::of(root.as_os_str().as_bytes()).to_hex()[..16].to_owned()
}

/// The names in a folder, sorted; names that begin with a dot are unfinished work.
fn list(dir: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::Io { path: dir.to_owned(), source }),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(StoreError::io(dir))?.file_name();
        if let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_runs_in_order_and_leaves_out_unfinished_ones() {
        let dir = tempfile::tempdir().expect("a directory");
        let state = State::at(dir.path().to_owned());
        assert_eq!(state.open_runs().expect("lists"), Vec::<String>::new());
        for name in ["b", "a", ".tmp"] {
            std::fs::create_dir_all(state.open_run(name)).expect("creates");
        }
        assert_eq!(state.open_runs().expect("lists"), ["a", "b"]);
    }

    #[test]
    fn two_worktrees_do_not_share_a_lock() {
        let state = State::at("/state".into());
        assert_ne!(state.tree_lock(Path::new("/a")), state.tree_lock(Path::new("/b")));
    }
}
