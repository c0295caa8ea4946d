//! Lends the terminal to a job.
//!
//! A job that inherits the terminal becomes its foreground group, as under a shell: it may draw and change modes, and
//! Ctrl-C and Ctrl-Z reach it. Afterwards this process takes the terminal back and restores its modes. It lends only
//! what it holds: started in the background, it leaves the terminal alone.

use nix::sys::signal::{SigSet, SigmaskHow, Signal as MaskSignal};
use rustix::process::{Pid, Signal, getpgrp, kill_current_process_group, kill_process_group};
use rustix::termios::{OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr, tcsetpgrp};
use std::io::{Stdin, stdin};
use std::thread::sleep;
use std::time::Duration;

/// Time for a stop signal to this process to take effect when it has several threads. It also slows down a job that
/// asks again and again for a terminal nobody can give it.
const SELF_STOP_TIMEOUT: Duration = Duration::from_millis(50);

/// The terminal on standard input while a job may use it. Dropping it takes the terminal back.
pub(crate) struct TerminalGuard {
    terminal: Stdin,
    borrower: Pid,
    modes: Option<Termios>,
    lent: bool,
}

impl TerminalGuard {
    /// Lends the terminal to the process group `borrower`; `None` if standard input is not a terminal.
    pub(crate) fn lend_to(borrower: Pid) -> Option<Self> {
        let terminal = stdin();
        if !isatty(&terminal) {
            return None;
        }
        let modes = tcgetattr(&terminal).ok();
        let mut loan = Self { terminal, borrower, modes, lent: false };
        loan.lend();
        Some(loan)
    }

    /// Lends the terminal if this process holds it, and continues the job, which may have been stopped for asking too
    /// early.
    fn lend(&mut self) {
        if tcgetpgrp(&self.terminal).is_ok_and(|holder| holder == getpgrp()) {
            self.lent = without_ttou(|| tcsetpgrp(&self.terminal, self.borrower)).is_ok();
        }
        let _ = kill_process_group(self.borrower, Signal::CONT);
    }

    /// Handles a stopped job. If it only asked for the terminal too early, it continues. Otherwise this process stops
    /// too, so that the user's shell sees the suspension, and the job continues when this process does.
    pub(crate) fn stopped_by(&mut self, signal: i32) {
        let asked_for_terminal = [Signal::TTIN, Signal::TTOU].iter().any(|asked| asked.as_raw() == signal);
        if !(asked_for_terminal && self.is_with_borrower()) {
            self.take_back();
            let _ = kill_current_process_group(Signal::TSTP);
            sleep(SELF_STOP_TIMEOUT);
        }
        self.lend();
    }

    fn is_with_borrower(&self) -> bool {
        tcgetpgrp(&self.terminal).is_ok_and(|holder| holder == self.borrower)
    }

    fn take_back(&mut self) {
        if !self.lent {
            return;
        }
        self.lent = false;
        let _ = without_ttou(|| tcsetpgrp(&self.terminal, getpgrp()));
        if let Some(modes) = &self.modes {
            let _ = without_ttou(|| tcsetattr(&self.terminal, OptionalActions::Now, modes));
        }
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        self.take_back();
    }
}

/// Runs a terminal operation from the background, which SIGTTOU would otherwise stop.
fn without_ttou<T>(action: impl FnOnce() -> T) -> T {
    let mut ttou = SigSet::empty();
    ttou.add(MaskSignal::SIGTTOU);
    let before = ttou.thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let done = action();
    if let Ok(before) = before {
        let _ = before.thread_set_mask();
    }
    done
}
