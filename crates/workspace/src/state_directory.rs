//! The layout of the state directory.
//!
//! In a git repository it is `<git common dir>/probity`, so all worktrees of a clone share it and no state file is ever
//! part of a tree. Elsewhere it is `.probity` at the root.
//!
//! `docs/state.md` lists every file with its format, its owner, and whether it is a cache.
//!
//! A tree is identified by the first digits of its root's digest. The directory name of an open run contains this key,
//! so as soon as the run is visible, everyone knows which lock shows whether it is alive.

use probity_core::Digest;
use probity_storage::{FileLock, ObjectFiles, StoreError};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub const DATABASE_FILE: &str = "store.sqlite";

/// The noted head of the log.
pub const CHECKPOINT_FILE: &str = "log.checkpoint";

/// The directory of stored handles.
pub const HANDLES_DIR: &str = "handles";

/// Marks the directory of an open run in a view.
const VIEW_SUFFIX: &str = ".view";

const TREE_KEY_DIGITS: usize = 16;

/// The state directory of one repository.
#[derive(Debug, Clone)]
pub struct StateDirectory {
    dir: PathBuf,
}

/// A run without evidence yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenRun {
    pub run_id: String,
    pub folder: PathBuf,
    /// Held by the process that works on the tree of this run, or in a view of it.
    pub lock: PathBuf,
    /// The stat cache of the tree.
    pub cache: PathBuf,
}

impl StateDirectory {
    /// The state below `dir`. Nothing is created until something is written.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The open run `run_id` on the tree at `root`, whether its directory exists or not.
    pub fn open_run(&self, run_id: &str, root: &Path) -> OpenRun {
        self.open(run_id, &tree_key(root))
    }

    /// The open run `run_id` in a view of the tree at `root`. Such runs only share the lock of the tree; each has a lock
    /// of its own, that of its layer.
    pub fn open_view_run(&self, run_id: &str, root: &Path) -> OpenRun {
        self.open(run_id, &format!("{}{VIEW_SUFFIX}", tree_key(root)))
    }

    /// Returns all runs without evidence, sorted. Entries that are not named like a run are ignored.
    pub fn open_runs(&self) -> Result<Vec<OpenRun>, StoreError> {
        let names = list(&self.dir.join("open"))?;
        Ok(names
            .iter()
            .filter_map(|name| name.split_once('.'))
            .map(|(id, tree)| self.open(id, tree))
            .collect())
    }

    fn open(&self, run_id: &str, place: &str) -> OpenRun {
        let in_view = place.strip_suffix(VIEW_SUFFIX);
        let tree = in_view.unwrap_or(place);
        OpenRun {
            run_id: run_id.into(),
            folder: self.dir.join("open").join(format!("{run_id}.{place}")),
            lock: match in_view {
                Some(_) => self.layer_lock(run_id),
                None => self.dir.join("locks").join(tree),
            },
            cache: self.dir.join("cache").join(tree),
        }
    }

    /// The directory of finished bundles.
    pub fn evidence(&self) -> PathBuf {
        self.dir.join("evidence")
    }

    /// Returns the ids of all finished runs, oldest first: ids begin with their time.
    pub fn bundles(&self) -> Result<Vec<String>, StoreError> {
        list(&self.evidence())
    }

    pub fn database(&self) -> PathBuf {
        self.dir.join(DATABASE_FILE)
    }

    /// The second place that knows the head of the log.
    pub fn checkpoint(&self) -> PathBuf {
        self.dir.join(CHECKPOINT_FILE)
    }

    /// What earlier logs listed, one directory for each that was begun again.
    pub fn aside(&self) -> PathBuf {
        self.dir.join("aside")
    }

    /// The folded state of the intent log; may be deleted at any time.
    pub fn registry_cache(&self) -> PathBuf {
        self.dir.join("cache").join("intents")
    }

    /// Held while deciding on intents. It only avoids wasted work under contention; correctness does not depend on it.
    pub fn registry_turn(&self) -> PathBuf {
        self.dir.join("locks").join("intents")
    }

