//! Governs a command, from the declaration of its scope to the evidence of what it did.
//!
//! Owns: sealing, running, judging and attesting a run; reading, amending, undoing and pruning evidence.
//! May use: api, changes, core, evidence, paths, policy, process, scopes, snapshot, storage, workspace.
//! Must not know: analyses, the ledger, the command line, the protocol of agents, how an answer is shown.
//!
//! * [`run`]: runs a command under a sealed scope, from declaration to evidence.
//! * [`planning`]: a preview of the seal. [`init`]: a first policy.
//! * [`amend`], [`revert`]: the two ways to resolve a violation. [`explain`]: why a path is in or out of scope.
//! * [`bundles`], [`export`], [`keys`]: reading, checking and signing evidence. [`prune`]: removing old evidence.
//! * `maintenance_run`: evidence of what Probity itself does.
//! * [`run_verdict`]: the verdict, a pure function of the observations.

pub mod amend;
mod amendment_channel;
pub mod attest;
mod before_images;
pub mod bundles;
pub mod chain_check;
mod coverage;
pub mod explain;
pub mod export;
pub mod init;
pub mod keys;
pub mod log_proofs;
pub mod log_restart;
mod maintenance_run;
pub mod planning;
pub mod prune;
pub mod recover;
mod reserved_space;
pub mod revert;
pub mod run;
pub mod run_verdict;
mod state_guard;

pub use recover::ClosedRun;
