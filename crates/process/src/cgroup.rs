//! A control group (version 2) for jobs: the kernel kills everything in it at once, however fast it forks.
//!
//! A new process starts in the group of its parent. This process therefore enters the group, starts the job and leaves
//! again, so that no process of the job is ever outside. Where the system does not allow that, jobs are held by the
//! other means alone, and `Containment` reports why. Whether it is allowed shows when the first job starts: entering a
//! group costs milliseconds, so it is not tried beforehand.

use crate::helper_processes;
use rustix::io::Errno;
use rustix::process::{Pid, getpid, test_kill_process};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Prefix of group names; the id of the process that created the group follows.
const CGROUP_NAME_PREFIX: &str = "probity-";

/// Distinguishes the groups of one process.
static NEXT_CGROUP_NUMBER: AtomicU32 = AtomicU32::new(0);

/// A control group created by this process, removed when dropped.
#[derive(Debug)]
pub(crate) struct Cgroup {
    home: PathBuf,
    directory: PathBuf,
    /// The error of the first job that could not be started inside.
    refusal: OnceLock<String>,
}

impl Cgroup {
    /// Creates a group below the current one, or returns the reason there is none.
    pub(crate) fn new() -> Result<Self, String> {
        let _nobody_moves = helper_processes::helpers();
        let home = own_folder().ok_or("there is no control group of version 2")?;
        remove_stale(&home);
        let number = NEXT_CGROUP_NUMBER.fetch_add(1, Ordering::Relaxed);
        let directory = home.join(format!("{CGROUP_NAME_PREFIX}{}-{number}", getpid()));
        fs::create_dir(&directory).map_err(|error| format!("no control group can be made ({error})"))?;
        let cgroup = Self { home, directory, refusal: OnceLock::new() };
        if !cgroup.directory.join("cgroup.kill").exists() {
            return Err("this kernel cannot end a control group at once".to_owned());
        }
        Ok(cgroup)
    }

    /// Returns the reason the group holds no job, if one could not be started inside.
    pub(crate) fn refusal(&self) -> Option<&str> {
        self.refusal.get().map(String::as_str)
    }

    /// Starts a process inside the group; if this process may not enter it, outside. The caller must keep other processes
    /// from starting meanwhile.
    pub(crate) fn start_inside<T>(&self, start: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        if let Err(error) = self.enter() {
            let why = format!("this process may not change its control group ({error})");
            let _ = self.refusal.set(why);
            return start();
        }
        let started = start();
        // If this fails, `kill` notices.
        let _ = self.leave();
        started
    }

    /// Kills all processes in the group, unless this process is stuck in it.
    pub(crate) fn kill(&self) {
        let _nobody_moves = helper_processes::helpers();
        if own_folder().is_some_and(|directory| directory == self.home) {
            let _ = fs::write(self.directory.join("cgroup.kill"), "1");
        }
    }

    /// Enters the group, creating it again if it was removed while empty.
    fn enter(&self) -> io::Result<()> {
        let _ = fs::create_dir(&self.directory);
        join(&self.directory)
    }

    fn leave(&self) -> io::Result<()> {
        join(&self.home)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // A group that still has a process stays; the machine's owner can recognize it by its name.
        let _ = fs::remove_dir(&self.directory);
    }
}

fn join(directory: &Path) -> io::Result<()> {
    tracing::trace!(target: "probity::work", cgroup_migrations = 1_u64);
    fs::write(directory.join("cgroup.procs"), "0")
}

/// Removes the groups of processes that were killed before they could do so. A group in use cannot be removed.
fn remove_stale(home: &Path) {
    let Ok(entries) = fs::read_dir(home) else { return };
    for entry in entries.flatten() {
        if maker_of(&entry.file_name()).is_some_and(|maker| test_kill_process(maker) == Err(Errno::SRCH)) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn maker_of(name: &OsStr) -> Option<Pid> {
    let (maker, _) = name.to_str()?.strip_prefix(CGROUP_NAME_PREFIX)?.split_once('-')?;
    Pid::from_raw(maker.parse().ok()?)
}

/// Returns the directory of the group that this process is in.
fn own_folder() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    folder_in(&mounts, &groups)
}

/// Combines the mount point of control groups with the path of this process among them.
fn folder_in(mounts: &str, groups: &str) -> Option<PathBuf> {
    let place = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let (root, mount_point) = mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let fields: Vec<&str> = left.split(' ').collect();
        right.starts_with("cgroup2 ").then_some((*fields.get(3)?, *fields.get(4)?))
    })?;
    let below = Path::new(place).strip_prefix(root).ok()?;
    Some(Path::new(mount_point).join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "24 1 0:22 / /proc rw - proc proc rw\n\
        41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

    #[test]
    fn finds_the_folder_of_its_group() {
        let directory = folder_in(MOUNTS, "1:cpu:/x\n0::/user.slice/a b.scope\n").unwrap();
        assert_eq!(directory, Path::new("/sys/fs/cgroup/user.slice/a b.scope"));
    }

    #[test]
    fn a_mount_that_shows_only_a_part_is_understood() {
        let mounts = MOUNTS.replace("0:38 / ", "0:38 /pod ");
        assert_eq!(folder_in(&mounts, "0::/pod/x\n").unwrap(), Path::new("/sys/fs/cgroup/x"));
        assert_eq!(folder_in(&mounts, "0::/elsewhere\n"), None);
    }

    #[test]
    fn the_maker_of_a_group_is_in_its_name() {
        assert_eq!(maker_of(OsStr::new("probity-17-3")), Pid::from_raw(17));
        for other in ["probity-", "probity-x-1", "probity-0-1", "probity--1-1", "user-17-3", "probity-17"] {
            assert_eq!(maker_of(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn without_version_2_there_is_none() {
        assert_eq!(folder_in(MOUNTS, "1:cpu:/x\n"), None);
        assert_eq!(folder_in("", "0::/\n"), None);
    }
}
