//! The few system calls that snapshots need, each relative to a directory handle and never following a link.
//!
//! On Linux metadata comes from `statx`, which also reports the mount; elsewhere (and where `statx` is missing) from
//! `fstatat`, which does not. Nothing above this module knows the difference except through [`EntryStat::mount`].

use crate::entry_record::{DirectoryRecord, EntryStat, SnapshotEntryKind};
use crate::walk_selection::SelectedNames;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};

/// One name of a directory listing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListedName {
    /// Offset of the name in the listing's bytes.
    pub(crate) offset: u32,
    pub(crate) len: u16,
    /// The type given by the listing, if any.
    pub(crate) kind: Option<SnapshotEntryKind>,
}

/// The names of one directory without `.` and `..`, sorted by their bytes.
#[derive(Debug, Default)]
pub(crate) struct DirectoryNames {
    pub(crate) bytes: Vec<u8>,
    pub(crate) listed: Vec<ListedName>,
}

impl DirectoryNames {
    /// Adds a name; fails if the directory is too large to represent.
    fn push(&mut self, name: &[u8], kind: FileType) -> Result<()> {
        if matches!(name, b"." | b"..") {
            return Ok(());
        }
        let offset = u32::try_from(self.bytes.len()).map_err(|_| Errno::OVERFLOW)?;
        let len = u16::try_from(name.len()).map_err(|_| Errno::NAMETOOLONG)?;
        self.bytes.extend_from_slice(name);
        self.listed.push(ListedName { offset, len, kind: listed_kind(kind) });
        Ok(())
    }

    /// Returns the names that an earlier snapshot has of a directory.
    pub(crate) fn of_known(dir: &DirectoryRecord) -> Self {
        let listed = dir.records.iter().map(|record| ListedName {
            offset: record.name.0,
            len: record.name.1,
            kind: Some(record.held.kind()),
        });
        Self { bytes: dir.names.to_vec(), listed: listed.collect() }
    }

    pub(crate) fn name(&self, listed: ListedName) -> &[u8] {
        &self.bytes[listed.offset as usize..][..usize::from(listed.len)]
    }

    /// Removes the given names.
    pub(crate) fn leave_out(&mut self, left_out: &[Vec<u8>]) {
        let bytes = std::mem::take(&mut self.bytes);
        let name = |listed: &ListedName| &bytes[listed.offset as usize..][..usize::from(listed.len)];
        self.listed.retain(|listed| !left_out.iter().any(|out| out == name(listed)));
        self.bytes = bytes;
    }

    /// Removes all names but the selected ones.
    pub(crate) fn keep(&mut self, selected: &SelectedNames) {
        let bytes = std::mem::take(&mut self.bytes);
        let name = |listed: &ListedName| &bytes[listed.offset as usize..][..usize::from(listed.len)];
        self.listed.retain(|listed| selected.contains_key(name(listed)));
        self.bytes = bytes;
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.listed
            .sort_unstable_by_key(|listed| &bytes[listed.offset as usize..][..usize::from(listed.len)]);
    }
}