    /// Held while a process reads the existing claims and writes its own: exclusively by a run, shared by claims in the
    /// registry.
    pub fn claims_lock(&self) -> PathBuf {
        self.dir.join("locks").join("claims")
    }

    /// The objects, the same ones the store reads and writes.
    pub fn objects(&self) -> ObjectFiles {
        ObjectFiles::new(self.dir.join("objects"))
    }

    /// The before-images, kept apart from other objects because they live as long as the bundles that need them.
    pub fn before_images(&self) -> ObjectFiles {
        ObjectFiles::new(self.dir.join("before"))
    }

    /// Shared by processes that rely on before-images; exclusive for a process that removes some.
    pub fn before_lock(&self) -> PathBuf {
        self.dir.join("before.lock")
    }

    /// Held while a bundle is written and listed in the log, so that two never name the same predecessor, and nobody
    /// sees a bundle that is not listed yet.
    pub fn lock_evidence(&self) -> Result<FileLock, StoreError> {
        FileLock::take(&self.dir.join("evidence.lock"))
    }

    /// The directory of receipts.
    pub fn receipts_dir(&self) -> PathBuf {
        self.dir.join("receipts")
    }

    /// The file of a receipt.
    pub fn receipt(&self, number: u64) -> PathBuf {
        self.receipts_dir().join(format!("{number:08}.json"))
    }

