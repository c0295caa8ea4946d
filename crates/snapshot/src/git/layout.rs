//! Locates the parts of a repository like git does, but without running git.
//!
//! `.git` is a directory, or a file that names one (a linked worktree, a submodule, `--separate-git-dir`). A linked
//! worktree has a directory of its own and shares the rest through `commondir`.

use super::config::{ConfigSetting, settings};
use super::git_files;
use crate::git_object::ObjectFormat;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A pointer file contains a single path.
const MAX_POINTER_BYTES: u64 = 64 * 1024;
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// The parts of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitLayout {
    /// The root of the working tree.
    pub root: PathBuf,
    /// The directory with `HEAD` and the index.
    pub git_dir: PathBuf,
    /// The directory with the objects, refs, configuration and hooks: the same as `git_dir`, except in a linked
    /// worktree.
    pub common_dir: PathBuf,
    pub object_format: ObjectFormat,
    pub ref_storage: RefStorage,
}

/// The storage format of a repository's refs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefStorage {
    /// Files below `refs`, and `packed-refs`.
    Files,
    /// A format that is not supported here, such as `reftable`.
    Other(String),
}

impl GitLayout {
    /// Returns the repository whose working tree has its root at `root`, if any. To search upwards, call it for each
    /// directory above.
    pub fn find(root: &Path) -> Option<Self> {
        let root = root.canonicalize().ok()?;
        let dot_git = root.join(".git");
        let git_dir =
            if dot_git.is_dir() { dot_git.canonicalize().ok()? } else { pointed_to(&root, &dot_git)? };
        if git_dir.join("HEAD").symlink_metadata().is_err() {
            return None;
        }
        let common_dir = match git_files::read(&git_dir.join("commondir"), MAX_POINTER_BYTES) {
            Ok(text) => git_dir.join(as_path(text.trim_ascii_end())).canonicalize().ok()?,
            Err(_) => git_dir.clone(),
        };
        let config = git_files::read(&common_dir.join("config"), MAX_CONFIG_BYTES).unwrap_or_default();
        let (object_format, ref_storage) = extensions(&config);
        Some(Self { root, git_dir, common_dir, object_format, ref_storage })
    }

    /// Returns the repository without a working tree at `dir`, if it is one.
    pub fn find_bare(dir: &Path) -> Option<Self> {
        let root = dir.canonicalize().ok()?;
        let is_repository =
            root.join("HEAD").is_file() && root.join("objects").is_dir() && root.join("refs").is_dir();
        if !is_repository {
            return None;
        }
        let config = git_files::read(&root.join("config"), MAX_CONFIG_BYTES).unwrap_or_default();
        let (object_format, ref_storage) = extensions(&config);
        Some(Self { git_dir: root.clone(), common_dir: root.clone(), root, object_format, ref_storage })
    }

    /// Returns true for a linked worktree, which has a git directory of its own next to the shared one.
    pub fn is_linked(&self) -> bool {
        self.git_dir != self.common_dir
    }

    /// Returns true if this clone has only part of the history.
    pub fn is_shallow(&self) -> bool {
        self.common_dir.join("shallow").metadata().is_ok_and(|facts| facts.len() > 0)
    }

    /// Returns true for a partial clone, where git may know the id of an object without having its content.
    pub fn is_partial(&self) -> bool {
        let promisor = |name: &OsStr| Path::new(name).extension() == Some(OsStr::new("promisor"));
        let packs = self.common_dir.join("objects/pack").read_dir();
        packs.is_ok_and(|mut packs| packs.any(|pack| pack.is_ok_and(|pack| promisor(&pack.file_name()))))
    }
}

/// Returns the directory that the file `.git` names: `gitdir: <path>`.
fn pointed_to(root: &Path, dot_git: &Path) -> Option<PathBuf> {
    let text = git_files::read(dot_git, MAX_POINTER_BYTES).ok()?;
    let path = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    root.join(as_path(path)).canonicalize().ok()
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Reads the two settings that define the repository's format. Everything else in the configuration is ignored.
fn extensions(config: &[u8]) -> (ObjectFormat, RefStorage) {
    let (mut format, mut storage) = (ObjectFormat::Sha1, RefStorage::Files);
    for ConfigSetting { section, key, value } in settings(config) {
        let value = value.to_ascii_lowercase();
        match (section.as_str(), key.as_str()) {
            ("extensions", "objectformat") if value == "sha256" => format = ObjectFormat::Sha256,
            ("extensions", "refstorage") if value != "files" => storage = RefStorage::Other(value),
            _ => {}
        }
    }
    (format, storage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_only_the_two_settings_that_say_how_a_repository_is_written() {
        let plain = (ObjectFormat::Sha1, RefStorage::Files);
        assert_eq!(extensions(b""), plain);
        assert_eq!(extensions(b"[core]\n\tobjectformat = sha256\n"), plain);
        let config = b"[core]\n repositoryformatversion = 1\n[Extensions] ; why\n\tobjectFormat = sha256\n refStorage=\"reftable\"\n";
        assert_eq!(extensions(config), (ObjectFormat::Sha256, RefStorage::Other("reftable".into())));
        assert_eq!(extensions(b"[extensions] objectformat=sha256 # on one line\n").0, ObjectFormat::Sha256);
    }
}
