//! `probity commits log`.

use super::{print_commit_line, success};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::documents::{CommitLogAnswer, CommitLogEntry};
use probity_document_store::{CommitStore, read};
use probity_workspace::ServiceError;

/// List commits, newest first
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits log -n 5\n  probity commits log --document ticket/t1")]
pub(super) struct LogArgs {
    /// Only commits reachable from this one
    from: Option<String>,

    /// Only commits that write this document, as `attachment/key`
    #[arg(long, value_name = "DOCUMENT")]
    document: Option<String>,

    /// The maximum number of commits
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
    limit: usize,
}

pub(super) fn log(store: &CommitStore, args: LogArgs) -> Result<CommandAnswer, ServiceError> {
    let answer =
        read::log(store, &read::LogRequest { from: args.from, document: args.document, limit: args.limit })?;
    print_log(&answer);
    Ok(success(&answer))
}

fn print_log(answer: &CommitLogAnswer) {
    for CommitLogEntry { commit, head, refs } in &answer.commits {
        let marks = match (*head, refs.is_empty()) {
            (false, true) => String::new(),
            (true, true) => ui::good(" (head)"),
            (false, false) => ui::warn(format_args!(" ({})", refs.join(", "))),
            (true, false) => ui::good(format_args!(" (head, {})", refs.join(", "))),
        };
        print_commit_line(commit, &marks);
    }
    if answer.more {
        ui::eprint(format_args!("{} commits in all; `--limit` shows more", answer.total));
    } else if answer.total == 0 {
        ui::eprint("no commit yet; begin with `probity commits put ATTACHMENT/KEY VALUE`");
    }
}
