//! Runs a command in a view of a held layer. It sees the tree with the changes of the run; what it writes goes to a layer
//! of its own and is thrown away, so that the held layer stays what the evidence says.

use super::find_layer;
use crate::landing::layer_store;
use crate::view::{RunView, ViewRole};
use probity_api::govern::land::EnterAnswer;
use probity_policy::NetworkRule;
use probity_process::{Job, JobInput, JobOutput, ProcessEnvironment, Supervisor};
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;

/// Runs `command`, or a shell if it is empty, in a view of the layer of `run`.
pub fn enter(
    workspace: &Workspace,
    run: &str,
    command: &[OsString],
    stdout_is_data: bool,
) -> Result<EnterAnswer, ServiceError> {
    let (run_id, _) = find_layer(workspace, run)?;
    let _layer = layer_store::lock_layer(workspace, &run_id, "enter")?;
    let rules = workspace.load_policy()?.policy.enforce;
    let view = RunView::create(workspace, &run_id, &rules)?;
    view.reset_gates()?;
    let shell = || std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let argv = if command.is_empty() { vec![shell()] } else { command.to_vec() };
    let job = Job {
        argv,
        cwd: workspace.root.clone(),
        environment: ProcessEnvironment::inherited().with_run(&run_id, &workspace.root),
        stdin: JobInput::Inherit,
        output: if stdout_is_data { JobOutput::ToStderr } else { JobOutput::Inherit },
        timeout: None,
    };
    let mut supervisor = Supervisor::new().map_err(ServiceError::system("cannot supervise processes"))?;
    let ended = view.run(&mut supervisor, ViewRole::Gate, NetworkRule::On, job);
    view.keep_layer_only();
    let command_exit_code = ended?.0.exit_code();
    Ok(EnterAnswer { root: workspace.root.clone().into(), run_id, command_exit_code })
}
