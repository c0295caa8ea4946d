//! Jobs and their outcomes, as plain data.

use crate::ProcessEnvironment;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

/// A command to run under supervision: the agent's, or a gate's.
#[derive(Debug)]
pub struct Job {
    /// The program and its arguments, run without a shell.
    pub argv: Vec<OsString>,
    pub cwd: PathBuf,
    /// The complete environment: nothing else is inherited.
    pub environment: ProcessEnvironment,
    pub stdin: JobInput,
    pub output: JobOutput,
    pub timeout: Option<Duration>,
}

/// The standard input of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobInput {
    /// This process's standard input. If that is the terminal, the job becomes its foreground.
    Inherit,
    Null,
}

/// The destination of a job's output.
#[derive(Debug)]
pub enum JobOutput {
    /// This process's own standard output and error.
    Inherit,
    /// Both to this process's standard error, because its standard output is reserved for data.
    ToStderr,
    /// Directly into two files, so that nothing is lost however the job ends.
    Files {
        stdout: File,
        stderr: File,
        /// Maximum size of either file before the job is ended, because a full disk would destroy the evidence too. A
        /// fast writer gets somewhat further before that is noticed.
        limit_bytes: u64,
    },
}

/// The way a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobOutcome {
    /// It exited with this code.
    Exited(i32),
    /// A signal not sent by this process ended it.
    Signalled(i32),
    /// It ran longer than its timeout and was ended.
    TimedOut,
    /// It wrote more than its limit and was ended.
    TooMuchOutput,
    /// This signal asked this process to stop, so the job was ended or never started.
    Cancelled(i32),
    NotStarted(NotStarted),
}

/// Completes a sentence about the job.
impl fmt::Display for JobOutcome {
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

impl JobOutcome {
    /// Returns the exit code that evidence records: 128 + n for signal n, −1 for a job ended by its limits, none if
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

/// The reason a job could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotStarted {
    #[error("the command is empty")]
    NoCommand,
    #[error("there is no directory {}", .0.display())]
    NoFolder(PathBuf),
    /// There is no such program, or the interpreter named in its first line is missing.
    #[error("program {} not found", .0.display())]
    NotFound(OsString),
    /// The file exists but is not executable.
    #[error("program {} is not executable", .0.display())]
    NotExecutable(OsString),
    /// The system refused for another reason.
    #[error("program {} cannot run: {why}", .program.display())]
    Refused { program: OsString, why: String },
}

/// A process of a job that outlived the job's own process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurvivingProcess {
    pub pid: i32,
    /// Its command line when it was found: one line, shortened, with odd bytes escaped.
    pub command: String,
    /// True if it is gone now. If not, the tree may still change.
    pub ended: bool,
}

/// The full report about a job that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    pub outcome: JobOutcome,
    /// Run time of the job's own process.
    pub duration_ms: u64,
    /// The processes it left behind, by process id; at most [`crate::MAX_LISTED_SURVIVORS`].
    pub survivors: Vec<SurvivingProcess>,
    /// Number of all processes left behind, as far as they were seen.
    pub n_survivors: usize,
    /// True if every process of the job is gone. If not, a snapshot taken now proves nothing.
    pub all_gone: bool,
}

impl JobReport {
    /// See [`JobOutcome::exit_code`].
    pub fn exit_code(&self) -> Option<i32> {
        self.outcome.exit_code()
    }

    pub(crate) fn without_running(outcome: JobOutcome) -> Self {
        Self { outcome, duration_ms: 0, survivors: Vec::new(), n_survivors: 0, all_gone: true }
    }
}
