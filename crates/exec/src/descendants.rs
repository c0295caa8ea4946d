//! The processes of a job on Linux: all that descends from it, wherever it went.
//!
//! This process is a subreaper, so whatever leaves its parents (a daemon, a session of its own) becomes a child of this
//! process. A job's processes are therefore all descendants of this process, less the children that were there before
//! the job and the helpers. Nothing else is ever signalled.

use crate::children;
use crate::process::{self, Identity, Process};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, waitid};
use std::collections::BTreeSet;
use std::fs;

/// The processes of one job.
pub(crate) struct Descendants {
    me: Pid,
    main: Option<Pid>,
    /// Process ids and start times.
    before: BTreeSet<(i32, u64)>,
}

impl Descendants {
    /// Notes which children are there before the job starts.
    pub(crate) fn before_start() -> Self {
        let me = getpid();
        let children = process::all().into_iter().filter(|process| process.parent == me.as_raw_pid());
        Self { me, main: None, before: children.map(|child| child.identity.key()).collect() }
    }

    pub(crate) fn main_started(&mut self, main: Pid) {
        self.main = Some(main);
    }

    pub(crate) fn main_ended(&mut self) {
        self.main = None;
    }

    /// The processes of the job that run now; those that have ended are laid to rest, but for the job's own process.
    pub(crate) fn living(&self) -> Vec<Identity> {
        let helpers = children::helpers();
        let all = process::all();
        let is_ours = |child: &Process| {
            child.parent == self.me.as_raw_pid()
                && !helpers.contains(&child.identity.pid.as_raw_pid().cast_unsigned())
                && !self.before.contains(&child.identity.key())
        };
        let roots: Vec<Process> = all.iter().copied().filter(is_ours).collect();
        for root in roots.iter().filter(|root| !root.runs && self.main != Some(root.identity.pid)) {
            lay_to_rest(root.identity.pid);
        }
        let family = with_descendants(roots, &all);
        family.into_iter().filter(|process| process.runs).map(|process| process.identity).collect()
    }

    /// Ends the job's processes that are children of this process now, without looking at any other. Quick enough to
    /// catch one that forks and leaves at once.
    pub(crate) fn strike(&self) {
        let helpers = children::helpers();
        let before = |child: Pid| self.before.iter().any(|(pid, _)| *pid == child.as_raw_pid());
        for child in children_of_me() {
            if !before(child) && !helpers.contains(&child.as_raw_pid().cast_unsigned()) {
                // A child keeps its id until it is laid to rest, so this can hit no other.
                let _ = kill_process(child, Signal::KILL);
                if self.main != Some(child) {
                    lay_to_rest(child);
                }
            }
        }
    }
}

/// Adds all processes whose parents are in the set, generation by generation.
fn with_descendants(mut family: Vec<Process>, all: &[Process]) -> Vec<Process> {
    let mut next = 0;
    let mut known: BTreeSet<_> = family.iter().map(|process| process.identity.key()).collect();
    while let Some(parent) = family.get(next).map(|process| process.identity.pid.as_raw_pid()) {
        let children = all.iter().filter(|process| process.parent == parent);
        family.extend(children.filter(|child| known.insert(child.identity.key())));
        next += 1;
    }
    family
}

fn lay_to_rest(child: Pid) {
    let _ = waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
}

/// Whether the kernel knows no child of this process at all: then no process of a job can be left. One look at all
/// processes cannot tell that, since processes come and go while it looks.
pub(crate) fn is_childless() -> bool {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, peek), Err(Errno::CHILD))
}

/// The children of every thread of this process, as the kernel lists them; none where it does not.
fn children_of_me() -> Vec<Pid> {
    let Ok(threads) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let pids =
        lists.flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>());
    pids.filter_map(Pid::from_raw).collect()
}
