//! Ends what a job left behind: waits a moment, asks, then kills, until nothing is left.
//!
//! A process that exits on its own right after its job does not count as a survivor. Everything that must be ended is
//! reported. All waiting is bounded; what cannot be ended within the bounds is reported as still running.

use crate::job::SurvivingProcess;
use crate::process_tree::{ProcessIdentity, ProcessScan, ProcessTree};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Maximum number of listed survivors; all are ended and counted.
pub const MAX_LISTED_SURVIVORS: usize = 100;

/// Time for processes to exit on their own after their job.
const SETTLE_TIMEOUT: Duration = Duration::from_millis(100);
/// Time limit for killing. Only processes that the kernel holds, or that belong to another user, need it.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
const SWEEP_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Above this number of processes, dead or alive, they are killed without asking first: they might multiply meanwhile.
const MAX_POLITE_PROCESSES: usize = 64;

pub(crate) struct SweepReport {
    pub(crate) n_survivors: usize,
    pub(crate) survivors: Vec<SurvivingProcess>,
    pub(crate) all_gone: bool,
}

/// Ends all remaining processes of a job. Those not yet asked to exit are asked, and have until `polite_until`.
pub(crate) fn end_survivors(tree: &dyn ProcessTree, polite_until: Instant) -> SweepReport {
    let mut census = SurvivorCensus::default();
    let all_gone = has_settled(tree)
        || has_obeyed(tree, polite_until, &mut census)
        || was_forced(tree, Instant::now() + KILL_TIMEOUT, &mut census);
    let left = if all_gone { ProcessScan::default() } else { tree.scan() };
    census.report(all_gone, tree, &left)
}

/// Waits a moment for processes that are about to exit.
fn has_settled(tree: &dyn ProcessTree) -> bool {
    let until = Instant::now() + SETTLE_TIMEOUT;
    let mut n_dead = 0;
    poll_until_gone(tree, |look| {
        n_dead += look.dead.len();
        n_dead + look.living.len() <= MAX_POLITE_PROCESSES && Instant::now() < until
    })
}

/// Asks every process once, then waits.
fn has_obeyed(tree: &dyn ProcessTree, until: Instant, census: &mut SurvivorCensus) -> bool {
    poll_until_gone(tree, |look| {
        let strangers = census.record(tree, look);
        for stranger in strangers {
            tree.signal(stranger, Signal::TERM);
            tree.signal(stranger, Signal::CONT);
        }
        census.0.len() <= MAX_POLITE_PROCESSES && Instant::now() < until
    })
}

fn was_forced(tree: &dyn ProcessTree, until: Instant, census: &mut SurvivorCensus) -> bool {
    tree.kill_now();
    poll_until_gone(tree, |look| {
        census.record(tree, look);
        tree.kill_now();
        for &member in &look.living {
            tree.signal(member, Signal::KILL);
        }
        Instant::now() < until
    })
}

/// Scans repeatedly until nothing is left or `goes_on` returns false.
fn poll_until_gone(tree: &dyn ProcessTree, mut goes_on: impl FnMut(&ProcessScan) -> bool) -> bool {
    loop {
        let look = tree.scan();
        if look.is_empty() {
            return true;
        }
        let again = goes_on(&look);
        look.dead.iter().for_each(|&dead| tree.reap(dead));
        if !again {
            return false;
        }
        if look.dead.is_empty() {
            sleep(SWEEP_POLL_INTERVAL);
        }
    }
}

/// Every process seen on the way, with its command line.
#[derive(Default)]
struct SurvivorCensus(BTreeMap<(i32, u64), String>);

impl SurvivorCensus {
    /// Records a scan; returns the living processes that were not known yet.
    fn record(&mut self, tree: &dyn ProcessTree, look: &ProcessScan) -> Vec<ProcessIdentity> {
        let is_new = |census: &mut Self, member: ProcessIdentity| {
            if census.0.contains_key(&member.sort_key()) {
                return false;
            }
            // In a fork storm, command lines past the limit are neither read nor kept.
            let is_listed = census.0.len() < MAX_LISTED_SURVIVORS;
            census.0.insert(member.sort_key(), if is_listed { tree.command(member) } else { String::new() });
            true
        };
        look.dead.iter().for_each(|&member| _ = is_new(self, member));
        look.living.iter().copied().filter(|&member| is_new(self, member)).collect()
    }

    fn report(mut self, all_gone: bool, tree: &dyn ProcessTree, left: &ProcessScan) -> SweepReport {
        self.record(tree, left);
        let still_there: BTreeSet<_> = left.living.iter().map(|member| member.sort_key()).collect();
        let n_survivors = self.0.len();
        let survivor = |(key, command): ((i32, u64), String)| SurvivingProcess {
            pid: key.0,
            command,
            ended: !still_there.contains(&key),
        };
        let mut survivors: Vec<SurvivingProcess> = self.0.into_iter().map(survivor).collect();
        // When the list is cut, keep first what is still running, then what has a command line.
        survivors.sort_by_key(|survivor| (survivor.ended, survivor.command.is_empty(), survivor.pid));
        survivors.truncate(MAX_LISTED_SURVIVORS);
        survivors.sort_by_key(|survivor| survivor.pid);
        SweepReport { n_survivors, survivors, all_gone }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process_group::ProcessGroup;
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    use std::cell::Cell;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// Sweeps a script whose processes are known by their group only.
    fn swept_by_group(script: &str) -> SweepReport {
        let mut group = ProcessGroup::default();
        let main = group.start(Command::new("sh").args(["-c", script]).process_group(0)).unwrap();
        waitid(WaitId::Pid(main), WaitIdOptions::EXITED).unwrap();
        group.main_ended();
        end_survivors(&group, Instant::now() + Duration::from_millis(200))
    }

    #[test]
    fn a_group_is_ended_where_nothing_better_is_known() {
        let swept = swept_by_group("sleep 3600 & sleep 3600 & exit 0");
        assert!(swept.all_gone);
        assert_eq!((swept.n_survivors, swept.survivors[0].ended), (1, true));
    }

    #[test]
    fn a_group_that_does_not_listen_is_forced() {
        let swept = swept_by_group("trap '' TERM; sleep 3600 & exit 0");
        assert!(swept.all_gone && swept.n_survivors == 1);
    }

    /// A process that is still there for a number of scans and then exits.
    struct Leaving {
        looks_left: Cell<usize>,
    }

    impl ProcessTree for Leaving {
        fn start(&mut self, _: &mut Command) -> std::io::Result<Pid> {
            unreachable!("it runs already")
        }

        fn main_ended(&mut self) {}

        fn scan(&self) -> ProcessScan {
            let left = self.looks_left.get();
            self.looks_left.set(left.saturating_sub(1));
            let member = ProcessIdentity { pid: Pid::INIT, started: 0 };
            ProcessScan { living: if left > 0 { vec![member] } else { Vec::new() }, ..ProcessScan::default() }
        }

        fn reap(&self, _: ProcessIdentity) {}

        fn signal(&self, _: ProcessIdentity, _: Signal) {
            panic!("it was about to end");
        }

        fn command(&self, _: ProcessIdentity) -> String {
            String::new()
        }

        fn kill_now(&self) {}
    }

    #[test]
    fn who_ends_at_once_is_no_survivor() {
        let swept = end_survivors(&Leaving { looks_left: Cell::new(1) }, Instant::now());
        assert!(swept.all_gone && swept.n_survivors == 0);
    }

    #[test]
    fn an_empty_group_leaves_nobody() {
        let swept = swept_by_group("exit 0");
        assert!(swept.all_gone && swept.survivors.is_empty());
    }
}
