//! Signals to this process: stop requests and child changes.
//!
//! From the first listener on, a stop request (SIGINT, SIGTERM, SIGHUP) only sets a flag and no longer ends the process,
//! so that evidence is always written (law 11). SIGQUIT keeps its effect as an emergency exit for the user.

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

pub(crate) struct SignalListener {
    latest: Arc<AtomicUsize>,
    request: Option<i32>,
    wake: UnixStream,
    registrations: Vec<SigId>,
}

impl SignalListener {
    pub(crate) fn listen() -> io::Result<Self> {
        let (wake, ring) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let latest = Arc::new(AtomicUsize::new(0));
        let mut signals = Self { latest, request: None, wake, registrations: Vec::new() };
        for signal in STOP_REQUESTS.into_iter().filter(|&signal| !is_ignored(signal)) {
            // Set the flag before waking the reader, so that the reader finds it set.
            let number = usize::try_from(signal).expect("signal numbers are positive");
            let flag = flag::register_usize(signal, Arc::clone(&signals.latest), number)?;
            signals.registrations.push(flag);
            signals.registrations.push(low_level::pipe::register(signal, ring.try_clone()?)?);
        }
        signals.registrations.push(low_level::pipe::register(SIGCHLD, ring)?);
        Ok(signals)
    }

    /// Returns the signal that asked this process to stop, if any.
    pub(crate) fn request(&mut self) -> Option<i32> {
        self.fresh_request();
        self.request
    }

    /// Returns true if a stop request came since the last call.
    pub(crate) fn fresh_request(&mut self) -> bool {
        let signal = i32::try_from(self.latest.swap(0, Ordering::SeqCst)).unwrap_or(0);
        if signal != 0 {
            self.request = Some(signal);
        }
        signal != 0
    }

    /// Sleeps until a signal arrives or the time is over. Spurious wake-ups are possible.
    pub(crate) fn sleep(&mut self, at_most: Duration) {
        let timeout = Timespec::try_from(at_most).ok();
        // A poll interrupted by a signal counts as a wake-up too.
        let _ = poll(&mut [PollFd::new(&self.wake, PollFlags::IN)], timeout.as_ref());
        let mut heard = [0; 64];
        while matches!(self.wake.read(&mut heard), Ok(count) if count > 0) {}
    }
}

impl Drop for SignalListener {
    fn drop(&mut self) {
        for registration in self.registrations.drain(..) {
            low_level::unregister(registration);
        }
    }
}

/// Returns true if this process was started with `signal` ignored (`nohup`, a shell's background job), which must stay
/// so.
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
