//! The protected zone: the files that decide what git does, and those that record what was done with it.
//!
//! An entry is *protected* (changing it is a violation) or *recorded* (a change is reported). The default is protected:
//! nobody may touch what no rule knows. Recorded entries are the traces of ordinary work: refs, `HEAD` and similar
//! files, states of merges and rebases, locks, and caches that git rebuilds. Objects, logs and the index are not
//! examined beyond their names: they change all the time and decide nothing here. Anything else in their directories
//! is protected, and so is an executable file wherever git writes none. (A loose object under its right name is not
//! looked at, not even for that.)
//!
//! Names: `.git` is the entry at the root of the tree. `.git/…` is a file of the *common* directory, wherever that is;
//! the files of a linked worktree are `.git/worktrees/<name>/…`, as in the common directory. The same rules apply to
//! the git directories of submodules below `.git/modules`.
//!
//! Directories are not entries, with two exceptions: `.git` and `.git/objects` are identified by their creation time,
//! so that a re-created repository is noticed. Links are entries and are not followed: the target of a linked `hooks`
//! directory or of `core.hooksPath` is content if it is in the tree, and not examined if it is outside.

use super::GitLayout;
use super::git_files::{self, DirectoryVisitor, VisitedEntry};
use super::zone_rules::{is_fan, is_object_name, zone_class};
use crate::entry_record::{EntryStat, SnapshotEntryKind};
use crate::finding::TreeFinding;
use crate::read::{self, EntryReadError, FileReader, RetryBudget};
use crate::snapshot::settled_at;
use crate::sys;
use crate::take::now_ns;
use probity_core::{ChangeKind, Digest};
use probity_paths::RepoPath;
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The consequence of changing an entry of the zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZoneClass {
    /// A change is reported.
    Recorded,
    /// A change is a violation.
    Protected,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ZoneEntry {
    pub class: ZoneClass,
    pub kind: SnapshotEntryKind,
    /// The twelve permission bits.
    pub mode: u32,
    /// Hash of a file's bytes or a link's target.
    pub digest: Option<Digest>,
    /// Identity of an entry without such a hash: device, inode, and time in nanoseconds.
    pub object: Option<(u64, u64, i64)>,
}

/// The zone at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZoneSnapshot {
    pub entries: BTreeMap<RepoPath, ZoneEntry>,
    /// Entries that could not be read.
    pub findings: Vec<TreeFinding>,
    /// The directories that held nothing but loose objects when they were listed, by path in the walk.
    object_directories: BTreeMap<Vec<u8>, EntryStat>,
}

impl ZoneSnapshot {
    /// Takes the identities of directories from `other`. The same directory has another identity behind an overlay.
    pub fn adopt_identities(&mut self, other: &Self) {
        for (path, entry) in &mut self.entries {
            let known = other.entries.get(path).filter(|known| known.kind == SnapshotEntryKind::Directory);
            if let Some(known) = known.filter(|_| entry.kind == SnapshotEntryKind::Directory) {
                entry.object = known.object;
            }
        }
    }
}

/// One difference between two snapshots of the zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ZoneChange {
    pub path: RepoPath,
    pub change: ChangeKind,
    pub class: ZoneClass,
}

/// Returns the differences between two snapshots of the zone, sorted by name.
pub fn zone_delta(before: &ZoneSnapshot, after: &ZoneSnapshot) -> Vec<ZoneChange> {
    let paths: BTreeSet<&RepoPath> = before.entries.keys().chain(after.entries.keys()).collect();
    let change = |path: &RepoPath| {
        let (old, new) = (before.entries.get(path), after.entries.get(path));
        let change = match (old, new) {
            (None, _) => ChangeKind::Added,
            (_, None) => ChangeKind::Deleted,
            (old, new) if old == new => return None,
            _ => ChangeKind::Modified,
        };
        let class = old.into_iter().chain(new).map(|entry| entry.class).max()?;
        let is_executable =
            |entry: &ZoneEntry| entry.kind == SnapshotEntryKind::File && entry.mode & 0o111 != 0;
        // Git makes none of its own files executable.
        let became_executable =
            old.zip(new).is_some_and(|(old, new)| !is_executable(old) && is_executable(new));
        let class = if became_executable { ZoneClass::Protected } else { class };
        Some(ZoneChange { path: path.clone(), change, class })
    };
    paths.into_iter().filter_map(change).collect()
}

