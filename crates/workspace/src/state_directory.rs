//! Where Probity's files lie.
//!
//! In a git repository: `<git common dir>/probity`, so that all worktrees of a clone agree and no state file is ever
//! part of a tree. Elsewhere: `.probity` at the root.
//!
//! `docs/state.md` lists every file with its form, its owner, and whether it is a cache.
//!
//! A tree is named by the beginning of its root's digest. An open run carries it in the name of its folder, so that from
//! the instant it can be seen everybody knows which lock tells whether it is alive.

use probity_core::Digest;
use probity_storage::sqlite::SqliteStore;
use probity_storage::{HashChain, ObjectFiles, StoreError};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The name of the database.
pub const DATABASE_FILE: &str = "store.sqlite";

/// The name of the directory of kept handles.
pub const HANDLES_DIR: &str = "handles";

/// How many digits of a digest name a tree.
const TREE_KEY_DIGITS: usize = 16;

/// The state directory of one repository.
#[derive(Debug, Clone)]
pub struct StateDirectory {
    dir: PathBuf,
}

/// A run that has no evidence yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenRun {
    /// The run.
    pub run_id: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Whoever works on its tree holds this lock.
    pub lock: PathBuf,
    /// The stat cache of its tree.
    pub cache: PathBuf,
}

impl StateDirectory {
    /// The state below `dir`. Nothing is created until something is written.
    pub fn at(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// The directory itself.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A run on the tree at `root` that has no evidence yet, whether its folder exists or not.
    pub fn open_run(&self, run_id: &str, root: &Path) -> OpenRun {
        self.open(run_id, &tree_key(root))
    }

    /// All runs that have no evidence yet, sorted. What is not named like one is none.
    pub fn open_runs(&self) -> Result<Vec<OpenRun>, StoreError> {
        let names = list(&self.dir.join("open"))?;
        Ok(names
            .iter()
            .filter_map(|name| name.split_once('.'))
            .map(|(id, tree)| self.open(id, tree))
            .collect())
    }

    fn open(&self, run_id: &str, tree: &str) -> OpenRun {
        OpenRun {
            run_id: run_id.into(),
            folder: self.dir.join("open").join(format!("{run_id}.{tree}")),
            lock: self.dir.join("locks").join(tree),
            cache: self.dir.join("cache").join(tree),
        }
    }

    /// The folder of all finished bundles.
    pub fn evidence(&self) -> PathBuf {
        self.dir.join("evidence")
    }

    /// The ids of all finished runs, sorted: ids begin with their time, so the oldest comes first.
    pub fn bundles(&self) -> Result<Vec<String>, StoreError> {
        list(&self.evidence())
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.dir.join(DATABASE_FILE)
    }

    /// The store, made if there is none yet.
    pub fn store(&self) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(&self.database())
    }

    /// The fold of the log of intents; may be deleted at any time.
    pub fn registry_cache(&self) -> PathBuf {
        self.dir.join("cache").join("intents")
    }

    /// Whoever decides on intents holds this lock, so that those who contend do not decide in vain.
    pub fn registry_turn(&self) -> PathBuf {
        self.dir.join("locks").join("intents")
    }

    /// A process that claims paths holds this lock while it looks at other claims and writes its own: a run alone, those
    /// who claim in the registry together.
    pub fn claims_lock(&self) -> PathBuf {
        self.dir.join("locks").join("claims")
    }

    /// The objects: the same that [`SqliteStore`] gives as its port.
    pub fn objects(&self) -> ObjectFiles {
        ObjectFiles::new(self.dir.join("objects"))
    }

    /// The before-images: apart from the other objects, because they live for as long as the bundles that need them.
    pub fn before_images(&self) -> ObjectFiles {
        ObjectFiles::new(self.dir.join("before"))
    }

    /// Whoever counts on before-images shares this lock; whoever removes some has it alone.
    pub fn before_lock(&self) -> PathBuf {
        self.dir.join("before.lock")
    }

    /// The evidence chain, locked for appending.
    pub fn chain(&self) -> Result<HashChain<String>, StoreError> {
        HashChain::lock(self.dir.join("chain.json"))
    }

    /// The folder of the ledger.
    pub fn ledger(&self) -> PathBuf {
        self.dir.join("ledger")
    }

    /// The stat cache of the tree at `root`.
    pub fn cache(&self, root: &Path) -> PathBuf {
        self.dir.join("cache").join(tree_key(root))
    }

    /// The facts of analysed files, shared by all worktrees.
    pub fn facts(&self) -> PathBuf {
        self.dir.join("cache").join("facts")
    }

    /// The folder of stored analyses.
    pub fn runs(&self) -> PathBuf {
        self.dir.join("runs")
    }

    /// The lock of the tree at `root`.
    pub fn tree_lock(&self, root: &Path) -> PathBuf {
        self.dir.join("locks").join(tree_key(root))
    }

    /// Whoever closes interrupted runs of other trees holds this lock, so that each is closed once.
    pub fn closing_lock(&self) -> PathBuf {
        self.dir.join("locks").join("closing")
    }

    /// The handles of the intents that were started in the working tree at `root`.
    pub fn handles(&self, root: &Path) -> PathBuf {
        self.dir.join(HANDLES_DIR).join(tree_key(root))
    }

    /// The signing key.
    pub fn signing_key(&self) -> PathBuf {
        self.dir.join("keys").join("signing.json")
    }
}

/// A file name for a tree: worktrees of one repository share a state directory, but neither locks nor caches.
pub fn tree_key(root: &Path) -> String {
    Digest::of(root.as_os_str().as_bytes()).to_hex()[..TREE_KEY_DIGITS].to_owned()
}

/// Whether a name may be that of a tree, as [`tree_key`] gives it.
pub fn is_tree_key(name: &str) -> bool {
    name.len() == TREE_KEY_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit())
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
