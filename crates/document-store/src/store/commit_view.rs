//! A consistent view of the commits, through which the document engine reads.

use super::batch_read::StoredCommit;
use super::commit_cache::CommitCache;
use super::{CommitStore, CommitsError, snapshots};
use probity_core::Digest;
use probity_documents::{
    Commit, CommitId, CommitKind, CommitNode, CommitReader, CommitSeq, CommitState, DocumentId,
    DocumentSchema, HistoryError,
};
use probity_storage::StoreError;
use rusqlite::{Connection, OptionalExtension, Params, Row};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The number of adjacent nodes that bulk reading fetches at once.
const NODES_PER_PAGE: u32 = 256;
/// The number of nodes read one by one before reading switches to pages.
const MAX_SINGLE_READS: usize = 16;
/// The limit for commits remembered by a view. Finding what a merge lost reads its streams several times.
const MAX_DECODED_BYTES: usize = 32 * 1024 * 1024;
/// The number of documents at which bulk reading starts.
const MIN_BULK_DOCUMENTS: usize = 1024;
const DOCUMENT_NUMBER_QUERY: &str = "SELECT document FROM document WHERE attachment = ?1 AND key = ?2";
/// Sized for merges, which are walked from new to old several times.
const MAX_CACHED_PAGES: usize = 1024;

pub struct CommitView<'c> {
    pub(super) db: &'c Connection,
    pub(super) path: &'c Path,
    pub(super) schema: &'c DocumentSchema,
    pub(super) recent: &'c CommitCache,
    /// The number of the next commit.
    pub(super) end: CommitSeq,
    /// The version of the schema in the file.
    pub(super) schema_version: i64,
    pages: RefCell<NodePages>,
    decoded: RefCell<DecodedCommits>,
    /// Set if this view belongs to a transaction that may still be rolled back.
    is_writing: bool,
}

#[derive(Default)]
struct DecodedCommits {
    by_seq: BTreeMap<CommitSeq, Arc<Commit>>,
    n_bytes: usize,
}

impl DecodedCommits {
    fn add(&mut self, seq: CommitSeq, commit: Arc<Commit>) {
        if self.n_bytes > MAX_DECODED_BYTES {
            *self = Self::default();
        }
        self.n_bytes += commit.bytes().len();
        self.by_seq.insert(seq, commit);
    }
}

#[derive(Default)]
struct NodePages {
    by_number: BTreeMap<u32, Vec<IndexedNode>>,
    n_single_reads: usize,
}

/// A node with its distance to the snapshot from which its replay starts.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexedNode {
    pub(super) node: CommitNode,
    pub(super) since: SnapshotDistance,
}

/// What was written since the nearest snapshot along the parents.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SnapshotDistance {
    /// Zero if this commit has a snapshot itself.
    pub(super) n_commits: i64,
    pub(super) n_bytes: i64,
    /// The size of that snapshot.
    pub(super) kept_bytes: i64,
}

