//! The processes of one job, whatever means this machine has to know them.

use rustix::process::{Pid, Signal};
use std::io;
use std::process::Command;

/// A process of a job, named so that no later one can be taken for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) pid: Pid,
    /// In ticks since the machine started; 0 where it is not known.
    pub(crate) started: u64,
}

impl Member {
    /// What to sort and to compare by.
    pub(crate) fn key(self) -> (i32, u64) {
        (self.pid.as_raw_pid(), self.started)
    }
}

/// What one look at a job finds. If it finds nothing, no process of the job was left when the look began.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) living: Vec<Member>,
    /// Those that have ended and wait to be buried.
    pub(crate) dead: Vec<Member>,
    /// Whether there are processes that this user may not see.
    pub(crate) hidden: bool,
}

impl Look {
    pub(crate) fn is_empty(&self) -> bool {
        self.living.is_empty() && self.dead.is_empty() && !self.hidden
    }
}

/// The processes of one job. None but them is ever touched.
pub(crate) trait Tree {
    /// Starts the job's own process, once.
    fn start(&mut self, command: &mut Command) -> io::Result<Pid>;

    /// Learns that the job's own process has ended and that its status was read.
    fn main_ended(&mut self);

    /// Looks which processes there are.
    fn look(&self) -> Look;

    /// Lets a dead process vanish, unless it is the job's own, whose status is read elsewhere.
    fn bury(&self, dead: Member);

    /// Sends a signal to one process.
    fn signal(&self, member: Member, signal: Signal);

    /// The command line of one process, on one line.
    fn command(&self, member: Member) -> String;

    /// Ends at once what can be ended at once. It may miss some.
    fn strike(&self);

    /// Sends a signal to every process.
    fn signal_all(&self, signal: Signal) {
        for member in self.look().living {
            self.signal(member, signal);
        }
    }
}
