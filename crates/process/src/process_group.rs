//! The processes of a job on systems without `/proc` and subreapers, where only its process group is known.
//!
//! Processes that leave the group are out of reach; `Containment` reports that.

use crate::process_tree::{ProcessIdentity, ProcessScan, ProcessTree};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::io;
use std::process::Command;

/// The process group of one job, treated as a single process.
#[derive(Default)]
pub(crate) struct ProcessGroup {
    leader: Option<Pid>,
}

impl ProcessTree for ProcessGroup {
    fn start(&mut self, command: &mut Command) -> io::Result<Pid> {
        let leader = Pid::from_child(&command.spawn()?);
        self.leader = Some(leader);
        Ok(leader)
    }

    fn main_ended(&mut self) {}

    /// Checks right before any signal is sent, because the id of an empty group can be reused.
    fn scan(&self) -> ProcessScan {
        let group = self.leader.filter(|&leader| test_kill_process_group(leader).is_ok());
        let living = group.map(|pid| ProcessIdentity { pid, started: 0 }).into_iter().collect();
        ProcessScan { living, ..ProcessScan::default() }
    }

    fn reap(&self, _: ProcessIdentity) {}

    fn signal(&self, group: ProcessIdentity, signal: Signal) {
        let _ = kill_process_group(group.pid, signal);
    }

    fn command(&self, _: ProcessIdentity) -> String {
        "(processes of this group)".to_owned()
    }

    fn kill_now(&self) {}
}
