//! `probity commits init`.

use super::{read_input, success};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_document_store::{locate, write};
use probity_workspace::{ServiceError, Workspace};
use std::path::PathBuf;

/// Make a store
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits init --schema tickets.schema")]
pub(super) struct InitArgs {
    /// The file [default: as `--store`]
    path: Option<PathBuf>,

    /// The schema, in its readable or its JSON form; `-` for stdin
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,
}

pub(super) fn init(
    workspace: impl Fn() -> Result<Workspace, ServiceError>,
    given: Option<PathBuf>,
    args: InitArgs,
) -> Result<CommandAnswer, ServiceError> {
    let path = locate(workspace, args.path.or(given).as_deref())?;
    let answer = write::init(&path, &read_input(&args.schema)?)?;
    ui::print(format_args!(
        "{} a commit store at {}",
        ui::good("made"),
        crate::relative_to_cwd(&path).display()
    ));
    Ok(success(&answer))
}
