//! Copies directories of the scope into the layer before the command starts, and makes them opaque. The kernel does not
//! rename a directory that lies below a layer (EXDEV, on which `git mv` gives up); a copied one is the layer's own.

use probity_paths::{RepoPath, Scope, ScopePattern};
use probity_snapshot::{Snapshot, SnapshotEntryKind};
use probity_workspace::ServiceError;
use rustix::fs::{AtFlags, CWD, Gid, Timespec, Timestamps, Uid, XattrFlags};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

/// Every run pays for the copies, and few rename a directory: a file costs 0.1 to 0.3 ms, because ext4 does not use the
/// inodes again that the last runs gave back.
const MAX_COPIED_FILES: usize = 100;
const MAX_COPIED_BYTES: u64 = 4 * 1024 * 1024;

const OPAQUE_ATTRIBUTE: &str = "user.overlay.opaque";

/// The result of copying.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PrecopiedDirectories {
    pub(crate) copied: Vec<RepoPath>,
    /// Directories of the scope that are too large.
    pub(crate) too_large: Vec<RepoPath>,
}

/// Copies `directories`, which the scope covers wholly, from `root` to `upper`, up to the limits.
pub(crate) fn precopy(
    root: &Path,
    upper: &Path,
    directories: Vec<RepoPath>,
    start: &Snapshot,
) -> Result<PrecopiedDirectories, ServiceError> {
    let mut result = PrecopiedDirectories::default();
    let (mut n_files, mut n_bytes) = (0, 0);
    for directory in directories {
        let below = || start.entries().filter(|entry| is_below(entry.path(), &directory));
        if below().any(|entry| !is_copyable(entry.kind())) {
            continue;
        }
        n_files += below().count();
        n_bytes += below().map(|entry| entry.size()).sum::<u64>();
        if n_files > MAX_COPIED_FILES || n_bytes > MAX_COPIED_BYTES {
            result.too_large.push(directory);
            continue;
        }
        let failed = ServiceError::system(format!("cannot copy {directory} into the layer of the run"));
        let copied = create_above(root, upper).and_then(|()| copy_directory(root, upper, &directory));
        copied.map_err(failed)?;
        result.copied.push(directory);
    }
    Ok(result)
}

const fn is_copyable(kind: SnapshotEntryKind) -> bool {
    matches!(kind, SnapshotEntryKind::File | SnapshotEntryKind::Directory | SnapshotEntryKind::Symlink)
}

fn is_below(path: &RepoPath, directory: &RepoPath) -> bool {
    path != directory && path.is_covered_by(directory.as_bytes())
}

/// Returns the directories of the tree below which the scope lets in everything: those of its patterns `dir/**` that
/// no later pattern excludes anything from, none inside another. For `**` these are the ones at the root.
pub(crate) fn covered_directories(scope: &Scope, start: &Snapshot) -> Vec<RepoPath> {
    let is_directory =
        |path: &RepoPath| start.get(path).is_some_and(|entry| entry.kind() == SnapshotEntryKind::Directory);
    let mut found: Vec<RepoPath> = literal_directories(scope).into_iter().filter(is_directory).collect();
    if whole_patterns(scope).any(|pattern| pattern.as_bytes() == b"**") {
        let directories = start.entries().filter(|entry| entry.kind() == SnapshotEntryKind::Directory);
        let top = directories.filter(|entry| entry.path().parent().is_none());
        found.extend(top.map(|entry| entry.path().clone()));
    }
    outermost(found)
}

/// Returns the directories that patterns `dir/**` of the scope name, as above; they need not exist.
pub(crate) fn literal_directories(scope: &Scope) -> Vec<RepoPath> {
    let literal = |pattern: &ScopePattern| {
        let name = pattern.as_bytes().strip_suffix(b"/**")?;
        let is_literal = !name.iter().any(|byte| b"*?[\\".contains(byte));
        is_literal.then(|| RepoPath::parse(name).ok())?
    };
    outermost(whole_patterns(scope).filter_map(literal).collect())
}

