//! The state of a shared tree compared with its commit, from our own snapshots.
//!
//! * [`WorktreeStatus`]: the paths that differ from the commit or are outside git. [`ChangesSinceStart`]: the dirty
//!   paths at a finish.
//! * [`StartRecord`]: the state stored when an intent starts.

mod committed_content;
mod filters;
mod record;
mod status;

pub(crate) use committed_content::first_difference;
pub use filters::from_top;
pub use record::StartRecord;
pub use status::{ChangesSinceStart, DirtyPath, WorktreeStatus};
