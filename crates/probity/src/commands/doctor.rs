//! `probity doctor`.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::change::{CheckupStatus, DoctorAnswer};
use probity_workspace::Workspace;

/// Check the setup: git, state, store, clock, policy, agents and enforcement
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity doctor")]
pub(crate) struct DoctorArgs;

pub(crate) fn doctor(workspace: &Workspace) -> CommandAnswer {
    let mut checks = probity_changes::doctor(workspace).checks;
    checks.push(probity_runner::enforcement_checkup(workspace));
    let answer = DoctorAnswer::new(checks);
    for check in &answer.checks {
        let mark = match check.status {
            CheckupStatus::Ok => ui::good("ok"),
            CheckupStatus::Warning => ui::warn("warning"),
            CheckupStatus::Failed => ui::bad("failed"),
        };
        ui::print_row(check.name, format_args!("{mark}  {}", check.detail));
        if let Some(next_step) = &check.next_step {
            ui::print_row("", format_args!("→ {next_step}"));
        }
    }
    let exit_code = if answer.status == CheckupStatus::Failed { ExitCode::Failed } else { ExitCode::Ok };
    CommandAnswer::of(exit_code, &answer)
}
