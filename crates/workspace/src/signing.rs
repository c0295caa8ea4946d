//! The key that signs evidence and receipts.

use crate::{Fault, Workspace};
use probity_core::Reason;
use probity_evidence::SecretKey;
use probity_storage::durable;

/// The signing key of the repository, if it has one.
pub fn signing_key(workspace: &Workspace) -> Result<Option<SecretKey>, Fault> {
    let path = workspace.state.signing_key();
    let Some(bytes) = durable::read(&path)? else {
        return Ok(None);
    };
    SecretKey::parse(&bytes)
        .map(Some)
        .map_err(|error| Fault::refused(Reason::KeyInvalid, format!("{}: {error}", path.display())))
}
