//! The tree that a command is about, as every service sees it: where it is, what is in it, what git says of it.
//!
//! Owns: root and state directory of a tree, its policy, worktree status, gates, the claims of runs, the shared error.
//! May use: api, core, evidence, intents, paths, policy, process, snapshot, storage.
//! Must not know: what an analysis, a ledger, a registry of intents or a verdict on a run is.
//!
//! * [`Workspace`]: the root, its repository, its state, its policy. [`StateDirectory`]: the layout of the state directory.
//! * [`observe`]: one look at everything a verdict needs. [`worktree`]: the tree held against its commit.
//! * [`exemptions`]: what is no part of the delta. [`selection`]: what a caller asks to be governed.
//! * [`git`], [`refs`]: questions to git, and references. [`gates`]: running the gates of a seal.
//! * [`run_claims`]: what a governed run claims, where everybody who starts a change looks.
//! * [`state_files`]: how owners of files in the state directory vouch for them.
//! * [`ServiceError`]: why a command gave no report. [`progress`]: how far long work is. [`clock`]: the one clock.

pub mod amendment_journal;
pub mod clock;
pub mod exemptions;
pub mod gates;
pub mod git;
mod git_failure;
pub mod observe;
pub mod own_files;
pub mod progress;
pub mod refs;
mod root;
pub mod run_claims;
pub mod selection;
mod service_error;
pub mod signing;
mod state_directory;
pub mod state_files;
pub mod workspace;
pub mod worktree;

pub use git_failure::{GitFailure, GitFailureCause};
pub use progress::ProgressMeter;
pub use service_error::ServiceError;
pub use state_directory::{DATABASE_FILE, HANDLES_DIR, OpenRun, StateDirectory, is_tree_key, tree_key};
pub use workspace::{LoadedPolicy, PolicySource, Workspace};

/// Who is asking, where nobody says so: the user's name, or the number of the user.
pub fn user_name() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let named = named.filter(|name| !name.trim().is_empty());
    named
        .or_else(root::account_name)
        .unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()))
}
