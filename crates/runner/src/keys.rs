//! Creates and reads the key that signs a repository's evidence.

use crate::{recover, run};
use probity_core::ReasonCode;
use probity_evidence::{PublicKey, SecretKey};
use probity_workspace::{ServiceError, Workspace, signing, transparency_log};

/// Creates a key; refuses if there is one already.
pub fn generate_key(workspace: &Workspace) -> Result<PublicKey, ServiceError> {
    if let Some(key) = signing::signing_key(workspace)? {
        let detail =
            format!("a key already exists: {} in {}", key.key_id(), workspace.state.signing_key().display());
        return Err(ServiceError::refused(ReasonCode::KeyExists, detail));
    }
    // From now on every bundle must be signed, so runs that started without the key have to end first.
    let _tree = run::take_tree(workspace, "making a key")?;
    recover::close_interrupted(workspace, true)?;
    if let Some(open) = workspace.state.open_runs()?.first() {
        return Err(ServiceError::Held { holder: format!("run {}", open.run_id) });
    }
    let key = new_secret_key()?;
    transparency_log::install_key(&workspace.state, &key)?;
    Ok(key.public())
}

pub(crate) fn new_secret_key() -> Result<SecretKey, ServiceError> {
    let mut random = [0; 32];
    fill_random(&mut random).map_err(ServiceError::system("cannot get random bytes from the system"))?;
    Ok(SecretKey::from_random(&random))
}

/// Returns the public half of the key.
pub fn public_key(workspace: &Workspace) -> Result<PublicKey, ServiceError> {
    match signing::signing_key(workspace)? {
        Some(key) => Ok(key.public()),
        None => Err(ServiceError::refused(ReasonCode::KeyMissing, "this repository has no signing key yet")),
    }
}

/// Returns an unguessable token.
pub fn random_token() -> Result<String, ServiceError> {
    let mut random = [0; 16];
    fill_random(&mut random).map_err(ServiceError::system("cannot get random bytes from the system"))?;
    Ok(format!("{:032x}", u128::from_be_bytes(random)))
}

fn fill_random(buffer: &mut [u8]) -> std::io::Result<()> {
    use std::io::Read;
    std::fs::File::open("/dev/urandom")?.read_exact(buffer)
}
