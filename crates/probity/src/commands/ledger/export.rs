//! `probity ledger export`.

use super::StreamArgs;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::{Args, ValueEnum};
use probity_api::ExitCode;
use probity_knowledge::ledger::{self, ExportRequest};
use probity_ledger::LedgerProjection;
use probity_workspace::{ServiceError, Workspace};

const EXAMPLES: &str = "Examples:
  probity ledger export --budget 1500 --query 'how do we store sessions?'
  probity ledger export --since 120
  probity ledger export --page decisions";

/// Print a context for the next prompt, within a budget
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ExportArgs {
    /// The maximum number of tokens of the text
    #[arg(long, default_value_t = 2000, value_name = "TOKENS")]
    budget: usize,

    /// What the next prompt is about
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,

    /// Only what changed after this position
    #[arg(long, value_name = "SEQ", allow_negative_numbers = true)]
    since: Option<i64>,

    /// Print a page for people instead
    #[arg(long, value_enum, conflicts_with_all = ["query", "since"])]
    page: Option<ProjectionArg>,

    #[command(flatten)]
    stream: StreamArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProjectionArg {
    /// Everything in force
    State,
    /// Decisions, with those that were replaced
    Decisions,
    /// Tasks, open and closed
    Tasks,
    /// Constraints, with those that were withdrawn
    Constraints,
}

impl From<ProjectionArg> for LedgerProjection {
    fn from(page: ProjectionArg) -> Self {
        match page {
            ProjectionArg::State => Self::State,
            ProjectionArg::Decisions => Self::Decisions,
            ProjectionArg::Tasks => Self::Tasks,
            ProjectionArg::Constraints => Self::Constraints,
        }
    }
}

pub(super) fn export(workspace: &Workspace, args: ExportArgs) -> Result<CommandAnswer, ServiceError> {
    let request = ExportRequest {
        stream: args.stream.name().map(str::to_owned),
        budget: args.budget,
        query: args.query,
        since: args.since,
        page: args.page.map(Into::into),
    };
    let exported = ledger::export(workspace, &request)?;
    ui::print_document(exported.text.trim_end());
    if exported.hard_left_out > 0 {
        ui::eprint_row(
            "warning",
            ui::bad(format_args!(
                "{} did not fit: raise --budget",
                ui::count_of(exported.hard_left_out, "hard constraint")
            )),
        );
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &exported))
}
