//! Runs one job at a time until it exits, exceeds a limit, or this process must stop.

use crate::containment::{Containment, ContainmentMeans};
use crate::helper_processes;
use crate::job::{Job, JobInput, JobOutcome, JobOutput, JobReport, NotStarted};
use crate::process_tree::ProcessTree;
use crate::signals::SignalListener;
use crate::sweep::{SweepReport, end_survivors};
use crate::terminal::TerminalGuard;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, waitid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time for processes to exit after being asked, before they are killed.
pub const DEFAULT_GRACE_TIMEOUT: Duration = Duration::from_secs(1);

/// Time to wait for a process after SIGKILL. Waiting longer only helps if the kernel itself is stuck.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
const OUTPUT_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// Upper limit between two checks of the job, in case a signal gets lost.
const MAX_SLEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Runs jobs, one at a time.
///
/// From its creation on, SIGINT, SIGTERM and SIGHUP no longer end this process: they cancel the running job, no further
/// job starts, and [`Supervisor::cancelled`] returns the signal. The caller then writes its evidence and exits.
pub struct Supervisor {
    means: ContainmentMeans,
    signals: SignalListener,
    grace: Duration,
}

impl Supervisor {
    /// Starts listening to signals, and becomes the parent of orphans where the system supports that.
    pub fn new() -> io::Result<Self> {
        let signals = SignalListener::listen()?;
        Ok(Self { means: ContainmentMeans::find(), signals, grace: DEFAULT_GRACE_TIMEOUT })
    }

    /// Replaces [`DEFAULT_GRACE_TIMEOUT`], the time jobs have to exit when asked.
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Reports how firmly jobs are held here; after the first job, what held it.
    pub fn containment(&self) -> Containment {
        self.means.report()
    }

    /// Returns the signal that asked this process to stop since the supervisor was created, if any.
    pub fn cancelled(&mut self) -> Option<i32> {
        self.signals.request()
    }

    /// Runs a job to its end and ends everything it leaves behind. Waits while another supervisor of this process runs
    /// one.
    #[tracing::instrument(level = "debug", name = "process", skip_all, fields(program = ?job.argv.first()))]
    pub fn run(&mut self, job: &Job) -> JobReport {
        let _turn = helper_processes::lock_job();
        if let Some(signal) = self.signals.request() {
            return JobReport::without_running(JobOutcome::Cancelled(signal));
        }
        let mut tree = self.means.tree();
        let begun = Instant::now();
        let main = match start(job, tree.as_mut()) {
            Ok(main) => main,
            Err(why) => return JobReport::without_running(JobOutcome::NotStarted(why)),
        };
        let loan = if job.stdin == JobInput::Inherit { TerminalGuard::lend_to(main) } else { None };
        let (outcome, polite_until) = JobMonitor {
            job,
            main,
            started: begun,
            terminal: loan,
            signals: &mut self.signals,
            grace: self.grace,
        }
        .wait_for_end(tree.as_mut());
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let SweepReport { n_survivors, survivors, all_gone } = end_survivors(tree.as_ref(), polite_until);
        JobReport { outcome, duration_ms, survivors, n_survivors, all_gone }
    }
}

fn start(job: &Job, tree: &mut dyn ProcessTree) -> Result<Pid, NotStarted> {
    let Some((program, arguments)) = job.argv.split_first() else { return Err(NotStarted::NoCommand) };
    if !job.cwd.is_dir() {
        return Err(NotStarted::NoFolder(job.cwd.clone()));
    }
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => NotStarted::NotFound(program.clone()),
        io::ErrorKind::PermissionDenied => NotStarted::NotExecutable(program.clone()),
        _ => NotStarted::Refused { program: program.clone(), why: error.to_string() },
    };
    let mut command = Command::new(program);
    command.args(arguments).current_dir(&job.cwd).process_group(0);
    command.env_clear().envs(job.environment.iter());
    if job.stdin == JobInput::Null {
        command.stdin(Stdio::null());
    }
    match &job.output {
        JobOutput::Inherit => {}
        JobOutput::ToStderr => {
            command.stdout(io::stderr());
        }
        JobOutput::Files { stdout, stderr, .. } => {
            command.stdout(stdout.try_clone().map_err(refused)?);
            command.stderr(stderr.try_clone().map_err(refused)?);
        }
    }
    tree.start(&mut command).map_err(refused)
}

