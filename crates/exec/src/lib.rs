//! Runs agents, gates and helper programs.

mod capture;
mod children;
#[cfg(target_os = "linux")]
mod descendants;
mod environment;
mod group;
mod job;
#[cfg(target_os = "linux")]
mod process;
mod signals;
mod supervisor;
mod sweep;
mod terminal;
mod tree;

pub use capture::{CaptureError, Captured, Limits, capture};
pub use environment::{ALLOWED, Environment};
pub use job::{Containment, Ended, Input, Job, NotStarted, Outcome, Output, Survivor};
pub use supervisor::{GRACE, Supervisor};
pub use sweep::MAX_LISTED_SURVIVORS;
