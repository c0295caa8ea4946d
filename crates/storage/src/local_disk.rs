//! Refuses directories on network file systems. An embedded database needs memory shared by all of its processes and
//! locks that all of them see; a network file system provides neither.

use crate::StoreError;
use std::path::Path;

/// Network file systems by the kernel's magic number.
const NETWORK_FILESYSTEMS: &[(u64, &str)] = &[
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x786f_4256, "VirtualBox share"),
];
/// File systems in user space; only the subtype says what they are.
const FUSE_MAGIC: u64 = 0x6573_5546;
/// Subtypes of FUSE that other machines can reach too.
const NETWORK_FUSE_SUBTYPES: &[&str] =
    &["fuse.sshfs", "fuse.glusterfs", "fuse.s3fs", "fuse.rclone", "fuse.ceph", "fuse.nfs", "virtiofs"];

pub(crate) fn check(directory: &Path) -> Result<(), StoreError> {
    let facts = rustix::fs::statfs(directory)
        .map_err(|error| StoreError::Io { path: directory.to_owned(), source: error.into() })?;
    // The type of `f_type` differs between machines; only its low 32 bits matter.
    let magic = u64::from_ne_bytes(facts.f_type.to_ne_bytes()) & 0xffff_ffff;
    let mounts = || std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    match network_kind(magic, || mount_type(&mounts(), directory)) {
        Some(kind) => Err(StoreError::Network { path: directory.to_owned(), kind }),
        None => Ok(()),
    }
}

fn network_kind(magic: u64, mount_type: impl FnOnce() -> Option<String>) -> Option<String> {
    if magic == FUSE_MAGIC {
        return mount_type().filter(|kind| NETWORK_FUSE_SUBTYPES.contains(&kind.as_str()));
    }
    NETWORK_FILESYSTEMS.iter().find(|(number, _)| *number == magic).map(|(_, name)| (*name).to_owned())
}

/// Returns the type of the innermost mount that contains the directory, from the kernel's mount list.
fn mount_type(mounts: &str, directory: &Path) -> Option<String> {
    let parse = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let point = before.split(' ').nth(4)?.replace("\\040", " ");
        directory.starts_with(&point).then(|| (point.len(), after.split(' ').next().map(str::to_owned)))
    };
    mounts.lines().filter_map(parse).max_by_key(|(length, _)| *length)?.1
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
40 22 0:40 / /home/a\\040b rw shared:2 - fuse.sshfs me@there: rw
41 22 0:41 / /home/local rw shared:3 - fuse.fuse-overlayfs fuse-overlayfs rw";

    #[test]
    fn knows_a_share_from_a_disk() {
        assert_eq!(network_kind(0x6969, || None).as_deref(), Some("NFS"));
        assert_eq!(network_kind(0xef53, || None), None);
    }

    #[test]
    fn a_file_system_in_user_space_is_judged_by_its_subtype() {
        let kind = |directory: &str| network_kind(FUSE_MAGIC, || mount_type(MOUNTS, Path::new(directory)));
        assert_eq!(kind("/home/a b/state").as_deref(), Some("fuse.sshfs"));
        assert_eq!(kind("/home/local/state"), None);
    }
}
