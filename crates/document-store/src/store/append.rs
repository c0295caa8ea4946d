//! Writes within one transaction: commits with their indexes, blobs, refs and records.

use super::commit_view::{CommitView, SnapshotDistance, id_prefix, kind_code};
use super::{CommitStore, CommitsError, snapshots};
use probity_documents::{
    Commit, CommitId, CommitKind, CommitNode, CommitReader, CommitSeq, DocumentEngine, DocumentId,
    HistoryError, TimestampedHead, check_append, reduce_heads,
};
use rusqlite::{Connection, Params};
use std::sync::Arc;

/// The assumed size of each commit that a merge adds to the replay; they are not read to find out.
const ASSUMED_MERGE_BYTES: i64 = 256;

/// A write transaction, committed when the closure that received it succeeds.
pub struct WriteTransaction<'c> {
    view: CommitView<'c>,
}

impl<'c> WriteTransaction<'c> {
    /// Starts writing. Fails if the schema changed since the store was opened.
    pub(super) fn new(view: CommitView<'c>) -> Result<Self, CommitsError> {
        let now = view.schema_version;
        if now != i64::from(view.schema.version()) {
            return Err(CommitsError::SchemaMoved { now });
        }
        Ok(Self { view })
    }

    /// The commits including those that this transaction added.
    pub const fn view(&self) -> &CommitView<'c> {
        &self.view
    }

    /// Adds a commit unless it exists already. A refused commit leaves nothing behind.
    pub fn append(&mut self, commit: Commit) -> Result<CommitId, CommitsError> {
        let id = commit.id();
        if self.view.find(&id)?.is_some() {
            return Ok(id);
        }
        let node = check_append(&self.view, &commit)?;
        self.check_blobs(&commit)?;
        let seq = self.view.end;
        let parent = node.parent.map(|parent| self.view.indexed_node(parent)).transpose()?;
        let before = parent.map_or_else(SnapshotDistance::default, |parent| parent.since);
        // A caller that merges waits for the report of its losses, so the snapshot is left to the next commit.
        let is_first_merge = node.kind == CommitKind::Merge
            && parent.is_some_and(|parent| parent.node.kind != CommitKind::Merge);
        let since = SnapshotDistance {
            n_commits: before.n_commits + 1,
            n_bytes: before.n_bytes + size(&commit),
            ..before
        };
        self.insert_node(node, since, commit)?;
        let since = self.since_of(seq, node, &id, since)?;
        if snapshots::is_due(since) && !is_first_merge {
            let kept_bytes = snapshots::keep(self, seq, &id)?;
            self.set_since(seq, SnapshotDistance { n_commits: 0, n_bytes: 0, kept_bytes })?;
        }
        Ok(id)
    }

    /// Merges all heads into one, and returns the new merges.
    pub fn reduce(&mut self) -> Result<Vec<CommitId>, CommitsError> {
        let mut heads = Vec::new();
        for head in self.view.heads()? {
            heads.push(TimestampedHead::from(&*self.commit(&head)?));
        }
        reduce_heads(&heads).into_iter().map(|merge| self.append(merge)).collect()
    }

    /// Returns a commit that must exist.
    pub fn commit(&self, id: &CommitId) -> Result<Arc<Commit>, HistoryError> {
        self.view.commit(self.view.find(id)?.ok_or(HistoryError::Unknown(*id))?)
    }

    fn check_blobs(&self, commit: &Commit) -> Result<(), CommitsError> {
        for blob in commit.blobs() {
            if !self.view.has_blob(&blob)? {
                return Err(CommitsError::MissingBlob { commit: commit.id(), blob });
            }
        }
        Ok(())
    }

    /// Adds the commit with its indexes: id, written documents, heads.
    fn insert_node(
        &mut self,
        node: CommitNode,
        since: SnapshotDistance,
        commit: Commit,
    ) -> Result<(), CommitsError> {
        let edge = |seq: Option<CommitSeq>| seq.map(|seq| seq.0);
        let (seq, id) = (self.view.end, commit.id());
        let row = (
            seq.0,
            id.digest().as_bytes(),
            kind_code(node.kind),
            edge(node.parent),
            edge(node.target),
            since.n_commits,
            since.n_bytes,
            since.kept_bytes,
            commit.bytes(),
        );
        self.execute("INSERT INTO node VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", row)?;
        self.execute("INSERT INTO node_id VALUES (?1, ?2)", (id_prefix(&id), seq.0))?;
        for document in commit.documents() {
            let number = self.document(document)?;
            self.execute("INSERT INTO writer VALUES (?1, ?2)", (number, seq.0))?;
        }
        for built_on in node.edges() {
            self.execute("DELETE FROM head WHERE seq = ?1", [built_on.0])?;
        }
        self.execute("INSERT INTO head VALUES (?1)", [seq.0])?;
        self.view.forget(seq);
        self.view.end = CommitSeq(seq.0.checked_add(1).ok_or_else(|| self.view.damaged("it is full"))?);
        self.view.remember(seq, Arc::new(commit));
        Ok(())
    }

    /// Computes the distance to the nearest snapshot: for mutations from the parent, for others from their replay.
    fn since_of(
        &mut self,
        seq: CommitSeq,
        node: CommitNode,
        id: &CommitId,
        since: SnapshotDistance,
    ) -> Result<SnapshotDistance, CommitsError> {
        if node.kind == CommitKind::Mutations {
            return Ok(since);
        }
        let length = DocumentEngine::new(&self.view).replay_length(id)?;
        let n_commits = i64::try_from(length).unwrap_or(i64::MAX).max(1);
        let more = n_commits.saturating_sub(since.n_commits).max(0);
        let since = SnapshotDistance {
            n_commits,
            n_bytes: since.n_bytes + more.saturating_mul(ASSUMED_MERGE_BYTES),
            ..since
        };
        self.set_since(seq, since)?;
        Ok(since)
    }

    fn set_since(&mut self, seq: CommitSeq, since: SnapshotDistance) -> Result<(), CommitsError> {
        let sql = "UPDATE node SET since = ?2, since_bytes = ?3, kept_bytes = ?4 WHERE seq = ?1";
        self.execute(sql, (seq.0, since.n_commits, since.n_bytes, since.kept_bytes))?;
        self.view.forget(seq);
        Ok(())
    }

    /// Returns the number of a document, assigning one on its first write.
    pub(super) fn document(&mut self, id: &DocumentId) -> Result<i64, CommitsError> {
        if let Some(number) = self.view.document_number(id)? {
            return Ok(number);
        }
        self.insert("INSERT INTO document (attachment, key) VALUES (?1, ?2)", (&*id.attachment, &*id.key))
    }

    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<(), CommitsError> {
        let mut statement = self.view.db.prepare_cached(sql).map_err(self.view.engine())?;
        statement.execute(params).map_err(self.view.engine())?;
        Ok(())
    }

    pub(super) fn insert(&self, sql: &str, params: impl Params) -> Result<i64, CommitsError> {
        self.execute(sql, params)?;
        Ok(self.view.db.last_insert_rowid())
    }

    pub(super) const fn connection(&self) -> &Connection {
        self.view.db
    }

    pub(super) fn into_view(self) -> CommitView<'c> {
        self.view
    }
}

