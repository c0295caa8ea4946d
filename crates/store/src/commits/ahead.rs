//! Reading much at once: rows in few queries, decoded by all processors.

use super::view::View;
use canon::Digest;
use commit::{Commit, CommitId, HistoryError, Schema, Seq};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

/// How many commits are read together.
const PORTION: usize = 1024;
/// How many bytes are worth a second thread.
const LEAST_BYTES: usize = 64 * 1024;
/// How many rows may be passed over for each one that is wanted, before each is asked for by its number.
const MAX_SPREAD: usize = 4;
/// How many bytes of commits are read ahead: no more than a view remembers.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// How many processors work at most.
const MAX_WORKERS: usize = 8;

/// A commit as it is stored.
pub(super) struct Stored {
    pub(super) seq: Seq,
    pub(super) id: CommitId,
    pub(super) bytes: Vec<u8>,
}

impl Stored {
    /// The commit, if its bytes have its hash.
    pub(super) fn decode(&self, schema: &Schema) -> Result<Arc<Commit>, HistoryError> {
        let damaged = |why: String| HistoryError::Damaged { id: self.id, why };
        if Digest::of(&self.bytes) != *self.id.digest() {
            return Err(damaged("its bytes have another hash".into()));
        }
        let commit = Commit::decode_hashed(schema, self.id, &self.bytes);
        commit.map(Arc::new).map_err(|error| damaged(error.to_string()))
    }
}

impl View<'_> {
    /// Reads those of the commits that are not in memory, as far as they fit there.
    pub(super) fn read_many(&self, seqs: &[Seq]) -> Result<(), HistoryError> {
        let mut missing: Vec<Seq> =
            seqs.iter().copied().filter(|seq| self.in_memory(*seq).is_none()).collect();
        missing.sort_unstable();
        missing.dedup();
        let mut n_bytes = 0;
        for portion in missing.chunks(PORTION) {
            let stored = self.stored_many(portion)?;
            n_bytes += stored.iter().map(|stored| stored.bytes.len()).sum::<usize>();
            if n_bytes > MAX_BYTES {
                break;
            }
            let schema = self.schema();
            let decoded = on_all(&stored, |stored| stored.bytes.len(), |stored| stored.decode(schema))?;
            for (stored, commit) in stored.iter().zip(decoded) {
                self.remember(stored.seq, commit);
            }
        }
        Ok(())
    }

    /// The rows of commits whose numbers ascend.
    fn stored_many(&self, seqs: &[Seq]) -> Result<Vec<Stored>, HistoryError> {
        let (Some(first), Some(last)) = (seqs.first(), seqs.last()) else { return Ok(Vec::new()) };
        if (last.0 - first.0) as usize > seqs.len() * MAX_SPREAD {
            return seqs.iter().map(|seq| self.stored(*seq)).collect();
        }
        let sql = "SELECT seq, id, bytes FROM node WHERE seq BETWEEN ?1 AND ?2";
        let mut statement = self.db.prepare_cached(sql).map_err(self.engine())?;
        let mut rows = statement.query([first.0, last.0]).map_err(self.engine())?;
        let mut stored = Vec::with_capacity(seqs.len());
        while let Some(row) = rows.next().map_err(self.engine())? {
            let seq = Seq(row.get(0).map_err(self.engine())?);
            if seqs.binary_search(&seq).is_ok() {
                let id = Digest::from_bytes(row.get(1).map_err(self.engine())?).into();
                stored.push(Stored { seq, id, bytes: row.get(2).map_err(self.engine())? });
            }
        }
        Ok(stored)
    }
}

/// Does something to each of many things, on all processors if they are large; in their order, and the first fault counts.
pub(super) fn on_all<T: Sync, R: Send, E: Send>(
    things: &[T],
    size: impl Fn(&T) -> usize,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let work = &work;
    let alone = move |part: &[T]| part.iter().map(work).collect::<Result<Vec<R>, E>>();
    let n_bytes: usize = things.iter().map(size).sum();
    let n_workers = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_WORKERS);
    if n_bytes < LEAST_BYTES {
        return alone(things);
    }
    let (own, others) = things.split_at(things.len().div_ceil(n_workers));
    thread::scope(|scope| {
        let size = own.len().max(1);
        let workers: Vec<_> = others.chunks(size).map(|part| scope.spawn(move || alone(part))).collect();
        let mut all = alone(own)?;
        for worker in workers {
            all.extend(worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(all)
    })
}
