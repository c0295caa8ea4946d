//! How firmly a run was kept in its scope, and what became of its changes.

use crate::system_path::SystemPath;
use probity_core::ReasonCode;
use probity_evidence::{EnforcementLevel, LandingState};
use probity_paths::RepoPath;
use probity_policy::{EnforcementChoice, NetworkRule};
use schemars::JsonSchema;
use serde::Serialize;

probity_core::code_enum! {
    /// A way around the enforcement of a run that is not closed.
    pub enum EnforcementLimit {
        AfterTheFact = "LIMIT.AFTER_THE_FACT",
            "changes are found after they were made; writes outside of the tree are not seen",
            "run with `--enforce overlay`";
        LoopbackOpen = "LIMIT.LOOPBACK_OPEN",
            "the network is on: services on this machine and elsewhere can be asked to act",
            "run with `--network off` if the command needs no network";
        LateSockets = "LIMIT.LATE_SOCKETS",
            "a Unix socket that a service creates after the start can be reached by its path",
            "nothing to do on this kernel; do not start services in directories the command can name";
        NoScopes = "LIMIT.NO_SCOPES",
            "this kernel does not confine abstract Unix sockets and signals to the view",
            "use Linux 6.12 or later";
        Metadata = "LIMIT.METADATA",
            "permission bits, owners, times and extended attributes are not protected by Landlock; changes are found afterwards",
            "run with `--enforce overlay`";
        AsRoot = "LIMIT.AS_ROOT",
            "the command runs as root: it has no capabilities, but owns root's files and devices",
            "run Probity as an ordinary user";
        Reads = "LIMIT.READS",
            "the command can read the user's files, except for the hidden ones",
            "add paths to `hide` in `[enforce]`";
    }
}

/// What confined a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfinementReport {
    /// The level of the run.
    pub level: EnforcementLevel,
    /// The level that was asked for.
    pub asked: EnforcementChoice,
    /// The weakest level that the policy accepts.
    pub minimum: EnforcementLevel,
    /// Why stronger levels were not used, or that the test of the level succeeded.
    pub self_test: String,
    /// The release of the kernel.
    pub kernel: Option<String>,
    /// The version of Landlock that the kernel offers; null if none.
    pub landlock_abi: Option<u32>,
    /// The namespaces of the command that were its own.
    pub namespaces: Vec<String>,
    /// Whether the command reached the network.
    pub network: NetworkRule,
    /// The view, at the level `overlay`.
    pub view: Option<ViewFacts>,
    /// Directories that Landlock opened although the scope does not cover all of them.
    pub granted_beyond_scope: Vec<RepoPath>,
    /// The known ways around this.
    pub limits: Vec<EnforcementLimit>,
}

/// A private view of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ViewFacts {
    /// The directory whose changes went into the layer.
    pub root: SystemPath,
    /// Directories of the scope that were copied into the layer first, so that they can be renamed.
    pub precopied: Vec<RepoPath>,
    pub hidden: Vec<SystemPath>,
    pub persist: Vec<SystemPath>,
    pub scratch: Vec<SystemPath>,
    /// The sockets of services that were covered.
    pub masked_sockets: usize,
}

/// What became of the changes of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct LandingReport {
    pub state: LandingState,
    /// The changed paths that landed or wait, build outputs included.
    pub paths: Vec<RepoPath>,
    /// Why nothing landed.
    pub conflicts: Vec<LandingObstacle>,
}

/// A path at which a change could not land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LandingObstacle {
    pub path: RepoPath,
    pub code: ReasonCode,
    pub detail: String,
}
