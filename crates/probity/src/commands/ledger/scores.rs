//! `probity ledger scores`.

use super::StreamArgs;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_knowledge::ledger;
use probity_workspace::{ServiceError, Workspace};

/// Show the outcome of every author's proposals
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity ledger scores")]
pub(crate) struct ScoresArgs {
    #[command(flatten)]
    stream: StreamArgs,
}

pub(super) fn scores(workspace: &Workspace, args: &ScoresArgs) -> Result<CommandAnswer, ServiceError> {
    let scores = ledger::scores(workspace, args.stream.name())?;
    ui::print(ui::dim(format_args!(
        "  {:<20} {:>8} {:>9} {:>8} {:>9}  {:>8}",
        "author", "inputs", "accepted", "merged", "rejected", "rate"
    )));
    for score in &scores.authors {
        let rate = score
            .rejection_rate_permille
            .map_or_else(|| "-".into(), |rate| format!("{}.{} %", rate / 10, rate % 10));
        ui::print(format_args!(
            "  {:<20} {:>8} {:>9} {:>8} {:>9}  {rate:>8}",
            score.author, score.inputs, score.accepted, score.merged, score.rejected
        ));
        for (code, n) in &score.codes {
            ui::print(ui::dim(format_args!("    {n:>5} × {code}")));
        }
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &scores))
}
