//! A tree to scan: files of some lines, a hundred per directory, in three levels.

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
