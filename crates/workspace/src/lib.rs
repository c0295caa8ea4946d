//! The tree a command works on, as every service sees it: its location, its contents and its git status.
//!
//! Owns: root and state directory of a tree, its policy, worktree status, gates, the claims of runs, the shared error.
//! May use: api, core, evidence, intents, paths, policy, process, scopes, snapshot, storage.
//! Must not know: what an analysis, a ledger, a registry of intents or a verdict on a run is.
//!
//! * [`Workspace`]: the root, its repository, its state and its policy. [`StateDirectory`]: the layout of the state
//!   directory.
//! * [`observe`]: one observation of everything a verdict needs. [`worktree`]: the tree compared with its commit.
//! * [`exemptions`]: paths excluded from the delta. [`selection`]: the paths a caller wants governed.
//! * [`judging_policy`]: the policy that a change is judged by.
//! * [`git`], [`git_blame`], [`git_history`], [`refs`]: git queries and references. [`git_write`]: new objects and branches. [`git_transport`]: the references of a remote. [`gates`]: running the gates of a seal.
//! * [`clone_identity`]: what tells this clone and this boot from every other.
//! * [`run_claims`]: the paths that governed runs claim, visible to everyone who starts a change.
//! * [`transparency_log`]: the one append-only log of everything that must not shrink unnoticed.
//! * [`state_files`]: integrity checks that the owners of state files provide.
//! * [`ServiceError`]: why a command has no report. [`progress`]: progress of long work.
//! * [`CancellationToken`]: whether the caller still waits. [`clock`]: the only clock.

pub mod amendment_journal;
mod cancellation;
pub mod clock;
pub mod clone_identity;
pub mod exemptions;
pub mod gates;
pub mod git;
pub mod git_blame;
mod git_failure;
pub mod git_history;
pub mod git_import;
mod git_index;
mod git_program;
mod git_refs;
pub mod git_transport;
pub mod git_write;
pub mod held_layers;
pub mod judging_policy;
pub mod observe;
pub mod outgoing;
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
mod state_safety;
pub mod transparency_log;
pub mod workspace;
pub mod worktree;

pub use cancellation::CancellationToken;
pub use git_failure::{GitFailure, GitFailureCause};
pub use git_program::worktrees;
pub use progress::ProgressMeter;
pub use root::UnusedTree;
pub use service_error::ServiceError;
pub use state_directory::{
    CHECKPOINT_FILE, DATABASE_FILE, HANDLES_DIR, OpenRun, StateDirectory, is_tree_key, tree_key,
};
pub use workspace::{LoadedPolicy, PolicySource, Workspace};

/// Returns the default actor: the user's name, or `user <uid>` if no name is known.
pub fn user_name() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let named = named.filter(|name| !name.trim().is_empty());
    named
        .or_else(root::account_name)
        .unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()))
}
