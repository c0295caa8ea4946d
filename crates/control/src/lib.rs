//! The workflows that join the house. Every surface calls these functions and adds no rules of its own.
//!
//! Owns: the workflows: run, start, finish, analyze, verify, ledger, commits, and the state that they keep.
//! May use: analysis, api, contract, core, documents, evidence, intents, ledger, model, paths, policy, process, snapshot, storage.
//! Must not know: the command line, the protocol of agents, how an answer is shown.
//!
//! * [`run`]: a command under a sealed scope, from declaration to evidence.
//! * [`planning`]: what would be sealed. [`init`]: a policy to begin with. [`agents`]: entries in agents' own
//!   configuration.
//! * [`analyze`]: a structural analysis of the tree. [`runs`]: where its results are kept.
//! * [`claims`]: what runs and intents hold against each other.
//! * [`amend`], [`revert`]: the ways on after a violation. [`explain`]: why a path is in or out.
//! * [`bundles`], [`export`], [`keys`]: reading, checking and signing evidence. [`prune`]: removing what is old.
//! * [`deed`]: evidence of what Probity itself does.
//! * [`ledger`]: what agents know and decided.
//! * [`commits`]: the store of typed documents, what merges of it lost, and decisions about that.
//! * [`progress`]: how far long work is, for whoever shows it.
//! * [`refs`]: git references, and how they moved.
//! * [`exempt`]: what is no part of the delta. [`judge`]: the verdict, a pure function of what was observed.

pub mod agents;
pub mod amend;
mod amendment_journal;
pub mod analyze;
pub mod attest;
mod before;
pub mod bundles;
pub mod chain;
pub mod change;
mod channel;
pub mod claims;
mod clock;
pub mod commits;
pub mod contract;
mod coverage;
pub mod deed;
pub mod exempt;
pub mod explain;
pub mod export;
mod fault;
pub mod gates;
mod git;
mod git_failure;
pub mod init;
pub mod judge;
pub mod keys;
pub mod ledger;
mod observe;
mod own_files;
pub mod planning;
pub mod progress;
pub mod prune;
pub mod recover;
pub mod refs;
pub mod registry;
pub mod revert;
mod root;
pub mod run;
pub mod run_claims;
pub mod runs;
pub mod selection;
pub mod signing;
mod state_guard;
mod workspace;
pub mod worktree;

pub use fault::Fault;
pub use git_failure::{GitFailure, GitFailureCause};
pub use progress::ProgressMeter;
pub use recover::ClosedRun;
pub use workspace::Workspace;

/// Who is asking, where nobody says so: the user's name, or the number of the user.
pub fn user() -> String {
    let named = ["USER", "LOGNAME"].into_iter().find_map(|name| std::env::var(name).ok());
    let named = named.filter(|name| !name.trim().is_empty());
    named
        .or_else(root::account_name)
        .unwrap_or_else(|| format!("user {}", rustix::process::getuid().as_raw()))
}
