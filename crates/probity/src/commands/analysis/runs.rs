//! `probity runs`: list, show, compare, gc.

use super::render;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Subcommand;
use probity_api::ExitCode;
use probity_quality::analysis_store::{MAX_UNPINNED_RUNS, SummarizedFindings};
use probity_quality::analyze::answers::MAX_SHOWN_FINDINGS;
use probity_quality::analyze::{self, FindingLimits};
use probity_workspace::{ServiceError, Workspace};

/// List, show and compare stored analyses
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  probity runs list\n  probity runs compare 14d82d39 last")]
pub(crate) enum RunsCommand {
    /// List the stored runs, newest first
    #[command(after_help = "Examples:\n  probity runs list")]
    List,

    /// Show one run
    #[command(after_help = "Examples:\n  probity runs show last")]
    Show {
        /// The run: the beginning of its id, or `last`
        #[arg(default_value = "last")]
        run: String,

        /// How many findings to list in `--json`, the most severe first
        #[arg(long, value_name = "N", default_value_t = super::MAX_LISTED_FINDINGS)]
        limit: usize,
    },

    /// Compare two runs: what is new, what is gone, which symbols became worse
    #[command(after_help = "Examples:\n  probity runs compare 14d82d39 last")]
    Compare {
        /// The earlier run
        before: String,

        /// The later run
        #[arg(default_value = "last")]
        after: String,
    },

    /// Remove old stored analyses that nothing needs
    #[command(after_help = "Examples:\n  probity runs gc --keep 20")]
    Gc {
        /// How many of them to keep
        #[arg(long, value_name = "N", default_value_t = MAX_UNPINNED_RUNS)]
        keep: usize,
    },
}

pub(crate) fn runs(workspace: &Workspace, command: RunsCommand) -> Result<CommandAnswer, ServiceError> {
    match command {
        RunsCommand::List => list(workspace),
        RunsCommand::Show { run, limit } => {
            let (answer, run) = analyze::show_run(workspace, &run, FindingLimits::with_all_locations(limit))?;
            let listed = SummarizedFindings::of(&run, MAX_SHOWN_FINDINGS).listed;
            render::run(&answer.run, &answer.files, &run.files, &listed);
            Ok(CommandAnswer::of(ExitCode::Ok, &answer))
        }
        RunsCommand::Compare { before, after } => {
            let answer = analyze::compare_runs(workspace, &before, &after)?;
            let (before, after) = (&answer.before.run_id, &answer.after.run_id);
            ui::print(format_args!("{} → {}", ui::code(before), ui::code(after)));
            render::print_comparison(&answer);
            Ok(CommandAnswer::of(ExitCode::Ok, &answer))
        }
        RunsCommand::Gc { keep } => {
            let answer = analyze::clear_runs(workspace, keep)?;
            ui::print(match answer.removed.len() {
                1 => "1 stored analysis removed".to_owned(),
                n_removed => format!("{n_removed} stored analyses removed"),
            });
            Ok(CommandAnswer::of(ExitCode::Ok, &answer))
        }
    }
}

fn list(workspace: &Workspace) -> Result<CommandAnswer, ServiceError> {
    let answer = analyze::list_runs(workspace)?;
    for run in &answer.runs {
        let pinned = if run.pinned_by.is_empty() {
            String::new()
        } else {
            format!("  pinned by {}", run.pinned_by.join(", "))
        };
        ui::print(format_args!(
            "{}  {}  health {:>3}  {:>6}  {:>8}{pinned}",
            ui::code(&run.run_id),
            run.saved_at,
            run.health.map_or_else(|| "-".to_owned(), |health| health.to_string()),
            ui::count_of(run.n_files, "file"),
            ui::count_of(run.n_findings, "finding")
        ));
    }
    if answer.runs.is_empty() {
        ui::eprint("no analysis is stored yet; `probity analyze` makes one");
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}
