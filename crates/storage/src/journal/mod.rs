//! An append-only log in one file: framed, chained by digests, synced before an append returns.
//!
//! * [`Journal::read_after`] passes on every complete frame after a [`JournalPosition`]. It takes no lock: concurrent
//!   appends may or may not be seen, but never half a frame.
//! * [`Journal::lock`] gives the only [`JournalWriter`]. It reads to the true end, cuts off what a crash left half
//!   written (keeping those bytes in a separate file), and appends. A frame is one transaction, on disk when
//!   [`JournalWriter::append`] returns.
//!
//! Each frame carries the digest of the whole log up to it, so logs with equal [`JournalPosition::chain`] are equal,
//! and a flipped bit anywhere is found. Only bytes that a crash can have left at the very end are ever cut; everything
//! else is [`StoreError::Damaged`], and nothing is modified.
//!
//! Why not [`crate::ports::EventLog`] on SQLite: a million events must be read, checked and applied within two
//! seconds, and reading database rows alone takes that long. Also, a single chained file can be checked and copied
//! without a database.
//!
//! ```text
//! file   = magic (16 bytes), frame*
//! frame  = length (u32 LE), its complement (u32 LE), chain (32 bytes), payload (length bytes)
//! chain  = SHA-256(chain before, length, payload); before the first frame: SHA-256(magic)
//! ```

mod frame;

use crate::{FileLock, StoreError, durable};
use frame::{HEADER_BYTES, NextFrame};
use probity_core::Digest;
use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

pub const MAX_PAYLOAD_BYTES: usize = 64 << 20;

const MAGIC: &[u8; 16] = b"probity journal1";

const BUFFER_BYTES: usize = 1 << 20;

/// The end of a frame: its offset, and the digest of the log up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalPosition {
    pub bytes: u64,
    /// The digest of everything before this position.
    pub chain: Digest,
    /// The size of the frame that ends here; zero before the first frame.
    pub frame_bytes: u64,
}

impl JournalPosition {
    pub fn start() -> Self {
        Self { bytes: MAGIC.len() as u64, chain: Digest::of(MAGIC), frame_bytes: 0 }
    }
}

/// Bytes that a crash left at the end of the log. Their write was never acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    pub at: u64,
    pub n_bytes: u64,
    /// The file that keeps the bytes that were cut off.
    pub kept: PathBuf,
}

#[derive(Debug, Clone)]
pub struct Journal {
    path: PathBuf,
}

impl Journal {
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Passes the payload of every complete frame after `from` to `take`, with the position after it, and returns the
    /// last position.
    pub fn read_after<E: From<StoreError>>(
        &self,
        from: &JournalPosition,
        take: impl FnMut(&[u8], &JournalPosition) -> Result<(), E>,
    ) -> Result<JournalPosition, E> {
        match self.open(false)? {
            None => Ok(*from),
            Some(file) => Ok(JournalScan::new(self, &file, from)?.run(take)?.end),
        }
    }

    /// Tells whether a frame of this log ends at `position` and has the same chain digest.
    pub fn has(&self, position: &JournalPosition) -> Result<bool, StoreError> {
        let Some(file) = self.open(false)? else { return Ok(false) };
        if position.frame_bytes == 0 {
            return Ok(*position == JournalPosition::start());
        }
        let Some(start) = position.bytes.checked_sub(position.frame_bytes) else { return Ok(false) };
        let length = file.metadata().map_err(StoreError::io_error(&self.path))?.len();
        let mut chain = [0; 32];
        Ok(length >= position.bytes
            && file.read_exact_at(&mut chain, start + frame::CHAIN_OFFSET_BYTES).is_ok()
            && chain == *position.chain.as_bytes())
    }

    /// Waits for the current writer, then becomes the writer.
    pub fn lock(&self) -> Result<JournalWriter, StoreError> {
        let lock = FileLock::take(&self.path.with_extension("lock"))?;
        let file = match self.open(true)? {
            Some(file) => file,
            None => self.create()?,
        };
        Ok(JournalWriter { journal: self.clone(), file, _lock: lock })
    }

