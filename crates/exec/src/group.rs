//! The processes of a job where only its process group is known: on systems without `/proc` and subreapers.
//!
//! Processes that leave the group are out of reach; `Containment` says so.

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// The process group of one job.
pub(crate) struct Group {
    leader: Option<Pid>,
}

impl Group {
    pub(crate) const fn before_start() -> Self {
        Self { leader: None }
    }

    pub(crate) fn main_started(&mut self, main: Pid) {
        self.leader = Some(main);
    }

    /// The group, if a process is left in it.
    pub(crate) fn living(&self) -> Option<Pid> {
        self.leader.filter(|&leader| test_kill_process_group(leader).is_ok())
    }

    pub(crate) fn signal(group: Pid, signal: Signal) {
        let _ = kill_process_group(group, signal);
    }
}
