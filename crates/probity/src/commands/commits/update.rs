//! `probity commits update`.

use super::{CommitMetadataArgs, json_of, list_of, parse_document_name, print_written_commit, read_input};
use crate::answer::CommandAnswer;
use clap::Args;
use probity_document_store::CommitStore;
use probity_document_store::write::{self, DocumentWrite};
use probity_workspace::ServiceError;
use std::path::PathBuf;

/// Write a part of a document, or any opcodes
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits update ticket/t1 rank 3\n  \
    probity commits update ticket/t1 'votes[\"ann\"]' 1\n  \
    probity commits update ticket/t1 labels '[\"new\"]' --op set_union\n  \
    probity commits update --ops changes.json")]
pub(super) struct UpdateArgs {
    /// The document, as `attachment/key`
    #[arg(required_unless_present = "ops")]
    document: Option<String>,

    /// The path, as `field`, `list[0]`, `map["key"]`, `array<position>`, `optional?`; `''` for the document
    #[arg(required_unless_present = "ops")]
    path: Option<String>,

    /// The operand, in JSON
    #[arg(required_unless_present = "ops", allow_hyphen_values = true)]
    value: Option<String>,

    /// The opcode
    #[arg(long, value_name = "OPCODE", default_value = "document_update")]
    op: String,

    /// A list of opcodes in JSON instead; `-` for stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["document", "path", "value"])]
    ops: Option<PathBuf>,

    /// The commit to build on [default: the only head]
    #[arg(long, value_name = "COMMIT")]
    on: Option<String>,

    #[command(flatten)]
    signed: CommitMetadataArgs,
}

pub(super) fn update(store: &CommitStore, args: UpdateArgs) -> Result<CommandAnswer, ServiceError> {
    let what = if let Some(file) = args.ops {
        DocumentWrite::Ops(list_of(&read_input(&file)?)?)
    } else {
        let (attachment, key) = parse_document_name(&args.document.unwrap_or_default())?;
        let value = json_of(args.value.unwrap_or_default().as_bytes())?;
        DocumentWrite::Update { op: args.op, attachment, key, path: args.path.unwrap_or_default(), value }
    };
    Ok(print_written_commit(&write::write(store, args.on.as_deref(), &what, &args.signed.into())?))
}
