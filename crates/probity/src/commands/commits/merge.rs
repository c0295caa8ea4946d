//! `probity commits merge`.

use super::losses::print_merge;
use super::{CommitMetadataArgs, success};
use crate::answer::CommandAnswer;
use clap::Args;
use probity_document_store::{CommitStore, merge, write};
use probity_workspace::ServiceError;

/// Merge one commit into another, and report what was lost
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits merge main 3f2a --dry-run")]
pub(super) struct MergeArgs {
    /// The parent
    ours: String,
    /// The target; its opcodes replay last
    theirs: String,

    /// Show what would be lost, and write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    signed: CommitMetadataArgs,
}

pub(super) fn merge(store: &CommitStore, args: MergeArgs) -> Result<CommandAnswer, ServiceError> {
    let MergeArgs { ours, theirs, dry_run, signed } = args;
    let which = if dry_run {
        merge::MergeSelector::Virtual { ours, theirs }
    } else {
        merge::MergeSelector::Written(write::merge(store, &ours, &theirs, &signed.into())?.to_string())
    };
    let found = merge::analyze(store, &which)?;
    print_merge(&found);
    Ok(success(&found.to_answer()))
}
