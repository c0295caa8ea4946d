//! Reads many commits at once: few queries, decoded in parallel.

use super::commit_view::CommitView;
use probity_core::Digest;
use probity_documents::{Commit, CommitId, CommitSeq, DocumentSchema, HistoryError};
use rayon::prelude::*;
use std::sync::Arc;

const COMMITS_PER_QUERY: usize = 1024;
/// The most unwanted rows per wanted row at which a range scan is still cheaper than single lookups.
const MAX_UNWANTED_ROWS_PER_WANTED: usize = 4;
/// The most bytes of commits to read ahead: no more than a view remembers.
const MAX_READ_AHEAD_BYTES: usize = 16 * 1024 * 1024;

pub(super) struct StoredCommit {
    pub(super) seq: CommitSeq,
    pub(super) id: CommitId,
    pub(super) bytes: Vec<u8>,
}

impl StoredCommit {
    /// Decodes the commit, after checking its bytes against its hash.
    pub(super) fn decode(&self, schema: &DocumentSchema) -> Result<Arc<Commit>, HistoryError> {
        let damaged = |why: String| HistoryError::Damaged { id: self.id, why };
        if Digest::of(&self.bytes) != *self.id.digest() {
            return Err(damaged("its bytes have another hash".into()));
        }
        let commit = Commit::decode_hashed(schema, self.id, &self.bytes);
        commit.map(Arc::new).map_err(|error| damaged(error.to_string()))
    }
}

impl CommitView<'_> {
    /// Loads the commits that are not in memory, as far as they fit.
    pub(super) fn read_many(&self, seqs: &[CommitSeq]) -> Result<(), HistoryError> {
        let mut missing: Vec<CommitSeq> =
            seqs.iter().copied().filter(|seq| self.in_memory(*seq).is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        let mut n_bytes = 0;
        for portion in missing.chunks(COMMITS_PER_QUERY) {
            let stored = self.stored_many(portion)?;
            n_bytes += stored.iter().map(|stored| stored.bytes.len()).sum::<usize>();
            if n_bytes > MAX_READ_AHEAD_BYTES {
                break;
            }
            let schema = self.schema();
            // Collects everything before looking for an error, so that the same error is reported every time.
            let decoded: Vec<_> = stored.par_iter().map(|stored| stored.decode(schema)).collect();
            for (stored, commit) in stored.iter().zip(decoded) {
                self.remember(stored.seq, commit?);
            }
        }
        Ok(())
    }

    /// Returns the rows of commits given in ascending order.
    fn stored_many(&self, seqs: &[CommitSeq]) -> Result<Vec<StoredCommit>, HistoryError> {
        let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { return Ok(Vec::new()) };
        if (last.0 - first.0) as usize > seqs.len() * MAX_UNWANTED_ROWS_PER_WANTED {
            return seqs.iter().map(|seq| self.stored_commit(*seq)).collect();
        }
        let sql = "SELECT seq, id, bytes FROM node WHERE seq BETWEEN ?1 AND ?2";
        let mut statement = self.db.prepare_cached(sql).map_err(self.engine())?;
        let mut rows = statement.query([first.0, last.0]).map_err(self.engine())?;
        let mut stored = Vec::with_capacity(seqs.len());
        while let Some(row) = rows.next().map_err(self.engine())? {
            let seq = CommitSeq(row.get(0).map_err(self.engine())?);
            if seqs.binary_search(&seq).is_ok() {
                let id = Digest::from_bytes(row.get(1).map_err(self.engine())?).into();
                stored.push(StoredCommit { seq, id, bytes: row.get(2).map_err(self.engine())? });
            }
        }
        Ok(stored)
    }
}
