//! Reads and writes numbers and texts in chunks, so that a snapshot is never in memory as a whole.

use super::SnapshotReadError;
use crate::wire::{decode_number, put_number, put_text};
use std::io::{self, Read, Write};

/// The size of a chunk.
const PIECE_BYTES: usize = 1 << 18;

/// The longest accepted text: the most a log frame can hold.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// Writes in chunks. The first error is kept and returned at the end.
pub(super) struct ChunkWriter<'a, W: Write> {
    to: &'a mut W,
    piece: Vec<u8>,
    error: Option<io::Error>,
}

impl<'a, W: Write> ChunkWriter<'a, W> {
    pub(super) fn new(to: &'a mut W) -> Self {
        Self { to, piece: Vec::with_capacity(PIECE_BYTES + 4096), error: None }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.piece.extend_from_slice(bytes);
        self.hand_on(PIECE_BYTES);
    }

    pub(super) fn number(&mut self, number: impl Into<u64>) {
        put_number(&mut self.piece, number.into());
        self.hand_on(PIECE_BYTES);
    }

    pub(super) fn len(&mut self, len: usize) {
        self.number(len as u64);
    }

    /// Writes a number that may be absent and is never `u64::MAX`.
    pub(super) fn optional(&mut self, number: Option<impl Into<u64>>) {
        self.number(number.map_or(0, |number| number.into() + 1));
    }

    pub(super) fn text(&mut self, text: &str) {
        put_text(&mut self.piece, text);
        self.hand_on(PIECE_BYTES);
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.hand_on(0);
        self.error.map_or(Ok(()), Err)
    }

    fn hand_on(&mut self, from: usize) {
        if self.piece.len() >= from && self.error.is_none() {
            self.error = self.to.write_all(&self.piece).err();
            self.piece.clear();
        }
    }
}

pub(super) struct ChunkReader<'a, R: Read> {
    from: &'a mut R,
    piece: Vec<u8>,
    at: usize,
}

impl<'a, R: Read> ChunkReader<'a, R> {
    pub(super) fn new(from: &'a mut R) -> Self {
        Self { from, piece: Vec::with_capacity(PIECE_BYTES), at: 0 }
    }

    /// Buffers `n` bytes, or as many as are left.
    fn fill(&mut self, n: usize) -> io::Result<()> {
        if self.piece.len() - self.at >= n {
            return Ok(());
        }
        self.piece.drain(..self.at);
        self.at = 0;
        let wanted = n.max(PIECE_BYTES) - self.piece.len();
        self.from.by_ref().take(wanted as u64).read_to_end(&mut self.piece)?;
        Ok(())
    }

    pub(super) fn bytes(&mut self, n: usize) -> Result<&[u8], SnapshotReadError> {
        self.fill(n)?;
        let bytes = self.piece.get(self.at..self.at + n).ok_or(SnapshotReadError::Form)?;
        self.at += n;
        Ok(bytes)
    }

    pub(super) fn number(&mut self) -> Result<u64, SnapshotReadError> {
        if self.piece.len() - self.at < 10 {
            self.fill(10)?;
        }
        let (value, n) = decode_number(&self.piece[self.at..]).ok_or(SnapshotReadError::Form)?;
        self.at += n;
        Ok(value)
    }

    pub(super) fn u32_number(&mut self) -> Result<u32, SnapshotReadError> {
        u32::try_from(self.number()?).map_err(|_| SnapshotReadError::Form)
    }

    /// Reads a number below `limit`.
    pub(super) fn number_below(&mut self, limit: usize) -> Result<u32, SnapshotReadError> {
        self.u32_number().and_then(|number| {
            if (number as usize) < limit { Ok(number) } else { Err(SnapshotReadError::Form) }
        })
    }

    pub(super) fn optional(&mut self) -> Result<Option<u32>, SnapshotReadError> {
        let number = self.number()?;
        let inner = number.checked_sub(1).map(u32::try_from).transpose();
        inner.map_err(|_| SnapshotReadError::Form)
    }

    pub(super) fn enum_value<T: Copy>(&mut self, all: &[T]) -> Result<T, SnapshotReadError> {
        let rank = self.number_below(all.len())?;
        Ok(all[rank as usize])
    }

    pub(super) fn text(&mut self) -> Result<&str, SnapshotReadError> {
        let n = usize::try_from(self.number()?).map_err(|_| SnapshotReadError::Form)?;
        if n > MAX_TEXT_BYTES {
            return Err(SnapshotReadError::Form);
        }
        std::str::from_utf8(self.bytes(n)?).map_err(|_| SnapshotReadError::Form)
    }
}
