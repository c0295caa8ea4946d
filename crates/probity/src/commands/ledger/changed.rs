//! `probity ledger changed`.

use super::StreamArgs;
use super::item_table;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Show recent changes, or changes since a position
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger changed\n  probity ledger changed --since 120")]
pub(crate) struct ChangedArgs {
    /// The position: the `seq` of an earlier answer [default: 20 positions before the last one]
    #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
    since: Option<i64>,

    #[command(flatten)]
    stream: StreamArgs,
}

pub(super) fn changed(workspace: &Workspace, args: &ChangedArgs) -> Result<CommandAnswer, ServiceError> {
    let changed = ledger::changed(workspace, args.since, args.stream.name())?;
    item_table::print_items(&changed.items);
    if changed.items.is_empty() {
        ui::eprint(format_args!("nothing changed since {}", changed.since));
    }
    ui::eprint_row("since", changed.since);
    ui::eprint_row("seq", changed.seq);
    Ok(CommandAnswer::of(ExitCode::Ok, &changed))
}