impl<'c> CommitView<'c> {
    pub(super) fn new(
        store: &'c CommitStore,
        db: &'c Connection,
        is_writing: bool,
    ) -> Result<Self, CommitsError> {
        let mut view = Self {
            db,
            path: &store.path,
            schema: &store.schema,
            recent: &store.recent,
            end: CommitSeq(0),
            schema_version: 0,
            pages: RefCell::default(),
            decoded: RefCell::default(),
            is_writing,
        };
        let sql =
            "SELECT (SELECT coalesce(max(seq) + 1, 0) FROM node), (SELECT max(version) FROM schema_version)";
        let found = view.query(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (end, schema_version): (u32, i64) = found.ok_or_else(|| view.damaged("a row is missing"))?;
        (view.end, view.schema_version) = (CommitSeq(end), schema_version);
        Ok(view)
    }

    pub const fn schema(&self) -> &DocumentSchema {
        self.schema
    }

    pub fn n_commits(&self) -> u32 {
        self.end.0
    }

    /// Returns the commits that no other commit builds on, sorted by id.
    pub fn heads(&self) -> Result<Vec<CommitId>, HistoryError> {
        let mut ids = Vec::new();
        for seq in self.head_numbers()? {
            ids.push(self.id(seq)?);
        }
        ids.sort_unstable();
        Ok(ids)
    }

    pub(super) fn head_numbers(&self) -> Result<BTreeSet<CommitSeq>, HistoryError> {
        Ok(self.list::<u32>("SELECT seq FROM head", [])?.into_iter().map(CommitSeq).collect())
    }

    /// Returns up to two ids that start with these hex digits: enough to tell one from several.
    pub fn with_prefix(&self, digits: &str) -> Result<Vec<CommitId>, HistoryError> {
        // An odd number of digits is not a whole number of bytes, so both bounds are built from digits.
        let filled = |filler: &str| {
            let missing = 64_usize.saturating_sub(digits.len());
            hex::decode(format!("{digits}{}", filler.repeat(missing))).ok()
        };
        let bound = |filler: &str| filled(filler).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        let (Some(least), Some(most)) = (bound("0"), bound("f")) else { return Ok(Vec::new()) };
        let sql = "SELECT id FROM node_id JOIN node USING (seq) \
                   WHERE prefix BETWEEN substr(?1, 1, 8) AND substr(?2, 1, 8) AND id BETWEEN ?1 AND ?2 LIMIT 2";
        let found: Vec<[u8; 32]> = self.list(sql, (least, most))?;
        Ok(found.into_iter().map(|bytes| Digest::from_bytes(bytes).into()).collect())
    }

    pub(super) fn query<T, P: Params>(
        &self,
        sql: &str,
        params: P,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, HistoryError> {
        let mut statement = self.db.prepare_cached(sql).map_err(self.engine())?;
        statement.query_row(params, read).optional().map_err(self.engine())
    }

    pub(super) fn list<T: rusqlite::types::FromSql>(
        &self,
        sql: &str,
        params: impl Params,
    ) -> Result<Vec<T>, HistoryError> {
        let mut statement = self.db.prepare_cached(sql).map_err(self.engine())?;
        let rows = statement.query_map(params, |row| row.get(0)).map_err(self.engine())?;
        rows.collect::<rusqlite::Result<_>>().map_err(self.engine())
    }

    pub(super) fn engine(&self) -> impl Fn(rusqlite::Error) -> HistoryError + '_ {
        |error| HistoryError::Store(StoreError::engine_error(self.path)(error).into())
    }

    pub(super) fn damaged(&self, why: impl Into<String>) -> HistoryError {
        let path = self.path.to_owned();
        HistoryError::Store(StoreError::Damaged { path, why: why.into() }.into())
    }

    /// Returns the number of a document, if it was ever written.
    pub(super) fn document_number(&self, id: &DocumentId) -> Result<Option<i64>, HistoryError> {
        if let Some(number) = self.recent.document(id) {
            return Ok(Some(number));
        }
        let number = self.query(DOCUMENT_NUMBER_QUERY, (&*id.attachment, &*id.key), |row| row.get(0))?;
        // A rollback takes back the numbers that this transaction assigned.
        if let (Some(number), false) = (number, self.is_writing) {
            self.recent.add_document(id, number);
        }
        Ok(number)
    }

    /// Like `document_number`, for several documents. A large set is not cached, because it would evict what others
    /// use.
    pub(super) fn document_numbers(
        &self,
        ids: &BTreeSet<DocumentId>,
    ) -> Result<Vec<Option<i64>>, HistoryError> {
        if ids.len() < MIN_BULK_DOCUMENTS {
            return ids.iter().map(|id| self.document_number(id)).collect();
        }
        let mut statement = self.db.prepare_cached(DOCUMENT_NUMBER_QUERY).map_err(self.engine())?;
        let mut number =
            |id: &DocumentId| statement.query_row((&*id.attachment, &*id.key), |row| row.get(0)).optional();
        ids.iter().map(|id| number(id).map_err(self.engine())).collect()
    }

    pub(super) fn indexed_node(&self, seq: CommitSeq) -> Result<IndexedNode, HistoryError> {
        let (page, index) = (seq.0 / NODES_PER_PAGE, (seq.0 % NODES_PER_PAGE) as usize);
        let mut pages = self.pages.borrow_mut();
        if let Some(known) = pages.by_number.get(&page).and_then(|nodes| nodes.get(index)) {
            return Ok(*known);
        }
        if pages.n_single_reads < MAX_SINGLE_READS {
            pages.n_single_reads += 1;
            return self.read_node(seq);
        }
        let nodes = self.read_page(page)?;
        let found = nodes.get(index).copied();
        if pages.by_number.len() >= MAX_CACHED_PAGES {
            pages.by_number.pop_last();
        }
        pages.by_number.insert(page, nodes);
        found.ok_or_else(|| self.damaged(format!("node {} is missing", seq.0)))
    }

    /// Returns a commit that was recently read or added.
    pub(super) fn in_memory(&self, seq: CommitSeq) -> Option<Arc<Commit>> {
        let read = self.decoded.borrow().by_seq.get(&seq).cloned();
        read.or_else(|| self.recent.commit(seq))
    }

    /// Keeps a commit for the next read.
    pub(super) fn remember(&self, seq: CommitSeq, commit: Arc<Commit>) {
        self.decoded.borrow_mut().add(seq, commit);
    }

    pub(super) fn stored_commit(&self, seq: CommitSeq) -> Result<StoredCommit, HistoryError> {
        let sql = "SELECT id, bytes FROM node WHERE seq = ?1";
        let row =
            self.query(sql, [seq.0], |row| Ok((row.get::<_, [u8; 32]>(0)?, row.get::<_, Vec<u8>>(1)?)))?;
        let (id, bytes) = row.ok_or_else(|| self.damaged(format!("node {} is missing", seq.0)))?;
        Ok(StoredCommit { seq, id: Digest::from_bytes(id).into(), bytes })
    }

    fn read_node(&self, seq: CommitSeq) -> Result<IndexedNode, HistoryError> {
        let sql = "SELECT seq, kind, parent, target, since, since_bytes, kept_bytes FROM node WHERE seq = ?1";
        let row = self.query(sql, [seq.0], NodeRow::read)?;
        row.and_then(|row| row.known()).ok_or_else(|| self.damaged(format!("node {} is missing", seq.0)))
    }

    /// Reads the nodes of a page, which are numbered without gaps.
    fn read_page(&self, page: u32) -> Result<Vec<IndexedNode>, HistoryError> {
        let sql = "SELECT seq, kind, parent, target, since, since_bytes, kept_bytes FROM node \
                   WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq";
        let first = page * NODES_PER_PAGE;
        let mut statement = self.db.prepare_cached(sql).map_err(self.engine())?;
        let rows = statement
            .query_map([first, first + (NODES_PER_PAGE - 1)], NodeRow::read)
            .map_err(self.engine())?;
        let mut nodes = Vec::with_capacity(NODES_PER_PAGE as usize);
        for (seq, row) in (first..).zip(rows) {
            let known =
                Some(row.map_err(self.engine())?).filter(|row| row.seq == seq).and_then(|row| row.known());
            nodes.push(known.ok_or_else(|| self.damaged(format!("node {seq} is missing")))?);
        }
        Ok(nodes)
    }

    pub(super) fn into_decoded(self) -> BTreeMap<CommitSeq, Arc<Commit>> {
        self.decoded.into_inner().by_seq
    }

    /// Drops the cached page of a node that has just changed.
    pub(super) fn forget(&self, seq: CommitSeq) {
        self.pages.borrow_mut().by_number.remove(&(seq.0 / NODES_PER_PAGE));
    }

    /// Returns the commits that write a document, in ascending order.
    fn writers_of(&self, number: i64, from: CommitSeq) -> Result<Vec<CommitSeq>, HistoryError> {
        let sql = "SELECT seq FROM writer WHERE document = ?1 AND seq >= ?2 ORDER BY seq";
        Ok(self.list::<u32>(sql, (number, from.0))?.into_iter().map(CommitSeq).collect())
    }
}

/// Returns the indexed part of an id; the rest is compared after the lookup.
pub(super) fn id_prefix(id: &CommitId) -> [u8; 8] {
    let [bytes, ..] = id.digest().as_bytes().as_chunks().0 else { return [0; 8] };
    *bytes
}

struct NodeRow {
    seq: u32,
    kind: i64,
    parent: Option<u32>,
    target: Option<u32>,
    since: SnapshotDistance,
}

impl NodeRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let since =
            SnapshotDistance { n_commits: row.get(4)?, n_bytes: row.get(5)?, kept_bytes: row.get(6)? };
        Ok(Self { seq: row.get(0)?, kind: row.get(1)?, parent: row.get(2)?, target: row.get(3)?, since })
    }

    /// Returns the node if it is valid. Ancestors must have smaller numbers, or a walk would not end.
    fn known(&self) -> Option<IndexedNode> {
        let is_older = |named: Option<u32>| named.is_none_or(|named| named < self.seq);
        let (parent, target) = (self.parent.map(CommitSeq), self.target.map(CommitSeq));
        (is_older(self.parent) && is_older(self.target)).then_some(())?;
        Some(IndexedNode {
            node: CommitNode { kind: kind_of(self.kind)?, parent, target },
            since: self.since,
        })
    }
}