/// Watches one running job.
struct JobMonitor<'a> {
    job: &'a Job,
    main: Pid,
    started: Instant,
    terminal: Option<TerminalGuard>,
    signals: &'a mut SignalListener,
    grace: Duration,
}

impl JobMonitor<'_> {
    /// Waits until the job's own process has ended. Returns its outcome and the time until which its other processes
    /// are not killed.
    fn wait_for_end(mut self, tree: &mut dyn ProcessTree) -> (JobOutcome, Instant) {
        loop {
            if let Some(outcome) = self.poll_outcome() {
                tree.main_ended();
                return (outcome, Instant::now() + self.grace);
            }
            if let Some((outcome, signal)) = self.reason_to_end() {
                let polite_until = Instant::now() + self.grace;
                self.terminate(tree, signal, polite_until);
                return (outcome, polite_until);
            }
            self.signals.sleep(self.sleep_interval());
        }
    }

    /// Returns the outcome of the job's own process if it has ended. If it was stopped on the terminal, this process
    /// stops too.
    fn poll_outcome(&mut self) -> Option<JobOutcome> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(self.main), options) {
            Ok(Some(status)) if status.stopped() => {
                if let (Some(loan), Some(signal)) = (&mut self.terminal, status.stopping_signal()) {
                    loan.stopped_by(signal);
                }
                None
            }
            Ok(Some(status)) => Some(outcome_of(&status)),
            Ok(None) | Err(rustix::io::Errno::INTR) => None,
            // Something else reaped the process: it is gone, and its status is lost.
            Err(_) => Some(JobOutcome::Signalled(0)),
        }
    }

    fn reason_to_end(&mut self) -> Option<(JobOutcome, Signal)> {
        if let Some(number) = self.signals.request() {
            let signal = Signal::from_named_raw(number).unwrap_or(Signal::TERM);
            return Some((JobOutcome::Cancelled(number), signal));
        }
        if self.job.timeout.is_some_and(|timeout| self.started.elapsed() >= timeout) {
            return Some((JobOutcome::TimedOut, Signal::TERM));
        }
        self.wrote_too_much().then_some((JobOutcome::TooMuchOutput, Signal::TERM))
    }

    fn wrote_too_much(&self) -> bool {
        let JobOutput::Files { stdout, stderr, limit_bytes } = &self.job.output else { return false };
        [stdout, stderr]
            .iter()
            .any(|file| file.metadata().is_ok_and(|metadata| metadata.len() > *limit_bytes))
    }

    /// Returns the time to sleep before the next check.
    fn sleep_interval(&self) -> Duration {
        let until_timeout = self.job.timeout.map(|timeout| timeout.saturating_sub(self.started.elapsed()));
        let until_check = match self.job.output {
            JobOutput::Files { .. } => OUTPUT_CHECK_INTERVAL,
            JobOutput::Inherit | JobOutput::ToStderr => MAX_SLEEP_INTERVAL,
        };
        until_timeout.map_or(until_check, |until_timeout| until_timeout.min(until_check))
    }

    /// Ends the job's own process: asks all processes, then kills them when time is over or a second stop request
    /// comes.
    fn terminate(&mut self, tree: &mut dyn ProcessTree, signal: Signal, polite_until: Instant) {
        tree.signal_all(signal);
        tree.signal_all(Signal::CONT);
        self.terminal = None;
        if self.is_gone_by(polite_until, true) {
            return tree.main_ended();
        }
        tree.signal_all(Signal::KILL);
        if self.is_gone_by(Instant::now() + KILL_TIMEOUT, false) {
            tree.main_ended();
        }
    }

    fn is_gone_by(&mut self, until: Instant, hurries_on_request: bool) -> bool {
        loop {
            if self.poll_outcome().is_some() {
                return true;
            }
            let hurry = hurries_on_request && self.signals.fresh_request();
            let left = until.saturating_duration_since(Instant::now());
            if hurry || left.is_zero() {
                return false;
            }
            self.signals.sleep(left);
        }
    }
}

fn outcome_of(status: &WaitIdStatus) -> JobOutcome {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => JobOutcome::Exited(code),
        (None, signal) => JobOutcome::Signalled(signal.unwrap_or(0)),
    }
}
