//! `probity ledger explain`.

use super::{StreamArgs, item_table, one_line};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Explain an item: who said it, what replaced it, what contradicts it, what was done under it
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger explain use-postgres")]
pub(crate) struct ExplainArgs {
    /// A handle, or an id such as `decision-12`
    item: String,

    #[command(flatten)]
    stream: StreamArgs,
}

pub(super) fn explain(workspace: &Workspace, args: &ExplainArgs) -> Result<CommandAnswer, ServiceError> {
    let why = ledger::explain(workspace, &args.item, args.stream.name())?;
    item_table::print_items(std::slice::from_ref(&why.item));
    for (source, quote) in why.item.sources.iter().zip(&why.quotes) {
        let quote = quote.as_deref().map(|quote| format!("  “{}”", one_line(quote))).unwrap_or_default();
        ui::print_row("said", format_args!("{} by {} at {}{quote}", source.turn, source.author, source.seq));
    }
    row_of("also", &why.handles.iter().skip(1).cloned().collect::<Vec<_>>());
    row_of("replaced by", &why.replaced_by);
    row_of("contradicts", &why.contradicts);
    for change in &why.changes {
        ui::print_row("change", format_args!("{} by {}", change.change, change.author));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &why))
}

fn row_of(label: &str, names: &[String]) {
    if !names.is_empty() {
        ui::print_row(label, names.join(", "));
    }
}
