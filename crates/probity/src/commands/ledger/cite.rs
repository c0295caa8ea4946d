//! `probity ledger cite`.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Record that a change was made under a decision
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger cite 0199c2 use-postgres")]
pub(crate) struct CiteArgs {
    /// The change: the id of an intent or a run
    change: String,

    /// Handles or ids of the items that it implements
    #[arg(required = true, value_name = "ITEM")]
    items: Vec<String>,

    /// The author of this statement [default: the user]
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
}

pub(super) fn cite(workspace: &Workspace, args: CiteArgs) -> Result<CommandAnswer, ServiceError> {
    let CiteArgs { change, items, author } = args;
    let cited =
        ledger::cite(workspace, &change, &items, &author.unwrap_or_else(probity_workspace::user_name))?;
    for citation in &cited.citations {
        ui::print(format_args!("{} implements {}", citation.change, ui::bold(&citation.item)));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &cited))
}
