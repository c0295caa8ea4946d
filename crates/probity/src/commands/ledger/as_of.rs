//! `probity ledger as-of`.

use super::{FilterArgs, item_table};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Show the ledger as it was at a position
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger as-of 120")]
pub(crate) struct AsOfArgs {
    /// The position: the `seq` of an earlier answer
    #[arg(value_name = "SEQ", allow_negative_numbers = true)]
    position: i64,

    #[command(flatten)]
    filter: FilterArgs,
}

pub(super) fn as_of(workspace: &Workspace, args: AsOfArgs) -> Result<CommandAnswer, ServiceError> {
    let list = ledger::as_of(workspace, args.position, &args.filter.into())?;
    item_table::print_items(&list.items);
    item_table::print_contradictions(&list.contradictions);
    ui::eprint_row("seq", list.seq);
    Ok(CommandAnswer::of(ExitCode::Ok, &list))
}
