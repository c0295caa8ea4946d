//! How the ledger's inputs are written in a log: compact, versioned, and read back without copying.
//!
//! * [`LedgerEvent`]: one thing that happened to a [`ProjectLedger`](crate::ProjectLedger). Events are inputs, never results: whoever applies
//!   them in their order gets the same book.
//! * [`encode`] and [`decode`]: one transaction, which is a list of events.
//!
//! Numbers are LEB128, texts are a length and UTF-8, words of a vocabulary are their rank in it. A log is read by later
//! versions, so ranks never change: vocabularies grow at their end.

mod event;
mod proposal;

pub use event::{LedgerEvent, decode, encode};

/// Bytes that are no transaction of this version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {at} of the transaction is not what this version writes")]
pub struct MalformedTransaction {
    /// Where reading stopped.
    pub at: usize,
}

/// Writes a number.
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

/// The number that `bytes` begin with, and how many bytes it takes.
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

/// Takes numbers, words and texts off the front of some bytes.
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

    /// A number of things of which each takes at least one byte.
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

    /// The word of this rank in a vocabulary.
    pub(crate) fn enum_value<T: Copy>(&mut self, all: &[T]) -> Result<T, MalformedTransaction> {
        let wrong = self.malformed();
        let rank = usize::from(self.byte()?);
        all.get(rank).copied().ok_or(wrong)
    }

    /// A word that may be missing: zero, or one more than its rank.
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
