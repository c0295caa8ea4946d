//! What a change is allowed to touch and what must pass, decided before the first edit. Pure.
//!
//! * [`Policy`]: packs, gates and profiles, read from `probity.toml` or from JSON.
//! * [`compute`]: policy and request in, [`Plan`] out: the scope R, the gates, the tier, and a hash over all of it.
//! * [`Seal`]: the plan and everything else that judges the run, fixed by one hash; [`seal_check`] holds a run to it.
//! * [`Amendment`]: the one way in which a sealed scope grows (law 2).
//! * [`propose_build_outputs`]: what `init` suggests to exempt from the delta; [`recognize`]: build outputs that say so
//!   themselves; [`program_imports`]: what the program of a gate imports from the tree.
//! * [`vectors`]: the JSON form of these functions, for `probity conformance`.

mod amend;
mod analysis;
mod change;
mod check;
mod compute;
mod config;
mod document;
mod forms;
mod globs;
mod imports;
mod outputs;
mod plan;
mod policy;
mod seal;
mod seal_check;
mod suggest;
mod tier;
pub mod vectors;

pub use amend::{AmendPolicy, Amendment, AmendmentError, Moment, Permission, amended_scope, may_amend};
pub use analysis::{AnalysisGates, AnalysisRules};
pub use change::ChangeRules;
pub use compute::{Request, compute};
pub use config::{ConfigError, line_and_column};
pub use document::PolicyFormError;
pub use forms::duration_ms;
pub use globs::Globs;
pub use imports::{is_never_imported, program_imports, takes_packages};
pub use outputs::{
    Mark, MarkedDirectory, OutputLook, Proposal, ReadText, RecognizedBecause, RecognizedOutput,
    is_source_in_cache, output_root, propose_build_outputs, recognize,
};
pub use plan::{PackCap, Plan, PlanError, PlannedGate};
pub use policy::{Gate, Pack, Policy, Profile, RefsRule, SignatureRule, Workspace};
pub use seal::{Enforcement, GateSettings, Seal, SealContents, SealDamaged};
pub use seal_check::{GateStatus, Observed, SealCheck, seal_check};
pub use suggest::{did_you_mean, nearest};
