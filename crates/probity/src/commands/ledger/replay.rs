//! `probity ledger replay`.

use super::{code_of, kind_of};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::ledger::ReplayedInput;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Replay the whole log and check that it yields the current state
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger replay --since 120")]
pub(crate) struct ReplayArgs {
    /// List the inputs after this position
    #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
    since: Option<i64>,
}

pub(super) fn replay(workspace: &Workspace, args: &ReplayArgs) -> Result<CommandAnswer, ServiceError> {
    let replayed = ledger::replay(workspace, args.since)?;
    for ReplayedInput { input, item } in &replayed.inputs {
        ui::print(format_args!(
            "{:>6}  {:<9}{}  {}  {}  {}",
            input.seq,
            input.outcome,
            code_of(input),
            kind_of(input),
            ui::bold(item.as_deref().unwrap_or_default()),
            ui::dim(&input.author)
        ));
    }
    ui::print_row("inputs", replayed.seq);
    ui::print_row(
        "log",
        format_args!(
            "{} in {}, {} bytes",
            replayed.log_digest,
            ui::count_of(usize::try_from(replayed.transactions).unwrap_or(usize::MAX), "transaction"),
            replayed.log_bytes
        ),
    );
    ui::print_row("state", replayed.state_digest);
    let failed = replayed.snapshot_agrees == Some(false);
    let snapshot = match replayed.snapshot_agrees {
        None => ui::dim("none in use"),
        Some(true) => ui::good("says the same"),
        Some(false) => ui::bad("says something else: delete it"),
    };
    ui::print_row("snapshot", snapshot);
    if replayed.decided_otherwise > 0 {
        ui::print_row(
            "rules",
            ui::warn(format_args!(
                "{} are decided otherwise by this version",
                ui::count_of(usize::try_from(replayed.decided_otherwise).unwrap_or(usize::MAX), "input")
            )),
        );
    }
    Ok(CommandAnswer::of(if failed { ExitCode::Failed } else { ExitCode::Ok }, &replayed))
}
