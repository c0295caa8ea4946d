//! `probity commits reduce`.

use super::losses::print_merge;
use super::success;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::merges::MergeHeadsAnswer;
use probity_document_store::{CommitStore, merge, write};
use probity_workspace::ServiceError;

/// Merge all heads into one, the same way on every machine, and report what was lost
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits reduce --dry-run")]
pub(super) struct ReduceArgs {
    /// Show what would be lost, and write nothing
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn reduce(store: &CommitStore, args: &ReduceArgs) -> Result<CommandAnswer, ServiceError> {
    let found = if args.dry_run {
        merge::analyze_heads(store)?
    } else {
        merge::analyze_all(store, &write::reduce(store)?)?
    };
    if found.is_empty() {
        ui::print("one head, or none: there is nothing to reduce");
    }
    found.iter().for_each(print_merge);
    let merges = found.iter().map(merge::AnalyzedMerge::to_answer).collect();
    Ok(success(&MergeHeadsAnswer::new(!args.dry_run, merges)))
}
