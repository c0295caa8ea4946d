//! `probity commits diff`.

use super::success;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::documents::CommitDiffAnswer;
use probity_document_store::{CommitStore, op_text, read};
use probity_workspace::ServiceError;

/// Show the opcodes that turn one state into another
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits diff 3f2a @")]
pub(super) struct DiffArgs {
    /// The one
    from: String,
    /// The other
    to: String,
}

pub(super) fn diff(store: &CommitStore, args: &DiffArgs) -> Result<CommandAnswer, ServiceError> {
    let answer = read::difference(store, &args.from, &args.to)?;
    print_difference(&answer);
    Ok(success(&answer))
}

fn print_difference(answer: &CommitDiffAnswer) {
    answer.ops.iter().for_each(|op| ui::print(op_text(op)));
    for gone in &answer.gone {
        ui::print(format_args!("{} {gone}", ui::warn("not there:")));
    }
    if answer.ops.is_empty() && answer.gone.is_empty() {
        ui::eprint("no difference");
    }
}
