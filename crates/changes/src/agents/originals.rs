//! Keeps what a file was before Probity edited it, so that taking Probity out leaves the bytes as they were.

use probity_core::Digest;
use probity_storage::durable;
use probity_workspace::{ServiceError, Workspace};
use std::path::PathBuf;

/// The directory of kept originals in the state directory.
pub(crate) const ORIGINALS_DIR: &str = "agents";

fn place(workspace: &Workspace, path: &str, text: &str) -> PathBuf {
    let key = format!("{}\0{path}\0{text}", workspace.root.display());
    workspace.state.dir().join(ORIGINALS_DIR).join(&Digest::of(key.as_bytes()).to_hex()[..32])
}

/// Keeps `before`, to be restored from exactly `after`. An existing original of `before` is carried on, so that several
/// edits in a row lead back to the first bytes.
pub(super) fn keep(workspace: &Workspace, path: &str, before: &str, after: &str) -> Result<(), ServiceError> {
    let first = restore(workspace, path, before)?.unwrap_or_else(|| before.to_owned());
    Ok(durable::write(&place(workspace, path, after), first.as_bytes())?)
}

/// Returns the original of a file whose content is `now`; `None` if it is not what Probity left.
pub(super) fn restore(workspace: &Workspace, path: &str, now: &str) -> Result<Option<String>, ServiceError> {
    let bytes = durable::read(&place(workspace, path, now))?;
    Ok(bytes.and_then(|bytes| String::from_utf8(bytes).ok()))
}

pub(super) fn forget(workspace: &Workspace, path: &str, now: &str) -> Result<(), ServiceError> {
    Ok(durable::remove(&place(workspace, path, now))?)
}
