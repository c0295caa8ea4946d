//! Runs small helper programs, such as git plumbing, and reads their whole output.
//!
//! A helper sees only the environment it is given, reads nothing, and is limited in time and output. Past a limit there
//! is no output at all, because half an answer could pass for a whole one. Its process group ends with it. Helpers are
//! programs that Probity itself chooses; untrusted programs run under a [`Supervisor`](crate::Supervisor).

use crate::ProcessEnvironment;
use crate::helper_processes::HelperProcess;
use crate::job::JobOutcome;
use crate::secrets::mask_secrets;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// First and longest interval between checks for the exit of a helper that has closed its output.
const HELPER_EXIT_POLL_INTERVALS: (Duration, Duration) =
    (Duration::from_micros(50), Duration::from_millis(5));

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureLimits {
    pub time: Duration,
    /// Maximum bytes for standard output and standard error, each.
    pub output_bytes: usize,
}

/// The complete output of a helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedOutput {
    /// Always [`JobOutcome::Exited`] or [`JobOutcome::Signalled`].
    pub outcome: JobOutcome,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

impl CapturedOutput {
    pub fn succeeded(&self) -> bool {
        self.outcome == JobOutcome::Exited(0)
    }
}

/// The reason a helper gave no output.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    #[error("the command is empty")]
    NoCommand,
    /// The program could not be started, or its output could not be read.
    #[error("cannot run {}: {source}", .program.display())]
    Io { program: OsString, source: io::Error },
    /// It ran too long and was killed.
    #[error("{} did not finish within {} ms", .program.display(), .limit.as_millis())]
    TimedOut { program: OsString, limit: Duration },
    /// It wrote too much and was killed.
    #[error("{} wrote more than {limit_bytes} bytes", .program.display())]
    TooMuchOutput { program: OsString, limit_bytes: usize },
}

/// Runs a helper and returns its complete output.
pub fn capture(
    argv: &[impl AsRef<OsStr> + std::fmt::Debug],
    environment: &ProcessEnvironment,
    cwd: &Path,
    limits: CaptureLimits,
) -> Result<CapturedOutput, CaptureError> {
    capture_from(argv, environment, cwd, limits, None)
}

/// Like [`capture`], for a helper that reads its standard input from a file. A pipe could deadlock when both sides are
/// full; a file cannot.
pub fn capture_from(
    argv: &[impl AsRef<OsStr> + std::fmt::Debug],
    environment: &ProcessEnvironment,
    cwd: &Path,
    limits: CaptureLimits,
    input: Option<File>,
) -> Result<CapturedOutput, CaptureError> {
    let (program, arguments) = argv.split_first().ok_or(CaptureError::NoCommand)?;
    let program = program.as_ref();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(cwd).env_clear().envs(environment.iter()).process_group(0);
    command.stdin(input.map_or_else(Stdio::null, Stdio::from)).stdout(Stdio::piped()).stderr(Stdio::piped());
    tracing::debug!(argv = ?mask_secrets(argv), "helper starts");
    let began = Instant::now();
    let answer = HelperProcess::start(&mut command)
        .map_err(CaptureFailure::from)
        .and_then(|helper| collect_output(helper, limits));
    let answer = answer.map_err(|stop| stop.into_error(program, limits));
    let outcome = answer.as_ref().map(|captured| &captured.outcome);
    tracing::debug!(program = ?program, elapsed = ?began.elapsed(), ?outcome, "helper ended");
    answer
}

/// The reason reading ended early.
enum CaptureFailure {
    Io(io::Error),
    TimedOut,
    TooMuchOutput,
}

impl From<io::Error> for CaptureFailure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl CaptureFailure {
    fn into_error(self, program: &OsStr, limits: CaptureLimits) -> CaptureError {
        let program = program.to_owned();
        match self {
            Self::Io(source) => CaptureError::Io { program, source },
            Self::TimedOut => CaptureError::TimedOut { program, limit: limits.time },
            Self::TooMuchOutput => CaptureError::TooMuchOutput { program, limit_bytes: limits.output_bytes },
        }
    }
}