const KINDS: [CommitKind; 4] =
    [CommitKind::Mutations, CommitKind::Disable, CommitKind::Enable, CommitKind::Merge];

fn kind_of(code: i64) -> Option<CommitKind> {
    KINDS.get(usize::try_from(code).ok()?).copied()
}

/// Returns the number that encodes a kind in the file.
pub(super) fn kind_code(kind: CommitKind) -> usize {
    KINDS.iter().position(|known| *known == kind).unwrap_or(KINDS.len())
}

impl CommitReader for CommitView<'_> {
    fn find(&self, id: &CommitId) -> Result<Option<CommitSeq>, HistoryError> {
        let sql = "SELECT seq FROM node_id JOIN node USING (seq) WHERE prefix = ?1 AND id = ?2";
        self.query(sql, (id_prefix(id), id.digest().as_bytes()), |row| row.get(0).map(CommitSeq))
    }

    fn end(&self) -> CommitSeq {
        self.end
    }

    fn node(&self, seq: CommitSeq) -> Result<CommitNode, HistoryError> {
        Ok(self.indexed_node(seq)?.node)
    }

    fn commit(&self, seq: CommitSeq) -> Result<Arc<Commit>, HistoryError> {
        if let Some(commit) = self.in_memory(seq) {
            return Ok(commit);
        }
        let commit = self.stored_commit(seq)?.decode(self.schema)?;
        self.remember(seq, commit.clone());
        Ok(commit)
    }

    fn read_ahead(&self, seqs: &[CommitSeq]) -> Result<(), HistoryError> {
        self.read_many(seqs)
    }

    fn writers(&self, document: &DocumentId, from: CommitSeq) -> Result<Vec<CommitSeq>, HistoryError> {
        match self.document_number(document)? {
            Some(number) => self.writers_of(number, from),
            None => Ok(Vec::new()),
        }
    }

    fn snapshot(&self, seq: CommitSeq) -> Result<Option<CommitState>, HistoryError> {
        if self.has_snapshot(seq)? { snapshots::load_state(self, seq).map(Some) } else { Ok(None) }
    }

    fn id(&self, seq: CommitSeq) -> Result<CommitId, HistoryError> {
        let id =
            self.query("SELECT id FROM node WHERE seq = ?1", [seq.0], |row| row.get::<_, [u8; 32]>(0))?;
        let id = id.ok_or_else(|| self.damaged(format!("node {} is missing", seq.0)))?;
        Ok(Digest::from_bytes(id).into())
    }

    fn has_snapshot(&self, seq: CommitSeq) -> Result<bool, HistoryError> {
        Ok(self.indexed_node(seq)?.since.n_commits == 0)
    }

    fn snapshot_of(
        &self,
        seq: CommitSeq,
        documents: &BTreeSet<DocumentId>,
    ) -> Result<CommitState, HistoryError> {
        snapshots::load_documents(self, seq, documents)
    }
}
