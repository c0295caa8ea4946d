//! Reading many commits at once: their rows in few queries, decoded by all processors.

use super::view::View;
use canon::Digest;
use commit::{Commit, CommitId, HistoryError, Schema, Seq};
use std::num::NonZero;
use std::sync::Arc;
use std::thread;

/// How many commits are read together.
const PORTION: usize = 1024;
/// Fewer are read one by one.
const LEAST: usize = 64;
/// How many rows may be passed over for each one that is wanted, before each is asked for by its number.
const MAX_SPREAD: usize = 4;
/// How many bytes of commits are read ahead: no more than a view remembers.
const MAX_BYTES: usize = 16 * 1024 * 1024;
/// How many processors decode at most.
const MAX_DECODERS: usize = 8;

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
        if missing.len() < LEAST {
            return Ok(());
        }
        missing.sort_unstable();
        missing.dedup();
        let n_decoders = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_DECODERS);
        let mut n_bytes = 0;
        for portion in missing.chunks(PORTION) {
            let stored = self.stored_many(portion)?;
            n_bytes += stored.iter().map(|stored| stored.bytes.len()).sum::<usize>();
            if n_bytes > MAX_BYTES {
                break;
            }
            for (seq, commit) in decode_all(self.schema(), &stored, n_decoders)? {
                self.remember(seq, commit);
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

type Decoded = Vec<(Seq, Arc<Commit>)>;

fn decode_all(schema: &Schema, stored: &[Stored], n_decoders: usize) -> Result<Decoded, HistoryError> {
    let decode = |part: &[Stored]| -> Result<Decoded, HistoryError> {
        part.iter().map(|stored| Ok((stored.seq, stored.decode(schema)?))).collect()
    };
    let (own, others) = stored.split_at(stored.len().div_ceil(n_decoders));
    thread::scope(|scope| {
        let size = own.len().max(1);
        let decoders: Vec<_> = others.chunks(size).map(|part| scope.spawn(move || decode(part))).collect();
        let mut all = decode(own)?;
        for decoder in decoders {
            all.extend(decoder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(all)
    })
}