/// Takes a snapshot of the zone of a repository. `own_state` are the names in the common directory that belong to
/// Probity. Directories of loose objects in which no name has come or gone since `earlier` are not listed again.
pub fn protected_snapshot(
    layout: &GitLayout,
    own_state: &[&[u8]],
    earlier: Option<&ZoneSnapshot>,
) -> ZoneSnapshot {
    snapshot_since(layout, own_state, earlier, settled_at(now_ns()))
}

/// Like [`protected_snapshot`]. A directory that changed before `settled_ns` would show a later change in its times.
fn snapshot_since(
    layout: &GitLayout,
    own_state: &[&[u8]],
    earlier: Option<&ZoneSnapshot>,
    settled_ns: i64,
) -> ZoneSnapshot {
    let mut zone = ZoneScanner {
        found: ZoneSnapshot::default(),
        known_object_directories: earlier.map(|earlier| &earlier.object_directories),
        settled_ns,
        reader: FileReader::new(None),
        retries: RetryBudget::default(),
        prefix: b".git".to_vec(),
        bases: BTreeSet::from([Vec::new()]),
        own_worktree: layout.git_dir.strip_prefix(&layout.common_dir).ok().map(as_bytes),
        own_state,
        shows_executables: !all_executable(&layout.common_dir),
    };
    zone.record_dot_git(&layout.root);
    zone.walk(&layout.common_dir);
    if zone.own_worktree.is_none() {
        let name = layout.git_dir.file_name().unwrap_or_default().as_bytes();
        zone.prefix = [b".git/worktrees/", name].concat();
        zone.walk(&layout.git_dir);
    }
    zone.found.findings.sort_unstable();
    zone.found
}

fn as_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

struct ZoneScanner<'a> {
    found: ZoneSnapshot,
    known_object_directories: Option<&'a BTreeMap<Vec<u8>, EntryStat>>,
    settled_ns: i64,
    reader: FileReader,
    retries: RetryBudget,
    /// Prefix of every path of the walk.
    prefix: Vec<u8>,
    /// The git directories found so far: the one being walked, and those of submodules.
    bases: BTreeSet<Vec<u8>>,
    /// The directory of this worktree in the common directory; empty for the main one.
    own_worktree: Option<Vec<u8>>,
    own_state: &'a [&'a [u8]],
    /// False on a file system where every file is executable.
    shows_executables: bool,
}

