//! `probity run`: its arguments, and the call.

mod next_steps;
mod report;

use crate::answer::CommandAnswer;
use crate::caller_location::{self, Selection};
use crate::commands::agent_task::AgentTask;
use crate::commands::identity::IdentityArgs;
use clap::Args;
use next_steps::next_steps;
pub(crate) use next_steps::{ways_for_held, ways_forward};
use probity_api::ExitCode;
use probity_changes::ChangeFiles;
use probity_changes::claims::carried_intent;
use probity_knowledge::ledger::LedgerFiles;
use probity_policy::{EnforcementChoice, NetworkRule};
use probity_quality::AnalysisFiles;
use probity_runner::EnforcementRequest;
use probity_runner::run::{RunEvent, RunRequest, run as govern};
use probity_workspace::state_files::StateFiles;
use probity_workspace::{ServiceError, Workspace};
use report::{show, show_event};
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::SystemTime;

/// Other writers of the state directory while a command is governed.
const STATE_FILES: [&dyn StateFiles; 3] = [&ChangeFiles, &AnalysisFiles, &LedgerFiles];

/// Run a command under a sealed scope, and judge what it changed
///
/// The scope is sealed before the command starts. Afterwards every change of the tree is found by comparing
/// snapshots, whatever the command says and whatever git ignores; the gates of the sealed policy run; and an
/// evidence bundle is written, even when the run fails.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity run --agent claude --task 'fix the login' --scope 'src/auth/**'\n  \
                        probity run --scope 'src/auth/**' -- claude -p 'fix the login'\n  \
                        probity run --pack backend --scope '!src/generated/**' -- make fmt"
)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    selection: Selection,

    /// Carry out this intent: its paths are the scope, it must still be yours when the changes land, and the evidence names it
    #[arg(long, value_name = "ID", conflicts_with_all = ["scope", "pack", "changed", "no_changes"])]
    intent: Option<String>,

    /// Let the run change a protected path (a pattern); `.git/…` always means the one at the root
    #[arg(long, value_name = "PATTERN")]
    grant: Vec<OsString>,

    /// Keep the command in its scope: `overlay` (a private view, and only what passes lands), `landlock` (writes outside of
    /// the directories of the scope are refused), `observe` (changes are found afterwards), or `auto` (the strongest that
    /// works here) [default: the policy's, or auto]
    #[arg(long, value_name = "LEVEL", env = "PROBITY_ENFORCE", hide_env_values = true)]
    #[arg(value_parser = parse_word::<EnforcementChoice>)]
    enforce: Option<EnforcementChoice>,

    /// Whether the command reaches the network: `on` or `off`; `off` needs a view [default: the policy's, or on]
    #[arg(long, value_name = "on|off", value_parser = parse_word::<NetworkRule>)]
    network: Option<NetworkRule>,

    #[command(flatten)]
    identity: IdentityArgs,

    /// Let the coding agent named by `--agent` work on this, without prompts and in a private view; afterwards the ledger
    /// reads its session. With `--enforce observe` its own permissions stay on
    #[arg(long, value_name = "TEXT", requires = "agent", conflicts_with = "command")]
    task: Option<String>,

    /// The program of that agent [default: found on PATH]
    #[arg(long, value_name = "FILE", requires = "task")]
    program: Option<PathBuf>,

    /// The command and its arguments
    #[arg(last = true, required_unless_present = "task", value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(crate) fn run(
    workspace: &Workspace,
    args: RunArgs,
    cwd: PathBuf,
    json: bool,
) -> Result<CommandAnswer, ServiceError> {
    let RunArgs { selection, intent, grant, enforce, network, identity, task, program, command } = args;
    let task = match task {
        Some(task) => Some(AgentTask::new(&task, identity.agent.as_deref(), program, enforce)?),
        None => None,
    };
    let began = SystemTime::now();
    let remark = caller_location::typed_remark(workspace, &selection.scope);
    let credentials = identity.credentials()?;
    let intent = intent.map(|name| carried_intent(workspace, &credentials, &name)).transpose()?;
    let mut selection = caller_location::selection(workspace, selection)?;
    if let Some(intent) = &intent {
        selection.scope.clone_from(&intent.scope);
        // The declaration was accepted without them.
        selection.creates = true;
    }
    let request = RunRequest {
        credentials,
        selection,
        intent,
        grants: caller_location::grants(workspace, &grant)?,
        command: task.as_ref().map_or(command, |task| task.command.clone()),
        cwd,
        stdout_is_data: json,
        enforcement: EnforcementRequest {
            level: task.as_ref().map_or(enforce, |task| Some(task.level)),
            network,
            agent: task.as_ref().map(|task| task.agent),
        },
    };
    let mut is_sealed = false;
    let report = govern(workspace, &request, &STATE_FILES, &mut |event| {
        is_sealed |= matches!(event, RunEvent::Sealed { .. });
        show_event(workspace, &event, &remark);
    });
    let report = report.inspect_err(|_| {
        // Nothing was stored, so no run id will say which tree this was.
        if !is_sealed {
            caller_location::announce("run", workspace);
        }
    })?;
    let mut answer = report.answer(workspace, next_steps(&report));
    answer.ledger = task.map(|task| task.remember(workspace, began));
    show(&report, &answer);
    let exit_code = match report.landing_reason {
        Some(_) => ExitCode::Conflict,
        None => ExitCode::from(answer.status),
    };
    Ok(CommandAnswer::of(exit_code, &answer))
}

fn parse_word<T: FromStr<Err: std::fmt::Display>>(word: &str) -> Result<T, String> {
    word.parse().map_err(|error: T::Err| error.to_string())
}
