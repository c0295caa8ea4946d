//! `probity commits show`.

use super::success;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::documents::CommitShowAnswer;
use probity_document_store::{CommitStore, op_text, read};
use probity_workspace::ServiceError;

/// Show one commit with its opcodes
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits show @")]
pub(super) struct ShowArgs {
    /// The commit
    #[arg(default_value = "@")]
    commit: String,
}

pub(super) fn show(store: &CommitStore, args: &ShowArgs) -> Result<CommandAnswer, ServiceError> {
    let answer = read::show(store, &args.commit)?;
    print_commit(&answer);
    Ok(success(&answer))
}

fn print_commit(answer: &CommitShowAnswer) {
    let commit = &answer.commit;
    ui::print_row("commit", ui::code(commit.id));
    ui::print_row("type", commit.kind);
    for (name, id) in [("parent", commit.parent), ("target", commit.target)] {
        if let Some(id) = id {
            ui::print_row(name, id);
        }
    }
    ui::print_row("author", &commit.author);
    ui::print_row("time", &commit.time);
    ui::print_row("label", &commit.label);
    answer.ops.iter().for_each(|op| ui::print_row("op", op_text(op)));
    for record in &answer.decisions {
        let decided = ui::count_of(record.decisions.len(), "conflict");
        ui::print_row("decided", format_args!("{decided} by {}: {}", record.by, record.why));
    }
}