    /// Returns the numbers of all receipts in order.
    pub fn receipts(&self) -> Result<Vec<u64>, StoreError> {
        let names = list(&self.receipts_dir())?;
        let mut numbers: Vec<u64> =
            names.iter().filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    pub fn ledger(&self) -> PathBuf {
        self.dir.join("ledger")
    }

    /// The stat cache of the tree at `root`.
    pub fn cache(&self, root: &Path) -> PathBuf {
        self.dir.join("cache").join(tree_key(root))
    }

    /// The files of the commit that is checked out in the tree at `root`.
    pub fn head_cache(&self, root: &Path) -> PathBuf {
        self.dir.join("cache").join(format!("{}.head", tree_key(root)))
    }

    /// The last test of a view that was passed for the tree at `root`.
    pub fn view_test_cache(&self, root: &Path) -> PathBuf {
        self.dir.join("cache").join(format!("{}.view", tree_key(root)))
    }

    /// Does something that an open run would notice, unless a governed run is open in the repository. Open runs watch every
    /// cache of a tree, because a forged one would hide changes from the next run on it. Runs begin under the claims lock,
    /// so none can begin meanwhile.
    pub fn while_no_run_is_open(&self, write: impl FnOnce()) {
        let Ok(_share) = FileLock::share_within(&self.claims_lock(), Duration::ZERO) else { return };
        if self.open_runs().is_ok_and(|runs| runs.is_empty()) {
            write();
        }
    }

    /// The index from contents to the changes that left them.
    pub fn content_index(&self) -> PathBuf {
        self.dir.join("cache").join("contents")
    }

    /// The facts of analyzed files, shared by all worktrees.
    pub fn facts(&self) -> PathBuf {
        self.dir.join("cache").join("facts")
    }

    /// The directory of stored analyses.
    pub fn runs(&self) -> PathBuf {
        self.dir.join("runs")
    }

    pub fn tree_lock(&self, root: &Path) -> PathBuf {
        self.dir.join("locks").join(tree_key(root))
    }

    /// The layer of a run in a view: `upper` holds its changes, `work` belongs to the kernel.
    pub fn layer(&self, run_id: &str) -> PathBuf {
        self.dir.join("layers").join(run_id)
    }

    /// Returns the ids of the runs whose layers are kept, oldest first.
    pub fn layers(&self) -> Result<Vec<String>, StoreError> {
        list(&self.dir.join("layers"))
    }

    /// Held by the process that mounts, lands, merges or removes the layer of a run.
    pub fn layer_lock(&self, run_id: &str) -> PathBuf {
        self.dir.join("locks").join(format!("layer-{run_id}"))
    }

    /// The journal and the exchanged entries of a landing on the tree at `root`.
    pub fn landing(&self, run_id: &str, root: &Path) -> PathBuf {
        self.dir.join("landings").join(format!("{run_id}.{}", tree_key(root)))
    }

    /// Returns the landings on the tree at `root`, finished or not: run id and directory, oldest first.
    pub fn landings(&self, root: &Path) -> Result<Vec<(String, PathBuf)>, StoreError> {
        let (dir, key) = (self.dir.join("landings"), tree_key(root));
        let names = list(&dir)?;
        let of_tree = names.iter().filter_map(|name| name.split_once('.')).filter(|(_, tree)| *tree == key);
        Ok(of_tree.map(|(id, tree)| (id.to_owned(), dir.join(format!("{id}.{tree}")))).collect())
    }

    /// Returns the landing that has this id, on whatever tree.
    pub fn landing_of_run(&self, run_id: &str) -> Result<Option<PathBuf>, StoreError> {
        let dir = self.dir.join("landings");
        let names = list(&dir)?;
        let is_of_run = |name: &&String| name.split_once('.').is_some_and(|(id, _)| id == run_id);
        Ok(names.iter().find(is_of_run).map(|name| dir.join(name)))
    }

    /// Held while a layer lands on the tree at `root`, or an interrupted landing is completed. Runs in views only share
    /// the lock of the tree, so that one does not keep landings apart.
    pub fn landing_lock(&self, root: &Path) -> PathBuf {
        self.dir.join("locks").join(format!("{}.landing", tree_key(root)))
    }

    /// Held while closing interrupted runs of other trees, so that each is closed once.
    pub fn closing_lock(&self) -> PathBuf {
        self.dir.join("locks").join("closing")
    }

    /// The handles of the intents started in the worktree at `root`.
    pub fn handles(&self, root: &Path) -> PathBuf {
        self.dir.join(HANDLES_DIR).join(tree_key(root))
    }

    pub fn signing_key(&self) -> PathBuf {
        self.dir.join("keys").join("signing.json")
    }
}

/// Returns the file name for a tree. Worktrees of one repository share a state directory, but not locks or caches.
pub fn tree_key(root: &Path) -> String {
    Digest::of(root.as_os_str().as_bytes()).to_hex()[..TREE_KEY_DIGITS].to_owned()
}

/// Returns whether `name` has the format of a [`tree_key`].
pub fn is_tree_key(name: &str) -> bool {
    name.len() == TREE_KEY_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Lists a directory, sorted; names that begin with a dot are unfinished work and left out.
fn list(dir: &Path) -> Result<Vec<String>, StoreError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(StoreError::Io { path: dir.to_owned(), source }),
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(StoreError::io_error(dir))?.file_name();
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
        let state = StateDirectory::at(dir.path().to_owned());
        assert_eq!(state.open_runs().expect("lists"), []);
        for name in ["b.1", "a.2", ".tmp.1", "junk"] {
            std::fs::create_dir_all(dir.path().join("open").join(name)).expect("creates");
        }
        let ids: Vec<String> = state.open_runs().expect("lists").into_iter().map(|run| run.run_id).collect();
        assert_eq!(ids, ["a", "b"]);
    }

    #[test]
    fn an_open_run_knows_the_lock_and_the_cache_of_its_tree() {
        let dir = tempfile::tempdir().expect("a directory");
        let state = StateDirectory::at(dir.path().to_owned());
        let run = state.open_run("a", Path::new("/tree"));
        std::fs::create_dir_all(&run.folder).expect("creates");
        assert_eq!(state.open_runs().expect("lists").first(), Some(&run));
        assert_eq!(run.lock, state.tree_lock(Path::new("/tree")));
        assert_eq!(run.cache, state.cache(Path::new("/tree")));
    }

    #[test]
    fn two_worktrees_do_not_share_a_lock() {
        let state = StateDirectory::at("/state".into());
        assert_ne!(state.tree_lock(Path::new("/a")), state.tree_lock(Path::new("/b")));
    }
}
