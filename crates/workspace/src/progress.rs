//! Progress of long work. Services write it and a surface reads it when it wants to draw; nothing here uses a clock.
//!
//! The meter is a stack: phases nest, and the innermost one is shown.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A step of an analysis or of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgressStep {
    /// Reading the tree.
    Looking,
    /// Analyzing files: done, total.
    Reading(usize, usize),
    /// Comparing files with each other.
    Comparing,
    /// Storing the analysis.
    Storing,
    /// Running a gate of the policy: its number, total.
    Gate(usize, usize),
    /// Waiting for the changes ahead in the queue.
    Waiting,
}

/// The current phases. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ProgressMeter {
    phases: Arc<Mutex<PhaseStack>>,
    milestones: Arc<OnceLock<MilestoneListener>>,
}

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

/// A snapshot of the innermost phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PhaseProgress {
    pub what: String,
    pub done: u64,
    /// `None` if the total is not known.
    pub total: Option<u64>,
}

/// A phase that lasts until this is dropped.
#[derive(Debug)]
#[must_use = "the phase ends when this is dropped"]
pub struct PhaseGuard {
    meter: ProgressMeter,
    number: u64,
    done: Arc<AtomicU64>,
}

impl ProgressMeter {
    /// Begins a phase of unknown size.
    pub fn begin(&self, what: impl Into<Cow<'static, str>>) -> PhaseGuard {
        self.begin_phase(what.into(), None)
    }

    /// Begins a phase of `total` items.
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

    /// Calls `listener` for every milestone as it happens. Only the first listener of a meter is kept.
    pub fn on_milestone(&self, listener: impl Fn(&str) + Send + Sync + 'static) {
        let _ = self.milestones.set(MilestoneListener(Box::new(listener)));
    }

    /// Reports an event that a log must not miss however quickly the next one follows, such as the start of a gate.
    pub fn milestone(&self, words: impl FnOnce() -> String) {
        if let Some(MilestoneListener(listener)) = self.milestones.get() {
            listener(&words());
        }
    }

    /// Returns the innermost phase; `None` when idle.
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
    pub fn advance(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// The count of finished items, for callers that update it themselves.
    pub fn counter(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.done)
    }

    /// Shows `step` in this phase.
    pub fn show_step(&self, step: ProgressStep) {
        let (what, done, total): (&'static str, usize, Option<usize>) = match step {
            ProgressStep::Looking => ("reading the tree", 0, None),
            ProgressStep::Reading(done, total) => ("analyzing files", done, Some(total)),
            ProgressStep::Comparing => ("comparing files", 0, None),
            ProgressStep::Storing => ("storing the analysis", 0, None),
            // The running gate is not done yet.
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
