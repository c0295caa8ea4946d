//! Shows the progress of long work. A terminal gets one line that is redrawn; anything else gets a plain line for every
//! gate that starts or ends, and one every ten seconds. Nothing is shown in the first second of work, nor between
//! phases, when the governed command has the terminal to itself.
//!
//! `indicatif` would still leave the quiet first second, the log lines and the silence between phases to this module,
//! so it would save no code.

use crate::terminal_text::TerminalText;
use probity_workspace::progress::PhaseProgress;
use probity_workspace::progress::ProgressStep;
use probity_workspace::{ProgressMeter, ServiceError};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Work that ends sooner shows nothing.
const QUIET_INTERVAL: Duration = Duration::from_secs(1);
const DRAW_INTERVAL: Duration = Duration::from_millis(100);
/// Time between two lines where there is no terminal.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

const ERASE_LINE: &str = "\r\x1b[K";

static METER: OnceLock<ProgressMeter> = OnceLock::new();

/// Set while the progress line is on the terminal. Writers hold this lock, so that nothing is drawn in between.
static IS_DRAWN: Mutex<bool> = Mutex::new(false);

/// Returns the meter of this process; the first call starts the thread that shows it.
pub(crate) fn meter() -> &'static ProgressMeter {
    METER.get_or_init(|| {
        let meter = ProgressMeter::default();
        if surface() == ProgressSurface::Log {
            meter.on_milestone(|words| {
                let words = TerminalText::of_line(words, 0);
                let _ = write_undisturbed(|| writeln!(std::io::stderr(), "probity: {words}"));
            });
        }
        let shown = meter.clone();
        // Without the thread no progress is shown; everything else still works.
        let _ = std::thread::Builder::new().name("progress".into()).spawn(move || show(&shown));
        meter
    })
}

/// Runs long work, showing the steps of its analysis.
pub(crate) fn with_progress<T>(
    work: impl FnOnce(&(dyn Fn(ProgressStep) + Sync)) -> Result<T, ServiceError>,
) -> Result<T, ServiceError> {
    let phase = meter().begin("reading git and the policy");
    work(&|step| phase.show_step(step))
}

/// Writes to the terminal after erasing the progress line.
pub(crate) fn write_undisturbed<T>(write: impl FnOnce() -> T) -> T {
    let mut is_drawn = lock();
    erase(&mut is_drawn);
    write()
}

fn lock() -> MutexGuard<'static, bool> {
    IS_DRAWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn erase(is_drawn: &mut bool) {
    if std::mem::take(is_drawn) {
        let _ = write!(std::io::stderr(), "{ERASE_LINE}");
    }
}

fn surface() -> ProgressSurface {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if std::io::stderr().is_terminal() && !is_dumb { ProgressSurface::Terminal } else { ProgressSurface::Log }
}

fn show(meter: &ProgressMeter) {
    let surface = surface();
    let mut display = ProgressDisplay::new(surface);
    let start = Instant::now();
    loop {
        std::thread::sleep(DRAW_INTERVAL);
        // The meter is read with the lock held: no line is drawn after a phase has ended and other output followed.
        let mut is_drawn = lock();
        let text = display.next(start.elapsed(), meter.current().as_ref());
        match text.map(|text| TerminalText::of_line(text, 0)) {
            Some(text) if surface == ProgressSurface::Terminal => {
                let _ = write!(std::io::stderr(), "{ERASE_LINE}{text}");
                *is_drawn = true;
            }
            Some(text) => {
                let _ = writeln!(std::io::stderr(), "probity: {text}");
            }
            None if meter.current().is_none() => erase(&mut is_drawn),
            None => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgressSurface {
    /// One line, redrawn.
    Terminal,
    /// Lines that stay.
    Log,
}

/// Decides what to show and when; pure, with the time as an argument.
#[derive(Debug)]
struct ProgressDisplay {
    surface: ProgressSurface,
    busy_since: Option<Duration>,
    written_at: Option<Duration>,
}

impl ProgressDisplay {
    const fn new(surface: ProgressSurface) -> Self {
        Self { surface, busy_since: None, written_at: None }
    }

    /// Returns the line to show at `now`, if one is due.
    fn next(&mut self, now: Duration, phase: Option<&PhaseProgress>) -> Option<String> {
        let Some(phase) = phase else {
            self.busy_since = None;
            return None;
        };
        let busy = now.saturating_sub(*self.busy_since.get_or_insert(now));
        let interval = match self.surface {
            ProgressSurface::Terminal => DRAW_INTERVAL,
            ProgressSurface::Log => LOG_INTERVAL,
        };
        // A new phase does not reset the interval: work with many phases writes no more lines to a log.
        let is_due = self.written_at.is_none_or(|at| now.saturating_sub(at) >= interval);
        if busy < QUIET_INTERVAL || !is_due {
            return None;
        }
        self.written_at = Some(now);
        Some(progress_line(phase, busy))
    }
}

fn progress_line(phase: &PhaseProgress, busy: Duration) -> String {
    let what = &phase.what;
    let seconds = busy.as_secs();
    match (phase.done, phase.total) {
        (done, Some(total)) => format!("{what}: {done} of {total} ({seconds} s)"),
        (0, None) => format!("{what} ({seconds} s)"),
        (done, None) => format!("{what}: {done} so far ({seconds} s)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(done: u64) -> PhaseProgress {
        PhaseProgress { what: "reading the tree".into(), done, total: None }
    }

    fn at(display: &mut ProgressDisplay, ms: u64, phase: Option<&PhaseProgress>) -> Option<String> {
        display.next(Duration::from_millis(ms), phase)
    }

    #[test]
    fn nothing_is_shown_in_the_first_second_of_work() {
        let mut display = ProgressDisplay::new(ProgressSurface::Terminal);
        assert_eq!(at(&mut display, 5_000, Some(&reading(1))), None);
        assert_eq!(at(&mut display, 5_900, Some(&reading(2))), None);
        assert_eq!(
            at(&mut display, 6_000, Some(&reading(3))).as_deref(),
            Some("reading the tree: 3 so far (1 s)")
        );
        assert_eq!(at(&mut display, 6_100, None), None);
        assert_eq!(at(&mut display, 6_200, Some(&reading(4))), None, "new work, new second");
    }

    #[test]
    fn a_terminal_is_drawn_at_most_ten_times_a_second() {
        let mut display = ProgressDisplay::new(ProgressSurface::Terminal);
        at(&mut display, 0, Some(&reading(0)));
        let drawn = (1_000..2_000).step_by(10).filter_map(|ms| at(&mut display, ms, Some(&reading(ms))));
        assert_eq!(drawn.count(), 10);
    }

    #[test]
    fn a_log_gets_a_line_after_a_second_and_then_every_ten() {
        let mut display = ProgressDisplay::new(ProgressSurface::Log);
        let lines: Vec<u64> = (0..35_000)
            .step_by(100)
            .filter(|ms| at(&mut display, *ms, Some(&reading(*ms))).is_some())
            .collect();
        assert_eq!(lines, [1_000, 11_000, 21_000, 31_000]);
    }

    #[test]
    fn how_much_is_done_is_said_where_it_is_known() {
        let phase = |done, total| PhaseProgress { what: "checking bundles".into(), done, total };
        let busy = Duration::from_secs(3);
        assert_eq!(progress_line(&phase(7, Some(9)), busy), "checking bundles: 7 of 9 (3 s)");
        assert_eq!(progress_line(&phase(0, None), busy), "checking bundles (3 s)");
    }
}
