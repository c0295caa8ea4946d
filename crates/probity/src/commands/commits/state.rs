//! `probity commits state`.

use super::success;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::documents::{DocumentStateAnswer, DocumentTraceAnswer};
use probity_document_store::{CommitStore, op_text, read, short_id};
use probity_workspace::ServiceError;

/// Show the documents at a commit
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity commits state\n  probity commits state --document ticket/t1 --why"
)]
pub(super) struct StateArgs {
    /// The commit [default: the only head]
    commit: Option<String>,

    /// Only this document, as `attachment/key`
    #[arg(long, value_name = "DOCUMENT")]
    document: Option<String>,

    /// Show what became of every opcode on that document, and why some had no effect
    #[arg(long, requires = "document")]
    why: bool,
}

pub(super) fn state(store: &CommitStore, args: &StateArgs) -> Result<CommandAnswer, ServiceError> {
    match &args.document {
        Some(document) if args.why => {
            let answer = read::trace(store, args.commit.as_deref().unwrap_or("@"), document)?;
            print_trace(&answer);
            Ok(success(&answer))
        }
        document => {
            let answer = read::state(store, args.commit.as_deref(), document.as_deref())?;
            print_state(&answer);
            Ok(success(&answer))
        }
    }
}

fn print_state(answer: &DocumentStateAnswer) {
    for (attachment, keys) in &answer.state {
        for (key, document) in keys.as_object().into_iter().flatten() {
            ui::print(format_args!("{} {document}", ui::bold(format_args!("{attachment}/{key}"))));
        }
    }
    if answer.state.is_empty() {
        ui::eprint("no document yet; begin with `probity commits put ATTACHMENT/KEY VALUE`");
    }
}

fn print_trace(answer: &DocumentTraceAnswer) {
    for entry in &answer.trace {
        let mark = match (entry.skipped, entry.on) {
            (None, true) => ui::good("applied"),
            (None, false) => ui::warn("listed as disabled"),
            (Some(skip), _) => ui::warn(format_args!("skipped: {}", skip.meaning())),
        };
        ui::print(format_args!("{}  {}  {mark}", ui::code(short_id(&entry.commit)), op_text(&entry.op)));
    }
}
