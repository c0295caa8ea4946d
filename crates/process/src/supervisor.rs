//! Runs one job at a time and brings it to an end: by itself, by its limits, or because this process must stop.

use crate::children;
use crate::containment::{Containment, Means};
use crate::job::{Ended, Input, Job, NotStarted, Outcome, Output};
use crate::signals::Signals;
use crate::sweep::{Swept, end_survivors};
use crate::terminal::Loan;
use crate::tree::Tree;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, waitid};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long processes that were asked to end may take before they are forced.
pub const GRACE: Duration = Duration::from_secs(1);

/// How long to wait for a process after SIGKILL. More only helps where the kernel itself is stuck.
const FORCE: Duration = Duration::from_secs(5);
/// How often the size of the output is looked at.
const OUTPUT_CHECK: Duration = Duration::from_millis(100);
/// The longest sleep without looking at the job, should a signal get lost.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// Runs jobs, one at a time.
///
/// From its making on, SIGINT, SIGTERM and SIGHUP no longer end this process: they cancel the job that runs, no
/// further job starts, and [`Supervisor::cancelled`] tells. The caller then writes its evidence and leaves.
pub struct Supervisor {
    means: Means,
    signals: Signals,
    grace: Duration,
}

impl Supervisor {
    /// Takes up supervision: listens to signals, and becomes the parent of orphans where the system can do that.
    pub fn new() -> io::Result<Self> {
        let signals = Signals::listen()?;
        Ok(Self { means: Means::find(), signals, grace: GRACE })
    }

    /// Gives jobs this long to comply when they are asked to end, instead of [`GRACE`].
    #[must_use]
    pub fn with_grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// How firmly jobs are held here.
    pub fn containment(&self) -> &Containment {
        &self.means.containment
    }

    /// The signal that asked this process to stop, if one came since the supervisor was made.
    pub fn cancelled(&mut self) -> Option<i32> {
        self.signals.request()
    }

    /// Runs a job to its end and ends all it leaves behind. Waits while another supervisor of this process runs one.
    #[tracing::instrument(level = "debug", name = "process", skip_all, fields(program = ?job.argv.first()))]
    pub fn run(&mut self, job: &Job) -> Ended {
        let _turn = children::one_job_at_a_time();
        if let Some(signal) = self.signals.request() {
            return Ended::without_running(Outcome::Cancelled(signal));
        }
        let mut tree = self.means.tree();
        let begun = Instant::now();
        let main = match start(job, tree.as_mut()) {
            Ok(main) => main,
            Err(why) => return Ended::without_running(Outcome::NotStarted(why)),
        };
        let loan = if job.stdin == Input::Inherit { Loan::to(main) } else { None };
        let (outcome, polite_until) =
            Attendance { job, main, begun, loan, signals: &mut self.signals, grace: self.grace }
                .attend(tree.as_mut());
        let duration_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        let Swept { n_survivors, survivors, all_gone } = end_survivors(tree.as_ref(), polite_until);
        Ended { outcome, duration_ms, survivors, n_survivors, all_gone }
    }
}

fn start(job: &Job, tree: &mut dyn Tree) -> Result<Pid, NotStarted> {
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
    if job.stdin == Input::Null {
        command.stdin(Stdio::null());
    }
    match &job.output {
        Output::Inherit => {}
        Output::ToStderr => {
            command.stdout(io::stderr());
        }
        Output::Files { stdout, stderr, .. } => {
            command.stdout(stdout.try_clone().map_err(refused)?);
            command.stderr(stderr.try_clone().map_err(refused)?);
        }
    }
    tree.start(&mut command).map_err(refused)
}

/// The watch over one running job.
struct Attendance<'a> {
    job: &'a Job,
    main: Pid,
    begun: Instant,
    loan: Option<Loan>,
    signals: &'a mut Signals,
    grace: Duration,
}

impl Attendance<'_> {
    /// Stays until the job's own process has ended. Answers how it ended and until when its other processes need not
    /// be forced.
    fn attend(mut self, tree: &mut dyn Tree) -> (Outcome, Instant) {
        loop {
            if let Some(outcome) = self.look() {
                tree.main_ended();
                return (outcome, Instant::now() + self.grace);
            }
            if let Some((outcome, signal)) = self.reason_to_end() {
                let polite_until = Instant::now() + self.grace;
                self.bring_down(tree, signal, polite_until);
                return (outcome, polite_until);
            }
            self.signals.sleep(self.nap());
        }
    }

    /// How the job's own process ended, if it has. If it was stopped on the terminal, this process follows.
    fn look(&mut self) -> Option<Outcome> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(self.main), options) {
            Ok(Some(status)) if status.stopped() => {
                if let (Some(loan), Some(signal)) = (&mut self.loan, status.stopping_signal()) {
                    loan.stopped_by(signal);
                }
                None
            }
            Ok(Some(status)) => Some(outcome_of(&status)),
            Ok(None) | Err(rustix::io::Errno::INTR) => None,
            // Somebody else asked for the status: the process is gone, and how it ended is lost.
            Err(_) => Some(Outcome::Signalled(0)),
        }
    }

    fn reason_to_end(&mut self) -> Option<(Outcome, Signal)> {
        if let Some(number) = self.signals.request() {
            let signal = Signal::from_named_raw(number).unwrap_or(Signal::TERM);
            return Some((Outcome::Cancelled(number), signal));
        }
        if self.job.timeout.is_some_and(|timeout| self.begun.elapsed() >= timeout) {
            return Some((Outcome::TimedOut, Signal::TERM));
        }
        self.wrote_too_much().then_some((Outcome::TooMuchOutput, Signal::TERM))
    }

    fn wrote_too_much(&self) -> bool {
        let Output::Files { stdout, stderr, limit_bytes } = &self.job.output else { return false };
        [stdout, stderr]
            .iter()
            .any(|file| file.metadata().is_ok_and(|metadata| metadata.len() > *limit_bytes))
    }

    /// How long to sleep before the next look.
    fn nap(&self) -> Duration {
        let until_timeout = self.job.timeout.map(|timeout| timeout.saturating_sub(self.begun.elapsed()));
        let until_check = match self.job.output {
            Output::Files { .. } => OUTPUT_CHECK,
            Output::Inherit | Output::ToStderr => LONGEST_SLEEP,
        };
        until_timeout.map_or(until_check, |until_timeout| until_timeout.min(until_check))
    }

    /// Ends the job's own process: all are asked, and forced when time is over or a second request to stop comes.
    fn bring_down(&mut self, tree: &mut dyn Tree, signal: Signal, polite_until: Instant) {
        tree.signal_all(signal);
        tree.signal_all(Signal::CONT);
        self.loan = None;
        if self.is_gone_by(polite_until, true) {
            return tree.main_ended();
        }
        tree.signal_all(Signal::KILL);
        if self.is_gone_by(Instant::now() + FORCE, false) {
            tree.main_ended();
        }
    }

    fn is_gone_by(&mut self, until: Instant, hurries_on_request: bool) -> bool {
        loop {
            if self.look().is_some() {
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

fn outcome_of(status: &WaitIdStatus) -> Outcome {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Outcome::Exited(code),
        (None, signal) => Outcome::Signalled(signal.unwrap_or(0)),
    }
}
