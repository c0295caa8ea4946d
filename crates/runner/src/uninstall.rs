//! Takes Probity out of a project: the configuration of agents, and the state if that is wished.

use crate::landing::layer_store::remove_tree;
use probity_api::govern::setup::{AgentRegistration, CodingAgent, UninstallAnswer};
use probity_changes::agents::{HookProgram, RegistrationWish, is_registered, register};
use probity_changes::registry::IntentService;
use probity_core::ReasonCode;
use probity_workspace::held_layers::{held_layers, layer_size};
use probity_workspace::{ServiceError, Workspace, run_claims};

#[derive(Debug, Clone, Copy, Default)]
pub struct UninstallRequest {
    /// Whether evidence, receipts, ledger, intents and caches are removed, too.
    pub purge: bool,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// Removes what `probity init --agent` wrote, for every agent, and the state directory with `purge`.
pub fn uninstall(workspace: &Workspace, request: UninstallRequest) -> Result<UninstallAnswer, ServiceError> {
    if request.purge {
        refuse_while_in_use(workspace)?;
    }
    let program = HookProgram::beside_this_program();
    let mut registrations: Vec<AgentRegistration> = Vec::new();
    for &agent in CodingAgent::ALL {
        if is_registered(workspace, agent) {
            let wish = RegistrationWish::Unregister;
            registrations.push(register(workspace, agent, &program, wish, request.dry_run)?);
        }
    }
    let directory = workspace.state.dir().to_owned();
    let state_bytes = layer_size(&directory).bytes;
    let is_removed = request.purge && directory.exists();
    if is_removed && !request.dry_run {
        remove_tree(&directory)?;
    }
    Ok(UninstallAnswer {
        root: workspace.root.clone().into(),
        registrations,
        state_directory: directory.into(),
        state_bytes,
        state_removed: is_removed,
        written: !request.dry_run,
    })
}

/// A run that goes on, or changes that wait for a decision, would lose what nobody else has.
fn refuse_while_in_use(workspace: &Workspace) -> Result<(), ServiceError> {
    if !workspace.state.dir().exists() {
        return Ok(());
    }
    let n_open = run_claims::open_runs(&workspace.state)?.len();
    let n_held = held_layers(workspace)?.len();
    let n_intents = IntentService::open(workspace)?.registry().open_intents().count();
    if n_open + n_held + n_intents == 0 {
        return Ok(());
    }
    let count = |n: usize, one: &str, many: &str| match n {
        0 => None,
        1 => Some(format!("one {one}")),
        n => Some(format!("{n} {many}")),
    };
    let what = [
        count(n_open, "run is open", "runs are open"),
        count(n_intents, "intent is open", "intents are open"),
        count(n_held, "run has held changes", "runs have held changes"),
    ];
    let what: Vec<String> = what.into_iter().flatten().collect();
    Err(ServiceError::refused(ReasonCode::StateInUse, format!("{}; nothing was removed", what.join(" and "))))
}
