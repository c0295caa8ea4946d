//! The guard in front of agents: what a tool call writes, and whether its session may.
//!
//! Owns: the effects of shell command lines and patches, the snapshot of claims that a hook reads, its decision.
//! May use: core, intents, paths, policy.
//! Must not know: a file system, a clock, a store, the formats of agents.
//!
//! * [`shell`]: which paths a shell command line certainly writes. [`patch_paths`]: those of a patch.
//! * [`GuardSnapshot`]: the claims, replaced by every command that changes one. [`SessionRecord`]: what is known of a
//!   session.
//! * [`decide`]: whether the writes of a tool call pass.

mod configuration;
mod decision;
mod guarded_files;
mod patch;
pub mod shell;
mod snapshot;

pub use configuration::{CONFIGURATION_FILES, configuration_digest, program_identity};
pub use decision::{
    GovernedTree, GuardRefusal, GuardVerdict, GuardWorld, PathWrite, RefusalCode, ToolCallEffects, decide,
    own_intents,
};
pub use guarded_files::{GuardedFileKind, guarded_file};
pub use patch::patch_paths;
pub use probity_intents::handle_digest;
pub use snapshot::{
    BOUND_DIR, GUARD_FILE, GuardBytes, GuardRules, GuardSnapshot, GuardedIntent, GuardedRun,
    MAX_UNPROVEN_PROGRAMS, RUN_GUARD_VARIABLE, RunGuard, SESSION_STATE_FILE, SESSIONS_DIR, SessionRecord,
    SessionState, intent_file, session_key, unproven_program_file, unproven_program_of,
};
