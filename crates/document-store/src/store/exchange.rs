//! Moves commits between stores: synchronization and bundles.
//!
//! A bundle is lines of JSON. A line with the single member `schema`, `blob`, `decision` or `ref` holds that; any
//! other line is the canonical bytes of a commit, after the commits it names. Importing only adds what is missing, in
//! batches that are committed one by one, so an interrupted import can be repeated and continues where it stopped.

use super::append::WriteTransaction;
use super::{CommitStore, CommitsError};
use probity_core::Digest;
use probity_documents::{
    Commit, CommitId, CommitReader, CommitSeq, DecisionRecord, DocumentSchema, HistoryError, SchemaError,
};
use serde_json::{Value as Json, json};
use std::io::{self, BufRead, Write};

const COMMITS_PER_FLUSH: usize = 1000;
/// The longest line of a bundle: a blob in hex digits plus some room.
const MAX_LINE_BYTES: u64 = 2 * super::metadata::MAX_BLOB_BYTES as u64 + 1024;

/// What a transfer added to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransferSummary {
    pub n_commits: usize,
    /// Commits that the store already had.
    pub n_known: usize,
    pub n_blobs: usize,
    pub n_decisions: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncDirection {
    Pull,
    Push,
    Both,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SyncSummary {
    /// What this store received.
    pub pulled: TransferSummary,
    /// What the other store received.
    pub pushed: TransferSummary,
}

impl CommitStore {
    /// Exchanges commits, blobs and decisions with another store. No head of either store is lost.
    pub fn synchronize(&self, other: &Self, direction: SyncDirection) -> Result<SyncSummary, CommitsError> {
        let mut done = SyncSummary::default();
        if direction != SyncDirection::Push {
            done.pulled = self.pull_from(other)?;
        }
        if direction != SyncDirection::Pull {
            done.pushed = other.pull_from(self)?;
        }
        Ok(done)
    }

    /// Adds everything that `source` has and this store lacks.
    fn pull_from(&self, source: &Self) -> Result<TransferSummary, CommitsError> {
        if self.schema.version() < source.schema.version() || self.schema.to_json() != source.schema.to_json()
        {
            self.schema_must_cover(&source.schema)?;
        }
        let mut moved = TransferSummary::default();
        for digest in source.read(|view| view.blobs())?? {
            if !self.read(|view| view.has_blob(&digest))?? {
                let bytes = source.read(|view| view.blob(&digest))??.unwrap_or_default();
                self.put_blob(&bytes)?;
                moved.n_blobs += 1;
            }
        }
        let end = source.read(|view| view.n_commits())?;
        let mut next = 0;
        while next < end {
            let portion = (next..end).take(COMMITS_PER_FLUSH);
            next += u32::try_from(portion.len()).unwrap_or(u32::MAX);
            let missing = self.missing(source, portion)?;
            moved.n_known += missing.1;
            moved.n_commits += missing.0.len();
            self.append_all(missing.0)?;
        }
        for decision in source.read(|view| view.decisions())?? {
            moved.n_decisions += usize::from(self.write(|writing| add_decision(writing, &decision))?);
        }
        Ok(moved)
    }

    /// Checks that this store can read everything written under the other schema.
    fn schema_must_cover(&self, other: &DocumentSchema) -> Result<(), CommitsError> {
        if self.schema.version() > other.version() {
            return Ok(other.check_successor(&self.schema)?);
        }
        let why =
            format!("the other store has schema version {}, which this one does not know", other.version());
        Err(SchemaError { place: "version".into(), why }.into())
    }

    /// Returns the commits of a portion that this store lacks, and the number that it has.
    fn missing(
        &self,
        source: &Self,
        portion: impl Iterator<Item = u32>,
    ) -> Result<(Vec<Commit>, usize), CommitsError> {
        let ids: Vec<(CommitSeq, CommitId)> = source.read(|view| {
            portion
                .map(|seq| Ok((CommitSeq(seq), view.id(CommitSeq(seq))?)))
                .collect::<Result<_, HistoryError>>()
        })??;
        let unknown: Vec<CommitSeq> = self.read(|view| {
            let mut unknown = Vec::new();
            for (seq, id) in &ids {
                if view.find(id)?.is_none() {
                    unknown.push(*seq);
                }
            }
            Ok::<_, HistoryError>(unknown)
        })??;
        let n_known = ids.len() - unknown.len();
        let commits = source.read(|view| {
            unknown
                .iter()
                .map(|seq| Ok((*view.commit(*seq)?).clone()))
                .collect::<Result<Vec<_>, HistoryError>>()
        })??;
        Ok((commits, n_known))
    }

    /// Writes the whole store as a bundle.
    pub fn export(&self, out: &mut dyn Write) -> Result<TransferSummary, CommitsError> {
        let path = self.path.clone();
        let failed = |error: io::Error| {
            CommitsError::Store(probity_storage::StoreError::Io { path: path.clone(), source: error })
        };
        self.read(|view| {
            let mut moved = TransferSummary::default();
            let mut line =
                |bytes: &[u8]| out.write_all(bytes).and_then(|()| out.write_all(b"\n")).map_err(&failed);
            line(&probity_core::json::canonical(&json!({ "schema": self.schema.to_json() })))?;
            for digest in view.blobs()? {
                let bytes = view.blob(&digest)?.unwrap_or_default();
                line(&probity_core::json::canonical(&json!({ "blob": hex::encode(bytes) })))?;
                moved.n_blobs += 1;
            }
            for seq in 0..view.n_commits() {
                line(view.commit(CommitSeq(seq))?.bytes())?;
                moved.n_commits += 1;
            }
            for decision in view.decisions()? {
                let json = serde_json::to_value(&decision).expect("a record is plain data with text keys");
                line(&probity_core::json::canonical(&json!({ "decision": json })))?;
                moved.n_decisions += 1;
            }
            for (name, id) in view.refs()? {
                line(&probity_core::json::canonical(&json!({ "ref": [name, id] })))?;
            }
            Ok(moved)
        })?
    }

    /// Imports a bundle. After an error, the batches before it are kept: they are complete, and the rest can follow
    /// later.
    pub fn import(&self, bundle: &mut dyn BufRead) -> Result<TransferSummary, CommitsError> {
        let mut lines = BundleLines { bundle, line: 0 };
        let mut moved = TransferSummary::default();
        loop {
            let portion = lines.next_portion()?;
            if portion.is_empty() {
                return Ok(moved);
            }
            let mut added = moved;
            self.write(|writing| {
                for (line, bytes) in &portion {
                    take_line(writing, &mut added, bytes).map_err(|error| at_line(*line, error))?;
                }
                Ok(())
            })?;
            moved = added;
        }
    }
}

/// Adds the line number to an error, except to errors of the store itself.
fn at_line(line: usize, error: CommitsError) -> CommitsError {
    match error {
        CommitsError::Store(_) | CommitsError::Unknown | CommitsError::SchemaMoved { .. } => error,
        refused => CommitsError::Bundle { line, why: refused.to_string() },
    }
}

struct BundleLines<'b> {
    bundle: &'b mut dyn BufRead,
    line: usize,
}

