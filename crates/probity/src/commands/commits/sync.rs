//! `probity commits sync`.

use super::{success, transfer};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::documents::StoreSyncAnswer;
use probity_document_store::{CommitStore, SyncDirection, exchange};
use probity_workspace::ServiceError;
use std::path::PathBuf;

/// Exchange commits with another store; merging is a separate step
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits sync ../replica.db --pull")]
pub(super) struct SyncArgs {
    /// The other store's file
    other: PathBuf,
    /// Only fetch what the other store has
    #[arg(long, conflicts_with = "push")]
    pull: bool,
    /// Only send what this store has
    #[arg(long)]
    push: bool,
}

pub(super) fn sync(store: &CommitStore, args: &SyncArgs) -> Result<CommandAnswer, ServiceError> {
    let direction = match (args.pull, args.push) {
        (true, _) => SyncDirection::Pull,
        (_, true) => SyncDirection::Push,
        _ => SyncDirection::Both,
    };
    let answer = exchange::sync(store, &args.other, direction)?;
    print_sync(&answer);
    Ok(success(&answer))
}

fn print_sync(answer: &StoreSyncAnswer) {
    ui::print(format_args!("pulled  {}", transfer(&answer.pulled)));
    ui::print(format_args!("pushed  {}", transfer(&answer.pushed)));
    let heads = answer.heads.len();
    if heads > 1 {
        ui::eprint_row("next", format_args!("{heads} heads: `probity commits reduce` merges them"));
    }
}
