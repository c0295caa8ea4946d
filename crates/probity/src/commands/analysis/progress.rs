//! Progress of an analysis: one line on a terminal, nothing anywhere else.

use control::Fault;
use control::analyze::Progress;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The line is written at most so often: faster is not seen, and costs time.
const PAUSE: Duration = Duration::from_millis(80);

/// The line.
pub(crate) struct Line {
    is_shown: bool,
    /// When it was last written; `None` while it is empty.
    written: Mutex<Option<Instant>>,
}

impl Default for Line {
    fn default() -> Self {
        Self { is_shown: std::io::stderr().is_terminal(), written: Mutex::new(None) }
    }
}

impl Line {
    /// Shows a step.
    pub(crate) fn show(&self, step: Progress) {
        if !self.is_shown {
            return;
        }
        let Ok(mut written) = self.written.try_lock() else { return };
        if written.is_some_and(|at| at.elapsed() < PAUSE) {
            return;
        }
        *written = Some(Instant::now());
        let text = match step {
            Progress::Looking => "looking at the tree".to_owned(),
            Progress::Reading(done, total) => format!("reading {done} of {total} files"),
            Progress::Comparing => "looking across files".to_owned(),
            Progress::Storing => "keeping the run".to_owned(),
            Progress::Gate(which, all) => format!("running gate {which} of {all}"),
            Progress::Waiting => "waiting for those ahead".to_owned(),
        };
        let _ = write!(std::io::stderr(), "\r\x1b[K{text} …");
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        if self.written.lock().is_ok_and(|written| written.is_some()) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// Does something long, and shows the line meanwhile.
pub(crate) fn watched<T>(
    work: impl FnOnce(&(dyn Fn(Progress) + Sync)) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let line = Line::default();
    let done = work(&|step| line.show(step));
    line.clear();
    done
}
