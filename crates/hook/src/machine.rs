//! What the hook sees of the machine: governed trees, links, processes, the clock. No store, no lock, no git.

use crate::sessions::{CallerSession, SessionFiles};
use probity_guard::shell::ShellWorld;
use probity_guard::{
    CONFIGURATION_FILES, GUARD_FILE, GovernedTree, GuardRules, GuardSnapshot, GuardWorld, RunGuard,
    SessionRecord, SessionState, configuration_digest, program_identity,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

/// How many links are followed at the end of a path.
const MAX_LINKS: usize = 8;
/// How many ancestors of this process are examined.
const MAX_ANCESTORS: usize = 64;

/// The machine as the hook sees it, for one call.
pub struct FileWorld {
    home: String,
    cwd: String,
    caller: CallerSession,
    run: Option<RunGuard>,
    trees: RefCell<BTreeMap<PathBuf, Option<Rc<GovernedTree>>>>,
}

impl FileWorld {
    /// The world of a session that works in `cwd`, an absolute path.
    pub fn new(home: String, cwd: String, caller: CallerSession) -> Self {
        Self { home, cwd, caller, run: None, trees: RefCell::default() }
    }

    /// The same below a governed run.
    #[must_use]
    pub fn in_run(self, run: RunGuard) -> Self {
        Self { run: Some(run), ..self }
    }

    pub fn cwd(&self) -> &str {
        &self.cwd
    }

    /// Returns the files of the session in a tree; of the sub-agent if the call comes from one.
    pub fn session_files(&self, tree: &GovernedTree) -> SessionFiles {
        SessionFiles::new(&tree.state_dir, &self.caller, self.caller.subagent.is_some())
    }

    /// Returns the files of the session in a tree, also if the call comes from a sub-agent.
    pub fn parent_files(&self, tree: &GovernedTree) -> SessionFiles {
        SessionFiles::new(&tree.state_dir, &self.caller, false)
    }

    /// Returns the digest of the configuration that installs the guard.
    pub fn configuration_digest(&self, tree: &GovernedTree) -> String {
        let base = |is_home: bool| if is_home { &self.home } else { &tree.root };
        let read = |&(is_home, name): &(bool, &str)| fs::read(Path::new(base(is_home)).join(name)).ok();
        configuration_digest(&CONFIGURATION_FILES.iter().map(read).collect::<Vec<_>>())
    }

    /// Notes how the guard stands at the first event of a session.
    pub fn note_guard(&self, state: &mut SessionState, digest: String) {
        state.configuration = digest;
        let Ok(program) = std::env::current_exe() else { return };
        let Ok(facts) = program.metadata() else { return };
        state.program = program.to_string_lossy().into_owned();
        state.program_identity =
            program_identity(facts.size(), facts.ino(), (facts.ctime(), facts.ctime_nsec()));
    }

    fn governed(&self, root: &Path) -> Option<Rc<GovernedTree>> {
        let state_dir = state_directory(root)?;
        let run = self.run.as_ref().filter(|run| Path::new(&run.top) == root);
        if let Some(run) = run {
            return Some(Rc::new(GovernedTree {
                root: root.to_str()?.to_owned(),
                state_dir: state_dir.to_str()?.to_owned(),
                snapshot: Ok(GuardSnapshot::new(run.rules.clone())),
                session: SessionRecord::default(),
                subagent: None,
                bound: BTreeSet::new(),
                run: Some(run.clone()),
            }));
        }
        let snapshot = match fs::read(state_dir.join(GUARD_FILE)) {
            Ok(bytes) => GuardSnapshot::parse(&bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                if !has_policy(root) {
                    return None;
                }
                // A policy without a snapshot: nobody has declared anything yet.
                Ok(GuardSnapshot::new(GuardRules::default()))
            }
            Err(error) => Err(error.to_string()),
        };
        let state_dir = state_dir.to_str()?.to_owned();
        let session = SessionFiles::new(&state_dir, &self.caller, false).read();
        let subagent = self.caller.subagent.is_some();
        let subagent = subagent.then(|| SessionFiles::new(&state_dir, &self.caller, true).read());
        let bound = match &snapshot {
            Ok(snapshot) => SessionFiles::bound_intents(&state_dir, snapshot),
            Err(_) => BTreeSet::new(),
        };
        let root = root.to_str()?.to_owned();
        Some(Rc::new(GovernedTree { root, state_dir, snapshot, session, subagent, bound, run: None }))
    }
}

impl ShellWorld for FileWorld {
    fn home(&self) -> &str {
        &self.home
    }

    fn is_directory(&self, path: &str) -> bool {
        Path::new(path).is_dir()
    }
}

impl GuardWorld for FileWorld {
    fn resolve(&self, path: &str) -> String {
        resolved(Path::new(path), 0).to_str().map_or_else(|| path.to_owned(), str::to_owned)
    }

    fn tree_of(&self, path: &str) -> Option<Rc<GovernedTree>> {
        let root = top_of(Path::new(path))?;
        if let Some(known) = self.trees.borrow().get(root) {
            return known.clone();
        }
        let tree = self.governed(root);
        self.trees.borrow_mut().insert(root.to_owned(), tree.clone());
        tree
    }

    fn session_tree(&self) -> Option<Rc<GovernedTree>> {
        self.tree_of(&self.cwd)
    }

    fn guard_programs(&self) -> Vec<String> {
        let Ok(own) = std::env::current_exe() else { return Vec::new() };
        let dir = own.parent().unwrap_or(Path::new("/")).to_owned();
        let beside = ["probity", "probity-hook"].map(|name| dir.join(name));
        let all = beside.into_iter().chain([own]);
        all.filter_map(|path| path.to_str().map(str::to_owned)).collect()
    }

    fn is_foreign_process(&self, pid: u32) -> bool {
        is_alive(pid) && !is_ancestor(pid)
    }

    fn now(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
    }
}

/// Returns the top of the working tree that contains a path; without git, the nearest directory with a policy.
fn top_of(path: &Path) -> Option<&Path> {
    let has_git = |dir: &&Path| dir.join(".git").symlink_metadata().is_ok();
    path.ancestors().find(has_git).or_else(|| path.ancestors().find(|dir| has_policy(dir)))
}

fn has_policy(dir: &Path) -> bool {
    ["probity.toml", "probity.json"].iter().any(|name| dir.join(name).symlink_metadata().is_ok())
}

/// Returns the state directory of a tree: in git's common directory, or `.probity` without git.
fn state_directory(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let Ok(facts) = git.symlink_metadata() else { return Some(root.join(".probity")) };
    if facts.is_dir() {
        return Some(git.join("probity"));
    }
    let text = fs::read_to_string(&git).ok()?;
    let git_dir = root.join(text.strip_prefix("gitdir:")?.trim());
    let common = match fs::read_to_string(git_dir.join("commondir")) {
        Ok(common) => git_dir.join(common.trim()),
        Err(_) => git_dir,
    };
    Some(fs::canonicalize(&common).unwrap_or(common).join("probity"))
}

/// Resolves the links of a path whose last names need not exist.
fn resolved(path: &Path, n_links: usize) -> PathBuf {
    if let Ok(real) = fs::canonicalize(path) {
        return real;
    }
    // A dangling link is written through: its target is created.
    if n_links < MAX_LINKS
        && let Ok(target) = fs::read_link(path)
    {
        let parent = path.parent().unwrap_or(Path::new("/"));
        return resolved(&parent.join(target), n_links + 1);
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent, n_links).join(name),
        _ => path.to_owned(),
    }
}

fn is_alive(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

fn is_ancestor(pid: u32) -> bool {
    let mut current = std::process::id();
    for _ in 0..MAX_ANCESTORS {
        let Some(parent) = parent_of(current) else { return false };
        if parent == pid {
            return true;
        }
        if parent <= 1 {
            return false;
        }
        current = parent;
    }
    false
}

fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain anything, so the fields begin after the last parenthesis.
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}
