//! Reads `/proc/net/unix`. Pure: bytes in, paths out.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// Set in the `Flags` column of a stream or packet socket on which somebody listens.
const LISTENING_FLAG: u32 = 0x0001_0000;

/// Type of a datagram socket: it never listens, and everybody who knows its path can send to it.
const DATAGRAM_TYPE: u32 = 2;

/// Returns the paths at which a socket can be reached, without abstract ones.
pub(crate) fn reachable_socket_paths(table: &[u8]) -> BTreeSet<PathBuf> {
    table.split(|byte| *byte == b'\n').skip(1).filter_map(reachable_path).collect()
}

/// Parses `NUM: REFCOUNT PROTOCOL FLAGS TYPE STATE INODE PATH`.
fn reachable_path(line: &[u8]) -> Option<PathBuf> {
    let mut rest = line;
    let mut columns = [0_u32; 7];
    for (index, column) in columns.iter_mut().enumerate() {
        let begin = rest.iter().position(|byte| *byte != b' ')?;
        let end = rest[begin..].iter().position(|byte| *byte == b' ')?;
        let word = std::str::from_utf8(&rest[begin..begin + end]).ok()?;
        // The first column is an address and the sixth an inode; neither is needed.
        if (2..=4).contains(&index) {
            *column = u32::from_str_radix(word, 16).ok()?;
        }
        rest = &rest[begin + end..];
    }
    let path = rest.strip_prefix(b" ").filter(|path| path.starts_with(b"/"))?;
    let is_reachable = columns[3] & LISTENING_FLAG != 0 || columns[4] == DATAGRAM_TYPE;
    is_reachable.then(|| PathBuf::from(OsString::from_vec(path.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sockets_that_answer_at_a_path_are_listed() {
        let table = b"Num       RefCount Protocol Flags    Type St Inode Path\n\
            0000000000000000: 00000002 00000000 00010000 0001 01  1234 /run/listens here.sock\n\
            0000000000000000: 00000003 00000000 00000000 0001 03  1235 /run/connected.sock\n\
            0000000000000000: 00000002 00000000 00000000 0002 01  1236 /run/datagrams\n\
            0000000000000000: 00000002 00000000 00010000 0001 01  1237 @abstract\n\
            0000000000000000: 00000002 00000000 00010000 0001 01  1238\n";
        let paths: Vec<_> = reachable_socket_paths(table).into_iter().collect();
        assert_eq!(paths, [PathBuf::from("/run/datagrams"), PathBuf::from("/run/listens here.sock")]);
    }
}
