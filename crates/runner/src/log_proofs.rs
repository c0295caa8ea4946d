//! Proofs from the log of a repository, for people who do not have the repository.

use crate::{bundles, keys};
use probity_api::govern::log::{LogCheckpoint, LogConsistency, LogLine, LogOverview, LogWitnessing};
use probity_changes::registry::published_log;
use probity_core::merkle::{LogLeaf, TreeHead, verify_consistency};
use probity_core::{ReasonCode, json};
use probity_evidence::checkpoint::NoteVerdict;
use probity_evidence::{BUNDLE_LOG, InclusionProof, SecretKey, SignedCheckpoint, TrustRequirements};
use probity_storage::ports::StorageEngine as _;
use probity_storage::sqlite::SqliteStore;
use probity_storage::{LogHead, durable};
use probity_workspace::signing::signing_key;
use probity_workspace::{ServiceError, Workspace, clock, transparency_log};
use serde::Deserialize as _;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A head of the log: its size, or a checkpoint in a file.
#[derive(Debug, Clone)]
pub enum LogPoint {
    Size(u64),
    Checkpoint(PathBuf),
}

impl From<&str> for LogPoint {
    fn from(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Checkpoint(text.into()), Self::Size)
    }
}

/// What a witness needs to countersign.
#[derive(Debug, Clone)]
pub struct WitnessRequest<'a> {
    /// The file of its key, which is made if it is not there.
    pub key: &'a Path,
    /// The file with the last checkpoint it countersigned.
    pub memory: &'a Path,
    /// Its name; derived from its key by default.
    pub name: Option<&'a str>,
    /// The checkpoint of a log elsewhere, and the proof that it follows the last one.
    pub elsewhere: Option<(&'a Path, Option<&'a Path>)>,
    /// Keys that must have signed the checkpoint, if any.
    pub trust: &'a TrustRequirements,
}

pub fn read_checkpoint(path: &Path) -> Result<SignedCheckpoint, ServiceError> {
    let bytes = std::fs::read(path).map_err(|error| {
        ServiceError::Missing(format!("cannot read the checkpoint {}: {error}", path.display()))
    })?;
    SignedCheckpoint::parse(&bytes)
        .map_err(|error| ServiceError::refused(error.reason(), format!("{}: {error}", path.display())))
}

pub fn read_proof(path: &Path) -> Result<InclusionProof, ServiceError> {
    let bytes = std::fs::read(path).map_err(|error| {
        ServiceError::Missing(format!("cannot read the proof {}: {error}", path.display()))
    })?;
    InclusionProof::parse(&bytes).map_err(|why| {
        ServiceError::refused(ReasonCode::LogProofInvalid, format!("{}: {why}", path.display()))
    })
}

/// Writes a checkpoint or a proof to a file that the caller named.
pub fn write_file(path: &Path, bytes: &[u8]) -> Result<(), ServiceError> {
    std::fs::write(path, bytes).map_err(ServiceError::system(format!("cannot write {}", path.display())))
}

/// Opens the log, which must have begun.
fn open(workspace: &Workspace) -> Result<(SqliteStore, LogHead), ServiceError> {
    let nothing = || {
        let detail = "there is no log yet: nothing was run, started or proposed";
        ServiceError::refused(ReasonCode::InputMissing, detail)
            .with_next_step("`probity run --scope 'src/**' -- COMMAND` makes its first entry")
    };
    let store = workspace.state.existing_store()?.ok_or_else(nothing)?;
    let head = store.log_head()?.ok_or_else(nothing)?;
    Ok((store, head))
}

/// Checks that a checkpoint is one of this log.
fn check_own(
    (store, head): &(SqliteStore, LogHead),
    note: &SignedCheckpoint,
    place: &str,
) -> Result<TreeHead, ServiceError> {
    let known = note.checkpoint();
    if known.origin != head.origin {
        let detail = format!("{place} is of the log {}, and this one is {}", known.origin, head.origin);
        return Err(ServiceError::refused(ReasonCode::LogInconsistent, detail));
    }
    store.check_head(&known.head, place)?;
    Ok(known.head)
}

