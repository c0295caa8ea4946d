//! `probity why`: how a line came to be where it is.

use crate::answer::CommandAnswer;
use crate::{caller_location, ui};
use clap::Args;
use probity_api::ExitCode;
use probity_api::review::OriginKnowledge;
use probity_core::ReasonCode;
use probity_paths::RepoPath;
use probity_workspace::{ServiceError, Workspace};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Explain why a line exists, from its commit to the log
///
/// From the line to the commit that brought it, the run or intent that made it, the clause of the scope that let it in,
/// who widened the scope, which gates passed, and the entry of the log. What is not known is said to be not known.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity why src/auth.rs:45\n  probity why src/auth.rs:45 --at v1.2 --json"
)]
pub(crate) struct WhyArgs {
    /// The line, as `FILE:LINE`
    #[arg(value_name = "FILE:LINE")]
    place: OsString,

    /// The revision whose line is meant [default: the files as they are]
    #[arg(long, value_name = "REVISION")]
    at: Option<String>,
}

pub(crate) fn why(workspace: &Workspace, args: &WhyArgs) -> Result<CommandAnswer, ServiceError> {
    let (path, line) = place(workspace, &args.place)?;
    let answer = probity_review::line_origin(workspace, args.at.as_deref(), &path, line)?;
    ui::print(format_args!("{}  {}", ui::bold(format_args!("{path}:{line}")), ui::dim(&answer.text)));
    ui::print(&answer.answer);
    for step in &answer.steps {
        let words = match step.knowledge {
            OriginKnowledge::Known => step.answer.clone(),
            OriginKnowledge::Alarming => ui::bad(&step.answer).clone(),
            OriginKnowledge::Unknown | OriginKnowledge::None => ui::dim(&step.answer).clone(),
        };
        ui::print_row(step.step.as_str(), format_args!("{words}  {}", ui::dim(&step.detail)));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn place(workspace: &Workspace, typed: &OsStr) -> Result<(RepoPath, usize), ServiceError> {
    let bytes = typed.as_bytes();
    let usage = || {
        let detail =
            format!("`{}` is not a place: write it as FILE:LINE", probity_core::bytes::escape(bytes));
        ServiceError::refused(ReasonCode::UsageInvalid, detail)
    };
    let colon = bytes.iter().rposition(|byte| *byte == b':').ok_or_else(usage)?;
    let line = std::str::from_utf8(&bytes[colon + 1..]).ok().and_then(|line| line.parse().ok());
    let name = [OsStr::from_bytes(&bytes[..colon]).to_owned()];
    let path = caller_location::typed_paths(workspace, &name)?.pop().ok_or_else(usage)?;
    let path = RepoPath::parse(&path)
        .map_err(|error| ServiceError::refused(ReasonCode::PathInvalid, error.to_string()))?;
    Ok((path, line.ok_or_else(usage)?))
}
