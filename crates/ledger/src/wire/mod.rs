//! The log format of the ledger's inputs: compact, versioned, and parsed without copying.
//!
//! * [`LedgerEvent`]: one event of a [`ProjectLedger`](crate::ProjectLedger). Events are inputs, never results:
//!   applying them in order gives the same project ledger.
//! * [`encode`] and [`decode`]: one transaction, which is a list of events.
//!
//! Numbers are LEB128, texts are a length and UTF-8, and vocabulary words are their rank. Later versions read old logs,
//! so ranks never change: vocabularies only grow at the end.

mod event;
mod proposal;

pub use event::{LedgerEvent, decode, encode};

/// Bytes that are not a transaction of this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of the transaction is not what this version writes")]
pub struct MalformedTransaction {
    /// The offset at which parsing stopped.
    pub at: usize,
}

pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(low_byte(number) | 0x80);
        number >>= 7;
    }
    out.push(low_byte(number));
}

pub(crate) fn put_len(out: &mut Vec<u8>, len: usize) {
    put_number(out, len as u64);
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_len(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

const fn low_byte(number: u64) -> u8 {
    (number & 0x7f) as u8
}

/// Returns the number that `bytes` begin with, and its length in bytes.
pub(crate) fn decode_number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut value = 0_u64;
    for (at, &byte) in bytes.iter().enumerate().take(10) {
        let part = u64::from(byte & 0x7f);
        // The tenth byte holds the last bit only.
        if at == 9 && part > 1 {
            return None;
        }
        value |= part << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

/// Takes numbers, words and texts off the front of a byte slice.
#[derive(Debug)]
pub(crate) struct WireReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> WireReader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) const fn malformed(&self) -> MalformedTransaction {
        MalformedTransaction { at: self.at }
    }

    pub(crate) const fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(crate) fn number(&mut self) -> Result<u64, MalformedTransaction> {
        let (value, n) = decode_number(&self.bytes[self.at..]).ok_or(self.malformed())?;
        self.at += n;
        Ok(value)
    }

    /// Reads a number of elements that take at least one byte each.
    pub(crate) fn count(&mut self) -> Result<usize, MalformedTransaction> {
        let wrong = self.malformed();
        let n = usize::try_from(self.number()?).map_err(|_| wrong)?;
        if n > self.bytes.len() - self.at { Err(wrong) } else { Ok(n) }
    }

    pub(crate) fn byte(&mut self) -> Result<u8, MalformedTransaction> {
        let byte = *self.bytes.get(self.at).ok_or(self.malformed())?;
        self.at += 1;
        Ok(byte)
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, MalformedTransaction> {
        let n = self.count()?;
        let text = std::str::from_utf8(&self.bytes[self.at..self.at + n]).map_err(|_| self.malformed())?;
        self.at += n;
        Ok(text)
    }

    /// Reads a word by its rank in a vocabulary.
    pub(crate) fn enum_value<T: Copy>(&mut self, all: &[T]) -> Result<T, MalformedTransaction> {
        let wrong = self.malformed();
        let rank = usize::from(self.byte()?);
        all.get(rank).copied().ok_or(wrong)
    }

    /// Reads an optional word: zero, or its rank plus one.
    pub(crate) fn optional_enum_value<T: Copy>(
        &mut self,
        all: &[T],
    ) -> Result<Option<T>, MalformedTransaction> {
        let wrong = self.malformed();
        match usize::from(self.byte()?).checked_sub(1) {
            None => Ok(None),
            Some(rank) => all.get(rank).copied().map(Some).ok_or(wrong),
        }
    }

    pub(crate) fn texts(&mut self) -> Result<Vec<&'a str>, MalformedTransaction> {
        (0..self.count()?).map(|_| self.text()).collect()
    }
}

#[cfg(test)]
mod tests;
