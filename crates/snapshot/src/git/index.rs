//! Checks the integrity of the index. A damaged index is a change to the protected zone; the content of a sound one
//! does not matter here.

use super::{GitLayout, git_files};
use crate::git_object::ObjectFormat;
use probity_core::Digest;
use rustix::io::Errno;
use sha1::{Digest as _, Sha1};

const MAX_INDEX_BYTES: u64 = 4 * 1024 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexState {
    /// There is none, as in a repository where nothing was ever added.
    Absent,
    Sound,
    /// It cannot be read, or is not what git writes.
    Damaged,
}

/// Checks the index of a repository.
pub fn index_state(layout: &GitLayout) -> IndexState {
    match git_files::read(&layout.git_dir.join("index"), MAX_INDEX_BYTES) {
        Err(Errno::NOENT) => IndexState::Absent,
        Ok(bytes) if index_is_sound(&bytes, layout.object_format) => IndexState::Sound,
        _ => IndexState::Damaged,
    }
}

/// Returns true if `bytes` are an index: the header of a known version, and the checksum at the end (or zeros there, as
/// git writes with `index.skipHash`).
pub fn index_is_sound(bytes: &[u8], format: ObjectFormat) -> bool {
    let Some((body, checksum)) = bytes.len().checked_sub(format.id_len()).map(|at| bytes.split_at(at)) else {
        return false;
    };
    let version = match body.first_chunk::<12>() {
        Some([b'D', b'I', b'R', b'C', 0, 0, 0, version, ..]) => *version,
        _ => return false,
    };
    (2..=4).contains(&version)
        && (checksum.iter().all(|&byte| byte == 0) || is_checksum(body, checksum, format))
}

fn is_checksum(body: &[u8], checksum: &[u8], format: ObjectFormat) -> bool {
    match format {
        ObjectFormat::Sha1 => Sha1::digest(body)[..] == *checksum,
        ObjectFormat::Sha256 => Digest::of(body).as_bytes() == checksum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds an index without entries.
    fn index(version: u8) -> Vec<u8> {
        let mut bytes = b"DIRC\0\0\0\x02\0\0\0\0".to_vec();
        bytes[7] = version;
        let checksum = Sha1::digest(&bytes);
        bytes.extend_from_slice(&checksum);
        bytes
    }

    #[test]
    fn a_whole_index_of_a_known_version_is_sound() {
        for (version, sound) in [(1, false), (2, true), (3, true), (4, true), (5, false)] {
            assert_eq!(index_is_sound(&index(version), ObjectFormat::Sha1), sound, "{version}");
        }
        let mut unhashed = index(2);
        unhashed[12..].fill(0);
        assert!(index_is_sound(&unhashed, ObjectFormat::Sha1));
    }

    #[test]
    fn any_damage_is_seen() {
        let good = index(2);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 0x40;
            assert!(!index_is_sound(&bad, ObjectFormat::Sha1), "damage at {at}");
            assert!(!index_is_sound(&good[..at], ObjectFormat::Sha1), "cut at {at}");
        }
        assert!(!index_is_sound(&good, ObjectFormat::Sha256));
    }
}
