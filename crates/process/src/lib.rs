//! Runs agents, gates and helper programs. No other crate starts processes (law 12).
//!
//! Owns: starting, supervising and ending processes.
//! May use: core.
//! Must not know: what a run, a gate or a policy is.
//!
//! * [`Supervisor`] runs a [`Job`] (the agent's command, a gate) and returns its [`JobReport`].
//! * [`ProcessEnvironment`] holds the variables of a job: all of the user's for the agent, a short list for gates.
//! * [`capture`] runs a small helper program and returns its complete output, or an error.
//! * [`BackgroundHelper`] keeps a small helper program running until it is no longer needed.
//! * [`HelperProgram`] chooses the file of a helper program, which nobody else may decide.
//! * [`HeldProcess`] identifies a process beyond its id and says whether it descends from another.
//! * [`Containment`] reports how firmly jobs are held on this machine (law 13).
//!
//! # Promises
//!
//! * When [`Supervisor::run`] returns with [`JobReport::all_gone`], no process of the job is left, so a snapshot taken then
//!   is final. Processes that outlived the job's own process had a moment to exit, then got SIGTERM, then SIGKILL, and
//!   are listed in [`JobReport::survivors`]. On Linux this includes daemons and processes in sessions of their own.
//! * Only descendants of the job are signaled, and never by an id that could have been reused.
//! * A job's output goes directly into the caller's files: however the job ends, what it wrote is there.
//! * A timeout, too much output, or a request to stop this process (SIGINT, SIGTERM, SIGHUP) ends the whole job and
//!   nothing else: `run` returns, and the caller writes its evidence (law 11). After such a request no further job
//!   starts. A second request shortens the wait.
//! * On a terminal the job is the foreground, as under a shell: full-screen programs work, Ctrl-C reaches the job,
//!   Ctrl-Z suspends the whole run, and the terminal modes are restored afterwards.
//! * All waiting is bounded, except for a job without a timeout.
//!
//! # Limits
//!
//! * Work that a job hands to a server that was already running (a container daemon, a job scheduler, a terminal
//!   multiplexer) no longer belongs to the job: its processes descend from the server.
//! * A process that cannot be signaled or seen because it changed its user, or that the kernel holds, stays; `all_gone`
//!   is then false.
//! * While a job runs, children started without this crate count as the job's, because nothing distinguishes them from
//!   orphans. For the same reason one process runs one job at a time; further supervisors wait.
//! * If this process itself is killed, its job continues; [`processes_with_variable`] finds what is left of it.
//! * On systems other than Linux, only the job's process group is held together; [`Containment::notes`] reports that.

#[cfg(target_os = "linux")]
mod ancestry;
mod background_helper;
mod capture;
#[cfg(target_os = "linux")]
mod cgroup;
mod containment;
#[cfg(target_os = "linux")]
mod descendants;
mod environment;
mod helper_processes;
mod helper_program;
mod job;
mod orphans;
#[cfg(target_os = "linux")]
mod process_entry;
mod process_group;
mod process_tree;
mod secrets;
mod signals;
mod supervisor;
mod sweep;
mod terminal;

#[cfg(target_os = "linux")]
pub use ancestry::{HeldProcess, ProcessAncestry};
pub use background_helper::BackgroundHelper;
pub use capture::{CaptureError, CaptureLimits, CapturedOutput, capture, capture_from};
pub use containment::{Containment, adopt_orphans};
pub use environment::{ALLOWED_VARIABLES, ProcessEnvironment, RUN_VARIABLE};
pub use helper_program::{HelperProgram, HelperProgramError};
pub use job::{Job, JobInput, JobOutcome, JobOutput, JobReport, NotStarted, SurvivingProcess};
pub use orphans::{OrphanProcess, processes_with_variable};
pub use secrets::{mask_secrets, without_userinfo};
pub use supervisor::{DEFAULT_GRACE_TIMEOUT, Supervisor};
pub use sweep::MAX_LISTED_SURVIVORS;
