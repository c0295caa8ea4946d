//! Policies: what a change may touch and what must pass, decided before the first edit. Pure.
//!
//! Owns: policies and their files, the plan that they give, what they have sealed, build outputs and gate imports.
//! May use: core, evidence, paths.
//! Must not know: a file system, a clock, a verdict, an intent.
//!
//! * [`Policy`]: packs, gates and profiles, read from `probity.toml` or from JSON.
//! * [`compute_plan`]: computes a [`probity_evidence::Plan`] from a policy and a request: the scope R, the gates, the tier.
//! * [`Policy::seal_contents`]: what to seal for a run under that plan.
//! * [`may_amend`]: decides whether a sealed scope may grow at a given moment (law 2).
//! * [`propose_build_outputs`]: what `init` suggests to exempt from the delta; [`recognize_outputs`]: build outputs
//!   identified by marker files; [`program_imports`]: what a gate's program imports from the tree;
//!   [`started_commands`]: the programs that a command line starts. [`StartedTools`]: the files that they read.
//!   [`InputUse`]: how a gate depends on a file. [`imported_modules`]: what a Python source imports.
//! * [`vectors`]: runs these functions on conformance vectors, for `probity conformance`.

mod amend;
mod analysis_rules;
mod change_rules;
mod check;
mod compute;
mod config;
mod contract_rules;
mod document;
mod enforce_rules;
mod error;
mod gate;
mod git_rules;
mod hook_rules;
mod imports;
mod loosening;
mod outputs;
mod policy;
mod policy_forms;
mod python_modules;
mod sealing;
mod suggest;
mod team_rules;
mod tier;
mod tool_files;
pub mod vectors;
mod wrappers;

pub use amend::{AmendmentTiming, may_amend};
pub use analysis_rules::{AnalysisGates, AnalysisRules};
pub use change_rules::ChangeRules;
pub use compute::{PlanRequest, compute_plan};
pub use config::{ConfigError, line_and_column};
pub use contract_rules::{ContractRules, FalseClaims, Strictness, StrictnessProfile};
pub use document::PolicyFormError;
pub use enforce_rules::{EnforceRules, EnforcementChoice, FIXED_NAMES, NetworkRule, StartLookRule};
pub use error::PlanError;
pub use gate::{Gate, GateKind, duration_ms};
pub use git_rules::{CommitRule, GitRules};
pub use hook_rules::{HookRules, SubagentRule, WithoutIntent};
pub use imports::{any_imports, is_never_imported, program_imports, takes_packages};
pub use outputs::{
    ENTRY_POINTS_FILE, MarkedDirectory, OutputLook, OutputProposal, ReadText, code_in_output,
    declares_plugins, is_entry_points_file, is_interpreter_link, is_interpreter_name,
    is_module_of_environment, is_valid_mark, output_root, propose_build_outputs, recognize_outputs,
};
pub use policy::{Policy, PolicyPack, PolicyProfile, WorkspaceRules};
pub use probity_core::Severity;
pub use python_modules::{imported_modules, module_place};
pub use suggest::{brace_hint, comma_hint, did_you_mean, nearest, nearest_path};
pub use team_rules::{HoldRule, OverlapRule, StaleStartRule, TeamRules, TeamStoreKind};
pub use tool_files::{InputUse, StartedTools};
pub use wrappers::{StartedCommands, executed_words, is_shell, started_commands};
