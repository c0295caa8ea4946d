//! `probity commits blob`.

use super::{read_input, success};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_document_store::{CommitStore, write};
use probity_workspace::ServiceError;
use std::path::PathBuf;

/// Keep a file as a blob, or print one
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity commits blob picture.png\n  probity commits blob sha256:2c26b46b > picture.png"
)]
pub(super) struct BlobArgs {
    /// A file, or the digest of a blob (`sha256:…`)
    what: PathBuf,
}

pub(super) fn blob(store: &CommitStore, args: &BlobArgs) -> Result<CommandAnswer, ServiceError> {
    let named = args.what.to_str().filter(|text| text.starts_with("sha256:"));
    let Some(digest) = named else {
        let answer = write::put_blob(store, &read_input(&args.what)?)?;
        ui::print(answer.blob);
        return Ok(success(&answer));
    };
    let (answer, bytes) = write::get_blob(store, digest)?;
    if !ui::stdout_is_for_json() {
        ui::print_bytes(&bytes);
    }
    Ok(success(&answer))
}
