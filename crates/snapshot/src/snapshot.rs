//! A snapshot: every entry of the content zone at one time, with a root hash.

use crate::entry::{Entries, Entry};
use crate::finding::{At, Finding, TreeFinding};
use crate::look::Ground;
use crate::object::ObjectFormat;
use crate::read::{Patience, Reader};
use crate::record::{Dir, DirId, Held, Stat};
use crate::walk::{self, Place, ROOT, Walked};
use crate::wire::StoredSnapshot;
use crate::{links, merkle, sys};
use probity_core::{Digest, Reason};
use probity_paths::RepoPath;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

/// Kernels stamp files with a clock that is up to some milliseconds late, some file systems with whole or even
/// seconds. What was written so shortly before a snapshot began could be written again under the same time.
const RACY_NS: i64 = 2_000_000_000;

/// What a snapshot is to take in.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The top-level names under which Probity keeps its own state: they are no part of the content.
    pub own_state: Vec<Vec<u8>>,
    /// Whether `.git` at the top is content too. It is when the tree is no repository: then nobody else looks there.
    pub dot_git_is_content: bool,
    /// Whether to compute the git blob id of every file, and in which format. It costs a second hash.
    pub git_ids: Option<ObjectFormat>,
    /// How many threads to use; `None` for two per core.
    pub n_threads: Option<usize>,
    /// Grows by the entries that were looked at, while the walk goes on: whoever waits can be told.
    pub n_entries_seen: Option<Arc<AtomicU64>>,
}

/// Why there is no snapshot at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot see the tree `{}`: {detail}", root.display())]
pub struct TreeError {
    /// The root of the tree.
    pub root: PathBuf,
    /// `TREE.UNAVAILABLE` or `TREE.UNSTABLE`.
    pub reason: Reason,
    /// What the system says.
    pub detail: String,
}

/// Something worth knowing about how a snapshot was taken. It fails nothing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Note {
    /// The system does not tell mounts apart: a directory of the same device that is mounted inside the tree
    /// is not recognised as a mount point.
    NoMountIds,
    /// A link has an absolute target that leads back into the tree. It would leave the tree if the tree were moved.
    AbsoluteLinkInside(RepoPath),
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoMountIds => {
                f.write_str("this system does not tell mounts apart: bind mounts are not seen")
            }
            Self::AbsoluteLinkInside(path) => write!(f, "the link `{path}` names its target absolutely"),
        }
    }
}

/// Every entry of a tree at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredSnapshot")]
pub struct Snapshot {
    pub(crate) started_ns: i64,
    pub(crate) git_ids: Option<ObjectFormat>,
    /// A parent comes before its children; the children of one directory are sorted by name.
    pub(crate) dirs: Vec<Dir>,
    pub(crate) findings: Vec<TreeFinding>,
    pub(crate) notes: Vec<Note>,
}

impl Snapshot {
    /// Takes a snapshot of the tree at `root`. What `known` tells is not read again where it still holds; without
    /// it everything is read, and the result is the same.
    pub fn take(root: &Path, options: &Options, known: Option<&Self>) -> Result<Self, TreeError> {
        let started_ns = now_ns();
        let refused = |error: std::io::Error| TreeError {
            root: root.to_owned(),
            reason: Reason::TreeUnavailable,
            detail: error.to_string(),
        };
        let real_root = root.canonicalize().map_err(refused)?;
        let ground = ground(&real_root, options, known).map_err(|error| refused(error.into()))?;
        let mut left_out = options.own_state.clone();
        if !options.dot_git_is_content {
            left_out.push(b".git".to_vec());
        }
        let reader = || Reader::new(options.git_ids);
        let walked = walk::walk(&ground, &left_out, reader, n_threads(options));
        if let Some(finding) = walked.findings.iter().find(|finding| matches!(finding.at, At::Dir(ROOT))) {
            let (reason, detail) = (finding.reason, finding.detail.clone());
            return Err(TreeError { root: root.to_owned(), reason, detail });
        }
        let mut snapshot = Self::assemble(walked, started_ns, options.git_ids);
        if ground.root_stat.mount.is_none() {
            snapshot.notes.push(Note::NoMountIds);
        }
        links::judge(&mut snapshot, &real_root);
        snapshot.findings.sort_unstable();
        snapshot.notes.sort_unstable();
        Ok(snapshot)
    }

