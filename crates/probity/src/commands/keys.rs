//! `probity keys`.

use crate::answer::CommandAnswer;
use crate::ui;
use clap::Subcommand;
use probity_api::ExitCode;
use probity_api::govern::setup::SigningKey;
use probity_workspace::{ServiceError, Workspace};

/// Generate and show the key that signs evidence
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  probity keys generate\n  probity keys show")]
pub(crate) enum KeysCommand {
    /// Generate a key; from then on, runs are signed
    #[command(after_help = "Examples:\n  probity keys generate")]
    Generate,

    /// Print the public key, in the form that trust files use
    #[command(after_help = "Examples:\n  probity keys show")]
    Show,
}

pub(crate) fn keys(workspace: &Workspace, command: &KeysCommand) -> Result<CommandAnswer, ServiceError> {
    let key = match command {
        KeysCommand::Generate => {
            let key = probity_runner::keys::generate_key(workspace)?;
            ui::print("created a key; runs of this repository are signed from now on");
            key
        }
        KeysCommand::Show => probity_runner::keys::public_key(workspace)?,
    };
    ui::print_row("key id", key.key_id());
    ui::print_row("public", key);
    ui::print_row("trust", format_args!("\"keys\": {{ \"{}\": \"{key}\" }}", key.key_id()));
    Ok(CommandAnswer::of(ExitCode::Ok, &SigningKey::from(key)))
}
