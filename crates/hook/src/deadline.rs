//! How long a call of the hook may take.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the hook takes at most before it refuses. Agents wait longer and then let the call pass.
const DEADLINE_TIMEOUT: Duration = Duration::from_secs(2);
/// How much longer where the hook starts the main program.
const SLOW_DEADLINE_TIMEOUT: Duration = Duration::from_secs(6);

/// Set before the main program is started, which has its own time limit.
static WAITS_FOR_MAIN_PROGRAM: AtomicBool = AtomicBool::new(false);

/// Allows the longer deadline from now on.
pub(crate) fn extend() {
    WAITS_FOR_MAIN_PROGRAM.store(true, Ordering::SeqCst);
}

/// Waits until the deadline with `is_told_to_end`, which waits for a signal and returns whether it came. Returns whether one
/// came.
pub(crate) fn wait(is_slow: bool, mut is_told_to_end: impl FnMut(Duration) -> bool) -> bool {
    let waits_longer = || is_slow || WAITS_FOR_MAIN_PROGRAM.load(Ordering::SeqCst);
    is_told_to_end(DEADLINE_TIMEOUT) || waits_longer() && is_told_to_end(SLOW_DEADLINE_TIMEOUT)
}