/// Opens the directory `name` below `dir`; fails if it is a link or not a directory.
pub(crate) fn open_dir(dir: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

/// Opens the file `name` below `dir` for reading; fails if it is a link, and never waits for a pipe's other end.
pub(crate) fn open_file(dir: impl AsFd, name: &[u8]) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

/// Reads the metadata of `name` below `dir` itself, not of a link's target.
pub(crate) fn stat_at(dir: impl AsFd, name: &[u8]) -> Result<EntryStat> {
    stat(dir.as_fd(), Some(name))
}

/// Reads the metadata of an open file.
pub(crate) fn stat_fd(fd: impl AsFd) -> Result<EntryStat> {
    stat(fd.as_fd(), None)
}

/// Reads the target of the link `name` below `dir`.
pub(crate) fn read_link(dir: impl AsFd, name: &[u8]) -> Result<Vec<u8>> {
    Ok(rustix::fs::readlinkat(dir, name, Vec::new())?.into_bytes())
}

/// Reads the metadata of `name` below a directory, or of the open handle itself.
#[cfg(target_os = "linux")]
fn stat(fd: BorrowedFd<'_>, name: Option<&[u8]>) -> Result<EntryStat> {
    use rustix::fs::StatxFlags;
    let flags = if name.is_some() { AtFlags::SYMLINK_NOFOLLOW } else { AtFlags::EMPTY_PATH };
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID | StatxFlags::BTIME;
    let found = match rustix::fs::statx(fd, name.unwrap_or_default(), flags | AtFlags::NO_AUTOMOUNT, wanted) {
        Err(Errno::NOSYS) => return portable::stat(fd, name),
        found => found?,
    };
    let pair = |major: u32, minor: u32| u64::from(major) << 32 | u64::from(minor);
    Ok(EntryStat {
        kind: kind(FileType::from_raw_mode(found.stx_mode.into())),
        mode: found.stx_mode & 0o7777,
        links: found.stx_nlink,
        device: pair(found.stx_dev_major, found.stx_dev_minor),
        inode: found.stx_ino,
        size: found.stx_size,
        mtime_ns: nanoseconds(found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
        ctime_ns: nanoseconds(found.stx_ctime.tv_sec, found.stx_ctime.tv_nsec),
        special: pair(found.stx_rdev_major, found.stx_rdev_minor),
        mount: (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id),
        born_ns: nanoseconds(found.stx_btime.tv_sec, found.stx_btime.tv_nsec),
    })
}

#[cfg(not(target_os = "linux"))]
use portable::stat;

/// Lists a directory again from its beginning.
#[cfg(target_os = "linux")]
pub(crate) fn list_again(dir: &OwnedFd, buffer: &mut Vec<u8>) -> Result<DirectoryNames> {
    rustix::fs::seek(dir, rustix::fs::SeekFrom::Start(0))?;
    list(dir, buffer)
}

/// Lists a directory that was just opened.
#[cfg(target_os = "linux")]
pub(crate) fn list(dir: &OwnedFd, buffer: &mut Vec<u8>) -> Result<DirectoryNames> {
    use rustix::fs::RawDir;
    let mut names = DirectoryNames::default();
    buffer.clear();
    let mut entries = RawDir::new(dir, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        names.push(entry.file_name().to_bytes(), entry.file_type())?;
    }
    names.sort();
    Ok(names)
}

#[cfg(not(target_os = "linux"))]
pub(crate) use list as list_again;

#[cfg(not(target_os = "linux"))]
pub(crate) fn list(dir: &OwnedFd, _buffer: &mut Vec<u8>) -> Result<DirectoryNames> {
    portable::list(dir)
}

/// Implementations that work on every Unix.
#[cfg_attr(target_os = "linux", allow(dead_code, reason = "on Linux only the tests call `list`"))]
mod portable {
    use super::{
        AtFlags, BorrowedFd, DirectoryNames, EntryStat, FileType, OwnedFd, Result, kind, nanoseconds,
    };

    #[allow(
        clippy::unnecessary_cast,
        clippy::cast_lossless,
        clippy::cast_sign_loss,
        clippy::cast_possible_truncation,
        reason = "the fields of `stat` have other types on other systems"
    )]
    pub(super) fn stat(fd: BorrowedFd<'_>, name: Option<&[u8]>) -> Result<EntryStat> {
        let found = match name {
            Some(name) => rustix::fs::statat(fd, name, AtFlags::SYMLINK_NOFOLLOW)?,
            None => rustix::fs::fstat(fd)?,
        };
        Ok(EntryStat {
            kind: kind(FileType::from_raw_mode(found.st_mode as _)),
            mode: found.st_mode as u16 & 0o7777,
            links: found.st_nlink as u32,
            device: found.st_dev as u64,
            inode: found.st_ino as u64,
            size: found.st_size as u64,
            mtime_ns: nanoseconds(found.st_mtime as i64, found.st_mtime_nsec as u32),
            ctime_ns: nanoseconds(found.st_ctime as i64, found.st_ctime_nsec as u32),
            special: found.st_rdev as u64,
            mount: None,
            born_ns: 0,
        })
    }

    pub(super) fn list(dir: &OwnedFd) -> Result<DirectoryNames> {
        let mut names = DirectoryNames::default();
        for entry in rustix::fs::Dir::read_from(dir)? {
            let entry = entry?;
            names.push(entry.file_name().to_bytes(), entry.file_type())?;
        }
        names.sort();
        Ok(names)
    }
}

