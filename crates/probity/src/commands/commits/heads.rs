//! `probity commits heads`.

use super::{print_commit_line, success};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::documents::CommitHeadsAnswer;
use probity_document_store::{CommitStore, read};
use probity_workspace::ServiceError;

/// List the commits that no other commit builds on
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits heads")]
pub(super) struct HeadsArgs;

pub(super) fn heads(store: &CommitStore) -> Result<CommandAnswer, ServiceError> {
    let answer = read::heads(store)?;
    print_heads(&answer);
    Ok(success(&answer))
}

fn print_heads(answer: &CommitHeadsAnswer) {
    for commit in &answer.heads {
        print_commit_line(commit, "");
    }
    if answer.heads.len() > 1 {
        ui::eprint_row("next", "`probity commits reduce --dry-run` says what merging them would lose");
    }
}
