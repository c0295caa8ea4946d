//! Reads single keys, so that a watch can be left with one.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr};
use std::io::{Stdin, stdin};
use std::time::Duration;

const CTRL_C: u8 = 0x03;
const CTRL_D: u8 = 0x04;
const ESCAPE: u8 = 0x1b;

/// The keyboard in unbuffered mode. Dropping it restores the terminal settings.
pub(super) struct RawKeyboard {
    terminal: Stdin,
    modes: Termios,
}

impl RawKeyboard {
    /// Opens the keyboard; `None` if stdin is not a terminal or belongs to another job.
    pub(super) fn open() -> Option<Self> {
        let terminal = stdin();
        let is_ours = isatty(&terminal) && tcgetpgrp(&terminal).is_ok_and(|holder| holder == getpgrp());
        if !is_ours {
            return None;
        }
        let modes = tcgetattr(&terminal).ok()?;
        let mut by_key = modes.clone();
        // Ctrl-C arrives as a key: as a signal it would end the program before the terminal is restored. Output modes
        // are unchanged, so that `\n` still starts a new line.
        by_key.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
        tcsetattr(&terminal, OptionalActions::Now, &by_key).ok()?;
        Some(Self { terminal, modes })
    }

    /// Waits at most `wait`; returns whether a leave key was pressed or the terminal is gone.
    pub(super) fn wants_to_leave(&self, wait: Duration) -> bool {
        let wait = Timespec::try_from(wait).ok();
        let mut ends = [PollFd::new(&self.terminal, PollFlags::IN)];
        if !matches!(poll(&mut ends, wait.as_ref()), Ok(n) if n > 0) {
            return false;
        }
        let mut keys = [0; 64];
        match rustix::io::read(&self.terminal, &mut keys) {
            Ok(count) => is_leave_key(&keys[..count]),
            Err(error) => error != rustix::io::Errno::INTR,
        }
    }
}

impl Drop for RawKeyboard {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.modes);
    }
}

/// Recognizes `q`, Ctrl-C, Ctrl-D and a lone Escape; arrow and function keys also begin with an escape byte.
fn is_leave_key(keys: &[u8]) -> bool {
    match keys {
        [] | [ESCAPE] => true,
        [ESCAPE, ..] => false,
        keys => keys.iter().any(|key| matches!(key, b'q' | b'Q' | &CTRL_C | &CTRL_D)),
    }
}

#[cfg(test)]
mod tests {
    use super::is_leave_key;

    #[test]
    fn q_escape_and_control_c_leave_and_arrows_do_not() {
        for keys in [&b"q"[..], b"xq", b"Q", b"\x03", b"\x1b", b"\x04", b""] {
            assert!(is_leave_key(keys), "{keys:?}");
        }
        for keys in [&b"\x1b[A"[..], b"x", b"\n"] {
            assert!(!is_leave_key(keys), "{keys:?}");
        }
    }
}
