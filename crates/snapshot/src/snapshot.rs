//! A snapshot: every entry of the content zone at one time, with a root hash.

use crate::entry::{Entries, Entry};
use crate::finding::{At, Finding, TreeFinding};
use crate::look::Ground;
use crate::object::ObjectFormat;
use crate::read::{Patience, Reader};
use crate::record::{Dir, DirId, Held, Stat};
use crate::walk::{self, Place, ROOT, Walked};
use crate::{links, merkle, sys};
use probity_core::{Digest, Reason};
use probity_paths::RepoPath;
use rustix::fs::{Mode, OFlags};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

/// Kernels stamp files with a clock that may lag by some milliseconds, and some file systems store whole or only even
/// seconds. A file written shortly before a snapshot began could be written again with the same time.
const RACY_NS: i64 = 2_000_000_000;

/// The options of a snapshot.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The top-level names under which Probity keeps its own state; they are not part of the content.
    pub own_state: Vec<Vec<u8>>,
    /// Treats `.git` at the top as content. Set if the tree is not a repository, because nothing else examines it then.
    pub dot_git_is_content: bool,
    /// Computes the git blob id of every file in this format, at the cost of a second hash.
    pub git_ids: Option<ObjectFormat>,
    /// Number of threads; `None` for two per core, at most 32.
    pub n_threads: Option<usize>,
    /// Counts the inspected entries during the walk, to show progress.
    pub n_entries_seen: Option<Arc<AtomicU64>>,
}

/// The reason there is no snapshot at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot see the tree `{}`: {detail}", root.display())]
pub struct TreeError {
    pub root: PathBuf,
    /// `TREE.UNAVAILABLE` or `TREE.UNSTABLE`.
    pub reason: Reason,
    pub detail: String,
}

/// A remark about how a snapshot was taken. It never fails anything.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Note {
    /// The system cannot distinguish mounts: a directory of the same device mounted inside the tree is not recognized
    /// as a mount point.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// A parent comes before its children; the children of one directory are sorted by name.
    pub(crate) dirs: Vec<Dir>,
    pub(crate) findings: Vec<TreeFinding>,
    pub(crate) notes: Vec<Note>,
    pub(crate) started_ns: i64,
    pub(crate) git_ids: Option<ObjectFormat>,
}

impl Snapshot {
    /// Takes a snapshot of the tree at `root`. Entries that still match `known` are not read again; without it
    /// everything is read, with the same result.
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

    /// Orders and hashes the walked directories.
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

    /// Returns the root hash: equal exactly when all entries are equal in path, type, permission bits and content.
    pub fn root(&self) -> Digest {
        self.dirs[ROOT as usize].hash
    }

    /// Returns the findings, sorted by path.
    pub fn findings(&self) -> &[TreeFinding] {
        &self.findings
    }

    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the start time in nanoseconds since 1970, by this machine's clock.
    pub fn started_ns(&self) -> i64 {
        self.started_ns
    }

    /// Returns the format of the git blob ids, if the snapshot has them.
    pub fn git_ids(&self) -> Option<ObjectFormat> {
        self.git_ids
    }

    pub fn n_entries(&self) -> usize {
        self.dirs.iter().map(|dir| dir.records.len()).sum()
    }

    /// Returns the entries, sorted by the bytes of their paths.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        Entries::new(self)
    }

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

    /// Returns the time before which nothing can have been written again unnoticed.
    pub(crate) fn settled_ns(&self) -> i64 {
        self.started_ns.saturating_sub(RACY_NS)
    }

    /// Returns the path of the child at index `place` of directory `id`.
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

/// Adds the path to a finding of the walk; `None` for the root itself, which was already reported.
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

/// Joins names given last first.
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

/// Uses more threads than cores, because some wait for the disk while others work.
fn n_threads(options: &Options) -> usize {
    let default = || (2 * std::thread::available_parallelism().map_or(1, usize::from)).min(32);
    options.n_threads.unwrap_or_else(default).max(1)
}
