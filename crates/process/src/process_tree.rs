//! The processes of one job, independent of how this machine identifies them.

use rustix::process::{Pid, Signal};
use std::io;
use std::process::Command;

/// A process of a job, identified uniquely even if its id is reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessIdentity {
    pub(crate) pid: Pid,
    /// Start time in ticks since boot; 0 if unknown.
    pub(crate) started: u64,
}

impl ProcessIdentity {
    pub(crate) fn sort_key(self) -> (i32, u64) {
        (self.pid.as_raw_pid(), self.started)
    }
}

/// The result of one scan of a job. If it is empty, no process of the job was left when the scan began.
#[derive(Debug, Default)]
pub(crate) struct ProcessScan {
    pub(crate) living: Vec<ProcessIdentity>,
    /// Processes that have ended and wait to be reaped.
    pub(crate) dead: Vec<ProcessIdentity>,
    /// True if there are processes that this user cannot see.
    pub(crate) hidden: bool,
}

impl ProcessScan {
    pub(crate) fn is_empty(&self) -> bool {
        self.living.is_empty() && self.dead.is_empty() && !self.hidden
    }
}

/// The processes of one job. No other process is ever touched.
pub(crate) trait ProcessTree {
    /// Starts the job's own process; called once.
    fn start(&mut self, command: &mut Command) -> io::Result<Pid>;

    /// Records that the job's own process has ended and was reaped.
    fn main_ended(&mut self);

    fn scan(&self) -> ProcessScan;

    /// Reaps a dead process, unless it is the job's own, which is reaped elsewhere.
    fn reap(&self, dead: ProcessIdentity);

    fn signal(&self, member: ProcessIdentity, signal: Signal);

    /// Returns the command line of one process, on one line.
    fn command(&self, member: ProcessIdentity) -> String;

    /// Kills at once whatever can be killed at once. May miss some processes.
    fn kill_now(&self);

    fn signal_all(&self, signal: Signal) {
        for member in self.scan().living {
            self.signal(member, signal);
        }
    }
}
