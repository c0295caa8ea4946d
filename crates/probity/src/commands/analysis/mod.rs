//! `probity analyze` with its baseline and blast radius, and the stored analyses of `probity runs`.

mod baseline;
mod blast;
mod render;
mod runs;

pub(crate) use crate::progress::with_progress;
pub(crate) use runs::{RunsCommand, runs};

use crate::answer::CommandAnswer;
use crate::{caller_location, ui};
use clap::{Args, Subcommand};
use probity_analysis::ReportKind;
use probity_api::ExitCode;
use probity_api::quality::{BaselineStatus, BaselineSummary};
use probity_quality::analyze::{
    AnalyzeOptions, AnalyzeRequest, FindingLimits, OtherReport, ReportFiles, analyze_tree,
};
use probity_workspace::{ServiceError, Workspace};
use std::ffi::OsString;
use std::path::PathBuf;

/// Default number of findings in the `--json` document.
const MAX_LISTED_FINDINGS: usize = 100;

/// Analyze the code: clones, complexity, cycles, dead code, health
///
/// Reads every language it knows, names what it did not read, and keeps the result as a run that any other run
/// can be compared with. After an edit only what changed is read again.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity analyze\n  probity analyze --changed main --markdown summary.md\n  \
                        probity analyze --html report.html"
)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct AnalyzeArgs {
    #[command(subcommand)]
    command: Option<AnalyzeCommand>,

    #[command(flatten)]
    options: AnalyzeFlags,
}

#[derive(Debug, Args)]
struct AnalyzeFlags {
    /// Compare with the tree of a git revision, as for a pull request: `main`, `HEAD~1`, a commit
    #[arg(long, value_name = "REF")]
    changed: Option<String>,

    /// Exit with code 1 if a gate of `[analysis.gates]` fails
    #[arg(long)]
    check: bool,

    /// Write a self-contained HTML report
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the findings as SARIF 2.1.0, for other tools
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write a summary in Markdown, for a pull request
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Import the findings of another tool, as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    sarif_in: Vec<PathBuf>,

    /// Import test coverage, as lcov or Cobertura
    #[arg(long, value_name = "FILE")]
    coverage: Vec<PathBuf>,

    /// How many findings to list in `--json`, the most severe first
    #[arg(long, value_name = "N", default_value_t = MAX_LISTED_FINDINGS)]
    limit: usize,

    #[command(flatten)]
    work: WorkFlags,
}

/// How an analysis is done; none of it changes the answer.
#[derive(Debug, Args)]
struct WorkFlags {
    /// How many threads to use [default: one per core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,

    /// Ignore all caches and read everything again
    #[arg(long)]
    cold: bool,
}

impl WorkFlags {
    fn options(&self) -> AnalyzeOptions {
        AnalyzeOptions { n_threads: self.threads, cold: self.cold }
    }
}

#[derive(Debug, Subcommand)]
enum AnalyzeCommand {
    /// Show what a change of the given files would affect
    #[command(after_help = "Examples:\n  probity analyze blast src/auth/session.py")]
    Blast {
        /// Paths of files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<OsString>,
    },

    /// Record the current findings as known, so that only new ones count
    #[command(
        subcommand,
        after_help = "Examples:\n  probity analyze baseline capture --why 'where we start from'\n  probity analyze baseline show"
    )]
    Baseline(baseline::BaselineCommand),
}

pub(crate) fn analyze(workspace: &Workspace, args: AnalyzeArgs) -> Result<CommandAnswer, ServiceError> {
    match args.command {
        None => run_analysis(workspace, args.options),
        Some(AnalyzeCommand::Blast { files }) => {
            blast::blast(workspace, &caller_location::typed_paths(workspace, &files)?)
        }
        Some(AnalyzeCommand::Baseline(command)) => baseline::baseline(workspace, command),
    }
}

fn run_analysis(workspace: &Workspace, flags: AnalyzeFlags) -> Result<CommandAnswer, ServiceError> {
    let request = AnalyzeRequest {
        options: flags.work.options(),
        reports: other_reports(&flags)?,
        changed_since: flags.changed,
        report_files: ReportFiles { html: flags.html, sarif: flags.sarif, markdown: flags.markdown },
        limits: FindingLimits::with_all_locations(flags.limit),
    };
    let analysis = with_progress(|watch| analyze_tree(workspace, &request, watch))?;
    if !ui::stdout_is_for_json() {
        render::print_analysis(&analysis);
    }
    let answer = &analysis.answer;
    let exit_code = if flags.check && answer.gates.would_fail { ExitCode::Failed } else { ExitCode::Ok };
    Ok(CommandAnswer::of(exit_code, answer))
}

fn other_reports(flags: &AnalyzeFlags) -> Result<Vec<OtherReport>, ServiceError> {
    let findings = flags.sarif_in.iter().map(|path| (path, ReportKind::Findings));
    let coverage = flags.coverage.iter().map(|path| (path, ReportKind::Coverage));
    findings.chain(coverage).map(|(path, kind)| OtherReport::read(path, kind)).collect()
}

fn on_baseline(baseline: &BaselineSummary) -> Option<String> {
    match baseline.status {
        BaselineStatus::Missing => None,
        BaselineStatus::Held => Some(format!(
            "{} new, {} known, {} gone since it was captured",
            baseline.new.as_ref().map_or(0, Vec::len),
            baseline.n_known.unwrap_or(0),
            baseline.n_gone.unwrap_or(0)
        )),
        BaselineStatus::Untrusted => baseline.why.as_ref().map(ui::bad),
    }
}
