//! `probity commits put`.

use super::{CommitMetadataArgs, json_of, parse_document_name, print_written_commit, read_input};
use crate::answer::CommandAnswer;
use clap::Args;
use probity_document_store::CommitStore;
use probity_document_store::write::{self, DocumentWrite};
use probity_workspace::ServiceError;
use std::path::Path;

/// Write a whole document
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits put ticket/t1 '{\"title\": \"one\", \"rank\": 0}'")]
pub(super) struct PutArgs {
    /// The document, as `attachment/key`
    document: String,

    /// The value, in JSON; from stdin when left out
    value: Option<String>,

    /// The commit to build on [default: the only head]
    #[arg(long, value_name = "COMMIT")]
    on: Option<String>,

    #[command(flatten)]
    signed: CommitMetadataArgs,
}

pub(super) fn put(store: &CommitStore, args: PutArgs) -> Result<CommandAnswer, ServiceError> {
    let (attachment, key) = parse_document_name(&args.document)?;
    let value = match args.value {
        Some(text) => json_of(text.as_bytes())?,
        None => json_of(&read_input(Path::new("-"))?)?,
    };
    let what = DocumentWrite::Put { attachment, key, value };
    Ok(print_written_commit(&write::write(store, args.on.as_deref(), &what, &args.signed.into())?))
}
