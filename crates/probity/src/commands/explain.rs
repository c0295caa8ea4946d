//! `probity explain`: what a reason code means, or what a run says about a path.

use crate::answer::{Answer, Outcome};
use crate::{place, ui};
use api::ExitCode;
use control::{Fault, Workspace};
use serde_json::json;
use std::ffi::OsStr;

/// Explains a code or a path.
pub(crate) fn explain(
    workspace: impl Fn() -> Result<Workspace, Fault>,
    what: &OsStr,
    run: &str,
) -> Result<Answer, Fault> {
    let codes = what.to_str().map(control::explain::codes).transpose()?.unwrap_or_default();
    if let Some(answer) = api::explain::CodeExplanation::new(&codes) {
        for code in &codes {
            ui::print(format_args!(
                "{} {}\n  {}\n  next: {}",
                ui::bold(code.entry.code),
                ui::dim(format_args!("({})", code.family.title)),
                code.entry.meaning,
                code.entry.next_step
            ));
        }
        return Ok(Answer::of(ExitCode::Ok, &answer));
    }
    let workspace = workspace()?;
    let story = control::explain::path(&workspace, run, &place::path(&workspace, what)?)?;
    ui::print(format_args!("{} {}", ui::bold(&story.path), ui::dim(format_args!("in run {}", story.run_id))));
    let place = if story.in_scope { ui::good("in scope") } else { ui::bad("out of scope") };
    let by =
        story.decided_by.as_ref().map_or_else(|| "no pattern matches it".into(), |by| format!("by `{by}`"));
    ui::print(format_args!("  {place}, {by}"));
    if let Some(amended) = &story.amended {
        ui::print(format_args!("  added by an amendment of {amended}"));
    }
    match (story.change, story.exempt) {
        (Some(change), _) => {
            ui::print(format_args!("  {} by the run", json!(change).as_str().unwrap_or("changed")));
        }
        (None, true) => ui::print("  changed, but a build output and so no part of the delta"),
        (None, false) => ui::print("  not changed by the run"),
    }
    Ok(Answer::new("explain", Outcome::Ok, json!(story)))
}
