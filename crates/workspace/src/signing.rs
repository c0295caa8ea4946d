//! The key that signs evidence and receipts.

use crate::{ServiceError, Workspace};
use probity_core::ReasonCode;
use probity_evidence::SecretKey;
use probity_storage::durable;

/// Returns the signing key of the repository, if it has one.
pub fn signing_key(workspace: &Workspace) -> Result<Option<SecretKey>, ServiceError> {
    let path = workspace.state.signing_key();
    let Some(bytes) = durable::read(&path)? else {
        return Ok(None);
    };
    SecretKey::parse(&bytes).map(Some).map_err(|error| {
        ServiceError::refused(ReasonCode::KeyInvalid, format!("{}: {error}", path.display()))
    })
}
