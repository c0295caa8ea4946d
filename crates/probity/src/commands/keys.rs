//! `probity keys`.

use crate::answer::Answer;
use crate::cli::KeysCommand;
use crate::ui;
use probity_api::ExitCode;
use probity_api::govern::setup::SigningKey;
use probity_workspace::{Fault, Workspace};

/// Makes or shows the signing key.
pub(crate) fn keys(workspace: &Workspace, command: &KeysCommand) -> Result<Answer, Fault> {
    let key = match command {
        KeysCommand::Generate => {
            let key = probity_runner::keys::generate(workspace)?;
            ui::print("a key was made; from now on the runs of this repository are signed");
            key
        }
        KeysCommand::Show => probity_runner::keys::public(workspace)?,
    };
    ui::print_row("key id", key.key_id());
    ui::print_row("public", key);
    ui::print_row("trust", format_args!("\"keys\": {{ \"{}\": \"{key}\" }}", key.key_id()));
    Ok(Answer::of(ExitCode::Ok, &SigningKey::from(key)))
}
