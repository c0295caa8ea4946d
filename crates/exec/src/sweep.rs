//! Ending what a job left behind: wait a moment, ask, then force, until nothing is left.
//!
//! A process that ends by itself right after its job is no survivor: it was about to. Whatever must be ended is
//! reported. All waiting is bounded; what cannot be ended within the bounds is reported as still there.

use crate::job::Survivor;
use crate::tree::{Member, Tree};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How many survivors are listed; all are ended and counted.
pub const MAX_LISTED_SURVIVORS: usize = 100;

/// How long processes may take to end by themselves after their job.
const SETTLE: Duration = Duration::from_millis(100);
/// How long ending by force may take. Only processes that the kernel holds, or that belong to another user, need it.
const FORCE: Duration = Duration::from_secs(5);
/// How long to sleep between two looks.
const PAUSE: Duration = Duration::from_millis(5);
/// With more processes than this, nobody is asked politely: they might multiply meanwhile.
const STORM: usize = 64;
/// How often the fast strike is repeated between two looks at all processes.
const STRIKES: usize = 50;

/// Everyone met on the way, with the command line.
#[derive(Default)]
struct Census(BTreeMap<(i32, u64), String>);

impl Census {
    /// Notes a process; `true` if it was not known yet.
    fn meets(&mut self, member: Member) -> bool {
        let is_new = !self.0.contains_key(&member.key());
        if is_new {
            // The lines of a storm are neither read nor kept.
            let listed = self.0.len() < MAX_LISTED_SURVIVORS;
            self.0.insert(member.key(), if listed { member.command() } else { String::new() });
        }
        is_new
    }

    /// How many there were, and the list of those to show; `left` are those still there.
    fn report(self, left: &[Member]) -> (usize, Vec<Survivor>) {
        let n_survivors = self.0.len();
        let left: BTreeSet<_> = left.iter().map(|member| member.key()).collect();
        let survivors = self.0.into_iter().map(|(key, command)| Survivor {
            pid: key.0,
            command,
            ended: !left.contains(&key),
        });
        let (gone, mut listed): (Vec<_>, Vec<_>) = survivors.partition(|survivor| survivor.ended);
        // What is still there matters most, so it comes first when the list is cut.
        listed.extend(gone.into_iter().filter(|survivor| !survivor.command.is_empty()));
        listed.truncate(MAX_LISTED_SURVIVORS);
        listed.sort_by_key(|survivor| survivor.pid);
        (n_survivors, listed)
    }
}

/// Ends all processes that are left of a job: those that were not asked to end yet are asked, and have until
/// `polite_until` to comply.
pub(crate) fn end_survivors(tree: &Tree, polite_until: Instant) -> (usize, Vec<Survivor>) {
    let mut census = Census::default();
    if are_gone(tree, Instant::now() + SETTLE, |_| {}) {
        return census.report(&[]);
    }
    let polite = are_gone(tree, polite_until, |member| {
        if census.meets(member) {
            member.signal(Signal::TERM);
            member.signal(Signal::CONT);
        }
    });
    if !polite && !are_forced(tree, &mut census) {
        let left = tree.living();
        for &member in &left {
            census.meets(member);
        }
        return census.report(&left);
    }
    census.report(&[])
}

/// Looks until nothing is left, or time is over, or there are too many.
fn are_gone(tree: &Tree, until: Instant, mut each: impl FnMut(Member)) -> bool {
    loop {
        let living = tree.living();
        if living.is_empty() && is_empty(tree) {
            return true;
        }
        if living.len() > STORM || Instant::now() >= until {
            return false;
        }
        living.into_iter().for_each(&mut each);
        sleep(PAUSE);
    }
}

fn are_forced(tree: &Tree, census: &mut Census) -> bool {
    let until = Instant::now() + FORCE;
    loop {
        let living = tree.living();
        if living.is_empty() && is_empty(tree) {
            return true;
        }
        for member in living {
            census.meets(member);
            member.signal(Signal::KILL);
        }
        (0..STRIKES).for_each(|_| tree.strike());
        if Instant::now() >= until {
            return false;
        }
    }
}

/// The kernel's word that nothing is left, or, where other children of this process make that impossible, a second
/// look: who slipped through the first by forking is seen in the next.
fn is_empty(tree: &Tree) -> bool {
    tree.is_surely_empty() || tree.living().is_empty()
}
