//! `probity analyze` and what belongs to it: baseline, blast radius, and the stored runs.

mod baseline;
mod blast;
mod runs;
mod words;

pub(crate) use crate::progress::watched;
pub(crate) use runs::{RunsCommand, runs};

use crate::answer::{Answer, path_json};
use crate::{place, ui};
use analysis::{Comparison, ReportKind, report};
use api::ExitCode;
use clap::{Args, Subcommand};
use control::analyze::{
    AnalyzeOptions, Analyzed, BaselineState, ChangedSince, OtherReport, changed_since, documents, gates,
    join, read_baseline,
};
use control::{Fault, Workspace};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How many findings `--json` lists if nobody asks for more.
const LISTED: usize = 100;

#[derive(Debug, Args)]
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

    /// End with exit code 1 if a gate of `[analysis.gates]` fails
    #[arg(long)]
    check: bool,

    /// Write a page for people, which needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Write the findings as SARIF 2.1.0, for other tools
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,

    /// Write a summary in Markdown, for a pull request
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// Take in the findings of another tool, as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    sarif_in: Vec<PathBuf>,

    /// Take in test coverage, as lcov or Cobertura
    #[arg(long, value_name = "FILE")]
    coverage: Vec<PathBuf>,

    /// How many findings to list in `--json`, the most severe first
    #[arg(long, value_name = "N", default_value_t = LISTED)]
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

    /// Read everything again, whatever is known from before
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
    /// Show who would notice a change of some files
    #[command(after_help = "Examples:\n  probity analyze blast src/auth/session.py")]
    Blast {
        /// Paths of files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<OsString>,
    },

    /// Keep the findings that are there now, so that only new ones count
    #[command(
        subcommand,
        after_help = "Examples:\n  probity analyze baseline capture --why 'where we start from'\n  probity analyze baseline show"
    )]
    Baseline(baseline::BaselineCommand),
}

/// Answers `probity analyze`.
pub(crate) fn analyze(workspace: &Workspace, args: AnalyzeArgs) -> Result<Answer, Fault> {
    match args.command {
        None => whole(workspace, &args.options),
        Some(AnalyzeCommand::Blast { files }) => blast::blast(workspace, &place::paths(workspace, &files)?),
        Some(AnalyzeCommand::Baseline(command)) => baseline::baseline(workspace, command),
    }
}

/// Analyses the tree, with progress.
fn analyzed(workspace: &Workspace, options: &AnalyzeOptions) -> Result<Analyzed, Fault> {
    watched(|watch| control::analyze::analyze(workspace, options, watch))
}

fn whole(workspace: &Workspace, flags: &AnalyzeFlags) -> Result<Answer, Fault> {
    let reports = other_reports(flags)?;
    let options = flags.work.options();
    let analyzed = analyzed(workspace, &options)?;
    let since = flags.changed.as_deref().map(|revision| since(workspace, &options, revision, &analyzed));
    let since = since.transpose()?;
    let analyzed = join(workspace, analyzed, &reports)?;
    let baseline = read_baseline(workspace, &analyzed.run)?;
    let gate_report = gates(workspace, &analyzed.run, &baseline)?;
    words::analyzed(&analyzed, since.as_ref(), &baseline);
    words::gates(&gate_report);
    let written = write_reports(workspace, flags, &analyzed, since.as_ref().map(|since| &since.comparison))?;
    let mut document = documents::analyzed(&analyzed, flags.limit);
    document["baseline"] = documents::baseline(&baseline);
    document["gates"] = documents::gates(&gate_report);
    document["changed"] = since.map_or(Value::Null, |since| documents::changed_since(&since, &analyzed.run));
    document["written"] = json!(written.iter().map(|path| path_json(path)).collect::<Vec<_>>());
    let outcome = if flags.check && gate_report.would_fail { ExitCode::Failed } else { ExitCode::Ok };
    Ok(Answer::new("analyze", outcome, document).about(workspace))
}

fn since(
    workspace: &Workspace,
    options: &AnalyzeOptions,
    revision: &str,
    after: &Analyzed,
) -> Result<ChangedSince, Fault> {
    watched(|watch| changed_since(workspace, options, revision, after, watch))
}

fn other_reports(flags: &AnalyzeFlags) -> Result<Vec<OtherReport>, Fault> {
    let findings = flags.sarif_in.iter().map(|path| (path, ReportKind::Findings));
    let coverage = flags.coverage.iter().map(|path| (path, ReportKind::Coverage));
    findings.chain(coverage).map(|(path, kind)| other_report(path, kind)).collect()
}

fn other_report(path: &Path, kind: ReportKind) -> Result<OtherReport, Fault> {
    let name = path.display().to_string();
    let bytes =
        std::fs::read(path).map_err(|error| Fault::Missing(format!("cannot read {name}: {error}")))?;
    Ok(OtherReport { name, kind, bytes })
}

/// Writes the reports that were asked for; returns where.
fn write_reports(
    workspace: &Workspace,
    flags: &AnalyzeFlags,
    analyzed: &Analyzed,
    against: Option<&Comparison>,
) -> Result<Vec<PathBuf>, Fault> {
    let run = &analyzed.run;
    let source = |path: &paths::RepoPath| control::analyze::source(workspace, run, path);
    let is_for_people = flags.html.is_some() || flags.markdown.is_some();
    let subject = if is_for_people {
        control::analyze::report_subject(workspace)
    } else {
        report::ReportSubject::default()
    };
    let texts = [
        (&flags.html, &(|| report::html(run, against, &source, &subject)) as &dyn Fn() -> String),
        (&flags.sarif, &|| report::sarif(run, against)),
        (&flags.markdown, &|| report::markdown(run, against, &subject)),
    ];
    let mut written = Vec::new();
    for (path, text) in texts {
        let Some(path) = path else { continue };
        let refused = |source| Fault::System { what: format!("cannot write {}", path.display()), source };
        std::fs::write(path, text()).map_err(refused)?;
        ui::print_row("written", path.display());
        written.push(path.clone());
    }
    Ok(written)
}

/// A sentence on the baseline, if there is something to say.
fn on_baseline(state: &BaselineState) -> Option<String> {
    match state {
        BaselineState::Missing => None,
        BaselineState::Held { novelty, .. } => Some(format!(
            "{} new, {} known, {} gone since it was captured",
            novelty.new.len(),
            novelty.n_known,
            novelty.n_gone
        )),
        BaselineState::Untrusted { why, .. } => Some(ui::bad(why)),
    }
}
