//! `probity runs`: list, show, compare, gc.

use super::words;
use crate::answer::Answer;
use crate::ui;
use api::ExitCode;
use clap::Subcommand;
use control::analyze::documents;
use control::runs::{KEPT, Runs};
use control::{Fault, Workspace};
use serde_json::{Value, json};

#[derive(Debug, Subcommand)]
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
        #[arg(long, value_name = "N", default_value_t = super::LISTED)]
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

    /// Clear away old runs that nobody needs
    #[command(after_help = "Examples:\n  probity runs gc --keep 20")]
    Gc {
        /// How many of them to keep
        #[arg(long, value_name = "N", default_value_t = KEPT)]
        keep: usize,
    },
}

/// Answers a question about stored runs.
pub(crate) fn runs(workspace: &Workspace, command: RunsCommand) -> Result<Answer, Fault> {
    let runs = Runs::open(workspace);
    match command {
        RunsCommand::List => list(&runs),
        RunsCommand::Show { run, limit } => {
            let stored = runs.load(&run)?;
            words::run(&stored.run);
            let document = documents::run(&stored.run, stored.report_digest, limit);
            Ok(Answer::new("analysis-run", ExitCode::Ok, document))
        }
        RunsCommand::Compare { before, after } => {
            let differing = runs.load_differing(&before, &after)?;
            let (before, after) = (&differing.before.run, &differing.after.run);
            let comparison = differing.compare();
            ui::print(format_args!("{} → {}", ui::code(before.id.short()), ui::code(after.id.short())));
            words::comparison(&comparison);
            let document = documents::comparison(before, after, &comparison);
            Ok(Answer::new("runs-compare", ExitCode::Ok, document))
        }
        RunsCommand::Gc { keep } => {
            let gone: Vec<String> = runs.gc(keep)?.iter().map(analysis::RunId::short).collect();
            ui::print(format_args!("{} cleared away", ui::count(gone.len(), "run")));
            Ok(Answer::new("runs-gc", ExitCode::Ok, json!({ "removed": gone })))
        }
    }
}

fn list(runs: &Runs) -> Result<Answer, Fault> {
    let listed = runs.list()?;
    for run in &listed {
        let pinned = if run.holders.is_empty() {
            String::new()
        } else {
            format!("  pinned by {}", run.holders.join(", "))
        };
        ui::print(format_args!(
            "{}  {}  health {:>3}  {:>6}  {:>8}{pinned}",
            ui::code(run.id.short()),
            run.saved_at(),
            run.health().map_or_else(|| "-".to_owned(), |health| health.to_string()),
            ui::count(run.about.n_files, "file"),
            ui::count(run.about.n_findings, "finding")
        ));
    }
    if listed.is_empty() {
        ui::say("no run yet; `probity analyze` makes one");
    }
    let listed: Vec<Value> = listed.iter().map(documents::listed).collect();
    Ok(Answer::new("runs-list", ExitCode::Ok, json!({ "runs": listed })))
}
