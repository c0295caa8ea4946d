//! `probity ledger guard`.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Set who may change hard constraints
///
/// Without arguments: show who may. Once there are guardians, only one of them may change that. Authors are names that
/// callers give, so this keeps honest agents in line and proves nothing about dishonest ones.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity ledger guard\n  probity ledger guard ann ben\n  probity ledger guard --everyone"
)]
pub(crate) struct GuardArgs {
    /// The authors who may change them
    #[arg(value_name = "AUTHOR", conflicts_with = "everyone")]
    authors: Vec<String>,

    /// Let everyone change them
    #[arg(long)]
    everyone: bool,

    /// The author of this statement [default: the user]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
}

pub(super) fn guard(workspace: &Workspace, args: GuardArgs) -> Result<CommandAnswer, ServiceError> {
    let GuardArgs { authors, everyone, by } = args;
    let change = match (authors.is_empty(), everyone) {
        (false, _) => Some(Some(authors)),
        (true, true) => Some(None),
        (true, false) => None,
    };
    let guarded = ledger::guard(workspace, change, &by.unwrap_or_else(probity_workspace::user_name))?;
    match &guarded.guardians {
        None => ui::print("everyone may change hard constraints"),
        Some(names) => ui::print(format_args!("only {} may change hard constraints", names.join(", "))),
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &guarded))
}
