//! Why a git command failed, and what to do about it.

use probity_core::ReasonCode;
use probity_core::bytes::escape;
use probity_snapshot::git::GitCommand;
use rustix::io::Errno;
use std::fmt;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// The part of git's standard error that a message repeats.
const MAX_SHOWN_STDERR_BYTES: usize = 1_000;

/// A git command that failed or returned an unusable answer.
#[derive(Debug)]
pub struct GitFailure {
    /// The command as a user would type it.
    pub command: String,
    pub cause: GitFailureCause,
    /// The end of git's standard error, trimmed and escaped.
    pub stderr: String,
}

#[derive(Debug)]
pub enum GitFailureCause {
    Exit(i32),
    Signal(i32),
    /// The command did not start, or its output could not be read.
    Io(io::Error),
    TimedOut(Duration),
    TooMuchOutput(usize),
    /// The output could not be parsed.
    BadAnswer(String),
}

impl fmt::Display for GitFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` ", self.command)?;
        match &self.cause {
            GitFailureCause::Exit(code) => write!(f, "failed with exit code {code}")?,
            GitFailureCause::Signal(signal) => write!(f, "was ended by signal {signal}")?,
            GitFailureCause::Io(error) => write!(f, "could not be run: {error}")?,
            GitFailureCause::TimedOut(limit) => write!(f, "did not finish within {} s", limit.as_secs())?,
            GitFailureCause::TooMuchOutput(limit) => write!(f, "wrote more than {limit} bytes")?,
            GitFailureCause::BadAnswer(why) => write!(f, "gave an answer that cannot be read: {why}")?,
        }
        if self.stderr.is_empty() { Ok(()) } else { write!(f, ": {}", self.stderr) }
    }
}

impl std::error::Error for GitFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.cause {
            GitFailureCause::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl GitFailure {
    pub(crate) fn new(command: &GitCommand, cause: GitFailureCause, stderr: &[u8]) -> Self {
        Self { command: command.summary.clone(), cause, stderr: shown_stderr(stderr) }
    }

    /// The failure for output that git should never produce.
    pub fn bad_answer(command: &GitCommand, why: impl Into<String>) -> Self {
        Self::new(command, GitFailureCause::BadAnswer(why.into()), b"")
    }

    pub fn reason(&self) -> ReasonCode {
        if self.is_missing_object() { ReasonCode::GitObjectMissing } else { ReasonCode::GitCommandFailed }
    }

    pub fn next_step(&self) -> String {
        match &self.cause {
            GitFailureCause::Io(error) if error.kind() == ErrorKind::NotFound => {
                "install git, and put it on PATH outside of this tree: a git inside it is not used".into()
            }
            GitFailureCause::Io(_) | GitFailureCause::Signal(_) | GitFailureCause::TimedOut(_) => {
                "the machine may be short of processes, memory or time: try again".into()
            }
            _ => self.reason().next_step().into(),
        }
    }

    /// Returns whether a partial clone lacks an object. Git before 2.45 ends with this failure where later ones list the
    /// object as missing.
    pub fn is_missing_object(&self) -> bool {
        matches!(self.cause, GitFailureCause::Exit(_)) && self.stderr.contains("from promisor remote")
    }

    /// Returns whether a resource was exhausted that may be available again a moment later.
    pub fn is_transient(&self) -> bool {
        const TRANSIENT_MESSAGES: [&str; 3] =
            ["Resource temporarily unavailable", "Cannot allocate memory", "Too many open files in system"];
        match &self.cause {
            GitFailureCause::Io(error) => {
                use ErrorKind::{Interrupted, OutOfMemory, ResourceBusy, WouldBlock};
                matches!(error.kind(), WouldBlock | OutOfMemory | Interrupted | ResourceBusy)
                    || Errno::from_io_error(error) == Some(Errno::NFILE)
            }
            GitFailureCause::Signal(_) => true,
            GitFailureCause::Exit(_) => TRANSIENT_MESSAGES.iter().any(|words| self.stderr.contains(words)),
            _ => false,
        }
    }
}

/// Formats the end of standard error on one line; the end, because git names the cause last.
fn shown_stderr(stderr: &[u8]) -> String {
    let stderr = stderr.trim_ascii();
    let end = &stderr[stderr.len().saturating_sub(MAX_SHOWN_STDERR_BYTES)..];
    let lines: Vec<String> = end
        .split(|&byte| byte == b'\n')
        .map(|line| escape(line.trim_ascii()))
        .filter(|line| !line.is_empty())
        .collect();
    let cut = if end.len() < stderr.len() { "…" } else { "" };
    format!("{cut}{}", lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_clone_that_lacks_an_object_is_no_fault_of_git() {
        let failure = |stderr: &str| GitFailure {
            command: "git cat-file --batch".into(),
            cause: GitFailureCause::Exit(128),
            stderr: stderr.into(),
        };
        let lacks = failure(
            "warning: lazy fetching disabled; some objects may not be available; fatal: could not fetch \
             e1699fe81a2f21be79a1c501f7280d2e1aa60c63 from promisor remote",
        );
        let refused = crate::ServiceError::from(lacks);
        assert_eq!((refused.code(), refused.exit_code().number()), ("GIT.OBJECT_MISSING", 2));
        assert!(refused.next_step().contains("git fetch --refetch --no-filter"), "{}", refused.next_step());
        let broken = crate::ServiceError::from(failure("fatal: loose object is corrupt"));
        assert_eq!((broken.code(), broken.exit_code().number()), ("GIT.COMMAND_FAILED", 70));
    }

    #[test]
    fn words_of_git_are_kept_on_one_line_and_bounded() {
        assert_eq!(shown_stderr(b"error: one\n\n  fatal: \x1b[2Jtwo\n"), "error: one; fatal: \\u{1b}[2Jtwo");
        let long = shown_stderr(&[b'x'; 5_000]);
        assert_eq!(long.chars().count(), MAX_SHOWN_STDERR_BYTES + 1);
        assert!(long.starts_with('…'));
    }
}