    fn open(&self, for_writing: bool) -> Result<Option<File>, StoreError> {
        let mut options = OpenOptions::new();
        options.read(true).write(for_writing).custom_flags(durable::NOFOLLOW_NONBLOCK);
        match options.open(&self.path) {
            Ok(file) => self.check_magic(file).map(Some),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Io { path: self.path.clone(), source }),
        }
    }

    fn create(&self) -> Result<File, StoreError> {
        durable::write(&self.path, MAGIC)?;
        self.open(true)?.ok_or_else(|| self.damaged("it vanished"))
    }

    /// Checks the first bytes. The file is created with them atomically, so a file without them is damaged or foreign.
    fn check_magic(&self, file: File) -> Result<File, StoreError> {
        let facts = file.metadata().map_err(StoreError::io_error(&self.path))?;
        if !facts.is_file() {
            return Err(self.damaged("it is no plain file"));
        }
        let mut magic = [0; MAGIC.len()];
        match file.read_exact_at(&mut magic, 0) {
            Ok(()) if &magic == MAGIC => Ok(file),
            Ok(()) => Err(self.damaged("it does not begin like a journal of this version")),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                Err(self.damaged("it is shorter than its first line"))
            }
            Err(source) => Err(StoreError::Io { path: self.path.clone(), source }),
        }
    }

    /// Returns the number of bytes after `end`, the last complete frame: what a crash, or somebody else, left there.
    pub fn n_bytes_after(&self, end: &JournalPosition) -> Result<u64, StoreError> {
        let Some(file) = self.open(false)? else { return Ok(0) };
        let length = file.metadata().map_err(StoreError::io_error(&self.path))?.len();
        Ok(length.saturating_sub(end.bytes))
    }

    /// The error for a log whose last complete frame ends before byte `known`, up to which it was acknowledged.
    pub fn shortened(&self, end: &JournalPosition, known: u64) -> Result<StoreError, StoreError> {
        let torn = match self.n_bytes_after(end)? {
            0 => String::new(),
            n => format!(", then {n} bytes that are no frame"),
        };
        let why = format!("it ends at byte {}{torn}, but reached byte {known} before", end.bytes);
        Ok(StoreError::Shortened { path: self.path.clone(), why })
    }

    fn damaged(&self, why: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), why: why.into() }
    }
}

/// The exclusive right to append.
#[derive(Debug)]
pub struct JournalWriter {
    journal: Journal,
    file: File,
    _lock: FileLock,
}

impl JournalWriter {
    /// Passes on what was appended after `from`, cuts off what a crash left at the end, and returns the end. Refuses a
    /// log that ends before byte `known`: what was acknowledged is never cut off.
    pub fn catch_up<E: From<StoreError>>(
        &mut self,
        from: &JournalPosition,
        known: u64,
        take: impl FnMut(&[u8], &JournalPosition) -> Result<(), E>,
    ) -> Result<(JournalPosition, Option<TornTail>), E> {
        let scanned = JournalScan::new(&self.journal, &self.file, from)?.run(take)?;
        if scanned.end.bytes < known {
            return Err(self.journal.shortened(&scanned.end, known)?.into());
        }
        let torn =
            if scanned.n_torn == 0 { None } else { Some(self.cut(scanned.end.bytes, scanned.n_torn)?) };
        Ok((scanned.end, torn))
    }