/// Returns a time in nanoseconds since 1970, saturating outside 1678 to 2262. A time too large lies after the start of
/// every snapshot, so such an entry is never taken from a cache.
fn nanoseconds(seconds: i64, nanoseconds: u32) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds.into())
}

fn listed_kind(kind: FileType) -> Option<SnapshotEntryKind> {
    match kind {
        FileType::Unknown => None,
        known => Some(self::kind(known)),
    }
}

/// Converts a file type. Unknown types become devices, because reading them is not safe.
fn kind(kind: FileType) -> SnapshotEntryKind {
    match kind {
        FileType::RegularFile => SnapshotEntryKind::File,
        FileType::Directory => SnapshotEntryKind::Directory,
        FileType::Symlink => SnapshotEntryKind::Symlink,
        FileType::Fifo => SnapshotEntryKind::Fifo,
        FileType::Socket => SnapshotEntryKind::Socket,
        FileType::BlockDevice => SnapshotEntryKind::BlockDevice,
        FileType::CharacterDevice | FileType::Unknown => SnapshotEntryKind::CharDevice,
    }
}

/// Returns true if every write shows in the times of a file. In memory and over a network it need not: a write through
/// a memory map of a file on tmpfs changes neither time, and servers keep their own.
#[cfg(target_os = "linux")]
pub(crate) fn times_tell(dir: &OwnedFd) -> bool {
    /// tmpfs, ramfs, FUSE, NFS, SMB (two kinds), 9p and Ceph.
    const UNRELIABLE_TIME_FILESYSTEMS: [rustix::fs::FsWord; 8] =
        [0x0102_1994, 0x8584_58f6, 0x6573_5546, 0x6969, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x00c3_6400];
    rustix::fs::fstatfs(dir).is_ok_and(|facts| !UNRELIABLE_TIME_FILESYSTEMS.contains(&facts.f_type))
}

/// Other systems have no file system numbers to compare.
#[cfg(not(target_os = "linux"))]
pub(crate) fn times_tell(_dir: &OwnedFd) -> bool {
    true
}

/// Returns true if the file system is known to change the ctime of whatever is written, linked or renamed.
#[cfg(target_os = "linux")]
pub(crate) fn renames_are_stamped(dir: &OwnedFd) -> bool {
    /// ext2 to ext4, XFS, Btrfs and F2FS.
    const STAMPING_FILESYSTEMS: [rustix::fs::FsWord; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010];
    rustix::fs::fstatfs(dir).is_ok_and(|facts| STAMPING_FILESYSTEMS.contains(&facts.f_type))
}

/// Nothing is known of the file systems of other systems.
#[cfg(not(target_os = "linux"))]
pub(crate) fn renames_are_stamped(_dir: &OwnedFd) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::CWD;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn what_every_unix_has_tells_the_same_as_what_linux_has() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path();
        std::fs::write(path.join("file"), "f").expect("written");
        std::fs::create_dir(path.join("dir")).expect("made");
        std::os::unix::fs::symlink("file", path.join("link")).expect("linked");
        let dir = open_dir(CWD, path.as_os_str().as_bytes()).expect("opened");
        let names = list(&dir, &mut Vec::with_capacity(4096)).expect("listed");
        let portably = portable::list(&dir).expect("listed");
        let show = |names: &DirectoryNames| -> Vec<_> {
            names.listed.iter().map(|&listed| (names.name(listed).to_vec(), listed.kind)).collect()
        };
        assert_eq!(show(&names), show(&portably));
        assert_eq!(names.listed.len(), 3);
        for &listed in &names.listed {
            let name = names.name(listed);
            let portably = portable::stat(dir.as_fd(), Some(name)).expect("seen");
            let linux = stat_at(&dir, name).expect("seen");
            // Devices are numbered differently; mounts and creation times are not reported at all.
            let common = EntryStat { device: portably.device, mount: None, born_ns: 0, ..linux };
            assert_eq!(portably, common);
        }
    }

    #[test]
    fn a_time_that_does_not_fit_becomes_the_nearest_that_does() {
        assert_eq!(nanoseconds(1, 5), 1_000_000_005);
        assert_eq!(nanoseconds(i64::MAX, 0), i64::MAX);
        assert_eq!(nanoseconds(i64::MIN, 0), i64::MIN);
    }
}
