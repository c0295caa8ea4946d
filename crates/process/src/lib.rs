//! Runs agents, gates and helper programs: the one place of the house that starts processes (law 12).
//!
//! Owns: starting, supervising and ending processes.
//! May use: core.
//! Must not know: what a run, a gate or a policy is.
//!
//! * [`Supervisor`] runs a [`Job`] (the agent's command, a gate) and says how it [`Ended`].
//! * [`Environment`] is what a job sees of the world: all of the user's for the agent, a short list for gates.
//! * [`capture`] runs a small helper program and returns its whole answer, or none.
//! * [`Containment`] says how firmly jobs are held on this machine (law 13).
//!
//! # What is promised
//!
//! * When [`Supervisor::run`] returns with [`Ended::all_gone`], no process of the job is left, so that a snapshot taken
//!   then is final. What outlived the job's own process had a moment to leave by itself, then SIGTERM, then SIGKILL, and
//!   is listed in [`Ended::survivors`]. On Linux this holds for daemons and processes in sessions of their own as well.
//! * No process is signalled that does not descend from the job, and none by an id that could have come to mean another.
//! * A job's output goes straight into the caller's files: whatever ends the job, what it wrote is there.
//! * A timeout, too much output, or a request to stop this process (SIGINT, SIGTERM, SIGHUP) ends the whole job and
//!   nothing else: `run` returns, and the caller writes its evidence (law 11). After such a request no further job starts.
//!   A second one shortens the wait.
//! * On a terminal the job is the foreground, as under a shell: full-screen programs work, Ctrl-C reaches the job, Ctrl-Z
//!   suspends the whole run, and the terminal comes back in the modes it had.
//! * All waiting is bounded, except for a job without a timeout.
//!
//! # What is not promised
//!
//! * Work that a job hands to a server that already ran (a container daemon, a job scheduler, a terminal multiplexer) is
//!   not the job's any more: its processes descend from the server.
//! * A process that may not be signalled or seen (it changed its user) or that the kernel holds stays; `all_gone` is then
//!   false.
//! * While a job runs, children that are started without this crate count as the job's: nothing tells them from orphans.
//!   For the same reason one process runs one job at a time; further supervisors wait.
//! * If this process itself is killed, its job goes on; [`processes_with_variable`] finds what is left of it.
//! * Systems other than Linux: only the job's process group is held together; [`Containment::notes`] says so.

mod capture;
#[cfg(target_os = "linux")]
mod cgroup;
mod children;
mod containment;
#[cfg(target_os = "linux")]
mod descendants;
mod environment;
mod group;
mod job;
mod orphans;
#[cfg(target_os = "linux")]
mod process;
mod signals;
mod supervisor;
mod sweep;
mod terminal;
mod tree;

pub use capture::{CaptureError, Captured, Limits, capture, capture_from};
pub use containment::Containment;
pub use environment::{ALLOWED, Environment, RUN_VARIABLE};
pub use job::{Ended, Input, Job, NotStarted, Outcome, Output, Survivor};
pub use orphans::{Orphan, processes_with_variable};
#[cfg(target_os = "linux")]
pub use process::parent_of;
pub use supervisor::{GRACE, Supervisor};
pub use sweep::MAX_LISTED_SURVIVORS;
