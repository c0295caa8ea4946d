//! Cuts a log off: a snapshot stands for the events before it, so that a store with a quota does not fill up.
//!
//! First the pieces of the snapshot are written, then one key is moved to them by compare-and-set, and only then is
//! anything deleted. A writer that dies in between leaves nothing worse than pieces and events that the next cut deletes.

use super::layout::end_of;
use super::log::{EtcdLog, RANGE, TXN};
use super::wire::{
    Bytes, Compare, KeyValue, Number, PlainAnswer, PutQuestion, RangeAnswer, RangeQuestion, TxnAnswer,
    TxnOperation, TxnQuestion,
};
use probity_core::Digest;
use probity_storage::StoreError;
use probity_storage::ports::{CutOutcome, EventLog as _, LogSnapshot};
use serde::{Deserialize, Serialize};

/// A piece of a snapshot: well below the largest request that etcd takes.
const PIECE_BYTES: usize = 512 * 1024;
/// How many events stay before a cut, so that readers who are nearly up to date need no snapshot.
const KEPT_EVENTS: u64 = 100;
/// How many keys one transaction deletes; etcd takes 128 operations.
const DELETES_PER_TXN: usize = 100;
const COMMANDS_PER_RANGE: u64 = 2_000;

/// Which snapshot counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SnapshotPointer {
    pub(super) at: u64,
    /// Keeps the pieces of writers apart that cut at the same place.
    writer: String,
    n_pieces: usize,
    digest: String,
}

impl EtcdLog {
    pub(super) fn snapshot_pointer(&self) -> Result<Option<SnapshotPointer>, StoreError> {
        let question = RangeQuestion { key: self.keys.snapshot().into(), ..RangeQuestion::default() };
        let answer: RangeAnswer = self.gateway.read(RANGE, &question)?;
        self.parse_pointer(&answer.kvs)
    }

    pub(super) fn parse_pointer(&self, found: &[KeyValue]) -> Result<Option<SnapshotPointer>, StoreError> {
        let Some(found) = found.first() else { return Ok(None) };
        let pointer = serde_json::from_slice(&found.value.0);
        pointer.map(Some).map_err(|error| self.damaged(format!("the pointer to the snapshot: {error}")))
    }
}

pub(super) fn cut(log: &EtcdLog, at: u64, snapshot: &[u8]) -> Result<CutOutcome, StoreError> {
    let head = log.head()?;
    if at == 0 || at > head {
        return Err(log.damaged(format!("a log that ends at {head} cannot be cut at {at}")));
    }
    let before = log.snapshot_pointer()?;
    if before.as_ref().is_some_and(|before| before.at >= at) {
        return Ok(CutOutcome::Older);
    }
    let digest = Digest::of(snapshot).to_hex();
    let writer = probity_workspace::clone_identity::random_name();
    let pieces: Vec<&[u8]> = snapshot.chunks(PIECE_BYTES).collect();
    for (n, piece) in pieces.iter().enumerate() {
        let (key, value) = (log.keys.piece(at, &writer, n).into(), Bytes(piece.to_vec()));
        let question = PutQuestion { key, value, lease: None };
        // Writing the same piece twice is harmless.
        let _: PlainAnswer = log.gateway.read("/v3/kv/put", &question)?;
    }
    let pointer = SnapshotPointer { at, writer, n_pieces: pieces.len(), digest };
    let bytes = |pointer: &SnapshotPointer| Bytes(probity_core::json::canonical_of(pointer));
    let key = log.keys.snapshot();
    let question = TxnQuestion {
        compare: vec![Compare::known(&*key, before.as_ref().map(bytes))],
        success: vec![TxnOperation::Put(PutQuestion {
            key: key.clone().into(),
            value: bytes(&pointer),
            lease: None,
        })],
        failure: Vec::new(),
    };
    let answer: TxnAnswer = log.gateway.read(TXN, &question)?;
    // The reply of a first try may have been lost: what counts is what stands there.
    if !answer.succeeded && log.snapshot_pointer()?.as_ref() != Some(&pointer) {
        delete_range(log, log.keys.pieces(at, &pointer.writer), None)?;
        return Ok(CutOutcome::Older);
    }
    if let Some(before) = &before {
        delete_range(log, log.keys.pieces(before.at, &before.writer), None)?;
        forget_commands(log, before.at)?;
    }
    let first_kept = (at + 1).saturating_sub(KEPT_EVENTS).max(1);
    delete_range(log, log.keys.events(), Some(log.keys.event(first_kept)))?;
    Ok(CutOutcome::Done)
}

pub(super) fn snapshot(log: &EtcdLog) -> Result<Option<LogSnapshot>, StoreError> {
    let Some(pointer) = log.snapshot_pointer()? else { return Ok(None) };
    let mut bytes = Vec::new();
    for n in 0..pointer.n_pieces {
        let key = log.keys.piece(pointer.at, &pointer.writer, n).into();
        let answer: RangeAnswer =
            log.gateway.read(RANGE, &RangeQuestion { key, ..RangeQuestion::default() })?;
        let Some(piece) = answer.kvs.into_iter().next() else {
            // A later cut deleted the pieces meanwhile: then there is another pointer.
            return match log.snapshot_pointer()? {
                Some(later) if later != pointer => snapshot(log),
                _ => Err(log.damaged(format!("piece {n} of the snapshot at {} is gone", pointer.at))),
            };
        };
        bytes.extend(piece.value.0);
    }
    if Digest::of(&bytes).to_hex() != pointer.digest {
        return Err(log.damaged(format!("the snapshot at {} is not what was written", pointer.at)));
    }
    Ok(Some(LogSnapshot { at: pointer.at, bytes }))
}

/// Deletes the keys that begin with `prefix`, up to and without `end`.
fn delete_range(log: &EtcdLog, prefix: String, end: Option<String>) -> Result<(), StoreError> {
    let range_end = Some(end.map_or_else(|| end_of(&prefix), Bytes::from));
    let question = RangeQuestion { key: prefix.into(), range_end, limit: None };
    let _: PlainAnswer = log.gateway.read("/v3/kv/deleterange", &question)?;
    Ok(())
}

/// Forgets the commands of events before the cut before this one: a reply that was lost is asked for long before.
fn forget_commands(log: &EtcdLog, up_to: u64) -> Result<(), StoreError> {
    let end = end_of(&log.keys.commands());
    let mut from = Bytes::from(log.keys.commands());
    loop {
        let question = RangeQuestion {
            key: from.clone(),
            range_end: Some(end.clone()),
            limit: Some(Number(COMMANDS_PER_RANGE)),
        };
        let answer: RangeAnswer = log.gateway.read(RANGE, &question)?;
        let mut old = Vec::new();
        for found in &answer.kvs {
            if log.mark(found)?.head() <= up_to {
                old.push(RangeQuestion { key: found.key.clone(), ..RangeQuestion::default() });
            }
        }
        for part in old.chunks(DELETES_PER_TXN) {
            let success = part.iter().cloned().map(TxnOperation::DeleteRange).collect();
            let question = TxnQuestion { success, ..TxnQuestion::default() };
            let _: TxnAnswer = log.gateway.read(TXN, &question)?;
        }
        match answer.kvs.last() {
            Some(last) if answer.more => {
                from = last.key.clone();
                from.0.push(0);
            }
            _ => return Ok(()),
        }
    }
}