/// Proves that the bundle of `run` is in the log, up to `checkpoint` or up to the newest entry.
pub fn prove(
    workspace: &Workspace,
    run: &str,
    checkpoint: Option<&SignedCheckpoint>,
) -> Result<InclusionProof, ServiceError> {
    let run_id = bundles::find(workspace, run)?;
    let log = open(workspace)?;
    let note = match checkpoint {
        Some(note) => note.clone(),
        None => transparency_log::checkpoint(&log.1, signing_key(workspace)?.as_ref()),
    };
    let head = check_own(&log, &note, "the given checkpoint")?;
    let (store, _) = log;
    let unlisted = |what: &str| {
        ServiceError::refused(ReasonCode::LogProofInvalid, format!("{what} does not list run {run_id}"))
    };
    let seq = store.log(BUNDLE_LOG).find(&run_id)?.ok_or_else(|| unlisted("the log"))?;
    let index = store.leaf_number(BUNDLE_LOG, seq)?.ok_or_else(|| unlisted("the log"))?;
    let hashes = store.inclusion_proof(index, head.size)?.ok_or_else(|| unlisted("the checkpoint"))?;
    let listed = store.leaves_after(index, 1)?.pop().ok_or_else(|| unlisted("the log"))?;
    let event = String::from_utf8(listed.leaf.event).map_err(|_| unlisted("the log"))?;
    let leaf = LogLeaf { log: listed.leaf.log, seq, name: listed.leaf.name, event };
    Ok(InclusionProof { leaf, index, hashes, checkpoint: note.to_text() })
}

/// Returns the log and its newest `limit` entries, after checking everything that it lists.
pub fn overview(workspace: &Workspace, limit: usize) -> Result<LogOverview, ServiceError> {
    transparency_log::check_lists(&workspace.state)?;
    published_log::check(&workspace.state)?;
    let (store, LogHead { origin, tree }) = open(workspace)?;
    store.check_leaves(0)?;
    let mut entries = BTreeMap::new();
    let mut last = Vec::new();
    let first_shown = tree.size.saturating_sub(limit as u64);
    for listed in store.leaves_after(0, usize::MAX)? {
        *entries.entry(listed.leaf.log.clone()).or_default() += 1;
        if listed.number >= first_shown {
            let leaf_hash = listed.leaf.hash();
            let LogLeaf { log, seq, name, .. } = listed.leaf;
            last.push(LogLine { index: listed.number, log, seq, name, leaf_hash });
        }
    }
    let clone_breaches = published_log::last_known_breaches(&workspace.state)?;
    Ok(LogOverview { origin, head: tree, entries, last, clone_breaches })
}

/// Returns the checkpoint of the first `size` entries, or of all.
pub fn checkpoint(workspace: &Workspace, size: Option<u64>) -> Result<LogCheckpoint, ServiceError> {
    let (store, newest) = open(workspace)?;
    let head = match size {
        Some(size) => LogHead { tree: head_at(&store, &newest, size)?, ..newest },
        None => newest,
    };
    let key = signing_key(workspace)?;
    let text = transparency_log::checkpoint(&head, key.as_ref()).to_text();
    let signed_by = key.map(|key| key.public());
    Ok(LogCheckpoint { origin: head.origin, head: head.tree, signed_by, checkpoint: text })
}

fn head_at(store: &SqliteStore, newest: &LogHead, size: u64) -> Result<TreeHead, ServiceError> {
    store.log_head_at(size)?.ok_or_else(|| {
        let why = format!("the size of the log is {}, not {size}", newest.tree.size);
        ServiceError::refused(ReasonCode::InputInvalid, why)
            .with_next_step("give a size that the log has had; `probity log show` says how long it is now")
    })
}

/// Proves that the log only grew from `old` to `new`.
pub fn consistency(
    workspace: &Workspace,
    old: &LogPoint,
    new: &LogPoint,
) -> Result<LogConsistency, ServiceError> {
    let log = open(workspace)?;
    let head = |point: &LogPoint| match point {
        LogPoint::Size(size) => head_at(&log.0, &log.1, *size),
        LogPoint::Checkpoint(path) => check_own(&log, &read_checkpoint(path)?, &path.display().to_string()),
    };
    let (old, new) = (head(old)?, head(new)?);
    let hashes = log.0.consistency_proof(old.size, new.size)?.ok_or_else(|| {
        let why = format!("the old size, {}, is larger than the new one, {}", old.size, new.size);
        ServiceError::refused(ReasonCode::InputInvalid, why)
            .with_next_step("give the smaller size first: `probity log consistency OLD NEW`")
    })?;
    Ok(LogConsistency { origin: log.1.origin, old, new, hashes })
}

