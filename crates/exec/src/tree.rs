//! The processes of one job, found by whatever means this machine has.

#[cfg(target_os = "linux")]
use crate::descendants::{Descendants, is_childless};
use crate::group::Group;
#[cfg(target_os = "linux")]
use crate::process::Identity;
use rustix::process::{Pid, Signal};

/// The processes of one job.
pub(crate) enum Tree {
    /// All descendants.
    #[cfg(target_os = "linux")]
    Descendants(Descendants),
    /// The process group only.
    Group(Group),
}

/// What is known of a job's processes at one look: a process, or that its group is not empty.
#[derive(Clone, Copy)]
pub(crate) enum Member {
    #[cfg(target_os = "linux")]
    Process(Identity),
    Group(Pid),
}

impl Tree {
    /// Prepares to know the processes of a job that is about to start.
    pub(crate) fn before_start(subreaper: bool) -> Self {
        match subreaper {
            #[cfg(target_os = "linux")]
            true => Self::Descendants(Descendants::before_start()),
            _ => Self::Group(Group::before_start()),
        }
    }

    pub(crate) fn main_started(&mut self, main: Pid) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descendants(descendants) => descendants.main_started(main),
            Self::Group(group) => group.main_started(main),
        }
    }

    /// The job's own process has ended and its status was read.
    pub(crate) fn main_ended(&mut self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descendants(descendants) => descendants.main_ended(),
            Self::Group(_) => {}
        }
    }

    /// The processes that run now.
    pub(crate) fn living(&self) -> Vec<Member> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descendants(descendants) => descendants.living().into_iter().map(Member::Process).collect(),
            Self::Group(group) => group.living().map(Member::Group).into_iter().collect(),
        }
    }

    /// Whether it is beyond doubt that no process is left.
    pub(crate) fn is_surely_empty(&self) -> bool {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descendants(_) => is_childless(),
            Self::Group(group) => group.living().is_none(),
        }
    }

    /// Ends what can be ended at once. Call it again and again: it may miss some.
    pub(crate) fn strike(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Descendants(descendants) => descendants.strike(),
            Self::Group(_) => {}
        }
    }

    /// Sends a signal to every process.
    pub(crate) fn signal(&self, signal: Signal) {
        for member in self.living() {
            member.signal(signal);
        }
    }
}

impl Member {
    pub(crate) fn signal(self, signal: Signal) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(identity) => identity.signal(signal),
            Self::Group(group) => Group::signal(group, signal),
        }
    }

    /// Process id and start time: what tells it from all others.
    pub(crate) fn key(self) -> (i32, u64) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(identity) => identity.key(),
            Self::Group(group) => (group.as_raw_pid(), 0),
        }
    }

    pub(crate) fn command(self) -> String {
        match self {
            #[cfg(target_os = "linux")]
            Self::Process(identity) => identity.command(),
            Self::Group(_) => "(processes of this group)".to_owned(),
        }
    }
}
