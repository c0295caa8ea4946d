//! What a job is and how it can end: plain data, no action.

use crate::Environment;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

/// A command to run under supervision: the agent's, or a gate's.
#[derive(Debug)]
pub struct Job {
    /// The program and its arguments. No shell reads them.
    pub argv: Vec<OsString>,
    /// The directory it starts in.
    pub cwd: PathBuf,
    /// Its environment, whole: nothing else is inherited.
    pub environment: Environment,
    /// What it reads from.
    pub stdin: Input,
    /// Where its words go.
    pub output: Output,
    /// How long it may run.
    pub timeout: Option<Duration>,
}

/// What a job reads from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// This process's standard input. If that is the terminal, the job becomes its foreground.
    Inherit,
    /// Nothing.
    Null,
}

/// Where a job's output goes.
#[derive(Debug)]
pub enum Output {
    /// To this process's own standard output and error.
    Inherit,
    /// Both to this process's standard error, because its standard output is kept for data.
    ToStderr,
    /// Straight into two files, so that nothing is lost whatever ends the job.
    Files {
        /// For standard output.
        stdout: File,
        /// For standard error.
        stderr: File,
        /// How large either file may grow before the job is ended: a full disk would take the evidence with it. A fast
        /// writer gets somewhat further before that is noticed.
        limit_bytes: u64,
    },
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It ended by itself with this exit code.
    Exited(i32),
    /// A signal that did not come from here ended it.
    Signalled(i32),
    /// It ran longer than its timeout and was ended.
    TimedOut,
    /// It wrote more than its limit and was ended.
    TooMuchOutput,
    /// This process was asked to stop by this signal, and so the job was ended, or never begun.
    Cancelled(i32),
    /// It could not be started.
    NotStarted(NotStarted),
}

/// What happened, as the rest of a sentence about the job.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ended with exit code {code}"),
            Self::Signalled(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut => f.write_str("did not end in time"),
            Self::TooMuchOutput => f.write_str("wrote more than it may"),
            Self::Cancelled(signal) => write!(f, "was stopped by signal {signal}"),
            Self::NotStarted(why) => write!(f, "could not be started: {why}"),
        }
    }
}

impl Outcome {
    /// The exit code that evidence records: 128 + n for signal n, −1 for a job ended by its limits, none where
    /// nothing ran.
    pub fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(*code),
            Self::Signalled(signal) | Self::Cancelled(signal) => Some(128 + signal),
            Self::TimedOut | Self::TooMuchOutput => Some(-1),
            Self::NotStarted(_) => None,
        }
    }
}

/// Why a job could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotStarted {
    /// There is no program in `argv`.
    #[error("the command is empty")]
    NoCommand,
    /// The directory to start in is missing.
    #[error("there is no directory {}", .0.display())]
    NoFolder(PathBuf),
    /// There is no such program, or the interpreter that its first line names is missing.
    #[error("command {} not found", .0.display())]
    NotFound(OsString),
    /// The file is there but may not be executed.
    #[error("command {} is not executable", .0.display())]
    NotExecutable(OsString),
    /// The system refused for another reason.
    #[error("command {} cannot start: {why}", .program.display())]
    Refused {
        /// The program.
        program: OsString,
        /// What the system said.
        why: String,
    },
}

/// A process of a job that was still there after the job's own process had ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// Its process id.
    pub pid: i32,
    /// Its command line as it was when it was found, on one line and shortened; without loss of odd bytes.
    pub command: String,
    /// Whether it is gone now. If not, the tree may still change.
    pub ended: bool,
}

/// All that is known about a job that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// How long its own process ran.
    pub duration_ms: u64,
    /// The processes it left behind, by process id; at most [`crate::MAX_LISTED_SURVIVORS`].
    pub survivors: Vec<Survivor>,
    /// How many it left behind in all, as far as they were seen.
    pub n_survivors: usize,
    /// Whether every process of the job is gone. If not, a snapshot taken now proves nothing.
    pub all_gone: bool,
}

impl Ended {
    /// See [`Outcome::exit_code`].
    pub fn exit_code(&self) -> Option<i32> {
        self.outcome.exit_code()
    }

    pub(crate) fn without_running(outcome: Outcome) -> Self {
        Self { outcome, duration_ms: 0, survivors: Vec::new(), n_survivors: 0, all_gone: true }
    }
}
