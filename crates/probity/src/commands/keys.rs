//! `probity keys`.

use crate::answer::{Answer, Outcome};
use crate::cli::KeysCommand;
use crate::ui;
use control::{Fault, Workspace};
use serde_json::json;

/// Makes or shows the signing key.
pub(crate) fn keys(workspace: &Workspace, command: &KeysCommand) -> Result<Answer, Fault> {
    let key = match command {
        KeysCommand::Generate => {
            let key = control::keys::generate(workspace)?;
            ui::say("a key was made; from now on the runs of this repository are signed");
            key
        }
        KeysCommand::Show => control::keys::public(workspace)?,
    };
    ui::row("key id", key.key_id());
    ui::row("public", key);
    Ok(Answer::new("key", Outcome::Ok, json!({ "key_id": key.key_id(), "public_key": key })))
}
