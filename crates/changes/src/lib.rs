//! Controls changes in a tree that several agents share: start, finish, and what they rest on.
//!
//! Owns: start, finish, the registry of intents, whose uncommitted changes are whose, entries in agents' configuration.
//! May use: analysis, api, contract, core, evidence, guard, intents, knowledge, paths, policy, quality, scopes, snapshot, storage, team, workspace.
//! Must not know: how a governed run is sealed, judged or attested; how an answer is shown.
//!
//! * [`registry`]: stores intents. [`claims`]: keeps intents and runs apart. [`agents`]: registers Probity with
//!   agents.
//! * [`start`], [`promote`], [`promote_when_free`]: a claim, a place in the queue, or a refusal that leaves nothing
//!   behind.
//! * [`amend`]: widens a scope, on the record.
//! * [`finish`]: one pipeline that trusts the tree and not the agent.
//! * [`status`]: who holds what, and who made which uncommitted changes. [`doctor`]: checks the prerequisites.
//!
//! Each is a function from a request to an answer of `probity_api::change`; every surface prints the same answer.

pub mod agents;
mod amend;
mod changed_paths;
pub mod claims;
mod clone_registration;
mod concurrent_intents;
mod doctor;
mod enforcement;
mod finish;
mod finish_evidence;
mod hygiene_view;
mod landing;
mod linked_paths;
mod missing_paths;
mod patch_trail;
pub mod registry;
mod root_mapping;
mod start;
mod start_context;
mod state_files;
mod status;
pub mod team;
mod team_context;
pub mod uncommitted_work;
mod validate;

pub use amend::amend;
pub use doctor::{agent_checkup, doctor};
pub use finish::finish;
pub use registry::guard_file::{refresh_guard, run_guard_variable};
pub(crate) use root_mapping::RootMapping;
pub use start::{promote, promote_when_free, start};
pub use state_files::ChangeFiles;
pub use status::{RunRecords, RunWork, StatusWatcher, status, status_of};

use probity_policy::{ContractRules, StrictnessProfile};

/// Combines the policy's rules with the requested strictness. A request can only make the policy stricter.
fn stricter(rules: ContractRules, asked: Option<StrictnessProfile>) -> ContractRules {
    let rank = |profile| match profile {
        StrictnessProfile::Relaxed => 0,
        StrictnessProfile::Ci => 1,
        StrictnessProfile::Strict => 2,
    };
    match asked {
        Some(asked) if rank(asked) > rank(rules.strictness) => ContractRules { strictness: asked, ..rules },
        _ => rules,
    }
}
