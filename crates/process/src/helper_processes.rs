//! Tracks which children of this process were started as helpers.
//!
//! Orphans of a job become children of this process, and nothing distinguishes them from children started here on
//! purpose. Jobs therefore run one at a time, and helpers that run next to a job are registered before anything can
//! list them.

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

static JOB_LOCK: Mutex<()> = Mutex::new(());
static HELPER_PIDS: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Waits until no other job runs in this process; the next one waits until the guard is dropped.
pub(crate) fn lock_job() -> MutexGuard<'static, ()> {
    JOB_LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the process ids of the helpers. No helper starts or is reaped while the guard is held.
pub(crate) fn helpers() -> MutexGuard<'static, BTreeSet<u32>> {
    HELPER_PIDS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A helper program, registered as long as it is a child of this process.
pub(crate) struct HelperProcess(Child);

impl HelperProcess {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let mut helpers = helpers();
        let child = command.spawn()?;
        helpers.insert(child.id());
        Ok(Self(child))
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    /// Reaps a helper. Its process id can be reused afterwards, so the registration goes too.
    pub(crate) fn status(&mut self) -> io::Result<ExitStatus> {
        let mut helpers = helpers();
        helpers.remove(&self.0.id());
        self.0.wait()
    }
}

impl Drop for HelperProcess {
    fn drop(&mut self) {
        // Kill it in case the caller gave up on it: waiting must not hang under the lock.
        let _ = self.0.kill();
        let _ = self.status();
    }
}
