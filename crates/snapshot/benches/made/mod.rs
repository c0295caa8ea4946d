//! A tree to look at (files of some lines, a hundred in a directory, in three levels), and a kept snapshot.

use probity_core::Digest;
use probity_snapshot::Snapshot;
use std::fs;
use std::path::Path;

const FILES_PER_DIR: usize = 100;

/// Writes `n_files` files of up to `max_lines` lines.
pub(crate) fn files(root: &Path, n_files: usize, max_lines: usize) {
    for n in 0..n_files {
        let dir = n / FILES_PER_DIR;
        let dir = root.join(format!("part{}/module{:02}", dir / 32, dir % 32));
        if n % FILES_PER_DIR == 0 {
            fs::create_dir_all(&dir).expect("a directory");
        }
        let line = format!("line of file {n}\n");
        fs::write(dir.join(format!("file_{n:07}.rs")), line.repeat(1 + n * 7 % max_lines)).expect("a file");
    }
}

/// Keeps a snapshot with a checksum, as a cache does.
pub(crate) fn store(path: &Path, snapshot: &Snapshot) {
    let mut bytes = postcard::to_stdvec(snapshot).expect("bytes");
    bytes.extend_from_slice(Digest::of(&bytes).as_bytes());
    fs::write(path, bytes).expect("a cache");
}

/// Reads it back.
pub(crate) fn load(path: &Path) -> Snapshot {
    let bytes = fs::read(path).expect("a cache");
    let (body, checksum) = bytes.split_last_chunk::<32>().expect("a checksum");
    assert_eq!(Digest::of(body).as_bytes(), checksum);
    postcard::from_bytes(body).expect("a snapshot")
}
