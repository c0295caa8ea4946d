//! Writes a layer by hand, in the form in which the kernel leaves one: for gates that judge a part of a run's changes, and
//! for changes that were merged with the tree.

use crate::landing::LayerView;
use crate::landing::open_layer_file;
use probity_paths::RepoPath;
use probity_snapshot::{Snapshot, SnapshotEntryKind, TreeChange};
use probity_storage::{StoreError, durable};
use probity_workspace::ServiceError;
use rustix::fs::{CWD, FileType, Mode};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The contents of a new layer.
pub(super) struct LayerContents<'a> {
    /// The layer that the changes come from.
    pub(super) source: &'a LayerView<'a>,
    /// The tree below the new layer.
    pub(super) tree: &'a Snapshot,
    /// Contents that replace those of `source`.
    pub(super) merged: &'a BTreeMap<RepoPath, Vec<u8>>,
}

impl LayerContents<'_> {
    /// Writes `changes`, sorted by path, into the directory `upper`, which is created.
    pub(super) fn write(&self, upper: &Path, changes: &[TreeChange]) -> Result<(), ServiceError> {
        durable::create_dir(upper)?;
        let mut modes: BTreeMap<PathBuf, u32> = BTreeMap::new();
        for change in changes {
            self.write_change(upper, change, &mut modes).map_err(|error| ServiceError::System {
                what: format!("cannot write `{}` into a layer", change.path),
                source: error,
            })?;
        }
        // From the inside out, because a directory may forbid writing.
        for (path, mode) in modes.into_iter().rev() {
            fs::set_permissions(&path, Permissions::from_mode(mode)).map_err(StoreError::io_error(&path))?;
        }
        Ok(())
    }

    fn write_change(
        &self,
        upper: &Path,
        change: &TreeChange,
        modes: &mut BTreeMap<PathBuf, u32>,
    ) -> io::Result<()> {
        let Some(parent) = self.make_parents(upper, &change.path, modes)? else { return Ok(()) };
        let place = parent.join(OsStr::from_bytes(change.path.file_name()));
        let Some(after) = change.after else {
            let mode = Mode::empty();
            return Ok(rustix::fs::mknodat(CWD, &place, FileType::CharacterDevice, mode, 0)?);
        };
        match after.kind {
            SnapshotEntryKind::Directory => {
                if !place.is_dir() {
                    fs::create_dir(&place)?;
                }
                modes.insert(place, after.mode);
                Ok(())
            }
            SnapshotEntryKind::Symlink => {
                let directory = self.source.parent_of(&change.path)?;
                let target = rustix::fs::readlinkat(directory, change.path.file_name(), Vec::new())?;
                Ok(rustix::fs::symlinkat(target, CWD, &place)?)
            }
            _ => {
                if let Some(bytes) = self.merged.get(&change.path) {
                    fs::write(&place, bytes)?;
                } else {
                    let directory = self.source.parent_of(&change.path)?;
                    let mut from = open_layer_file(&directory, change.path.file_name())?;
                    io::copy(&mut from, &mut File::create(&place)?)?;
                }
                fs::set_permissions(&place, Permissions::from_mode(after.mode & 0o777))
            }
        }
    }

    /// Makes the directories above `path`; `None` if something above it is no directory in the layer, so that `path` is
    /// hidden anyway.
    fn make_parents(
        &self,
        upper: &Path,
        path: &RepoPath,
        modes: &mut BTreeMap<PathBuf, u32>,
    ) -> io::Result<Option<PathBuf>> {
        let Some(parent) = path.parent() else { return Ok(Some(upper.to_owned())) };
        let Some(above) = self.make_parents(upper, &parent, modes)? else { return Ok(None) };
        let place = above.join(OsStr::from_bytes(parent.file_name()));
        match fs::symlink_metadata(&place) {
            Ok(facts) => return Ok(facts.is_dir().then_some(place)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir(&place)?,
            Err(error) => return Err(error),
        }
        let in_tree = self.tree.get(&parent).map(|entry| entry.mode());
        let mode = in_tree.or_else(|| self.source.directory_mode(&parent).ok()).unwrap_or(0o755);
        modes.insert(place.clone(), mode);
        Ok(Some(place))
    }
}
