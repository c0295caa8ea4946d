//! `probity commits ref`.

use super::success;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::documents::CommitRefsAnswer;
use probity_document_store::{CommitStore, short_id, write};
use probity_workspace::ServiceError;

/// List refs, or point one at a commit
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  probity commits ref\n  probity commits ref main @")]
pub(super) struct RefArgs {
    /// The ref
    name: Option<String>,
    /// The commit that it should name
    #[arg(requires = "name")]
    commit: Option<String>,
    /// Delete it
    #[arg(long, requires = "name", conflicts_with = "commit")]
    delete: bool,
}

pub(super) fn refs(store: &CommitStore, args: &RefArgs) -> Result<CommandAnswer, ServiceError> {
    let answer = match &args.name {
        Some(name) if args.delete => write::set_ref(store, name, None)?,
        Some(name) => write::set_ref(store, name, Some(args.commit.as_deref().unwrap_or("@")))?,
        None => write::refs(store)?,
    };
    print_refs(&answer);
    Ok(success(&answer))
}

fn print_refs(answer: &CommitRefsAnswer) {
    for entry in &answer.refs {
        ui::print(format_args!("{}  {}", ui::code(short_id(&entry.commit)), entry.name));
    }
    if answer.refs.is_empty() {
        ui::eprint("no ref; `probity commits ref NAME COMMIT` makes one");
    }
}
