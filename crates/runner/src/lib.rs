//! Governs a command, from the declaration of its scope to the evidence of what it did.
//!
//! Owns: sealing, running, judging and attesting a run; reading, amending, undoing and pruning evidence.
//! May use: api, changes, core, evidence, line-diff, paths, policy, process, sandbox, scopes, snapshot, storage, workspace.
//! Must not know: analyses, the ledger, the command line, the protocol of agents, how an answer is shown.
//!
//! * [`run`]: runs a command under a sealed scope, from declaration to evidence.
//! * [`planning`]: a preview of the seal. [`init`]: a first policy.
//! * [`amend`], [`revert`]: the two ways to resolve a violation. [`explain`]: why a path is in or out of scope.
//! * [`held`]: decisions about changes that wait in a layer.
//! * [`landing`]: brings the layer of a run in a view into the tree, all or nothing.
//! * [`recorded_contents`]: both sides of what a run changed, for readers.
//! * [`bundles`], [`export`], [`keys`]: reading, checking and signing evidence. [`prune`]: removing old evidence.
//! * [`uninstall`]: takes Probity out of a project.
//! * `maintenance_run`: evidence of what Probity itself does.
//! * [`run_verdict`]: the verdict, a pure function of the observations.

pub mod amend;
mod amendment_channel;
pub mod attest;
mod before_images;
pub mod bundles;
pub mod chain_check;
mod coverage;
mod enforcement;
pub mod explain;
pub mod export;
pub mod held;
pub mod init;
pub mod keys;
pub mod landing;
mod landlock_level;
pub mod log_proofs;
pub mod log_restart;
mod maintenance_run;
pub mod planning;
pub mod prune;
pub mod recorded_contents;
mod recorded_delta;
pub mod recover;
mod recovered_landing;
mod reserved_space;
pub mod revert;
pub mod run;
pub mod run_verdict;
mod state_guard;
pub mod uninstall;
mod view;

pub use enforcement::{EnforcementRequest, enforcement_checkup};
pub use probity_sandbox::run_role as run_view_role;
pub use recover::ClosedRun;