    /// Appends one frame per payload after `end`, which must be the end of the log, and waits until all are on disk. A
    /// crash meanwhile leaves the first few of them, or none.
    ///
    /// After an error nothing is acknowledged: the frames are truncated now, or as a torn tail by the next writer.
    pub fn append<P: AsRef<[u8]>>(
        &mut self,
        end: &JournalPosition,
        payloads: &[P],
    ) -> Result<JournalPosition, StoreError> {
        let length = self.file.metadata().map_err(StoreError::io_error(&self.journal.path))?.len();
        if length != end.bytes {
            return Err(self.journal.damaged(format!("it ends at byte {length}, not at {}", end.bytes)));
        }
        let mut bytes = Vec::new();
        let mut new_end = *end;
        for payload in payloads {
            let before = bytes.len();
            let chain = frame::encode(&new_end.chain, payload.as_ref(), &mut bytes)
                .map_err(|source| StoreError::Io { path: self.journal.path.clone(), source })?;
            new_end = JournalPosition {
                bytes: end.bytes + bytes.len() as u64,
                chain,
                frame_bytes: (bytes.len() - before) as u64,
            };
        }
        let written = self
            .file
            .seek(SeekFrom::Start(end.bytes))
            .and_then(|_| self.file.write_all(&bytes))
            .and_then(|()| durable::sync(&self.file));
        if let Err(source) = written {
            let _ = self.file.set_len(end.bytes);
            return Err(StoreError::Io { path: self.journal.path.clone(), source });
        }
        Ok(new_end)
    }

    fn cut(&self, at: u64, n_bytes: u64) -> Result<TornTail, StoreError> {
        let here = || StoreError::io_error(&self.journal.path);
        let kept = self.journal.path.with_extension(format!("torn-{at}"));
        let mut bytes = Vec::new();
        let mut reader = &self.file;
        reader.seek(SeekFrom::Start(at)).map_err(here())?;
        reader.take(n_bytes).read_to_end(&mut bytes).map_err(here())?;
        durable::write(&kept, &bytes)?;
        self.file.set_len(at).and_then(|()| durable::sync(&self.file)).map_err(here())?;
        Ok(TornTail { at, n_bytes, kept })
    }
}

struct JournalScan<'a> {
    journal: &'a Journal,
    reader: BufReader<&'a File>,
    length: u64,
    end: JournalPosition,
}

struct ScanResult {
    end: JournalPosition,
    /// The number of bytes after the end that do not form a complete frame.
    n_torn: u64,
}

impl<'a> JournalScan<'a> {
    fn new(journal: &'a Journal, file: &'a File, from: &JournalPosition) -> Result<Self, StoreError> {
        let length = file.metadata().map_err(StoreError::io_error(&journal.path))?.len();
        if length < from.bytes {
            return Err(
                journal.damaged(format!("it ended at byte {} before, and is shorter now", from.bytes))
            );
        }
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, file);
        reader.seek(SeekFrom::Start(from.bytes)).map_err(StoreError::io_error(&journal.path))?;
        Ok(Self { journal, reader, length, end: *from })
    }

    fn run<E: From<StoreError>>(
        mut self,
        mut take: impl FnMut(&[u8], &JournalPosition) -> Result<(), E>,
    ) -> Result<ScanResult, E> {
        let mut payload = Vec::new();
        loop {
            let left = self.length - self.end.bytes;
            match self.next(left, &mut payload)? {
                NextFrame::Whole(chain) => {
                    let frame_bytes = (HEADER_BYTES + payload.len()) as u64;
                    self.end = JournalPosition { bytes: self.end.bytes + frame_bytes, chain, frame_bytes };
                    take(&payload, &self.end)?;
                }
                NextFrame::End => return Ok(ScanResult { end: self.end, n_torn: 0 }),
                NextFrame::Torn => return Ok(ScanResult { end: self.end, n_torn: left }),
                NextFrame::Damaged => {
                    let why = format!("the frame at byte {} is not what was written", self.end.bytes);
                    return Err(self.journal.damaged(why).into());
                }
            }
        }
    }

    fn next(&mut self, left: u64, payload: &mut Vec<u8>) -> Result<NextFrame, StoreError> {
        frame::read_frame(&mut self.reader, left, &self.end.chain, payload)
            .map_err(StoreError::io_error(&self.journal.path))
    }
}

#[cfg(test)]
mod tests;
