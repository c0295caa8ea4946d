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
            "this kernel does not confine abstract Unix sockets and signals to the command",
            "use Linux 6.12 or later";
        Metadata = "LIMIT.METADATA",
            "permission bits, owners, times and extended attributes are not protected by Landlock; changes are found afterwards",
            "run with `--enforce overlay`";
        ProtectedOpen = "LIMIT.PROTECTED_OPEN",
            "the scope reaches the top of the tree, so Landlock does not protect git's directory and Probity's state; changes there are found afterwards",
            "name directories in the scope, or run with `--enforce overlay`";
        SharedDirectories = "LIMIT.SHARED_DIRECTORIES",
            "the command can write to `/tmp`, `/var/tmp` and `/dev/shm`, where others keep files too",
            "run with `--enforce overlay`";
        SocketsOpen = "LIMIT.SOCKETS_OPEN",
            "services can be asked to act through their Unix sockets, and through the network",
            "run with `--enforce overlay`";
        AsRoot = "LIMIT.AS_ROOT",
            "the command runs as root: it has no capabilities, but owns root's files and devices",
            "run Probity as an ordinary user";
        Reads = "LIMIT.READS",
            "the command can read the user's files, in a view except for the hidden ones",
            "add paths to `hide` in `[enforce]`, for runs in a view";
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
    /// Directories that Landlock opened although the scope does not cover all of them, in the tree and elsewhere.
    pub granted_beyond_scope: Vec<SystemPath>,
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
    /// Branches that moved in the view, if the policy imports commits.
    pub imported: Vec<ImportedBranch>,
}

/// A branch that moved in a view, and what became of its commits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ImportedBranch {
    /// Its full name.
    pub name: String,
    /// The commit that it named before; null if it is new.
    pub before: Option<String>,
    pub after: String,
    /// The number of commits that were taken over; null if the branch was not.
    pub n_commits: Option<usize>,
    /// Why the branch was not taken over, or the index not written.
    pub note: Option<String>,
}

/// A path at which a change could not land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LandingObstacle {
    pub path: RepoPath,
    pub code: ReasonCode,
    pub detail: String,
}