impl BundleLines<'_> {
    /// Returns the next lines with their numbers; empty at the end.
    fn next_portion(&mut self) -> Result<Vec<(usize, Vec<u8>)>, CommitsError> {
        let mut portion = Vec::new();
        while portion.len() < COMMITS_PER_FLUSH {
            let mut bytes = Vec::new();
            let bad = |why: String| CommitsError::Bundle { line: self.line + 1, why };
            let mut bounded = io::Read::take(&mut *self.bundle, MAX_LINE_BYTES);
            let read = bounded.read_until(b'\n', &mut bytes).map_err(|error| bad(error.to_string()))?;
            if read as u64 == MAX_LINE_BYTES {
                return Err(bad(format!("it is longer than {MAX_LINE_BYTES} bytes")));
            }
            if read == 0 {
                break;
            }
            self.line += 1;
            let content = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
            if !content.is_empty() {
                portion.push((self.line, content.to_vec()));
            }
        }
        Ok(portion)
    }
}

fn take_line(
    writing: &mut WriteTransaction<'_>,
    moved: &mut TransferSummary,
    bytes: &[u8],
) -> Result<(), CommitsError> {
    let wrong = |why: String| CommitsError::Bundle { line: 0, why };
    let json = probity_core::json::parse(bytes).map_err(|error| wrong(error.to_string()))?;
    let members = json.as_object().filter(|members| members.len() == 1);
    match members.and_then(|members| members.iter().next()) {
        None => take_commit(writing, moved, bytes),
        Some((name, content)) => match name.as_str() {
            "schema" => check_schema(writing, content),
            "blob" => {
                let bytes = content.as_str().and_then(|digits| hex::decode(digits).ok());
                let bytes = bytes.ok_or_else(|| wrong("a blob is hex digits".into()))?;
                let is_new = !writing.view().has_blob(&Digest::of(&bytes))?;
                moved.n_blobs += usize::from(is_new);
                writing.put_blob(&bytes).map(drop)
            }
            "decision" => {
                let decision =
                    serde_json::from_value(content.clone()).map_err(|error| wrong(error.to_string()))?;
                moved.n_decisions += usize::from(add_decision(writing, &decision)?);
                Ok(())
            }
            "ref" => {
                let (name, id): (probity_documents::RefName, CommitId) =
                    serde_json::from_value(content.clone()).map_err(|error| wrong(error.to_string()))?;
                // An existing ref belongs to this store and stays.
                if writing.view().resolve(&name)?.is_none() {
                    writing.set_ref(&name, None, Some(id))
                } else {
                    Ok(())
                }
            }
            other => Err(wrong(format!("`{other}` is nothing that a bundle has"))),
        },
    }
}

fn take_commit(
    writing: &mut WriteTransaction<'_>,
    moved: &mut TransferSummary,
    bytes: &[u8],
) -> Result<(), CommitsError> {
    let commit = Commit::decode(writing.view().schema(), bytes)
        .map_err(|error| CommitsError::Bundle { line: 0, why: error.to_string() })?;
    if writing.view().find(&commit.id())?.is_some() {
        moved.n_known += 1;
    } else {
        writing.append(commit)?;
        moved.n_commits += 1;
    }
    Ok(())
}

/// Checks that the schema of a bundle is the store's own or an older one.
fn check_schema(writing: &WriteTransaction<'_>, json: &Json) -> Result<(), CommitsError> {
    let schema = DocumentSchema::from_json(json)?;
    let own = writing.view().schema();
    if schema.to_json() == own.to_json() { Ok(()) } else { Ok(schema.check_successor(own)?) }
}

fn add_decision(writing: &mut WriteTransaction<'_>, decision: &DecisionRecord) -> Result<bool, CommitsError> {
    let sql = "SELECT 1 FROM decision WHERE digest = ?1";
    let is_new = writing.view().query(sql, [decision.id().as_bytes()], |_| Ok(()))?.is_none();
    writing.record(decision)?;
    Ok(is_new)
}
