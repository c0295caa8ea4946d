//! `probity commits flatten`.

use super::{CommitMetadataArgs, success};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_document_store::{CommitStore, exchange};
use probity_workspace::ServiceError;
use std::path::PathBuf;

/// Create a new store with the state of a commit and no history
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits flatten @ --into small.db")]
pub(super) struct FlattenArgs {
    /// The commit
    #[arg(default_value = "@")]
    commit: String,
    /// The new store's file
    #[arg(long, value_name = "FILE")]
    into: PathBuf,
    #[command(flatten)]
    signed: CommitMetadataArgs,
}

pub(super) fn flatten(store: &CommitStore, args: FlattenArgs) -> Result<CommandAnswer, ServiceError> {
    let FlattenArgs { commit, into, signed } = args;
    let answer = exchange::flatten(store, &commit, &into, &signed.into())?;
    ui::print(format_args!(
        "{} {} into {}",
        ui::good("flattened"),
        ui::count_of(answer.documents, "document"),
        into.display()
    ));
    Ok(success(&answer))
}
