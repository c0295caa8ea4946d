//! `probity uninstall`: removes Probity from a project.

use super::init;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_runner::uninstall::UninstallRequest;
use probity_workspace::{ServiceError, Workspace};

/// Remove Probity from this project; with `--purge` its state too
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity uninstall --dry-run\n  probity uninstall --purge")]
pub(crate) struct UninstallArgs {
    /// Also delete evidence, receipts, the ledger and caches; this cannot be undone
    #[arg(long)]
    purge: bool,

    /// Print what would be removed, without removing it
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn uninstall(workspace: &Workspace, args: &UninstallArgs) -> Result<CommandAnswer, ServiceError> {
    let request = UninstallRequest { purge: args.purge, dry_run: args.dry_run };
    let answer = probity_runner::uninstall::uninstall(workspace, request)?;
    for registration in &answer.registrations {
        for change in &registration.files {
            init::show(change, args.dry_run);
        }
    }
    if answer.registrations.is_empty() {
        ui::print_row("agents", "none of their configuration names Probity");
    }
    let directory = crate::relative_to_cwd(&answer.state_directory.0);
    let size = format!("{} kB", answer.state_bytes.div_ceil(1000));
    let (word, rest) = match (answer.state_removed, args.dry_run) {
        (true, false) => ("removed", String::new()),
        (true, true) => ("removes", String::new()),
        (false, _) => ("kept", format!("  {}", ui::code("probity uninstall --purge"))),
    };
    if answer.state_bytes > 0 {
        ui::print_row(word, format_args!("{}  {size}{rest}", directory.display()));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}
