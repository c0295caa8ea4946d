//! `probity commits check`.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::documents::StoreCheckAnswer;
use probity_document_store::{CommitStore, exchange};
use probity_workspace::ServiceError;

/// Verify every object of the store against its hash
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits check")]
pub(super) struct CheckArgs;

pub(super) fn check(store: &CommitStore) -> Result<CommandAnswer, ServiceError> {
    let answer = exchange::check(store)?;
    print_check(&answer);
    Ok(CommandAnswer::of(if answer.sound { ExitCode::Ok } else { ExitCode::Failed }, &answer))
}

fn print_check(answer: &StoreCheckAnswer) {
    let counts = format!(
        "{}, {}, {}",
        ui::count_of(answer.commits as usize, "commit"),
        ui::count_of(answer.states, "kept state"),
        ui::count_of(answer.blobs, "blob")
    );
    if answer.sound {
        ui::print(format_args!("{} {counts}: everything is as it was written", ui::good("sound")));
        return;
    }
    ui::print(format_args!("{} {counts}", ui::bad("damaged")));
    for damage in &answer.findings {
        let place = damage.commit.map(|id| format!("commit {id}: ")).unwrap_or_default();
        ui::print(format_args!("  {place}{}", damage.why));
    }
    ui::eprint_row(
        "next",
        "make a new store and fill it from a replica: `probity commits init`, then `probity commits sync`",
    );
}
