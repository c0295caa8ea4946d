//! The processes of a job on Linux: all that descends from it, wherever it went.
//!
//! This process is a subreaper, so whatever leaves its parents (a daemon, a session of its own) becomes a child of this
//! process. A job's processes are therefore all descendants of this process, less the children that were there before
//! the job and the helpers. Nothing else is ever signalled.
//!
//! A look at all processes takes time, and processes come and go meanwhile. But a child of this process stays visible
//! until it is buried here, dead or alive, and every process of a job stands under such a child. So a look that finds no
//! child of the job, not even a dead one, proves that no process of the job was left when the look began.

use crate::cgroup::Cgroup;
use crate::children;
use crate::process::{self, Process};
use crate::tree::{Look, Member, Tree};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, waitid};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::Command;

/// How many processes a strike looks at.
const NEWEST: usize = 16;
/// How often one strike repeats itself.
const STRIKES: usize = 50;

/// The processes of one job.
pub(crate) struct Descendants<'a> {
    me: Pid,
    main: Option<Pid>,
    /// Process ids and start times.
    before: BTreeSet<(i32, u64)>,
    cgroup: Option<&'a Cgroup>,
}

impl<'a> Descendants<'a> {
    /// Notes which children are there before the job starts.
    pub(crate) fn before_start(cgroup: Option<&'a Cgroup>) -> Self {
        let me = getpid();
        let children = process::all().into_iter().filter(|process| process.parent == me.as_raw_pid());
        Self { me, main: None, before: children.map(|child| child.member.key()).collect(), cgroup }
    }

    /// Ends a child of this process. It keeps its id until it is buried, so this can hit no other.
    fn end_child(&self, child: Member) {
        let _ = kill_process(child.pid, Signal::KILL);
        self.bury(child);
    }

    /// Whether a process is a child of this process and came from the job.
    fn owns(&self, child: &Process, helpers: &BTreeSet<u32>) -> bool {
        child.parent == self.me.as_raw_pid()
            && !helpers.contains(&child.member.pid.as_raw_pid().cast_unsigned())
            && !self.before.contains(&child.member.key())
    }
}

impl Tree for Descendants<'_> {
    fn start(&mut self, command: &mut Command) -> io::Result<Pid> {
        // No helper may start while this process is in the job's control group.
        let _nobody_else = children::helpers();
        let child = match self.cgroup {
            Some(cgroup) => cgroup.around(|| command.spawn())?,
            None => command.spawn()?,
        };
        let main = Pid::from_child(&child);
        self.main = Some(main);
        Ok(main)
    }

    fn main_ended(&mut self) {
        self.main = None;
    }

    fn look(&self) -> Look {
        let helpers = children::helpers();
        let all = process::all();
        let children: Vec<Process> = all.iter().copied().filter(|child| self.owns(child, &helpers)).collect();
        // Where others' processes are hidden, a child that changed its user is seen by nobody but the kernel.
        let nobody_else = helpers.is_empty() && self.before.is_empty();
        let hidden = children.is_empty() && nobody_else && !is_childless();
        let member = |process: &Process| process.member;
        let dead = children.iter().filter(|child| !child.runs).map(member).collect();
        let living =
            with_descendants(children, &all).iter().filter(|process| process.runs).map(member).collect();
        Look { living, dead, hidden }
    }

    fn bury(&self, dead: Member) {
        if self.main != Some(dead.pid) {
            let _ = waitid(WaitId::Pid(dead.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
        }
    }

    fn signal(&self, member: Member, signal: Signal) {
        process::signal(member, signal);
    }

    fn command(&self, member: Member) -> String {
        process::command(member.pid)
    }

    /// All at one instant where there is a control group. Then the newest children, each at the moment it is seen: that
    /// may catch one that forks and leaves at once, and so is gone after any long look.
    fn strike(&self) {
        if let Some(cgroup) = self.cgroup {
            cgroup.kill();
        }
        let helpers = children::helpers();
        let strike_newest = || {
            let newest = process::newest(NEWEST).filter(|child| self.owns(child, &helpers));
            newest.map(|child| self.end_child(child.member)).count()
        };
        // Bounded, and over as soon as there is nothing to hit.
        let _ = (0..STRIKES).find(|_| strike_newest() == 0);
    }
}

/// Whether this process has no child at all, dead or alive.
fn is_childless() -> bool {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(waitid(WaitId::All, peek), Err(Errno::CHILD))
}

/// Adds all processes whose parents are in the set, generation by generation.
fn with_descendants(mut family: Vec<Process>, all: &[Process]) -> Vec<Process> {
    let mut children: BTreeMap<i32, Vec<Process>> = BTreeMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(*process);
    }
    let mut next = 0;
    while let Some(parent) = family.get(next) {
        // Taken out, so that no process comes twice even if ids were reused during the look.
        family.extend(children.remove(&parent.member.pid.as_raw_pid()).unwrap_or_default());
        next += 1;
    }
    family
}