    /// Puts the walked directories in order and hashes them.
    fn assemble(walked: Walked, started_ns: i64, git_ids: Option<ObjectFormat>) -> Self {
        let findings = walked.findings.into_iter().filter_map(|found| place(found, &walked.places)).collect();
        let mut found: Vec<Option<(Stat, Dir)>> = Vec::new();
        found.resize_with(walked.places.len(), || None);
        for (id, stat, dir) in walked.dirs {
            found[id as usize] = Some((stat, dir));
        }
        let mut dirs: Vec<Dir> = found[ROOT as usize].take().map(|(_, dir)| dir).into_iter().collect();
        let mut at = 0;
        while at < dirs.len() {
            for place in 0..dirs[at].records.len() {
                let next = number(dirs.len());
                let record = &mut dirs[at].records[place];
                let Held::Directory(Some(walked_id)) = record.held else { continue };
                let Some((stat, mut dir)) = found[walked_id as usize].take() else {
                    record.held = Held::Directory(None);
                    continue;
                };
                record.facts = (&stat).into();
                record.held = Held::Directory(Some(next));
                dir.parent = (number(at), number(place));
                dirs.push(dir);
            }
            at += 1;
        }
        merkle::hash_parents(&mut dirs);
        Self { dirs, findings, notes: Vec::new(), started_ns, git_ids }
    }

    /// The root hash: equal exactly when all entries are equal in path, type, permission bits and content.
    pub fn root(&self) -> Digest {
        self.dirs[ROOT as usize].hash
    }

    /// What was found, sorted by path.
    pub fn findings(&self) -> &[TreeFinding] {
        &self.findings
    }

    /// What is worth knowing about how it was taken.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// When it was begun, in nanoseconds since 1970, by the clock of this machine.
    pub fn started_ns(&self) -> i64 {
        self.started_ns
    }

    /// In which format it has git blob ids, if it has them.
    pub fn git_ids(&self) -> Option<ObjectFormat> {
        self.git_ids
    }

    /// How many entries it has.
    pub fn n_entries(&self) -> usize {
        self.dirs.iter().map(|dir| dir.records.len()).sum()
    }

    /// The entries, sorted by the bytes of their paths.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        Entries::new(self)
    }

    /// The entry at `path`.
    pub fn get(&self, path: &RepoPath) -> Option<Entry<'_>> {
        let (dir, place) = self.find(path.segments())?;
        Some(Entry::new(self, path.clone(), dir, place))
    }

    pub(crate) fn find<'n>(&self, names: impl Iterator<Item = &'n [u8]>) -> Option<(&Dir, usize)> {
        let mut at = Some(ROOT);
        let mut found = None;
        for name in names {
            let dir = self.dir(at?);
            let place = dir.find(name)?;
            at = match dir.records[place].held {
                Held::Directory(id) => id,
                _ => None,
            };
            found = Some((dir, place));
        }
        found
    }

    pub(crate) fn dir(&self, id: DirId) -> &Dir {
        &self.dirs[id as usize]
    }

    pub(crate) fn git_id_len(&self) -> usize {
        self.git_ids.map_or(0, ObjectFormat::id_len)
    }

    /// What was written before this moment cannot have been written again unseen.
    pub(crate) fn settled_ns(&self) -> i64 {
        self.started_ns.saturating_sub(RACY_NS)
    }

    /// The path of the child at `place` of directory `id`.
    pub(crate) fn path(&self, id: DirId, place: usize) -> RepoPath {
        let mut names = vec![self.dir(id).name(&self.dir(id).records[place])];
        let mut at = id;
        while at != ROOT {
            let (parent, place) = self.dir(at).parent;
            let dir = self.dir(parent);
            names.push(dir.name(&dir.records[place as usize]));
            at = parent;
        }
        join(&names)
    }
}

fn ground<'a>(root: &Path, options: &Options, known: Option<&'a Snapshot>) -> rustix::io::Result<Ground<'a>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(root, flags, Mode::empty())?;
    let root_stat = sys::stat_fd(&root)?;
    let git_id_len = options.git_ids.map_or(0, ObjectFormat::id_len);
    let known = known.filter(|_| sys::times_tell(&root));
    let n_entries_seen = options.n_entries_seen.clone();
    Ok(Ground { root, root_stat, known, git_id_len, patience: Patience::default(), n_entries_seen })
}

/// The walked finding with its path; `None` for the root itself, which was reported before.
fn place(finding: Finding, places: &[Place]) -> Option<TreeFinding> {
    let Finding { at, reason, detail } = finding;
    let (mut names, mut at) = match &at {
        At::Dir(id) => (Vec::new(), *id),
        At::Child(id, name) => (vec![&**name], *id),
    };
    while at != ROOT {
        names.push(&places[at as usize].name);
        at = places[at as usize].parent;
    }
    (!names.is_empty()).then(|| TreeFinding { path: join(&names), reason, detail })
}

/// Joins names, the last first.
fn join(names: &[&[u8]]) -> RepoPath {
    let path: Vec<&[u8]> = names.iter().rev().copied().collect();
    RepoPath::parse(&path.join(&b'/'))
        .expect("the system lists no name that is empty, `.`, `..` or has a `/` or NUL")
}

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("the walk numbered the directories in 32 bits")
}

fn now_ns() -> i64 {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_nanos()).unwrap_or(i64::MAX)
}

/// More threads than cores: some wait for the disk while others work.
fn n_threads(options: &Options) -> usize {
    let default = || (2 * std::thread::available_parallelism().map_or(1, usize::from)).min(32);
    options.n_threads.unwrap_or_else(default).max(1)
}
