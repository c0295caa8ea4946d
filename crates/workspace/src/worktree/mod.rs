//! The state of a shared tree against its commit, from our own snapshots.
//!
//! * [`WorktreeStatus`]: what differs from the commit, and what lies aside. [`ChangesSinceStart`]: what is dirty at a finish.
//! * [`StartRecord`]: what is kept of it when an intent starts.

mod filters;
mod record;
mod status;

pub use filters::from_top;
pub use record::StartRecord;
pub use status::{ChangesSinceStart, DirtyPath, WorktreeStatus};
