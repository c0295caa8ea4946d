//! Finds the Unix sockets that can be reached by a path, from `/proc/net/unix`.

#[cfg(target_os = "linux")]
use crate::ViewFailure;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
const SOCKET_TABLE: &str = "/proc/net/unix";

/// Set in the `Flags` column of a stream or packet socket on which somebody listens.
const LISTENING_FLAG: u32 = 0x0001_0000;

/// Type of a datagram socket: it never listens, and everybody who knows its path can send to it.
const DATAGRAM_TYPE: u32 = 2;

/// Digits of the address with which every row of the table begins, on machines of 32 and 64 bits.
const ADDRESS_DIGITS: [usize; 2] = [8, 16];

/// A socket that answers at a path.
#[derive(Debug, PartialEq, Eq)]
struct ListedSocket {
    inode: u64,
    /// As the program named it: relative to the directory in which it was then, or absolute.
    path: PathBuf,
}

/// Returns the paths at which sockets of this machine can be reached, without abstract ones.
#[cfg(target_os = "linux")]
pub(crate) fn reachable_sockets() -> Result<BTreeSet<PathBuf>, ViewFailure> {
    let table = Path::new(SOCKET_TABLE);
    let listed = listed_sockets(&std::fs::read(table).map_err(ViewFailure::at("read", table))?);
    let (absolute, relative): (Vec<_>, Vec<_>) =
        listed.into_iter().partition(|socket| socket.path.is_absolute());
    let mut paths: BTreeSet<PathBuf> = absolute.into_iter().map(|socket| socket.path).collect();
    if !relative.is_empty() {
        let names: BTreeMap<u64, PathBuf> =
            relative.into_iter().map(|socket| (socket.inode, socket.path)).collect();
        paths.extend(relative_sockets(&names));
    }
    Ok(paths)
}

/// Returns the paths of sockets that were bound by a relative name, from the working directories of the programs that
/// have them open.
#[cfg(target_os = "linux")]
fn relative_sockets(names: &BTreeMap<u64, PathBuf>) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    for process in processes.map(|entry| entry.path()) {
        // Processes of other users cannot be looked into.
        let Ok(directory) = std::fs::read_link(process.join("cwd")) else { continue };
        for descriptor in std::fs::read_dir(process.join("fd")).into_iter().flatten().flatten() {
            let Ok(target) = std::fs::read_link(descriptor.path()) else { continue };
            let name = socket_inode(&target).and_then(|inode| names.get(&inode));
            found.extend(name.map(|name| directory.join(name)));
        }
    }
    found
}

/// Parses `socket:[INODE]`.
fn socket_inode(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

fn listed_sockets(table: &[u8]) -> Vec<ListedSocket> {
    let mut rows: Vec<Vec<u8>> = Vec::new();
    for line in table.split(|byte| *byte == b'\n').skip(1) {
        match rows.last_mut() {
            // A path may have line breaks, and the kernel writes them as they are.
            Some(row) if !begins_row(line) => {
                row.push(b'\n');
                row.extend_from_slice(line);
            }
            _ => rows.push(line.to_vec()),
        }
    }
    // The line break that ends the table.
    if let Some(last) = rows.last_mut().filter(|row| row.ends_with(b"\n")) {
        last.pop();
    }
    rows.iter().filter_map(|row| listed_socket(row)).collect()
}

fn begins_row(line: &[u8]) -> bool {
    let n_digits = line.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    ADDRESS_DIGITS.contains(&n_digits) && line.get(n_digits) == Some(&b':')
}

/// Parses `NUM: REFCOUNT PROTOCOL FLAGS TYPE STATE INODE PATH`.
fn listed_socket(row: &[u8]) -> Option<ListedSocket> {
    let mut rest = row;
    let mut columns = [""; 7];
    for column in &mut columns {
        let begin = rest.iter().position(|byte| *byte != b' ')?;
        let end = rest[begin..].iter().position(|byte| *byte == b' ')?;
        *column = std::str::from_utf8(&rest[begin..begin + end]).ok()?;
        rest = &rest[begin + end..];
    }
    let path = rest.strip_prefix(b" ").filter(|path| !path.is_empty() && !path.starts_with(b"@"))?;
    let [flags, kind] = [columns[3], columns[4]].map(|column| u32::from_str_radix(column, 16).ok());
    let is_reachable = flags? & LISTENING_FLAG != 0 || kind? == DATAGRAM_TYPE;
    let inode = columns[6].parse().ok()?;
    is_reachable.then(|| ListedSocket { inode, path: PathBuf::from(OsString::from_vec(path.to_vec())) })
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
            0000000000000000: 00000002 00000000 00010000 0001 01  1238\n\
            0000000000000000: 00000002 00000000 00010000 0001 01  1239 /run/two\nlines\n\
            0000000000000000: 00000002 00000000 00010000 0001 01  1240 relative.sock\n";
        let paths: Vec<_> = listed_sockets(table).into_iter().map(|it| (it.inode, it.path)).collect();
        let expected = [
            (1234, "/run/listens here.sock"),
            (1236, "/run/datagrams"),
            (1239, "/run/two\nlines"),
            (1240, "relative.sock"),
        ];
        assert_eq!(paths, expected.map(|(inode, path)| (inode, PathBuf::from(path))));
    }

    #[test]
    fn a_descriptor_names_the_inode_of_its_socket() {
        assert_eq!(socket_inode(Path::new("socket:[1240]")), Some(1240));
        assert_eq!(socket_inode(Path::new("pipe:[1240]")), None);
    }
}
