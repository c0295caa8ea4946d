//! Writing within one transaction: commits with their indexes, and whatever belongs to them.

use super::commit_view::{CommitView, SnapshotDistance, id_prefix, kind_code};
use super::{CommitStore, CommitsError, snapshots};
use probity_documents::{
    Commit, CommitId, CommitKind, CommitNode, CommitReader, CommitSeq, DocumentEngine, DocumentId,
    HistoryError, TimestampedHead, check_append, reduce_heads,
};
use rusqlite::{Connection, Params};
use std::sync::Arc;

/// What the bytes of a commit that was merged are taken to be, where they are not read.
const ASSUMED_MERGE_BYTES: i64 = 256;

/// A transaction that writes. It is kept when the closure that got it succeeds.
pub struct WriteTransaction<'c> {
    view: CommitView<'c>,
}

impl<'c> WriteTransaction<'c> {
    /// Starts; a store whose schema has moved on must be opened again first.
    pub(super) fn new(view: CommitView<'c>) -> Result<Self, CommitsError> {
        let now = view.schema_version;
        if now != i64::from(view.schema.version()) {
            return Err(CommitsError::SchemaMoved { now });
        }
        Ok(Self { view })
    }

    /// The commits as they are now, those that were just added included.
    pub const fn view(&self) -> &CommitView<'c> {
        &self.view
    }

    /// Adds a commit. A commit that is there already is left alone; a refused one leaves nothing behind.
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
        // Whoever merges waits to see what that lost: the state is kept with the next commit.
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

    /// Reduces the heads to one, and returns the merges that were made.
    pub fn reduce(&mut self) -> Result<Vec<CommitId>, CommitsError> {
        let mut heads = Vec::new();
        for head in self.view.heads()? {
            heads.push(TimestampedHead::from(&*self.commit(&head)?));
        }
        reduce_heads(&heads).into_iter().map(|merge| self.append(merge)).collect()
    }

    /// A commit that must be there.
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

    /// Adds the commit with everything it is looked up by: its id, the documents it writes, the heads.
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

    /// How much is replayed for a commit: for mutations one more than for the parent, for others what they say.
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

    /// The number of a document, which gets one when it is first written.
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

    /// Adds a row and returns its number.
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
    /// Adds a commit, and answers when it is on disk. A commit that is there already is left alone.
    pub fn append(&self, commit: Commit) -> Result<CommitId, CommitsError> {
        self.write(|writing| writing.append(commit))
    }

    /// Adds commits in one transaction and one flush, all or none.
    pub fn append_all(&self, commits: Vec<Commit>) -> Result<Vec<CommitId>, CommitsError> {
        self.write(|writing| commits.into_iter().map(|commit| writing.append(commit)).collect())
    }

    /// Reduces the heads to one, and returns the merges that were made. Two processes that do so at once make the same.
    pub fn reduce(&self) -> Result<Vec<CommitId>, CommitsError> {
        self.write(|writing| writing.reduce())
    }

    /// The commits that no other commit builds on, in ascending order of their ids.
    pub fn heads(&self) -> Result<Vec<CommitId>, CommitsError> {
        Ok(self.read(|view| view.heads())??)
    }

    /// A commit, if it is there.
    pub fn get(&self, id: &CommitId) -> Result<Option<Arc<Commit>>, CommitsError> {
        let found = self.read(|view| view.find(id)?.map(|seq| view.commit(seq)).transpose());
        Ok(found??)
    }
}
