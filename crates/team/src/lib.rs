//! The store that several machines share: what this clone joined, and the engines that reach it.
//!
//! Owns: the membership of a clone, the engine on a git remote.
//! May use: core, policy, snapshot, storage, workspace.
//! Must not know: what an intent is, how claims are decided.
//!
//! * [`TeamMembership`]: what a clone joined, kept in its state directory, never in the tree.
//! * [`GitRemoteStore`]: the ports on references of a git remote; needs nothing but the remote that everyone has.

mod git_chain;
mod git_remote;
mod membership;

pub use git_remote::GitRemoteStore;
pub use membership::{TEAM_FILE, TeamMembership, is_loopback_or_tls};