impl ZoneScanner<'_> {
    fn walk(&mut self, dir: &Path) {
        match git_files::open_dir(dir) {
            Ok(top) => git_files::walk(top, self),
            // A missing directory has no entries; the delta shows that.
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(error) => self.report(b"", error.into()),
        }
    }

    /// Records the `.git` at the root of the tree: the directory, the file that points to it, or a link.
    fn record_dot_git(&mut self, root: &Path) {
        let Ok(root) = git_files::open_dir(root) else { return };
        if let Ok(stat) = sys::stat_at(&root, b".git") {
            self.record_entry(
                &VisitedEntry { dir: &root, name: b".git", path: b"", stat },
                ZoneClass::Protected,
            );
        }
    }

    /// Records an entry, reading it again while it changes.
    fn record_entry(&mut self, seen: &VisitedEntry<'_>, class: ZoneClass) {
        let read = match seen.stat.kind {
            SnapshotEntryKind::File => self.retries.retry_while_changing(|| {
                let (stat, digest) = self.reader.file(seen.dir, seen.name, &mut Vec::new())?;
                Ok((stat, Some(digest)))
            }),
            SnapshotEntryKind::Symlink => self.retries.retry_while_changing(|| {
                let (stat, target) = read::link(seen.dir, seen.name)?;
                Ok((stat, Some(Digest::of(&target))))
            }),
            _ => Ok((seen.stat, None)),
        };
        let (stat, digest) = match read {
            Ok(read) => read,
            Err(EntryReadError::Gone) => return,
            Err(trouble) => {
                self.report(seen.path, trouble);
                (seen.stat, None)
            }
        };
        let object = digest.is_none().then(|| (stat.device, stat.inode, change_time_ns(&stat)));
        let entry = ZoneEntry { class, kind: stat.kind, mode: stat.mode.into(), digest, object };
        self.found.entries.insert(self.zone_path(seen.path), entry);
    }

    fn zone_path(&self, path: &[u8]) -> RepoPath {
        let name = if path.is_empty() { self.prefix.clone() } else { [&self.prefix, path].join(&b'/') };
        RepoPath::parse(&name).expect("names of a directory make a path")
    }

    fn report(&mut self, path: &[u8], trouble: EntryReadError) {
        let (path, reason, detail) = (self.zone_path(path), trouble.reason(), trouble.to_string());
        self.found.findings.push(TreeFinding { path, reason, detail });
    }

    /// Returns the names of a path from the git directory that it belongs to.
    fn names_in_git_dir<'p>(&self, path: &'p [u8]) -> Vec<&'p [u8]> {
        let is_above = |base: &&Vec<u8>| base.is_empty() || is_below(path, base);
        let base = self.bases.iter().filter(is_above).map(Vec::len).max().unwrap_or(0);
        path[base + usize::from(base > 0)..].split(|&byte| byte == b'/').collect()
    }

    fn is_object_directory(&self, path: &[u8]) -> bool {
        matches!(self.names_in_git_dir(path)[..], [b"objects", fan] if is_fan(fan))
    }

    /// Returns whether the entry is a directory that held nothing but loose objects when it was listed earlier, and has the
    /// same times as then. Notes every directory of loose objects for the next time: what else is found in it, or an
    /// error, takes the note back.
    fn is_unchanged_object_directory(&mut self, seen: &VisitedEntry<'_>) -> bool {
        let is_settled = seen.stat.mtime_ns.max(seen.stat.ctime_ns) < self.settled_ns;
        let is_directory = seen.stat.kind == SnapshotEntryKind::Directory;
        if !is_directory || !is_settled || !self.is_object_directory(seen.path) {
            return false;
        }
        let known = self.known_object_directories.and_then(|known| known.get(seen.path));
        let is_unchanged = known == Some(&seen.stat);
        self.found.object_directories.insert(seen.path.to_vec(), seen.stat);
        is_unchanged
    }

    /// Returns the class of a path of the walk; `None` if it is not examined.
    fn class(&self, path: &[u8]) -> Option<ZoneClass> {
        if self.own_state.contains(&path) {
            return None;
        }
        let is_own = self.own_worktree.as_deref().is_some_and(|own| !own.is_empty() && is_below(path, own));
        zone_class(&self.names_in_git_dir(path), is_own)
    }
}

impl DirectoryVisitor for ZoneScanner<'_> {
    /// A directory below `modules` with a `HEAD` and objects is the git directory of a submodule.
    fn on_directory(&mut self, path: &[u8], names: &[&[u8]]) {
        let is_module = matches!(
            self.names_in_git_dir(path)[..],
            [b"modules", _, ..] | [b"worktrees", _, b"modules", _, ..]
        );
        if is_module && [&b"HEAD"[..], b"objects"].iter().all(|name| names.contains(name)) {
            self.bases.insert(path.to_vec());
        }
    }

    /// Loose objects are many, and their names tell enough.
    fn wants(&mut self, path: &[u8], name: &[u8], kind: Option<SnapshotEntryKind>) -> bool {
        let is_object =
            kind == Some(SnapshotEntryKind::File) && self.is_object_directory(path) && is_object_name(name);
        if !is_object {
            self.found.object_directories.remove(path);
        }
        !is_object
    }

    fn on_entry(&mut self, seen: &VisitedEntry<'_>) -> bool {
        if self.own_state.contains(&seen.path) {
            return false;
        }
        let is_file = seen.stat.kind == SnapshotEntryKind::File;
        let is_executable = is_file && self.shows_executables && seen.stat.mode & 0o111 != 0;
        let class = if is_executable { Some(ZoneClass::Protected) } else { self.class(seen.path) };
        // A link or pipe under a name of ordinary files is not what git writes.
        let is_plain = is_file || seen.stat.kind == SnapshotEntryKind::Directory;
        let Some(class) = class.or((!is_plain).then_some(ZoneClass::Protected)) else {
            return !self.is_unchanged_object_directory(seen);
        };
        if seen.stat.kind != SnapshotEntryKind::Directory || seen.path == b"objects" {
            self.record_entry(seen, class);
        }
        true
    }

    fn on_error(&mut self, path: &[u8], error: Errno) {
        self.found.object_directories.remove(path);
        // The directory vanished since it was listed.
        if error != Errno::NOENT {
            self.report(path, error.into());
        }
    }
}

