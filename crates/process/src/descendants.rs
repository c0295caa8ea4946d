//! Finds the processes of a job on Linux: all its descendants, wherever they went.
//!
//! This process is a subreaper, so anything that leaves its parent (a daemon, a session of its own) becomes a child of
//! this process. A job's processes are therefore all descendants of this process, except children that existed before
//! the job and helpers. Nothing else is ever signaled.
//!
//! Scanning all processes takes time, and processes come and go meanwhile. But a child of this process stays visible,
//! dead or alive, until it is reaped here, and every process of a job descends from such a child. A scan that finds no
//! child of the job, not even a dead one, therefore proves that no process of the job was left when the scan began.

use crate::cgroup::Cgroup;
use crate::helper_processes;
use crate::process_entry::{self, ProcessEntry};
use crate::process_tree::{ProcessIdentity, ProcessScan, ProcessTree};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, waitid};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::Command;

/// Number of processes that one round of a strike checks.
const PROCESSES_PER_STRIKE: usize = 16;
/// Maximum rounds of one strike.
const ROUNDS_PER_STRIKE: usize = 50;

/// The processes of one job.
pub(crate) struct DescendantProcesses<'a> {
    me: Pid,
    main: Option<Pid>,
    /// Process ids and start times of the children that existed before the job.
    before: BTreeSet<(i32, u64)>,
    cgroup: Option<&'a Cgroup>,
}

impl<'a> DescendantProcesses<'a> {
    /// Records the existing children before the job starts.
    pub(crate) fn before_start(cgroup: Option<&'a Cgroup>) -> Self {
        let me = getpid();
        let mut before = BTreeSet::new();
        if !is_childless() {
            let children = process_entry::all_processes().into_iter();
            let children = children.filter(|process| process.parent == me.as_raw_pid());
            before.extend(children.map(|child| child.member.sort_key()));
        }
        Self { me, main: None, before, cgroup }
    }

    /// Kills a child of this process. Its id is not reused until it is reaped, so this cannot hit another process.
    fn end_child(&self, child: ProcessIdentity) {
        let _ = kill_process(child.pid, Signal::KILL);
        self.reap(child);
    }

    /// Returns true if the process is a child of this process that came from the job.
    fn is_of_job(&self, child: &ProcessEntry, helpers: &BTreeSet<u32>) -> bool {
        child.parent == self.me.as_raw_pid()
            && !helpers.contains(&child.member.pid.as_raw_pid().cast_unsigned())
            && !self.before.contains(&child.member.sort_key())
    }
}

impl ProcessTree for DescendantProcesses<'_> {
    fn start(&mut self, command: &mut Command) -> io::Result<Pid> {
        // No helper may start while this process is in the job's control group.
        let _nobody_else = helper_processes::helpers();
        let child = match self.cgroup {
            Some(cgroup) => cgroup.start_inside(|| command.spawn())?,
            None => command.spawn()?,
        };
        let main = Pid::from_child(&child);
        self.main = Some(main);
        Ok(main)
    }

    fn main_ended(&mut self) {
        self.main = None;
    }

    fn scan(&self) -> ProcessScan {
        // The usual end of a job: one system call proves that nothing is left, whatever else runs on the machine.
        if is_childless() {
            return ProcessScan::default();
        }
        let helpers = helper_processes::helpers();
        let all = process_entry::all_processes();
        let children: Vec<ProcessEntry> =
            all.iter().copied().filter(|child| self.is_of_job(child, &helpers)).collect();
        // Where other users' processes are hidden, only the kernel still shows a child that changed its user.
        let nobody_else = helpers.is_empty() && self.before.is_empty();
        let hidden = children.is_empty() && nobody_else && !is_childless();
        let member = |process: &ProcessEntry| process.member;
        let dead = children.iter().filter(|child| !child.runs).map(member).collect();
        let living =
            with_descendants(children, &all).iter().filter(|process| process.runs).map(member).collect();
        ProcessScan { living, dead, hidden }
    }

    fn reap(&self, dead: ProcessIdentity) {
        if self.main != Some(dead.pid) {
            let _ = waitid(WaitId::Pid(dead.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }

    fn signal(&self, member: ProcessIdentity, signal: Signal) {
        process_entry::signal(member, signal);
    }

    fn command(&self, member: ProcessIdentity) -> String {
        process_entry::command(member.pid)
    }

    /// Kills the whole control group at once, if there is one. Then kills the newest children one by one as they are
    /// seen, which can catch a process that forks and exits so fast that every full scan misses it.
    fn kill_now(&self) {
        if let Some(cgroup) = self.cgroup {
            cgroup.kill();
        }
        let helpers = helper_processes::helpers();
        let strike_newest = || {
            let newest = process_entry::newest_processes(PROCESSES_PER_STRIKE)
                .filter(|child| self.is_of_job(child, &helpers));
            newest.map(|child| self.end_child(child.member)).count()
        };
        // Bounded, and over as soon as there is nothing left to kill.
        let _ = (0..ROUNDS_PER_STRIKE).find(|_| strike_newest() == 0);
    }
}

/// Returns true if this process has no child at all, dead or alive. The kernel gives every orphan that it hands over the
/// usual exit signal, so none is left out here.
fn is_childless() -> bool {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, peek), Err(Errno::CHILD))
}

/// Adds all descendants of the set, generation by generation.
fn with_descendants(mut family: Vec<ProcessEntry>, all: &[ProcessEntry]) -> Vec<ProcessEntry> {
    let mut children: BTreeMap<i32, Vec<ProcessEntry>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut next = 0;
    while let Some(parent) = family.get(next) {
        // Removed from the map, so that no process is added twice even if ids were reused during the scan.
        family.extend(children.remove(&parent.member.pid.as_raw_pid()).unwrap_or_default());
        next += 1;
    }
    family
}