fn size(commit: &Commit) -> i64 {
    i64::try_from(commit.bytes().len()).unwrap_or(i64::MAX)
}

impl CommitStore {
    /// Adds a commit unless it exists already, and returns when it is on disk.
    pub fn append(&self, commit: Commit) -> Result<CommitId, CommitsError> {
        self.write(|writing| writing.append(commit))
    }

    /// Adds commits in one transaction with one flush, all or none.
    pub fn append_all(&self, commits: Vec<Commit>) -> Result<Vec<CommitId>, CommitsError> {
        self.write(|writing| commits.into_iter().map(|commit| writing.append(commit)).collect())
    }

    /// Merges all heads into one, and returns the new merges. Concurrent calls make the same merges.
    pub fn reduce(&self) -> Result<Vec<CommitId>, CommitsError> {
        self.write(|writing| writing.reduce())
    }

    /// Returns the commits that no other commit builds on, sorted by id.
    pub fn heads(&self) -> Result<Vec<CommitId>, CommitsError> {
        Ok(self.read(|view| view.heads())??)
    }

    pub fn get(&self, id: &CommitId) -> Result<Option<Arc<Commit>>, CommitsError> {
        let found = self.read(|view| view.find(id)?.map(|seq| view.commit(seq)).transpose());
        Ok(found??)
    }
}
