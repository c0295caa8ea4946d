//! `probity init`.

use crate::answer::{Answer, Outcome};
use crate::ui;
use control::init::{propose, write};
use control::{Fault, Workspace};
use serde_json::json;

/// Writes a policy that fits the tree.
pub(crate) fn init(workspace: &Workspace, dry_run: bool) -> Result<Answer, Fault> {
    let proposed = propose(workspace)?;
    if dry_run {
        ui::print(proposed.text.trim_end());
    } else {
        let path = write(workspace, &proposed)?;
        ui::print(format_args!("{} {}", ui::good("written"), crate::shown(&path).display()));
        for proposal in &proposed.build_outputs {
            ui::print_row("exempt", format_args!("{} {}", proposal.pattern, ui::dim(&proposal.because)));
        }
        ui::print_row("next", ui::code("probity run --scope 'src/**' -- COMMAND"));
    }
    Ok(Answer::new("init", Outcome::Ok, json!({ "text": proposed.text, "written": !dry_run })))
}
