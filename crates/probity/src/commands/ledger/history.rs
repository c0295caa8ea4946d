//! `probity ledger history`.

use super::{StreamArgs, code_of, item_table, kind_of, one_line};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::ledger::LedgerInput;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Show what an item said before, and every input that touched it
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger history decision-12")]
pub(crate) struct HistoryArgs {
    /// A handle, or an id such as `decision-12`
    item: String,

    #[command(flatten)]
    stream: StreamArgs,
}

pub(super) fn history(workspace: &Workspace, args: &HistoryArgs) -> Result<CommandAnswer, ServiceError> {
    let history = ledger::history(workspace, &args.item, args.stream.name())?;
    item_table::print_items(std::slice::from_ref(&history.item));
    for version in &history.item.versions {
        let mode = version.mode.map(|mode| format!(", {mode}")).unwrap_or_default();
        let (summary, confidence) = (one_line(&version.summary), version.confidence);
        ui::print_row(
            "said",
            format_args!(
                "{:>5}  {summary}  {}",
                version.seq,
                ui::dim(format_args!("({confidence}{mode}, {})", version.author))
            ),
        );
    }
    for input in &history.inputs {
        let LedgerInput { seq, outcome, author, .. } = input;
        let (kind, code) = (kind_of(input), code_of(input));
        ui::print_row("input", format_args!("{seq:>5}  {kind} {outcome}{code} by {author}"));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &history))
}