fn collect_output(
    mut helper: HelperProcess,
    limits: CaptureLimits,
) -> Result<CapturedOutput, CaptureFailure> {
    let group = Pid::from_child(helper.child());
    let until = Instant::now() + limits.time;
    let pipes = (helper.child().stdout.take(), helper.child().stderr.take());
    let heard = read_both(pipes, until, limits.output_bytes)
        .and_then(|heard| wait_until_ended(group, until).map(|()| heard));
    // Kill before reaping: until then the group's id cannot be reused.
    let _ = kill_process_group(group, Signal::KILL);
    let (stdout, stderr) = heard?;
    let outcome = outcome_of(helper.status()?);
    Ok(CapturedOutput { outcome, stdout, stderr })
}

fn read_both(
    (mut stdout, mut stderr): (Option<ChildStdout>, Option<ChildStderr>),
    until: Instant,
    limit_bytes: usize,
) -> Result<(Vec<u8>, Vec<u8>), CaptureFailure> {
    let (mut words, mut complaints) = (Vec::new(), Vec::new());
    while stdout.is_some() || stderr.is_some() {
        let (has_words, has_complaints) = wait_for_bytes(stdout.as_ref(), stderr.as_ref(), until)?;
        if has_words {
            read_some(&mut stdout, &mut words, limit_bytes)?;
        }
        if has_complaints {
            read_some(&mut stderr, &mut complaints, limit_bytes)?;
        }
    }
    Ok((words, complaints))
}

/// Waits until one of the open pipes has bytes or is closed, and returns which.
fn wait_for_bytes(
    stdout: Option<&impl AsFd>,
    stderr: Option<&impl AsFd>,
    until: Instant,
) -> Result<(bool, bool), CaptureFailure> {
    let mut open = Vec::with_capacity(2);
    open.extend(stdout.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    open.extend(stderr.map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(CaptureFailure::TimedOut);
    }
    match poll(&mut open, Timespec::try_from(left).ok().as_ref()) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(CaptureFailure::Io(error.into())),
    }
    let mut ready = open.iter().map(|pipe| !pipe.revents().is_empty());
    let first = stdout.is_some() && ready.next() == Some(true);
    Ok((first, stderr.is_some() && ready.next() == Some(true)))
}

/// Reads the available bytes; closes the pipe at its end.
fn read_some(
    pipe: &mut Option<impl Read>,
    heard: &mut Vec<u8>,
    limit_bytes: usize,
) -> Result<(), CaptureFailure> {
    let mut buffer = [0; 16 * 1024];
    let Some(open) = pipe else { return Ok(()) };
    match open.read(&mut buffer) {
        Ok(0) => *pipe = None,
        Ok(count) if heard.len() + count > limit_bytes => return Err(CaptureFailure::TooMuchOutput),
        Ok(count) => heard.extend_from_slice(&buffer[..count]),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
        Err(error) => return Err(CaptureFailure::Io(error)),
    }
    Ok(())
}

/// Waits for a helper to exit without reaping it.
fn wait_until_ended(helper: Pid, until: Instant) -> Result<(), CaptureFailure> {
    let peek = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let (mut pause, longest) = HELPER_EXIT_POLL_INTERVALS;
    loop {
        match waitid(WaitId::Pid(helper), peek) {
            Ok(Some(_)) => return Ok(()),
            Ok(None) | Err(Errno::INTR) if Instant::now() >= until => return Err(CaptureFailure::TimedOut),
            Ok(None) | Err(Errno::INTR) => sleep(pause),
            Err(error) => return Err(CaptureFailure::Io(error.into())),
        }
        pause = longest.min(pause * 2);
    }
}

fn outcome_of(status: ExitStatus) -> JobOutcome {
    match (status.code(), status.signal()) {
        (Some(code), _) => JobOutcome::Exited(code),
        (None, signal) => JobOutcome::Signalled(signal.unwrap_or(0)),
    }
}
