//! Stored states (snapshots), so that reading does not cost the length of the history.
//!
//! A snapshot lists its documents, each with the number of a stored version. Snapshots share the versions of
//! documents that did not change between them. Lists and versions are verified against their hash when read.
//!
//! A snapshot is taken after [`MIN_SNAPSHOT_COMMITS`] commits or [`MIN_SNAPSHOT_BYTES`] of them, and only if they are
//! large relative to the previous snapshot. So snapshots cost a constant share of writing, however many documents
//! exist.

use super::CommitsError;
use super::append::WriteTransaction;
use super::commit_view::{CommitView, SnapshotDistance};
use probity_core::Digest;
use probity_documents::{
    CommitId, CommitReader, CommitSeq, CommitState, DocumentEngine, DocumentId, DocumentSchema,
    DocumentValue, HistoryError,
};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

const MIN_SNAPSHOT_COMMITS: i64 = 1024;
/// The size at which fewer commits are enough.
const MIN_SNAPSHOT_BYTES: i64 = 1024 * 1024;
/// The most bytes of snapshot that one byte of commits may cost.
const MAX_STATE_BYTES_PER_COMMIT_BYTE: i64 = 4;
/// A document number and a version number: four and eight bytes.
const ENTRY_BYTES: usize = 12;

/// The versions of a snapshot in their stored form, sorted by document number.
struct StateVersions(Vec<u8>);

impl StateVersions {
    fn iter(&self) -> impl Iterator<Item = (u32, i64)> {
        self.0.chunks_exact(ENTRY_BYTES).filter_map(entry)
    }

    fn get(&self, document: u32) -> Option<i64> {
        let (mut from, mut until) = (0, self.0.len() / ENTRY_BYTES);
        while from < until {
            let middle = usize::midpoint(from, until);
            let (found, version) = entry(self.0.get(middle * ENTRY_BYTES..)?.get(..ENTRY_BYTES)?)?;
            match found.cmp(&document) {
                Ordering::Equal => return Some(version),
                Ordering::Less => from = middle + 1,
                Ordering::Greater => until = middle,
            }
        }
        None
    }
}

fn entry(bytes: &[u8]) -> Option<(u32, i64)> {
    let (document, version) = bytes.split_first_chunk::<4>()?;
    Some((u32::from_le_bytes(*document), i64::from_le_bytes(version.try_into().ok()?)))
}

/// Tells whether a snapshot is due after a commit.
pub(super) fn is_due(since: SnapshotDistance) -> bool {
    (since.n_commits >= MIN_SNAPSHOT_COMMITS || since.n_bytes >= MIN_SNAPSHOT_BYTES)
        && since.n_bytes.saturating_mul(MAX_STATE_BYTES_PER_COMMIT_BYTE) >= since.kept_bytes
}

/// Stores the state of a commit that was just added, and returns the number of bytes it took.
pub(super) fn keep(
    writing: &mut WriteTransaction<'_>,
    seq: CommitSeq,
    id: &CommitId,
) -> Result<i64, CommitsError> {
    let since = DocumentEngine::new(writing.view()).since_snapshot(id)?;
    let mut versions: BTreeMap<u32, i64> = match since.below {
        Some(below) => versions_of(writing.view(), below)?.iter().collect(),
        None => BTreeMap::new(),
    };
    let mut n_bytes = 0;
    for (document, value) in since.changed.documents() {
        let json = writing.view().schema().write_document(&document.attachment, value)?;
        let bytes = probity_core::json::canonical(&json);
        n_bytes += bytes.len();
        let number = writing.document(document)?;
        let digest = *Digest::of(&bytes).as_bytes();
        let row = (number, digest, bytes);
        let version =
            writing.insert("INSERT INTO version (document, digest, value) VALUES (?1, ?2, ?3)", row)?;
        let number =
            u32::try_from(number).map_err(|_| writing.view().damaged("it has too many documents"))?;
        versions.insert(number, version);
    }
    let list: Vec<u8> = versions
        .iter()
        .flat_map(|(document, version)| [&document.to_le_bytes()[..], &version.to_le_bytes()[..]].concat())
        .collect();
    n_bytes += list.len();
    let row = (seq.0, *Digest::of(&list).as_bytes(), list);
    writing.execute("INSERT INTO snapshot VALUES (?1, ?2, ?3)", row)?;
    Ok(i64::try_from(n_bytes).unwrap_or(i64::MAX))
}