/// Returns the patterns that no later one excludes anything from.
fn whole_patterns(scope: &Scope) -> impl Iterator<Item = &ScopePattern> {
    let patterns = scope.patterns();
    let last_exclusion = patterns.iter().rposition(ScopePattern::excludes);
    patterns.iter().skip(last_exclusion.map_or(0, |at| at + 1))
}

/// Leaves out each directory that is inside another one.
fn outermost(mut found: Vec<RepoPath>) -> Vec<RepoPath> {
    found.sort();
    found.dedup();
    let all = found.clone();
    found.retain(|path| !all.iter().any(|other| is_below(path, other)));
    found
}

/// Returns whether a directory is within the limits by itself. Not more is looked at than the limits allow.
pub(crate) fn is_small(directory: &Path) -> bool {
    let (mut n_files, mut n_bytes) = (0, 0);
    let mut waiting = vec![directory.to_owned()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let Ok(facts) = entry.metadata() else { return false };
            n_files += 1;
            n_bytes += facts.len();
            if n_files > MAX_COPIED_FILES || n_bytes > MAX_COPIED_BYTES {
                return false;
            }
            if facts.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    true
}

/// Creates the part of a layer that belongs to the root of the tree, if that lies below what the overlay covers.
fn create_above(root: &Path, upper: &Path) -> io::Result<()> {
    let above = upper.ancestors().zip(root.ancestors());
    let mut missing: Vec<(&Path, &Path)> = above.take_while(|(layer, _)| !layer.is_dir()).collect();
    missing.reverse();
    for (layer, covered) in missing {
        fs::create_dir(layer)?;
        copy_facts(covered, layer)?;
    }
    Ok(())
}

fn copy_directory(root: &Path, upper: &Path, directory: &RepoPath) -> io::Result<()> {
    let name = Path::new(OsStr::from_bytes(directory.as_bytes()));
    let mut above = std::path::PathBuf::new();
    for part in name {
        above.push(part);
        let target = upper.join(&above);
        if !target.is_dir() {
            fs::create_dir(&target)?;
        }
    }
    copy_children(&root.join(name), &upper.join(name))?;
    rustix::fs::setxattr(upper.join(name), OPAQUE_ATTRIBUTE, b"y", XattrFlags::empty())?;
    // Last, from the inside out: creating entries changes the times of a directory.
    for above in name.ancestors().filter(|above| !above.as_os_str().is_empty()) {
        copy_facts(&root.join(above), &upper.join(above))?;
    }
    Ok(())
}

fn copy_children(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            fs::create_dir(&target)?;
            copy_children(&source, &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(&source)?, &target)?;
        } else {
            fs::copy(&source, &target)?;
        }
        copy_facts(&source, &target)?;
    }
    Ok(())
}

/// Copies owner, permission bits and times.
fn copy_facts(from: &Path, to: &Path) -> io::Result<()> {
    let facts = fs::symlink_metadata(from)?;
    let now = fs::symlink_metadata(to)?;
    if (facts.uid(), facts.gid()) != (now.uid(), now.gid()) {
        let (owner, group) = (Some(Uid::from_raw(facts.uid())), Some(Gid::from_raw(facts.gid())));
        // An ordinary user cannot give files away; the copy is then the user's own, like any rewritten file.
        let _ = rustix::fs::chownat(CWD, to, owner, group, AtFlags::SYMLINK_NOFOLLOW);
    }
    if !facts.is_symlink() {
        fs::set_permissions(to, facts.permissions())?;
    }
    let time = |seconds, nanoseconds: i64| Timespec { tv_sec: seconds, tv_nsec: nanoseconds };
    let times = Timestamps {
        last_access: time(facts.atime(), facts.atime_nsec()),
        last_modification: time(facts.mtime(), facts.mtime_nsec()),
    };
    rustix::fs::utimensat(CWD, to, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(())
}
