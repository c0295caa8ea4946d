//! `probity analyze baseline`: capture and show.

use super::{on_baseline, with_progress};
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Subcommand;
use probity_api::ExitCode;
use probity_api::quality::BaselineAnswer;
use probity_quality::analyze::{BASELINE_FILE, BaselineCapture};
use probity_workspace::{ServiceError, Workspace};

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Capture the current findings as the baseline, on the record
    #[command(after_help = "Examples:\n  probity analyze baseline capture --why 'where we start from'")]
    Capture {
        /// Why
        #[arg(long, value_name = "TEXT")]
        why: String,

        /// Who decides this [default: the user]
        #[arg(long, value_name = "NAME", env = "USER", hide_env_values = true)]
        by: Option<String>,
    },

    /// Show who captured the baseline and why, and what is new since
    #[command(after_help = "Examples:\n  probity analyze baseline show")]
    Show,
}

pub(crate) fn baseline(
    workspace: &Workspace,
    command: BaselineCommand,
) -> Result<CommandAnswer, ServiceError> {
    let capture = match command {
        BaselineCommand::Capture { why, by } => {
            Some(BaselineCapture { by: by.unwrap_or_else(probity_workspace::user_name), why })
        }
        BaselineCommand::Show => None,
    };
    let answer =
        with_progress(|watch| probity_quality::analyze::baseline(workspace, capture.as_ref(), watch))?;
    show(&answer, capture.is_some());
    let exit_code = if answer.reason.is_some() { ExitCode::Failed } else { ExitCode::Ok };
    Ok(CommandAnswer::of(exit_code, &answer))
}

fn show(answer: &BaselineAnswer, is_captured: bool) {
    let baseline = &answer.baseline;
    let history = baseline.history.as_deref().unwrap_or_default();
    if let Some(captured) = history.last().filter(|_| is_captured) {
        ui::print(format_args!(
            "{} {BASELINE_FILE}: {} of run {}, captured by {}",
            ui::good("written"),
            ui::count_of(captured.n_findings as usize, "finding"),
            answer.run_id,
            captured.by
        ));
        if let Some(digest) = baseline.digest {
            ui::print_row("digest", digest);
        }
    }
    for capture in history {
        ui::print(format_args!(
            "{}  {} by {}: {}",
            capture.at,
            ui::count_of(capture.n_findings as usize, "finding"),
            ui::bold(&capture.by),
            capture.why
        ));
    }
    match on_baseline(baseline) {
        Some(said) => ui::print_row("now", said),
        None => ui::eprint("there is no baseline; `probity analyze baseline capture --why TEXT` makes one"),
    }
    if let Some(reason) = answer.reason {
        ui::eprint_row("reason", reason);
        ui::eprint_row("next", reason.next_step());
    }
}
