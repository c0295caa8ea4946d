//! Decides whether a process descends from another, although process ids are reused.
//!
//! A process id names one process only as long as that process is not reaped, and anyone may stop this process between two
//! of its steps until an id has gone round. Each process on the way up is therefore held by a handle, and a parent counts
//! only if it still was the parent after its handle was opened.

use crate::process_entry;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Longer chains do not occur.
const MAX_ANCESTORS: usize = 4096;
/// Attempts to catch a parent that does not change between two readings.
const MAX_PARENT_READINGS: usize = 16;

/// The position of a process relative to a possible ancestor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessAncestry {
    /// It is that process or descends from it.
    Inside,
    /// All its ancestors are known, and that process is not among them.
    Outside,
    /// It ended, or one of its ancestors cannot be seen.
    Unknown,
}

/// One process, held by a handle: a process that gets the same id later is another one.
#[derive(Debug)]
pub struct HeldProcess {
    pid: Pid,
    handle: OwnedFd,
}

enum ParentProcess {
    Known(HeldProcess),
    /// It is the first process, or its parent is outside this container.
    None,
    Unknown,
}

impl HeldProcess {
    /// Takes hold of the process that has this id now; `None` if there is none, or the system has no such handles.
    pub fn open(pid: Pid) -> Option<Self> {
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        Some(Self { pid, handle })
    }

    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Returns whether the process has not ended. While that is true, its id names no other process.
    pub fn is_alive(&self) -> bool {
        let mut ended = [PollFd::new(&self.handle, PollFlags::IN)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut ended, Some(&at_once)).is_ok_and(|n_ended| n_ended == 0)
    }

    /// Returns whether this process descends from `ancestor`, which must be alive: this process or one it knows to run.
    ///
    /// The ancestor must be the subreaper of its descendants. Then a process that loses its parent stays below it, and
    /// the answer holds for as long as both live.
    pub fn ancestry(&self, ancestor: Pid) -> ProcessAncestry {
        let mut above: Option<Self> = None;
        for _ in 0..MAX_ANCESTORS {
            let process = above.as_ref().unwrap_or(self);
            if process.pid == ancestor {
                return if process.is_alive() { ProcessAncestry::Inside } else { ProcessAncestry::Unknown };
            }
            match process.parent() {
                ParentProcess::Known(parent) => above = Some(parent),
                ParentProcess::None => return ProcessAncestry::Outside,
                ParentProcess::Unknown => return ProcessAncestry::Unknown,
            }
        }
        ProcessAncestry::Unknown
    }

    fn parent(&self) -> ParentProcess {
        for _ in 0..MAX_PARENT_READINGS {
            let Some(id) = self.parent_id() else { return ParentProcess::Unknown };
            let Some(parent) = Pid::from_raw(id) else { return ParentProcess::None };
            let held = Self::open(parent);
            // Read again with the handle open: if the id is the same and its holder alive, the handle is the parent's.
            match held.filter(|held| self.parent_id() == Some(id) && held.is_alive()) {
                Some(held) => return ParentProcess::Known(held),
                // It ended meanwhile, and another process has adopted this one.
                None if self.parent_id() != Some(id) => {}
                None => return ParentProcess::Unknown,
            }
        }
        ParentProcess::Unknown
    }

    /// Reads the id of the parent, 0 for none; `None` if this process has ended or is hidden.
    fn parent_id(&self) -> Option<i32> {
        let parent = process_entry::parent_id(self.pid)?;
        self.is_alive().then_some(parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::process::getpid;
    use std::process::Command;

    fn sleeper() -> std::process::Child {
        Command::new("sleep").arg("3600").spawn().expect("starts")
    }

    #[test]
    fn a_child_is_inside_and_its_parent_outside() {
        let mut child = sleeper();
        let pid = Pid::from_child(&child);
        assert_eq!(HeldProcess::open(pid).expect("runs").ancestry(getpid()), ProcessAncestry::Inside);
        assert_eq!(HeldProcess::open(getpid()).expect("runs").ancestry(pid), ProcessAncestry::Outside);
        child.kill().expect("is killed");
        child.wait().expect("ends");
    }

    #[test]
    fn nothing_is_known_of_a_process_that_has_ended() {
        let mut child = sleeper();
        let held = HeldProcess::open(Pid::from_child(&child)).expect("runs");
        assert!(held.is_alive());
        child.kill().expect("is killed");
        child.wait().expect("ends");
        assert!(!held.is_alive());
        assert_eq!(held.ancestry(getpid()), ProcessAncestry::Unknown);
    }

    #[test]
    fn an_id_that_nobody_has_cannot_be_held() {
        assert!(HeldProcess::open(Pid::from_raw(i32::MAX).expect("is an id")).is_none());
    }
}
