//! `probity ledger suggest`.

use super::{StreamArgs, one_line};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Suggest what to settle, decide, confirm and remember
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger suggest")]
pub(crate) struct SuggestArgs {
    #[command(flatten)]
    stream: StreamArgs,
}

pub(super) fn suggest(workspace: &Workspace, args: &SuggestArgs) -> Result<CommandAnswer, ServiceError> {
    let suggestions = ledger::suggest(workspace, args.stream.name())?;
    for suggestion in &suggestions.suggestions {
        ui::print(format_args!(
            "  {}  {}",
            ui::bold(format_args!("{:<9}", suggestion.advice.as_str())),
            suggestion.why
        ));
        for (item, summary) in suggestion.items.iter().zip(&suggestion.summaries) {
            ui::print(format_args!("             {item}: {}", one_line(summary)));
        }
    }
    if suggestions.suggestions.is_empty() {
        ui::eprint("nothing to suggest");
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &suggestions))
}