/// Countersigns a checkpoint that follows the last one that this witness has countersigned, and remembers it.
pub fn witness(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    request: &WitnessRequest<'_>,
) -> Result<LogWitnessing, ServiceError> {
    let key = witness_key(request.key)?;
    let remembered = request.memory.exists().then(|| read_checkpoint(request.memory)).transpose()?;
    let before = remembered.as_ref().map(|note| note.checkpoint().head);
    let mut note = match request.elsewhere {
        None => {
            let workspace = workspace()?;
            let log = open(&workspace)?;
            if let Some(remembered) = &remembered {
                check_own(&log, remembered, "the witness's last checkpoint")?;
            }
            transparency_log::checkpoint(&log.1, signing_key(&workspace)?.as_ref())
        }
        Some((path, proof)) => {
            let note = read_checkpoint(path)?;
            if let Some(remembered) = &remembered {
                check_follows(remembered, &note, proof)?;
            }
            note
        }
    };
    let keys = request.trust.keys.values();
    if keys.len() > 0 && keys.clone().all(|key| note.log_signature(key) != NoteVerdict::Valid) {
        let detail = "none of the trusted keys has signed the checkpoint";
        return Err(ServiceError::refused(ReasonCode::LogCheckpointInvalid, detail));
    }
    let name = match request.name {
        Some(name) => name.to_owned(),
        None => format!("probity.dev/witness/{}", key.key_id()),
    };
    note.cosign(&name, &key, clock::now_seconds())
        .map_err(|error| ServiceError::BadInput(error.to_string()))?;
    durable::write(request.memory, note.to_text().as_bytes())?;
    let checkpoint = note.checkpoint();
    Ok(LogWitnessing {
        origin: checkpoint.origin.clone(),
        witness: name,
        public: key.public(),
        before,
        head: checkpoint.head,
        checkpoint: note.to_text(),
    })
}

/// Checks that `note` follows what the witness remembers, by a proof from `probity log consistency --json`.
fn check_follows(
    remembered: &SignedCheckpoint,
    note: &SignedCheckpoint,
    proof: Option<&Path>,
) -> Result<(), ServiceError> {
    let (old, new) = (remembered.checkpoint(), note.checkpoint());
    let refused = |code, detail: String| Err(ServiceError::refused(code, detail));
    if old.origin != new.origin {
        let detail = format!("the checkpoint is of the log {}, not of {}", new.origin, old.origin);
        return refused(ReasonCode::LogInconsistent, detail);
    }
    if new.head.size < old.head.size {
        let detail =
            format!("the log has {} entries, but this witness has seen {}", new.head.size, old.head.size);
        return refused(ReasonCode::LogShortened, detail);
    }
    let hashes = match proof {
        None => Vec::new(),
        Some(path) => {
            let bytes = std::fs::read(path).map_err(|error| {
                ServiceError::Missing(format!("cannot read the proof {}: {error}", path.display()))
            })?;
            let proof = json::parse(&bytes).ok().and_then(|value| LogConsistency::deserialize(&value).ok());
            proof
                .ok_or_else(|| ServiceError::BadInput(format!("{} is no consistency proof", path.display())))?
                .hashes
        }
    };
    if verify_consistency(&old.head, &new.head, &hashes) {
        return Ok(());
    }
    let detail = format!(
        "no proof shows that the log only grew from {} to {} entries; make one with `probity log consistency {} {} --json`",
        old.head.size, new.head.size, old.head.size, new.head.size
    );
    refused(ReasonCode::LogInconsistent, detail)
}

/// Reads the key of a witness, or makes one.
fn witness_key(path: &Path) -> Result<SecretKey, ServiceError> {
    if let Some(bytes) = durable::read(path)? {
        return SecretKey::parse(&bytes).map_err(|error| {
            ServiceError::refused(ReasonCode::KeyInvalid, format!("{}: {error}", path.display()))
        });
    }
    let key = keys::new_secret_key()?;
    durable::write(path, &key.to_file())?;
    Ok(key)
}
