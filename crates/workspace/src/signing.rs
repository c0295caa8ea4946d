//! The key that signs evidence and receipts.

use crate::{ServiceError, Workspace};
use probity_core::ReasonCode;
use probity_core::bytes::bare_shell_word;
use probity_evidence::SecretKey;
use probity_storage::durable;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Refuses a file with a secret that anyone but its owner can read or write.
pub fn check_private(path: &Path) -> Result<(), ServiceError> {
    /// Permission bits of everybody but the owner.
    const OTHERS: u32 = 0o077;
    let mode = path.symlink_metadata().map_or(0, |facts| facts.mode() & 0o777);
    if mode & OTHERS == 0 {
        return Ok(());
    }
    let detail = format!(
        "{} is open to others (mode {mode:04o}): `chmod 600 {}`",
        path.display(),
        bare_shell_word(path.as_os_str().as_bytes())
    );
    Err(ServiceError::refused(ReasonCode::KeyExposed, detail))
}

/// Returns the signing key of the repository, if it has one.
pub fn signing_key(workspace: &Workspace) -> Result<Option<SecretKey>, ServiceError> {
    let path = workspace.state.signing_key();
    let Some(bytes) = durable::read_settings(&path)? else {
        return Ok(None);
    };
    check_private(&path)?;
    SecretKey::parse(&bytes).map(Some).map_err(|error| {
        ServiceError::refused(ReasonCode::KeyInvalid, format!("{}: {error}", path.display()))
    })
}
