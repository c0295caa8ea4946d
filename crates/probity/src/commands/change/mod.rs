//! `probity start`, `finish`, `status`, `doctor`: changes in a tree that several agents share.

mod alternate_screen;
mod finish;
mod labels;
mod raw_keyboard;
mod start;
mod status;

pub(crate) use finish::{FinishArgs, finish};
pub(crate) use start::{PromoteArgs, StartArgs, new_handle, promote, start};
pub(crate) use status::{StatusArgs, doctor, status};

use super::identity::IdentityArgs;
use crate::answer::CommandAnswer;
use crate::{caller_location, ui};
pub(crate) use labels::{ownership_label, parse_seconds, show_notices, word_parser};
use probity_api::ExitCode;
use probity_workspace::{ServiceError, Workspace};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

pub(crate) fn amend(
    workspace: &Workspace,
    intent_id: &str,
    add: &[OsString],
    related: &[OsString],
    why: &str,
    identity: &IdentityArgs,
) -> Result<CommandAnswer, ServiceError> {
    let caller = identity.caller_for_name(workspace, intent_id)?;
    let (add, related) =
        (caller_location::typed_paths(workspace, add)?, caller_location::typed_paths(workspace, related)?);
    let answer = probity_changes::amend(workspace, &caller, intent_id, &add, &related, why)?;
    ui::print(format_args!(
        "{} {}",
        ui::good("amended"),
        probity_core::text::short_id(answer.intent_id.as_str())
    ));
    for path in answer.allowed_files.iter().chain(&answer.allowed_related) {
        let file = workspace.root.join(OsStr::from_bytes(path.as_bytes()));
        let note =
            if file.symlink_metadata().is_ok() { "" } else { "does not exist yet: it will be created" };
        ui::print_row("added", format_args!("{path}  {}", ui::dim(note)));
    }
    show_notices(&answer.notices);
    ui::print_row("next", answer.next_step);
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}
