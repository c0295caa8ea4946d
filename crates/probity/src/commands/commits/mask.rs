//! `probity commits disable` and `probity commits enable`.

use super::{CommitMetadataArgs, print_written_commit};
use crate::answer::CommandAnswer;
use clap::Args;
use probity_document_store::{CommitStore, write};
use probity_workspace::ServiceError;

#[derive(Debug, Args)]
pub(super) struct MaskArgs {
    /// The commit
    commit: String,
    /// The commit to build on [default: the only head]
    #[arg(long, value_name = "COMMIT")]
    on: Option<String>,
    #[command(flatten)]
    signed: CommitMetadataArgs,
}

/// Takes the effect of a commit away, or gives it back.
pub(super) fn mask(
    store: &CommitStore,
    args: MaskArgs,
    enabled: bool,
) -> Result<CommandAnswer, ServiceError> {
    let MaskArgs { commit, on, signed } = args;
    Ok(print_written_commit(&write::mask(store, &commit, on.as_deref(), enabled, &signed.into())?))
}
