//! The file format of every cache: a file that may be deleted at any time and is replaced as a whole.
//!
//! Caches have no compatibility promise. A cache that is missing, damaged, or of another kind or version is treated
//! as absent, and its owner rebuilds it. The checksum guards against accidents only: anyone who can write the file
//! can also forge it.
//!
//! ```text
//! probity cache <kind> <version>   one line
//! reach                            u64 LE: the position in the owner's log that the content covers; 0 without a log
//! body
//! SHA-256 of all before it         32 bytes
//! ```

use crate::{StoreError, durable};
use probity_core::Digest;
use probity_core::digest::DigestHasher;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

const DIGEST_BYTES: usize = 32;
const REACH_BYTES: usize = 8;

/// Identifies the content of a cache. The version changes whenever the encoding of the body does.
#[derive(Debug, Clone, Copy)]
pub struct CacheKind {
    pub name: &'static str,
    pub version: u32,
}

impl CacheKind {
    /// Returns the line that every cache of this kind starts with.
    pub fn first_line(self) -> Vec<u8> {
        format!("probity cache {} {}\n", self.name, self.version).into_bytes()
    }
}

#[derive(Debug, Clone)]
pub struct CacheFile {
    path: PathBuf,
    kind: CacheKind,
}

impl CacheFile {
    /// Names the cache at `path`, which need not exist.
    pub const fn new(path: PathBuf, kind: CacheKind) -> Self {
        Self { path, kind }
    }

    /// Reads a value back; `None` if there is no usable one.
    pub fn load<T: DeserializeOwned>(&self) -> Option<T> {
        self.decode(|body| postcard::from_bytes(body).ok())
    }

    pub fn store(&self, value: &impl Serialize) -> Result<(), StoreError> {
        let body =
            postcard::to_stdvec(value).map_err(io::Error::other).map_err(StoreError::io_error(&self.path))?;
        self.write(0, |file| file.write_all(&body))
    }

    /// Passes the body to `decode` if the checksum holds.
    pub fn decode<T>(&self, decode: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
        let bytes = durable::read(&self.path).ok()??;
        let (content, checksum) = bytes.split_last_chunk::<DIGEST_BYTES>()?;
        let body = content.strip_prefix(self.kind.first_line().as_slice())?.get(REACH_BYTES..)?;
        if Digest::of(content).as_bytes() != checksum {
            return None;
        }
        decode(body)
    }

    /// Replaces the content with what `body` writes, which may be large. A reader sees the old file or the new one.
    /// The file is not synced to disk, because a lost cache costs only time.
    pub fn write(
        &self,
        reach: u64,
        body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), StoreError> {
        durable::stream_unsynced(&self.path, |file| {
            let mut hashing = HashingStream { inner: file, hasher: DigestHasher::default() };
            hashing.write_all(&self.kind.first_line())?;
            hashing.write_all(&reach.to_le_bytes())?;
            body(&mut hashing)?;
            let HashingStream { inner, hasher } = hashing;
            inner.write_all(hasher.finish().as_bytes())?;
            tracing::trace!(target: "probity::work", cache_bytes_written = inner.stream_position()?);
            Ok(())
        })
    }

    /// Streams the body to `body`, so that it is never in memory as a whole. The result counts only if the checksum at
    /// the end of the file holds.
    pub fn read<T>(&self, body: impl FnOnce(&mut dyn Read) -> Option<T>) -> Option<T> {
        let mut file = durable::open(&self.path).ok()??;
        let length = file.metadata().ok()?.len().checked_sub(DIGEST_BYTES as u64)?;
        let mut hashing = HashingStream { inner: (&mut file).take(length), hasher: DigestHasher::default() };
        self.read_header(&mut hashing)?;
        let value = body(&mut hashing)?;
        io::copy(&mut hashing, &mut io::sink()).ok()?;
        let digest = hashing.hasher.finish();
        let mut checksum = [0; DIGEST_BYTES];
        file.seek(SeekFrom::Start(length)).ok()?;
        file.read_exact(&mut checksum).ok()?;
        (digest.as_bytes() == &checksum).then_some(value)
    }

    /// Returns the log position that the header claims, without reading the body; 0 if there is no usable header.
    pub fn reach(&self) -> u64 {
        let file: Option<File> = durable::open(&self.path).ok().flatten();
        file.and_then(|mut file| self.read_header(&mut file)).unwrap_or(0)
    }

    fn read_header(&self, file: &mut impl Read) -> Option<u64> {
        let expected = self.kind.first_line();
        let (mut line, mut reach) = (vec![0; expected.len()], [0; REACH_BYTES]);
        file.read_exact(&mut line).ok()?;
        file.read_exact(&mut reach).ok()?;
        (line == expected).then_some(u64::from_le_bytes(reach))
    }
}

/// Hashes the bytes that pass through it.
struct HashingStream<T> {
    inner: T,
    hasher: DigestHasher,
}

impl<W: Write> Write for HashingStream<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read> Read for HashingStream<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(bytes)?;
        self.hasher.update(&bytes[..n]);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const KIND: CacheKind = CacheKind { name: "test", version: 3 };

    fn whole(cache: &CacheFile) -> Option<Vec<u8>> {
        cache.decode(|body| Some(body.to_vec()))
    }

    fn stream(cache: &CacheFile) -> Option<Vec<u8>> {
        cache.read(|body| {
            let mut bytes = Vec::new();
            body.read_to_end(&mut bytes).ok().map(|_| bytes)
        })
    }

    #[test]
    fn a_cache_comes_back_as_it_was_and_damage_makes_it_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = CacheFile::new(dir.path().join("cache"), KIND);
        assert_eq!((cache.load::<u8>(), stream(&cache), cache.reach()), (None, None, 0));
        cache.write(77, |file| file.write_all(b"the body")).expect("writes");
        let body = Some(b"the body".to_vec());
        assert_eq!((whole(&cache), stream(&cache), cache.reach()), (body.clone(), body, 77));
        let bytes = fs::read(&cache.path).expect("reads");
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            fs::write(&cache.path, damaged).expect("damages");
            assert_eq!((whole(&cache), stream(&cache)), (None, None), "damage at {at}");
            fs::write(&cache.path, &bytes[..at]).expect("cuts");
            assert_eq!((whole(&cache), stream(&cache)), (None, None), "cut at {at}");
        }
    }

    #[test]
    fn a_cache_of_another_version_or_kind_is_none() {
        let dir = tempfile::tempdir().expect("a directory");
        let cache = |kind| CacheFile::new(dir.path().join("cache"), kind);
        cache(KIND).store(&("text", 7)).expect("writes");
        assert_eq!(cache(KIND).load(), Some(("text".to_owned(), 7)));
        for other in [CacheKind { version: 4, ..KIND }, CacheKind { name: "tesT", ..KIND }] {
            assert_eq!(cache(other).load::<(String, i32)>(), None);
        }
        assert_eq!(fs::read_dir(dir.path()).expect("lists").count(), 1, "nothing else is left behind");
    }
}
