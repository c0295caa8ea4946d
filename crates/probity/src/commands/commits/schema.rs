//! `probity commits schema`.

use super::{read_input, success};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_document_store::{CommitStore, write};
use probity_workspace::ServiceError;
use std::path::PathBuf;

/// Show the schema, or extend it with a newer version
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity commits schema\n  probity commits schema --set tickets-2.schema"
)]
pub(super) struct SchemaArgs {
    /// The newer schema; `-` for stdin
    #[arg(long, value_name = "FILE")]
    set: Option<PathBuf>,
}

pub(super) fn schema(store: &mut CommitStore, args: SchemaArgs) -> Result<CommandAnswer, ServiceError> {
    let answer = match args.set {
        Some(file) => write::evolve(store, &read_input(&file)?)?,
        None => write::schema(store),
    };
    ui::print_document(answer.text.trim_end());
    Ok(success(&answer))
}
