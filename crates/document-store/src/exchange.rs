//! Moves commits between stores (synchronization, bundles, flattening), and checks a store.

use super::{CommitMetadata, open, resolve};
use crate::fault::OrFault as _;
use crate::store::{CommitStore, SyncDirection, TransferSummary};
use probity_api::documents::{
    BundleTransferAnswer, StoreCheckAnswer, StoreDamage, StoreFlattenAnswer, StoreSyncAnswer, TransferCounts,
};
use probity_core::ReasonCode;
use probity_documents::{Commit, DocumentEngine};
use probity_workspace::ServiceError;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Write};
use std::path::Path;

/// Synchronizes two stores in the given direction.
pub fn sync(
    store: &CommitStore,
    other: &Path,
    direction: SyncDirection,
) -> Result<StoreSyncAnswer, ServiceError> {
    let other = open(other)?;
    let done = store.synchronize(&other, direction)?;
    let heads = store.heads()?;
    Ok(StoreSyncAnswer {
        pulled: transfer_counts(&done.pulled),
        pushed: transfer_counts(&done.pushed),
        heads,
    })
}

const fn transfer_counts(moved: &TransferSummary) -> TransferCounts {
    TransferCounts {
        commits: moved.n_commits,
        known: moved.n_known,
        blobs: moved.n_blobs,
        decisions: moved.n_decisions,
    }
}

fn transfer_answer(file: &Path, moved: &TransferSummary) -> BundleTransferAnswer {
    BundleTransferAnswer { file: file.to_string_lossy().into_owned(), moved: transfer_counts(moved) }
}

/// Writes the whole store to a bundle file, which must not exist yet.
pub fn export(store: &CommitStore, file: &Path) -> Result<BundleTransferAnswer, ServiceError> {
    let place = || format!("cannot write {}", file.display());
    let created = File::create_new(file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            ServiceError::refused(ReasonCode::CommitStoreExists, format!("{} exists already", file.display()))
        }
        _ => ServiceError::system(place())(error),
    })?;
    let mut out = BufWriter::new(created);
    let done = store.export(&mut out)?;
    let finish = out.flush().and_then(|()| out.get_ref().sync_all());
    finish.map_err(ServiceError::system(place()))?;
    Ok(transfer_answer(file, &done))
}

pub fn import(store: &CommitStore, file: &Path) -> Result<BundleTransferAnswer, ServiceError> {
    let bundle = File::open(file)
        .map_err(|error| ServiceError::Missing(format!("cannot open {}: {error}", file.display())))?;
    let done = store.import(&mut BufReader::new(bundle))?;
    Ok(transfer_answer(file, &done))
}

/// Creates a new store with the state of a commit and no history.
pub fn flatten(
    store: &CommitStore,
    name: &str,
    into: &Path,
    by: &CommitMetadata,
) -> Result<StoreFlattenAnswer, ServiceError> {
    let (id, state) = store.read(|view| {
        let id = resolve(view, name)?;
        Ok::<_, ServiceError>((id, DocumentEngine::new(view).state(&id).or_fault()?))
    })??;
    let flat =
        Commit::flatten(store.schema(), &state, by.stamp(&format!("flatten {}", super::short_id(&id)))?);
    let new = CommitStore::create(into, store.schema())?;
    for blob in flat.blobs() {
        let bytes = store.read(|view| view.blob(&blob))?.or_fault()?.unwrap_or_default();
        new.put_blob(&bytes)?;
    }
    let root = new.append(flat)?;
    Ok(StoreFlattenAnswer {
        of: id,
        path: into.to_string_lossy().into_owned(),
        commit: root,
        documents: state.documents().count(),
    })
}

/// Reads the whole store and compares everything with its hash.
pub fn check(store: &CommitStore) -> Result<StoreCheckAnswer, ServiceError> {
    let survey = store.check()?;
    let damage = survey.findings.into_iter().map(|it| StoreDamage { commit: it.commit, why: it.why });
    let findings: Vec<StoreDamage> = damage.collect();
    Ok(StoreCheckAnswer {
        sound: findings.is_empty(),
        commits: survey.n_commits,
        states: survey.n_states,
        blobs: survey.n_blobs,
        findings,
    })
}
