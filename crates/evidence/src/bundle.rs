//! Bundles on disk: the only module of this crate that touches files.
//!
//! A bundle is written into a temporary directory next to its final place, and renamed once it is complete and
//! durable. A kill at any instant therefore leaves all of the bundle or none of it, and at most a leftover that
//! [`clean_leftovers`] removes. Reading follows no links: anything but a regular file or a directory is refused.
#![expect(clippy::disallowed_methods, reason = "the file edge of this crate: everything else is pure")]

use crate::manifest_v1::MANIFEST_FILE;
use crate::verify::MAX_DOCUMENT_BYTES;
use probity_core::{ReasonCode, bytes};
use probity_paths::RepoPath;
use rustix::fs::{AtFlags, CWD, Dir, FileType, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Maximum number of files and directories in a bundle.
pub const MAX_BUNDLE_FILES: usize = 10_000;

/// Maximum total size of the files in a bundle.
pub const MAX_BUNDLE_BYTES: u64 = 1 << 30;

/// Maximum nesting of directories in a bundle.
pub const MAX_BUNDLE_DEPTH: usize = 8;

/// Name prefix of unfinished bundles.
const PARTIAL_PREFIX: &str = ".partial-";

const MAX_NAME_ATTEMPTS: u32 = 100;

#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// The entry is a link, a pipe, a socket or a device.
    #[error("`{name}` in the bundle is neither a plain file nor a directory")]
    NotAFile {
        /// Name within the bundle, escaped.
        name: String,
    },
    #[error("the bundle has more than {limit} {what}")]
    TooLarge { what: &'static str, limit: u64 },
    #[error("`{0}` cannot be a name here")]
    BadName(String),
    #[error("there is a bundle at {} already", .0.display())]
    Exists(PathBuf),
}

impl BundleError {
    /// Returns the code the verifier reports if the bundle's content makes it unreadable.
    pub const fn reason(&self) -> Option<ReasonCode> {
        match self {
            Self::NotAFile { .. } => Some(ReasonCode::EvidencePathTraversal),
            Self::TooLarge { .. } => Some(ReasonCode::EvidenceTooLarge),
            Self::Io { .. } => Some(ReasonCode::EvidenceUnreadable),
            Self::BadName(_) | Self::Exists(_) => None,
        }
    }

    fn io(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

/// Reads every file of a bundle, keyed by its name within it (`logs/lint.stdout`). Looks at the whole bundle before it
/// reads a byte, so that one that is too large costs nothing.
pub fn read_bundle(dir: &Path) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, BundleError> {
    let root = open_bundle(dir)?;
    let mut survey = BundleSurvey { dir, files: Vec::new(), n_entries: 0, n_bytes: 0 };
    survey.folder(&root, b"", 0)?;
    let (mut files, mut left) = (BTreeMap::new(), MAX_BUNDLE_BYTES);
    for name in survey.files {
        let content = read_file(dir, &root, &name, left)?;
        left -= content.len() as u64;
        files.insert(name, content);
    }
    Ok(files)
}

/// Reads the manifest of a bundle alone; `None` if there is none.
pub fn read_manifest(dir: &Path) -> Result<Option<Vec<u8>>, BundleError> {
    let root = match open_bundle(dir) {
        Err(BundleError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    match read_file(dir, &root, MANIFEST_FILE.as_bytes(), MAX_DOCUMENT_BYTES as u64) {
        Err(BundleError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

fn open_bundle(dir: &Path) -> Result<OwnedFd, BundleError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::open(dir, flags, Mode::empty()).map_err(|errno| BundleError::io(dir)(errno.into()))
}

/// Reads a regular file of a bundle of at most `limit` bytes.
fn read_file(dir: &Path, root: &OwnedFd, name: &[u8], limit: u64) -> Result<Vec<u8>, BundleError> {
    let path = dir.join(OsStr::from_bytes(name));
    let fault = BundleError::io(&path);
    let not_a_file = || BundleError::NotAFile { name: bytes::escape(name) };
    let too_large = || BundleError::TooLarge { what: "bytes", limit };
    // NOFOLLOW refuses links, wherever they point. NONBLOCK keeps a pipe from blocking the open.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = match rustix::fs::openat(root, name, flags, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::LOOP | Errno::NXIO) => return Err(not_a_file()),
        Err(errno) => return Err(fault(errno.into())),
    };
    let stat = rustix::fs::fstat(&opened).map_err(|errno| fault(errno.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(not_a_file());
    }
    if u64::try_from(stat.st_size).unwrap_or(u64::MAX) > limit {
        return Err(too_large());
    }
    // The file may still grow.
    let mut content = Vec::new();
    File::from(opened).take(limit + 1).read_to_end(&mut content).map_err(fault)?;
    if content.len() as u64 > limit { Err(too_large()) } else { Ok(content) }
}

/// The names of a bundle's files, found without opening any of them.
struct BundleSurvey<'a> {
    dir: &'a Path,
    files: Vec<Vec<u8>>,
    /// Files and directories.
    n_entries: usize,
    n_bytes: u64,
}

impl BundleSurvey<'_> {
    fn folder(&mut self, folder: &OwnedFd, prefix: &[u8], depth: usize) -> Result<(), BundleError> {
        if depth > MAX_BUNDLE_DEPTH {
            return Err(BundleError::TooLarge {
                what: "levels of directories",
                limit: MAX_BUNDLE_DEPTH as u64,
            });
        }
        for entry in Dir::read_from(folder).map_err(|errno| self.io(prefix, errno))? {
            let entry = entry.map_err(|errno| self.io(prefix, errno))?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                let path = if prefix.is_empty() { name.to_vec() } else { [prefix, name].join(&b'/') };
                self.entry(folder.as_fd(), name, path, depth)?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &[u8],
        path: Vec<u8>,
        depth: usize,
    ) -> Result<(), BundleError> {
        self.n_entries += 1;
        if self.n_entries > MAX_BUNDLE_FILES {
            return Err(BundleError::TooLarge { what: "files", limit: MAX_BUNDLE_FILES as u64 });
        }
        let stat = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| self.io(&path, errno))?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                let opened = rustix::fs::openat(folder, name, flags, Mode::empty())
                    .map_err(|errno| self.io(&path, errno))?;
                self.folder(&opened, &path, depth + 1)
            }
            FileType::RegularFile => {
                self.n_bytes = self.n_bytes.saturating_add(u64::try_from(stat.st_size).unwrap_or(u64::MAX));
                if self.n_bytes > MAX_BUNDLE_BYTES {
                    return Err(BundleError::TooLarge { what: "bytes", limit: MAX_BUNDLE_BYTES });
                }
                self.files.push(path);
                Ok(())
            }
            _ => Err(BundleError::NotAFile { name: bytes::escape(&path) }),
        }
    }

    fn io(&self, path: &[u8], errno: Errno) -> BundleError {
        BundleError::io(&self.dir.join(OsStr::from_bytes(path)))(errno.into())
    }
}

/// Writes a bundle to `parent/run_id`, durably and atomically. `parent` must exist.
pub fn write_bundle(
    parent: &Path,
    run_id: &str,
    files: &BTreeMap<Vec<u8>, Vec<u8>>,
) -> Result<PathBuf, BundleError> {
    if run_id.starts_with(PARTIAL_PREFIX)
        || run_id.contains('/')
        || RepoPath::parse(run_id.as_bytes()).is_err()
    {
        return Err(BundleError::BadName(bytes::escape(run_id.as_bytes())));
    }
    if let Some(name) = files.keys().find(|name| RepoPath::parse(name).is_err()) {
        return Err(BundleError::BadName(bytes::escape(name)));
    }
    let target = parent.join(run_id);
    let partial = PartialBundle::create(parent, run_id)?;
    let written = write_files(&partial.path, files).and_then(|()| publish(&partial.path, &target));
    if written.is_err() {
        // If this fails too, `clean_leftovers` removes the directory later.
        let _ = fs::remove_dir_all(&partial.path);
    }
    written?;
    sync(parent)?;
    Ok(target)
}

/// Removes unfinished bundles whose writer is gone, and returns how many.
pub fn clean_leftovers(parent: &Path) -> Result<usize, BundleError> {
    let mut removed = 0;
    for entry in fs::read_dir(parent).map_err(BundleError::io(parent))? {
        let entry = entry.map_err(BundleError::io(parent))?;
        if !entry.file_name().as_bytes().starts_with(PARTIAL_PREFIX.as_bytes()) {
            continue;
        }
        let path = entry.path();
        let Ok(folder) = open_dir(&path) else { continue };
        // A live writer holds this lock.
        if rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        match fs::remove_dir_all(&path) {
            Ok(()) => removed += 1,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(BundleError::Io { path, source }),
        }
    }
    Ok(removed)
}

/// An unfinished bundle, locked for the lifetime of this value.
struct PartialBundle {
    path: PathBuf,
    _lock: OwnedFd,
}

impl PartialBundle {
    fn create(parent: &Path, run_id: &str) -> Result<Self, BundleError> {
        for attempt in 0..MAX_NAME_ATTEMPTS {
            let path = parent.join(format!("{PARTIAL_PREFIX}{run_id}.{}.{attempt}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(BundleError::Io { path, source }),
            }
            if let Some(lock) = lock(&path) {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(BundleError::Exists(parent.join(run_id)))
    }
}

/// Locks a new directory. Returns `None` if a concurrent cleanup took it for a leftover before it was locked.
fn lock(path: &Path) -> Option<OwnedFd> {
    let folder = open_dir(path).ok()?;
    rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    let is_there = rustix::fs::fstat(&folder).ok()?.st_nlink > 0;
    is_there.then_some(folder)
}

fn open_dir(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty())
}

fn write_files(partial: &Path, files: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<(), BundleError> {
    let mut folders = BTreeSet::from([partial.to_owned()]);
    for (name, content) in files {
        let path = partial.join(OsStr::from_bytes(name));
        let folder = path.parent().unwrap_or(partial);
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(BundleError::io(folder))?;
        folders.extend(folder.ancestors().take_while(|above| *above != partial).map(Path::to_owned));
        write_file(&path, content).map_err(BundleError::io(&path))?;
    }
    files.keys().try_for_each(|name| sync(&partial.join(OsStr::from_bytes(name))))?;
    // Children sort after their parents, so the reverse order syncs the deepest first.
    folders.iter().rev().try_for_each(|folder| sync(folder))
}

fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    // A hint to begin writing to the disk: the first file that is synced then takes the space of all others along into
    // the journal of the file system, and each of those only waits for its own content.
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    Ok(())
}

/// Renames a complete bundle to its final name, unless the name is taken.
fn publish(partial: &Path, target: &Path) -> Result<(), BundleError> {
    match rustix::fs::renameat_with(CWD, partial, CWD, target, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(BundleError::Exists(target.to_owned())),
        // The file system cannot rename without replacing. A plain rename replaces at most an empty directory,
        // and only if one appears between this check and the rename.
        Err(Errno::INVAL | Errno::NOSYS) => {
            if rustix::fs::statat(CWD, target, AtFlags::SYMLINK_NOFOLLOW).is_ok() {
                return Err(BundleError::Exists(target.to_owned()));
            }
            fs::rename(partial, target).map_err(BundleError::io(target))
        }
        Err(errno) => Err(BundleError::io(target)(errno.into())),
    }
}

/// Waits until a file or directory is on the disk.
fn sync(path: &Path) -> Result<(), BundleError> {
    File::open(path).and_then(|opened| opened.sync_all()).map_err(BundleError::io(path))
}
