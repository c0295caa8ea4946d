//! The store that several machines share: what this clone joined, and the engines that reach it.
//!
//! Owns: the membership of a clone, the engines on a git remote and on etcd.
//! May use: core, policy, snapshot, storage, workspace.
//! Must not know: what an intent is, how claims are decided.
//!
//! * [`TeamMembership`]: what a clone joined, kept in its state directory, never in the tree.
//! * [`GitRemoteStore`]: the ports on references of a git remote; needs nothing but the remote that everyone has.
//! * [`etcd`]: the ports on etcd, with leases by its clock and a bell for those who wait.

#[cfg(feature = "etcd")]
pub mod etcd;
mod git_chain;
mod git_remote;
mod membership;
mod names;

pub use git_remote::GitRemoteStore;
pub use membership::{
    EtcdAddress, StoreCheckup, TEAM_FILE, TeamMemberState, TeamMembership, TeamStoreAddress,
    is_loopback_or_tls,
};
