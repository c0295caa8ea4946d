//! Signals to this process: asked to stop, or a child changed.
//!
//! A request to stop (SIGINT, SIGTERM, SIGHUP) only sets a flag from here on; it no longer ends the process, so that
//! evidence is written whatever happens (law 11). SIGQUIT stays as it was, for a user in need.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const STOP_REQUESTS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The signals that a supervisor listens to.
pub(crate) struct Signals {
    latest: Arc<AtomicUsize>,
    request: Option<i32>,
    wake: UnixStream,
    registrations: Vec<SigId>,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        let (wake, ring) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let latest = Arc::new(AtomicUsize::new(0));
        let mut signals = Self { latest, request: None, wake, registrations: Vec::new() };
        for signal in STOP_REQUESTS.into_iter().filter(|&signal| !is_ignored(signal)) {
            // The flag before the bell: who wakes up must find it set.
            let number = usize::try_from(signal).expect("signal numbers are positive");
            let flag = flag::register_usize(signal, Arc::clone(&signals.latest), number)?;
            signals.registrations.push(flag);
            signals.registrations.push(low_level::pipe::register(signal, ring.try_clone()?)?);
        }
        signals.registrations.push(low_level::pipe::register(SIGCHLD, ring)?);
        Ok(signals)
    }

    /// The signal that asked this process to stop, if one did.
    pub(crate) fn request(&mut self) -> Option<i32> {
        self.fresh_request();
        self.request
    }

    /// Whether a request to stop came since the last question.
    pub(crate) fn fresh_request(&mut self) -> bool {
        let signal = i32::try_from(self.latest.swap(0, Ordering::SeqCst)).unwrap_or(0);
        if signal != 0 {
            self.request = Some(signal);
        }
        signal != 0
    }

    /// Sleeps until a signal comes or the time is over. May wake for nothing.
    pub(crate) fn sleep(&mut self, at_most: Duration) {
        let timeout = Timespec::try_from(at_most).ok();
        // A failed poll (a signal came) is a wake-up too.
        let _ = poll(&mut [PollFd::new(&self.wake, PollFlags::IN)], timeout.as_ref());
        let mut heard = [0; 64];
        while matches!(self.wake.read(&mut heard), Ok(count) if count > 0) {}
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for registration in self.registrations.drain(..) {
            low_level::unregister(registration);
        }
    }
}

/// Whether this process was started with `signal` ignored (`nohup`, a shell's background job): then it stays so.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignored_mask(&status) >> (signal - 1) & 1 == 1
}

fn ignored_mask(status: &str) -> u64 {
    let field = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    field.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_ignored_signals() {
        assert_eq!(ignored_mask("Name:\tx\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\n"), 0x1001);
        assert_eq!(ignored_mask(""), 0);
    }
}
