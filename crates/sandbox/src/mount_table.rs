//! Reads `/proc/self/mountinfo`. Pure: bytes in, rows out.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

/// A mounted file system.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MountEntry {
    pub(crate) mount_point: PathBuf,
    /// Options of this mount (not of its file system): `ro`, `nosuid`, `relatime`, …
    pub(crate) options: Vec<String>,
}

/// Parses the table; lines that are not rows of it are left out.
pub(crate) fn mount_entries(table: &[u8]) -> Vec<MountEntry> {
    table.split(|byte| *byte == b'\n').filter_map(mount_entry).collect()
}

/// Parses `36 35 98:0 /root /mount/point rw,noatime … - ext4 /dev/root rw`.
fn mount_entry(line: &[u8]) -> Option<MountEntry> {
    let mut fields = line.split(|byte| *byte == b' ');
    let mount_point = fields.nth(4)?;
    let options = fields.next()?;
    Some(MountEntry {
        mount_point: PathBuf::from(OsString::from_vec(unescape(mount_point))),
        options: String::from_utf8_lossy(options).split(',').map(str::to_owned).collect(),
    })
}

/// Replaces `\040` and the like: the kernel escapes space, tab, newline and backslash.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let escaped = after.get(..3).filter(|_| *first == b'\\').and_then(octal_byte);
        plain.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[3..] } else { after };
    }
    plain
}

fn octal_byte(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_with_their_escapes() {
        let table = b"22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/root rw\n\
                      30 22 0:25 / /mnt/a\\040b\\134c ro,nosuid,nodev - tmpfs tmpfs rw\n\nnonsense\n";
        let entries = mount_entries(table);
        let points: Vec<_> = entries.iter().map(|entry| entry.mount_point.to_str()).collect();
        assert_eq!(points, [Some("/"), Some("/mnt/a b\\c")]);
        assert_eq!(entries[1].options, ["ro", "nosuid", "nodev"]);
    }

    #[test]
    fn a_backslash_without_digits_stays() {
        assert_eq!(unescape(b"a\\9\\"), b"a\\9\\");
    }
}
