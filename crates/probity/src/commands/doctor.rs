//! `probity doctor`.

use super::change::word_parser;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_agent_proof::{ProofRequest, prove};
use probity_api::ExitCode;
use probity_api::change::{CheckupStatus, DoctorAnswer};
use probity_api::govern::setup::CodingAgent;
use probity_changes::agents::{AgentPermissions, HookProgram};
use probity_workspace::{ServiceError, Workspace};
use std::path::PathBuf;

/// Check the setup: git, state, store, policy, agents, enforcement
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity doctor\n  probity doctor --agent claude --prove")]
pub(crate) struct DoctorArgs {
    /// Check the registration with this agent only
    #[arg(long, value_name = "AGENT", value_parser = word_parser::<CodingAgent>(CodingAgent::WORDS))]
    agent: Option<CodingAgent>,

    /// Start the agent's real program in a throw-away repository, with your configuration and a scripted model on the
    /// loopback address, and show what is blocked
    #[arg(long, requires = "agent")]
    prove: bool,

    /// The program of the agent [default: found on PATH]
    #[arg(long, value_name = "FILE", requires = "prove")]
    program: Option<PathBuf>,

    /// Leave the agent's own permission prompts on: shows what it may do by default
    #[arg(long, requires = "prove")]
    ask: bool,
}

pub(crate) fn doctor(workspace: &Workspace, args: &DoctorArgs) -> Result<CommandAnswer, ServiceError> {
    let answer = match args.agent {
        None => {
            let mut checks = probity_changes::doctor(workspace).checks;
            checks.push(probity_runner::enforcement_checkup(workspace));
            DoctorAnswer::new(checks)
        }
        Some(agent) => {
            let mut checks = vec![probity_changes::agent_checkup(workspace, agent, args.prove)];
            if args.prove {
                let request = ProofRequest {
                    agent,
                    program: args.program.clone(),
                    server: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("probity")),
                    hook: HookProgram::beside_this_program(),
                    permissions: if args.ask {
                        AgentPermissions::AgentDefault
                    } else {
                        AgentPermissions::Bypassed
                    },
                };
                let phase = workspace.progress.begin("driving the agent");
                checks.extend(prove(&request)?);
                drop(phase);
            }
            DoctorAnswer::new(checks)
        }
    };
    for check in &answer.checks {
        let mark = match check.status {
            CheckupStatus::Ok => ui::good("ok"),
            CheckupStatus::Warning => ui::warn("warning"),
            CheckupStatus::Failed => ui::bad("failed"),
        };
        // The longest name has no room in the column of labels.
        let label = if check.name == "enforcement" { "enforce" } else { check.name };
        ui::print_row(label, format_args!("{mark}  {}", check.detail));
        if let Some(next_step) = &check.next_step {
            ui::print_row("", format_args!("→ {next_step}"));
        }
    }
    let exit_code = if answer.status == CheckupStatus::Failed { ExitCode::Failed } else { ExitCode::Ok };
    Ok(CommandAnswer::of(exit_code, &answer))
}