/// Returns true if even a file that git never makes executable is so: the file system shows all files like that.
fn all_executable(git_dir: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    git_dir.join("HEAD").metadata().is_ok_and(|facts| facts.permissions().mode() & 0o100 != 0)
}

/// Returns the creation time of a directory, which persists while its entries change, or the change time of anything
/// else.
fn change_time_ns(stat: &EntryStat) -> i64 {
    if stat.kind == SnapshotEntryKind::Directory { stat.born_ns } else { stat.ctime_ns }
}

fn is_below(path: &[u8], dir: &[u8]) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.first() == Some(&b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const OBJECT: &str = ".git/objects/ab/013625030ba8dba906f756967f9e9ca394464a";
    const PLANTED: &str = ".git/objects/ab/run.sh";

    fn repository() -> (tempfile::TempDir, GitLayout) {
        let dir = tempfile::tempdir().expect("a directory");
        for name in [".git/refs", ".git/objects/ab", ".git/objects/cd"] {
            fs::create_dir_all(dir.path().join(name)).expect("creates");
        }
        for name in [".git/HEAD", OBJECT] {
            fs::write(dir.path().join(name), "").expect("writes");
        }
        let layout = GitLayout::find(dir.path()).expect("a repository");
        (dir, layout)
    }

    fn look(layout: &GitLayout, earlier: Option<&ZoneSnapshot>) -> ZoneSnapshot {
        snapshot_since(layout, &[], earlier, i64::MAX)
    }

    fn has_planted(zone: &ZoneSnapshot) -> bool {
        zone.entries.keys().any(|path| path.to_string() == PLANTED)
    }

    #[test]
    fn a_name_that_comes_into_a_known_directory_of_objects_is_noticed() {
        let (dir, layout) = repository();
        let before = look(&layout, None);
        assert_eq!(before.object_directories.len(), 2);
        fs::write(dir.path().join(PLANTED), "").expect("writes");
        let after = look(&layout, Some(&before));
        assert!(has_planted(&after) && zone_delta(&before, &after).len() == 1, "{after:?}");
        // What holds anything else is always looked at.
        assert_eq!(after.object_directories.len(), 1);
        fs::write(dir.path().join(PLANTED), "changed").expect("writes");
        assert_eq!(zone_delta(&after, &look(&layout, Some(&after))).len(), 1);
    }

    #[test]
    fn a_directory_of_objects_with_the_same_times_is_not_listed_again() {
        let (dir, layout) = repository();
        let mut known = look(&layout, None);
        fs::write(dir.path().join(PLANTED), "").expect("writes");
        // As if the directory had looked like this all the time.
        let now = git_files::open_dir(&dir.path().join(".git/objects")).expect("opens");
        let now = sys::stat_at(&now, b"ab").expect("is there");
        known.object_directories.insert(b"objects/ab".to_vec(), now);
        assert!(!has_planted(&look(&layout, Some(&known))));
        // One that changed a moment ago could have changed again since.
        assert!(has_planted(&protected_snapshot(&layout, &[], Some(&known))));
    }
}
