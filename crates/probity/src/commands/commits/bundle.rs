//! `probity commits export` and `probity commits import`.

use super::{success, transfer};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::documents::BundleTransferAnswer;
use probity_document_store::{CommitStore, exchange};
use probity_workspace::ServiceError;
use std::path::PathBuf;

/// Export everything to a bundle
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits export backup.bundle")]
pub(super) struct ExportArgs {
    /// The new file
    file: PathBuf,
}

/// Import a bundle; commits that are already present are skipped
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits import backup.bundle")]
pub(super) struct ImportArgs {
    /// The bundle
    file: PathBuf,
}

pub(super) fn export(store: &CommitStore, args: &ExportArgs) -> Result<CommandAnswer, ServiceError> {
    Ok(print_transfer(&exchange::export(store, &args.file)?, "written to"))
}

pub(super) fn import(store: &CommitStore, args: &ImportArgs) -> Result<CommandAnswer, ServiceError> {
    Ok(print_transfer(&exchange::import(store, &args.file)?, "taken from"))
}

fn print_transfer(answer: &BundleTransferAnswer, words: &str) -> CommandAnswer {
    let known = answer.moved.known;
    let known = if known > 0 {
        format!(" ({known} {} there already)", ui::agreeing_verb(known, "was", "were"))
    } else {
        String::new()
    };
    ui::print(format_args!("{} {words} {}{known}", transfer(&answer.moved), answer.file));
    success(answer)
}
