//! The layers of runs in views: who uses them, and their removal. [`probity_workspace::held_layers`] lists them.
//!
//! A layer is *held* while its run neither landed nor was discarded. A process that mounts, lands, merges or removes a
//! layer holds its lock: the kernel does not notice if the same upper directory is mounted twice.

use probity_core::ReasonCode;
use probity_storage::{FileLock, LockError, StoreError, durable};
use probity_workspace::{ServiceError, Workspace};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result as SysResult};
use std::fs;
use std::path::{Path, PathBuf};

/// Levels of directories that are entered before deeper ones are moved up, so that few handles are open at a time.
const MAX_OPEN_LEVELS: usize = 64;

/// Returns the directory of the layer of a run.
pub fn held_layer(workspace: &Workspace, run_id: &str) -> Result<PathBuf, ServiceError> {
    let layer = workspace.state.layer(run_id);
    if layer.join("upper").is_dir() {
        return Ok(layer);
    }
    Err(ServiceError::refused(ReasonCode::LayerUnknown, format!("run {run_id} holds no changes")))
}

/// Takes the layer of a run for this process alone.
pub fn lock_layer(workspace: &Workspace, run_id: &str, what: &str) -> Result<FileLock, ServiceError> {
    let holder = format!("{what}, process {}", std::process::id());
    FileLock::try_take(&workspace.state.layer_lock(run_id), &holder).map_err(|error| match error {
        LockError::Held { holder } => {
            let detail = format!("the layer of run {run_id} is used by {holder}");
            ServiceError::refused(ReasonCode::LayerBusy, detail)
        }
        LockError::Store(error) => error.into(),
    })
}

/// Removes the layer of a run. The caller holds its lock.
pub fn remove_layer(workspace: &Workspace, run_id: &str) -> Result<(), ServiceError> {
    remove_tree(&workspace.state.layer(run_id))?;
    Ok(durable::remove(&workspace.state.layer_lock(run_id))?)
}

/// Makes a layer that is held durable, if it is there: a view flushes nothing by itself.
pub(crate) fn flush_layer(layer: &Path) -> Result<(), ServiceError> {
    if !layer.join("upper").is_dir() {
        return Ok(());
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    tracing::trace!(target: "probity::work", fsyncs = 1_u64);
    let flushed = rustix::fs::open(layer, flags, Mode::empty()).and_then(super::stage::flush_file_system);
    flushed.map_err(|error| ServiceError::System {
        what: format!("cannot write the held changes in {} to disk", layer.display()),
        source: error.into(),
    })
}

/// Removes a directory of the state and everything below it, whatever permissions the command in the view set. It is
/// hidden first, so that readers see all of it or nothing.
pub(crate) fn remove_tree(path: &Path) -> Result<(), StoreError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
    let mut hidden = std::ffi::OsString::from(format!(".removed-{}-", std::process::id()));
    hidden.push(name);
    let hidden = parent.join(hidden);
    match fs::rename(path, &hidden) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        renamed => renamed.map_err(StoreError::io_error(path))?,
    }
    clear(&hidden).map_err(|error| StoreError::Io { path: hidden.clone(), source: error.into() })?;
    fs::remove_dir(&hidden).map_err(StoreError::io_error(&hidden))
}