pub(super) fn load_state(view: &CommitView<'_>, seq: CommitSeq) -> Result<CommitState, HistoryError> {
    let mut kept = Vec::new();
    for (number, version) in versions_of(view, seq)?.iter() {
        let sql = "SELECT attachment, key FROM document WHERE document = ?1";
        let name =
            view.query(sql, [number], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        let (attachment, key) =
            name.ok_or_else(|| damaged(view, seq, &format!("document {number} has no name")))?;
        kept.push(StoredDocument::read(view, seq, DocumentId::new(&attachment, &key), number, version)?);
    }
    decode_state(view, seq, kept)
}

pub(super) fn load_documents(
    view: &CommitView<'_>,
    seq: CommitSeq,
    documents: &BTreeSet<DocumentId>,
) -> Result<CommitState, HistoryError> {
    let versions = versions_of(view, seq)?;
    let mut kept = Vec::with_capacity(documents.len());
    for (id, number) in documents.iter().zip(view.document_numbers(documents)?) {
        let number = number.and_then(|number| u32::try_from(number).ok());
        if let Some((number, version)) = number.and_then(|number| Some((number, versions.get(number)?))) {
            kept.push(StoredDocument::read(view, seq, id.clone(), number, version)?);
        }
    }
    decode_state(view, seq, kept)
}

fn decode_state(
    view: &CommitView<'_>,
    seq: CommitSeq,
    kept: Vec<StoredDocument>,
) -> Result<CommitState, HistoryError> {
    let schema = view.schema();
    let values: Vec<_> = kept.par_iter().map(|kept| kept.value(schema)).collect();
    let mut state = CommitState::default();
    for (kept, value) in kept.into_iter().zip(values) {
        state.insert(kept.id, value.map_err(|why| damaged(view, seq, &why))?);
    }
    Ok(state)
}

fn versions_of(view: &CommitView<'_>, seq: CommitSeq) -> Result<StateVersions, HistoryError> {
    let sql = "SELECT digest, versions FROM snapshot WHERE seq = ?1";
    let row = view.query(sql, [seq.0], |row| Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
    let (digest, list) = row.ok_or_else(|| damaged(view, seq, "it is not there"))?;
    if *Digest::of(&list).as_bytes() != digest || list.len() % ENTRY_BYTES != 0 {
        return Err(damaged(view, seq, "its list of documents has another hash"));
    }
    Ok(StateVersions(list))
}

struct StoredDocument {
    id: DocumentId,
    digest: Digest,
    bytes: Vec<u8>,
}

impl StoredDocument {
    fn read(
        view: &CommitView<'_>,
        seq: CommitSeq,
        id: DocumentId,
        number: u32,
        version: i64,
    ) -> Result<Self, HistoryError> {
        let sql = "SELECT digest, value FROM version WHERE version = ?1 AND document = ?2";
        let row = view.query(sql, (version, number), |row| Ok((row.get(0)?, row.get(1)?)))?;
        match row {
            Some((digest, bytes)) => Ok(Self { id, digest: Digest::from_bytes(digest), bytes }),
            None => Err(damaged(view, seq, &document_error(&id, "is not there"))),
        }
    }

    /// Decodes the value, or says what is wrong with it.
    fn value(&self, schema: &DocumentSchema) -> Result<DocumentValue, String> {
        if Digest::of(&self.bytes) != self.digest {
            return Err(document_error(&self.id, "has another hash"));
        }
        let json = probity_core::json::parse(&self.bytes)
            .map_err(|error| document_error(&self.id, &error.to_string()))?;
        let value = schema.read_document(&self.id.attachment, &json);
        value.map_err(|misfit| document_error(&self.id, &misfit.to_string()))
    }
}

fn document_error(id: &DocumentId, why: &str) -> String {
    format!("document {}/{} {why}", id.attachment, id.key)
}

fn damaged(view: &CommitView<'_>, seq: CommitSeq, why: &str) -> HistoryError {
    match view.id(seq) {
        Ok(id) => HistoryError::Damaged { id, why: format!("its kept state: {why}") },
        Err(error) => error,
    }
}
