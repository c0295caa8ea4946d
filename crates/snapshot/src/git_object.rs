//! Git object ids, which tell a caller what content git already has.

use probity_core::digest::DigestHasher;
use sha1::{Digest as _, Sha1};
use std::fmt;

/// How a repository names its objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub enum ObjectFormat {
    /// 20 bytes; used by nearly every repository.
    Sha1,
    /// 32 bytes.
    Sha256,
}

impl ObjectFormat {
    /// Returns the length of an id in bytes.
    pub const fn id_len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// The id of an object. Ids of both formats are kept in place, because a tree has many.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GitId {
    /// Zeros behind the id.
    bytes: [u8; 32],
    format: ObjectFormat,
}

impl GitId {
    /// Creates an id from bytes; `None` if no format has ids of that length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
        let format = formats.into_iter().find(|format| format.id_len() == bytes.len())?;
        let mut id = [0; 32];
        id[..bytes.len()].copy_from_slice(bytes);
        Some(Self { bytes: id, format })
    }

    /// Parses 40 or 64 lower-case hex digits.
    pub fn from_hex(digits: &[u8]) -> Option<Self> {
        if digits.iter().any(u8::is_ascii_uppercase) {
            return None;
        }
        let mut bytes = [0; 32];
        let id = bytes.get_mut(..digits.len() / 2)?;
        hex::decode_to_slice(digits, id).ok()?;
        Self::from_bytes(id)
    }

    /// Returns the id of a blob with this content.
    pub fn of_blob(format: ObjectFormat, content: &[u8]) -> Self {
        Self::of_object("blob", format, content)
    }

    /// Returns the id of a tree with these rows.
    pub(crate) fn of_tree(format: ObjectFormat, content: &[u8]) -> Self {
        Self::of_object("tree", format, content)
    }

    fn of_object(kind: &str, format: ObjectFormat, content: &[u8]) -> Self {
        let mut hasher = BlobHasher::of_kind(kind, format, content.len() as u64);
        hasher.update(content);
        let mut id = Vec::with_capacity(format.id_len());
        hasher.finish(&mut id);
        Self::from_bytes(&id).expect("a hash has the length of its format")
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.format.id_len()]
    }
}

impl fmt::Display for GitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.as_bytes()))
    }
}

impl fmt::Debug for GitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Computes the id of a blob incrementally.
pub(crate) enum BlobHasher {
    Sha1(Sha1),
    Sha256(Box<DigestHasher>),
}

impl BlobHasher {
    /// Starts a blob of `size` bytes: git hashes the length first.
    pub(crate) fn new(format: ObjectFormat, size: u64) -> Self {
        Self::of_kind("blob", format, size)
    }

    fn of_kind(kind: &str, format: ObjectFormat, size: u64) -> Self {
        let mut hasher = match format {
            ObjectFormat::Sha1 => Self::Sha1(Sha1::new()),
            ObjectFormat::Sha256 => Self::Sha256(Box::default()),
        };
        hasher.update(format!("{kind} {size}\0").as_bytes());
        hasher
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self, id: &mut Vec<u8>) {
        match self {
            Self::Sha1(hasher) => id.extend_from_slice(&hasher.finalize()),
            Self::Sha256(hasher) => id.extend_from_slice(hasher.finish().as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(format: ObjectFormat, content: &[u8]) -> String {
        GitId::of_blob(format, content).to_string()
    }

    #[test]
    fn agrees_with_git_hash_object() {
        assert_eq!(id(ObjectFormat::Sha1, b""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(id(ObjectFormat::Sha1, b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
        assert_eq!(
            id(ObjectFormat::Sha256, b""),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        );
    }

    #[test]
    fn reads_only_ids_of_a_known_length() {
        assert!(GitId::from_hex(b"ce013625030ba8dba906f756967f9e9ca394464a").is_some());
        assert_eq!(GitId::from_hex(b"CE013625030ba8dba906f756967f9e9ca394464a"), None);
        assert_eq!(GitId::from_hex(b"ce01"), None);
    }
}