/// Removes what processes that were killed left half-removed.
pub(crate) fn remove_leftovers(directory: &Path) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(".removed-") && clear(&entry.path()).is_ok() {
            // The next start tries again.
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Empties a directory.
fn clear(path: &Path) -> SysResult<()> {
    let top = open_writable(rustix::fs::CWD, path.as_os_str())?;
    let mut n_moved = 0;
    // What lies too deep is moved to the top, and the top is emptied again.
    while clear_level(top.as_fd(), top.as_fd(), 0, &mut n_moved)? {}
    Ok(())
}

/// Removes what is in `directory`; returns whether something was moved to `top` instead.
fn clear_level(
    top: BorrowedFd<'_>,
    directory: BorrowedFd<'_>,
    depth: usize,
    n_moved: &mut u64,
) -> SysResult<bool> {
    let mut has_moved = false;
    for (name, kind) in list(directory)? {
        if kind != FileType::Directory {
            rustix::fs::unlinkat(directory, &name[..], AtFlags::empty())?;
        } else if depth == MAX_OPEN_LEVELS {
            *n_moved += 1;
            // A directory that cannot be written to cannot be moved elsewhere.
            drop(open_writable(directory, &name[..])?);
            rustix::fs::renameat(
                directory,
                &name[..],
                top,
                format!(".deep-{n_moved}-{}", std::process::id()),
            )?;
            has_moved = true;
        } else {
            let child = open_writable(directory, &name[..])?;
            has_moved |= clear_level(top, child.as_fd(), depth + 1, n_moved)?;
            rustix::fs::unlinkat(directory, &name[..], AtFlags::REMOVEDIR)?;
        }
    }
    Ok(has_moved)
}

fn list(directory: BorrowedFd<'_>) -> SysResult<Vec<(Vec<u8>, FileType)>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes().to_vec();
        if name == b"." || name == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => FileType::from_raw_mode(
                rustix::fs::statat(directory, &name[..], AtFlags::SYMLINK_NOFOLLOW)?.st_mode,
            ),
            known => known,
        };
        names.push((name, kind));
    }
    Ok(names)
}

/// Opens a directory of ours after making it readable and writable.
fn open_writable(parent: impl AsFd, name: impl rustix::path::Arg + Copy) -> SysResult<OwnedFd> {
    let stat = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(Errno::NOTDIR);
    }
    if stat.st_mode & 0o700 != 0o700 {
        rustix::fs::chmodat(&parent, name, Mode::from_raw_mode(0o700), AtFlags::empty())?;
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(&parent, name, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_workspace::held_layers::held_layers;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_layer_with_closed_directories_and_deep_ones_can_be_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let layer = dir.path().join("layer");
        fs::create_dir_all(layer.join("work/work")).expect("creates");
        fs::create_dir_all(layer.join("upper/a/b")).expect("creates");
        fs::write(layer.join("upper/a/b/file"), "x").expect("writes");
        for closed in ["work/work", "upper/a/b", "upper/a"] {
            fs::set_permissions(layer.join(closed), fs::Permissions::from_mode(0o000)).expect("closes");
        }
        let mut deep = layer.join("upper/deep");
        for _ in 0..300 {
            deep.push("d");
        }
        fs::create_dir_all(&deep).expect("creates");
        remove_tree(&layer).expect("removes");
        assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 0);
        remove_tree(&layer).expect("there is nothing to remove");
    }

    #[test]
    fn a_layer_in_use_is_not_taken_twice() {
        let dir = tempfile::tempdir().expect("a directory");
        let workspace = Workspace::find(Some(dir.path()), dir.path()).expect("a tree");
        fs::create_dir_all(workspace.state.layer("r1").join("upper")).expect("creates");
        fs::write(workspace.state.layer("r1").join("upper/a"), "content").expect("writes");
        let lock = lock_layer(&workspace, "r1", "run r1").expect("is free");
        let refused = lock_layer(&workspace, "r1", "land").expect_err("is used");
        assert_eq!(refused.code(), "LAYER.BUSY");
        let held = held_layers(&workspace).expect("lists");
        assert!(
            held.len() == 1 && held[0].is_in_use && held[0].size.n_entries == 1 && held[0].size.bytes > 0
        );
        drop(lock);
        assert!(!held_layers(&workspace).expect("lists")[0].is_in_use);
        remove_layer(&workspace, "r1").expect("removes");
        assert_eq!(held_layers(&workspace).expect("lists"), []);
        assert_eq!(held_layer(&workspace, "r1").expect_err("is gone").code(), "LAYER.UNKNOWN");
    }
}
