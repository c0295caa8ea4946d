//! Intents: changes declared by several agents in one tree. Pure: the clock and the process table are arguments.
//!
//! Owns: scopes of intents, ownership, start and finish decisions, the registry as a fold of its log.
//! May use: core, paths, scopes.
//! Must not know: a file, a clock, a process table, how events are stored.
//!
//! * [`IntentScope`], [`relations`], [`scope_check`]: what a change may touch, and how two scopes overlap.
//! * [`IntentOwner`], [`ownership`]: who holds an intent, and what a reader may conclude about its owner.
//! * [`start_decision`]: decides whether a start is granted. [`RunClaim`]: conflicts between governed runs
//!   and intents.
//! * [`coherence`]: how claims of different trees relate, and whether a tree has what others finished.
//! * [`clone_logs`]: whether the own logs of the clones of a team only grew.
//! * [`hygiene_finish`]: attributes each uncommitted path of a shared tree.
//! * [`registry`]: the registry of intents as a fold of its log: `decide` and `apply`.
//! * [`vectors`]: runs these functions on conformance vectors, for `probity conformance`.

mod base;
mod check;
pub mod clone_logs;
pub mod coherence;
pub mod hygiene;
mod owner;
mod record;
pub mod registry;
mod relations;
mod run_claim;
mod scope;
pub mod start;
pub mod vectors;

pub use base::SharedOverlap;
pub use check::{ScopeCheck, ScopeCheckStatus, scope_check};
pub use coherence::{ClaimRelation, LackingWork, ReleasedWork, claim_relation};
pub use hygiene::{FinishHygiene, FinishState, hygiene_finish};
pub use owner::{
    IntentOwner, Lease, Ownership, OwnershipFacts, ProcessProbe, Timestamp, handle_digest, ownership,
};
pub use record::{
    BadId, ClaimIndex, CommandId, ForeignDirtyOverlap, IntentId, IntentStatus, PeerIntent, TaskKey,
};
pub use registry::IntentRegistry;
pub use relations::{OverlapType, RelationKind, ScopeOverlap, overlap, relations};
pub use run_claim::{RunClaim, run_conflicts};
pub use scope::{FnmatchSet, IntentScope, ScopeEntry, ScopeEntrySet, ScopeRelation, covered};
pub use start::{StartDecision, StartState, start_decision};
