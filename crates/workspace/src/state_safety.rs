//! Whether the state directory is safe to write to.

use crate::ServiceError;
use probity_core::ReasonCode;
use probity_storage::StoreError;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The permission bits that let the group or others write.
const OTHERS_WRITE: u32 = 0o022;

/// Refuses a state directory through which others could have our writes land elsewhere: it and the directories in
/// it must be real directories of this user that nobody else can write to.
pub(crate) fn check_state_directory(dir: &Path) -> Result<(), ServiceError> {
    check_directory(dir)?;
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_symlink() => return Err(unsafe_state(&path, "is a link")),
            Ok(kind) if kind.is_dir() => check_directory(&path)?,
            _ => continue,
        }
        let below = fs::read_dir(&path).into_iter().flatten().flatten();
        let mut links = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
        if let Some(link) = links.next() {
            return Err(unsafe_state(&link.path(), "is a link"));
        }
    }
    Ok(())
}

fn check_directory(path: &Path) -> Result<(), ServiceError> {
    let facts = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        facts => facts.map_err(StoreError::io_error(path))?,
    };
    if facts.is_symlink() {
        return Err(unsafe_state(path, "is a link"));
    }
    if !facts.is_dir() {
        return Err(unsafe_state(path, "is no directory"));
    }
    let (owner, own) = (facts.uid(), rustix::process::geteuid().as_raw());
    if owner != own {
        return Err(unsafe_state(path, &format!("belongs to user {owner}, and this is user {own}")));
    }
    if facts.mode() & OTHERS_WRITE != 0 {
        return Err(unsafe_state(
            path,
            &format!("can be written by others (mode {:04o})", facts.mode() & 0o7777),
        ));
    }
    Ok(())
}

fn unsafe_state(path: &Path, why: &str) -> ServiceError {
    ServiceError::refused(ReasonCode::StateUnsafe, format!("{} {why}", path.display()))
}
