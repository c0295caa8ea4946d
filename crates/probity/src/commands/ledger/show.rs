//! `probity ledger show`.

use super::{FilterArgs, item_table};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::ledger::ItemListAnswer;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Show what is in force
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger show\n  probity ledger show --kind decision --all")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    filter: FilterArgs,
}

pub(super) fn show(workspace: &Workspace, args: ShowArgs) -> Result<CommandAnswer, ServiceError> {
    let list = ledger::show(workspace, &args.filter.into())?;
    show_list(&list);
    say_if_empty(&list);
    ui::eprint_row("seq", list.seq);
    Ok(CommandAnswer::of(ExitCode::Ok, &list))
}

/// Shows the items, their contradictions, unmerged streams and unread turns.
fn show_list(list: &ItemListAnswer) {
    super::show_notices(&list.notices);
    item_table::print_items(&list.items);
    item_table::print_contradictions(&list.contradictions);
    for (stream, n) in &list.streams {
        ui::eprint_row(
            "stream",
            format_args!("{stream}: not merged yet, {}", ui::count_of(*n, "transaction")),
        );
    }
    if !list.pending_turns.is_empty() {
        ui::eprint_row(
            "pending",
            format_args!("{} not read yet", ui::count_of(list.pending_turns.len(), "turn")),
        );
    }
}

fn say_if_empty(list: &ItemListAnswer) {
    if list.items.is_empty() && list.seq == 0 {
        ui::eprint(
            "the ledger is empty; begin with `probity ledger ingest FILE` or `probity ledger propose`",
        );
    }
}
