//! Encodes one frame, and tells a torn frame from a damaged one.

use super::MAX_PAYLOAD_BYTES;
use probity_core::Digest;
use probity_core::digest::DigestHasher;
use std::io::{self, Read};

/// Length, complement and chain.
pub(super) const HEADER_BYTES: usize = 4 + 4 + 32;

pub(super) const CHAIN_OFFSET_BYTES: u64 = 8;

/// The bytes at the position of the next frame.
pub(super) enum NextFrame {
    /// A valid frame, with the digest of the log up to its end.
    Whole(Digest),
    End,
    /// What a crash can leave: an invalid frame that reaches the end of the file or beyond, or only zeros.
    Torn,
    Damaged,
}

/// Appends a frame to `bytes`, and returns the digest of the log up to its end.
pub(super) fn encode(before: &Digest, payload: &[u8], bytes: &mut Vec<u8>) -> io::Result<Digest> {
    let length = u32::try_from(payload.len()).ok().filter(|_| payload.len() <= MAX_PAYLOAD_BYTES);
    let length = length.ok_or_else(|| {
        let why = format!("{} bytes at once, and {MAX_PAYLOAD_BYTES} are the most", payload.len());
        io::Error::new(io::ErrorKind::FileTooLarge, why)
    })?;
    let chain = chain(before, length, payload);
    bytes.extend_from_slice(&length.to_le_bytes());
    bytes.extend_from_slice(&(!length).to_le_bytes());
    bytes.extend_from_slice(chain.as_bytes());
    bytes.extend_from_slice(payload);
    Ok(chain)
}

/// Reads the frame that begins here; `left` is the number of bytes left in the file.
pub(super) fn read_frame(
    reader: &mut impl Read,
    left: u64,
    before: &Digest,
    payload: &mut Vec<u8>,
) -> io::Result<NextFrame> {
    if left == 0 {
        return Ok(NextFrame::End);
    }
    if left < HEADER_BYTES as u64 {
        return Ok(NextFrame::Torn);
    }
    let mut header = [0; HEADER_BYTES];
    reader.read_exact(&mut header)?;
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    let length = word(0);
    if word(4) != !length || length as usize > MAX_PAYLOAD_BYTES {
        // The length itself is not trustworthy, so the end of the frame is unknown.
        let is_blank = header.iter().all(|&byte| byte == 0) && rest_is_blank(reader)?;
        return Ok(if is_blank { NextFrame::Torn } else { NextFrame::Damaged });
    }
    let body = left - HEADER_BYTES as u64;
    if u64::from(length) > body {
        return Ok(NextFrame::Torn);
    }
    payload.resize(length as usize, 0);
    reader.read_exact(payload)?;
    let chain = chain(before, length, payload);
    Ok(match header[8..] == chain.as_bytes()[..] {
        true => NextFrame::Whole(chain),
        false if u64::from(length) == body => NextFrame::Torn,
        false => NextFrame::Damaged,
    })
}

fn chain(before: &Digest, length: u32, payload: &[u8]) -> Digest {
    let mut hasher = DigestHasher::default();
    hasher.update(before.as_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.update(payload);
    hasher.finish()
}

fn rest_is_blank(reader: &mut impl Read) -> io::Result<bool> {
    let mut piece = [0; 4096];
    loop {
        let n = reader.read(&mut piece)?;
        if n == 0 {
            return Ok(true);
        }
        if piece[..n].iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
    }
}
