//! How far long work is. Services write it, a surface reads it when it wants to draw; nobody here looks at a clock.
//!
//! The meter is a stack: a phase may begin another one, and the innermost is the one to show.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What an analysis is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressStep {
    /// Looking at the tree.
    Looking,
    /// Reading files: how many of how many.
    Reading(usize, usize),
    /// Looking across files.
    Comparing,
    /// Keeping the run.
    Storing,
    /// Running a gate of the policy: which of how many.
    Gate(usize, usize),
    /// Waiting for those ahead in a queue.
    Waiting,
}

/// What is being done right now. Clones show the same.
#[derive(Debug, Clone, Default)]
pub struct ProgressMeter {
    phases: Arc<Mutex<PhaseStack>>,
    milestones: Arc<OnceLock<MilestoneListener>>,
}

/// Who is told of milestones.
struct MilestoneListener(Box<dyn Fn(&str) + Send + Sync>);

impl fmt::Debug for MilestoneListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MilestoneListener")
    }
}

#[derive(Debug, Default)]
struct PhaseStack {
    n_begun: u64,
    active: Vec<ActivePhase>,
}

#[derive(Debug)]
struct ActivePhase {
    number: u64,
    what: Cow<'static, str>,
    done: Arc<AtomicU64>,
    total: Option<u64>,
}

/// One look at the meter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseProgress {
    /// What is being done, in a few words.
    pub what: String,
    /// How many things of it are done.
    pub done: u64,
    /// Of how many, where that is known.
    pub total: Option<u64>,
}

/// A phase that goes on until this is dropped.
#[derive(Debug)]
#[must_use = "the phase ends when this is dropped"]
pub struct PhaseGuard {
    meter: ProgressMeter,
    number: u64,
    done: Arc<AtomicU64>,
}

impl ProgressMeter {
    /// Begins a phase whose size is not known.
    pub fn begin(&self, what: impl Into<Cow<'static, str>>) -> PhaseGuard {
        self.begin_phase(what.into(), None)
    }

    /// Begins a phase of `total` things.
    pub fn begin_counted(&self, what: impl Into<Cow<'static, str>>, total: usize) -> PhaseGuard {
        self.begin_phase(what.into(), Some(total as u64))
    }

    fn begin_phase(&self, what: Cow<'static, str>, total: Option<u64>) -> PhaseGuard {
        let done = Arc::new(AtomicU64::new(0));
        let mut phases = self.phases();
        phases.n_begun += 1;
        let number = phases.n_begun;
        phases.active.push(ActivePhase { number, what, done: Arc::clone(&done), total });
        PhaseGuard { meter: self.clone(), number, done }
    }

    /// Has every milestone told to `listener` at once. Only the first listener of a meter is kept.
    pub fn on_milestone(&self, listener: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.milestones.set(MilestoneListener(Box::new(listener)));
    }

    /// Something happened that a log should have, however quickly the next thing follows: a gate started or ended.
    pub fn milestone(&self, words: impl FnOnce() -> String) {
        if let Some(MilestoneListener(listener)) = self.milestones.get() {
            listener(&words());
        }
    }

    /// What is being done now; `None` if nothing is.
    pub fn current(&self) -> Option<PhaseProgress> {
        let phases = self.phases();
        let phase = phases.active.last()?;
        let (what, done) = (phase.what.clone().into_owned(), phase.done.load(Ordering::Relaxed));
        Some(PhaseProgress { what, done, total: phase.total })
    }

    fn phases(&self) -> MutexGuard<'_, PhaseStack> {
        self.phases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PhaseGuard {
    /// One more thing is done.
    pub fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of things done, for whoever counts on its own.
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.done)
    }

    /// Takes over a step of an analysis.
    pub fn show_step(&self, step: ProgressStep) {
        let (what, done, total): (&'static str, usize, Option<usize>) = match step {
            ProgressStep::Looking => ("reading the tree", 0, None),
            ProgressStep::Reading(done, total) => ("analyzing files", done, Some(total)),
            ProgressStep::Comparing => ("comparing files", 0, None),
            ProgressStep::Storing => ("storing the analysis", 0, None),
            // The gate that runs is not done yet.
            ProgressStep::Gate(which, all) => ("running gates", which.saturating_sub(1), Some(all)),
            ProgressStep::Waiting => ("waiting for the changes ahead in the queue", 0, None),
        };
        let mut phases = self.meter.phases();
        let mut mine = phases.active.iter_mut().filter(|phase| phase.number == self.number);
        if let Some(phase) = mine.next() {
            phase.what = what.into();
            phase.total = total.map(|total| total as u64);
            phase.done.store(done as u64, Ordering::Relaxed);
        }
    }
}

impl Drop for PhaseGuard {
    fn drop(&mut self) {
        self.meter.phases().active.retain(|phase| phase.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(meter: &ProgressMeter) -> Option<(String, u64, Option<u64>)> {
        meter.current().map(|phase| (phase.what, phase.done, phase.total))
    }

    #[test]
    fn the_innermost_phase_is_shown_until_it_ends() {
        let meter = ProgressMeter::default();
        assert_eq!(shown(&meter), None);
        let outer = meter.begin_counted("outer", 3);
        outer.advance();
        {
            let inner = meter.clone().begin("inner");
            inner.counter().fetch_add(64, Ordering::Relaxed);
            assert_eq!(shown(&meter), Some(("inner".into(), 64, None)));
            outer.advance();
        }
        assert_eq!(shown(&meter), Some(("outer".into(), 2, Some(3))));
        drop(outer);
        assert_eq!(shown(&meter), None);
    }

    #[test]
    fn a_step_of_an_analysis_changes_its_own_phase_alone() {
        let meter = ProgressMeter::default();
        let analysis = meter.begin("starting");
        let reading = meter.begin("reading the tree");
        analysis.show_step(ProgressStep::Reading(7, 9));
        assert_eq!(shown(&meter), Some(("reading the tree".into(), 0, None)));
        drop(reading);
        assert_eq!(shown(&meter), Some(("analyzing files".into(), 7, Some(9))));
    }
}
