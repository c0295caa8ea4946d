//! `probity analyze baseline`: capture and show.

use super::{analyzed, on_baseline};
use crate::answer::Answer;
use crate::ui;
use api::ExitCode;
use clap::Subcommand;
use control::analyze::{
    AnalyzeOptions, BASELINE_FILE, BaselineState, capture_baseline, documents, read_baseline,
};
use control::{Fault, Workspace};
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Take the findings that are there now as known, on the record
    #[command(after_help = "Examples:\n  probity analyze baseline capture --why 'where we start from'")]
    Capture {
        /// Why
        #[arg(long, value_name = "TEXT")]
        why: String,

        /// Who decides this [default: the user]
        #[arg(long, value_name = "NAME", env = "USER")]
        by: Option<String>,
    },

    /// Show who captured the baseline and why, and what is new since
    #[command(after_help = "Examples:\n  probity analyze baseline show")]
    Show,
}

/// Answers a question about the baseline.
pub(crate) fn baseline(workspace: &Workspace, command: BaselineCommand) -> Result<Answer, Fault> {
    let run = analyzed(workspace, &AnalyzeOptions::default())?.run;
    if let BaselineCommand::Capture { why, by } = command {
        let by = by.unwrap_or_else(control::user);
        let captured = capture_baseline(workspace, &run, &by, &why)?;
        ui::print(format_args!(
            "{} {BASELINE_FILE}: {} of run {}, captured by {by}",
            ui::good("written"),
            ui::count(run.findings.len(), "finding"),
            run.id.short()
        ));
        ui::print_row("digest", captured.digest());
    }
    let state = read_baseline(workspace, &run)?;
    show(&state);
    let mut document = documents::baseline(&state);
    document["run_id"] = json!(run.id.short());
    Ok(Answer::new("analyze-baseline", ExitCode::Ok, document))
}

fn show(state: &BaselineState) {
    for capture in state.baseline().into_iter().flat_map(|baseline| &baseline.history) {
        ui::print(format_args!(
            "{}  {} by {}: {}",
            capture.at,
            ui::count(capture.n_findings as usize, "finding"),
            ui::bold(&capture.by),
            capture.why
        ));
    }
    match on_baseline(state) {
        Some(said) => ui::print_row("now", said),
        None => ui::say("there is no baseline; `probity analyze baseline capture --why TEXT` makes one"),
    }
}
