//! The command-line definition: global options and the list of commands. No behavior lives here.

use crate::commands::{
    amend, analysis, change, ci, commits, completions, conformance, contract, doctor, evidence, explain,
    hook, init, intent, keys, land, ledger, lsp, mcp, merge, plan, receipt, revert, run, team, ui, uninstall,
    why,
};
use crate::help::GLOBAL_OPTIONS;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Change control for AI coding agents.
///
/// Say what a change may touch. Probity seals that scope, determines from the tree what actually changed, judges it, and
/// leaves evidence that anyone can check.
#[derive(Debug, Parser)]
#[command(
    name = "probity",
    version,
    help_template = crate::help::template(&CliCommand::augment_subcommands(clap::Command::new("probity"))),
    after_help = probity_api::ExitCode::summary(),
    propagate_version = true
)]
pub(crate) struct Cli {
    /// The root of the tree [default: the nearest ancestor with `.git`, `probity.toml` or `probity.json`, else the
    /// current directory; never `/` or your home directory]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL_OPTIONS)]
    pub(crate) root: Option<PathBuf>,

    /// Print one JSON document to stdout; everything else goes to stderr
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(crate) json: bool,

    #[arg(
        long,
        short,
        global = true,
        help_heading = GLOBAL_OPTIONS,
        action = clap::ArgAction::Count,
        help = "Log each step to stderr; `-vv` also logs git commands and other processes [env: PROBITY_LOG=debug]"
    )]
    pub(crate) verbose: u8,

    /// Report the time of each step and counts of the work (walks, git processes, fsyncs) to stderr
    #[arg(long, global = true, help_heading = GLOBAL_OPTIONS)]
    pub(crate) timings: bool,

    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// The commands; each has its arguments, its help and its run in a file of its own.
#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Run(run::RunArgs),
    Plan(plan::PlanArgs),
    Start(change::StartArgs),
    Finish(change::FinishArgs),
    Status(change::StatusArgs),
    Doctor(doctor::DoctorArgs),
    Amend(amend::AmendArgs),
    Land(land::LandArgs),
    Discard(land::DiscardArgs),
    Diff(land::DiffArgs),
    Enter(land::EnterArgs),
    #[command(alias = "undo")]
    Revert(revert::RevertArgs),
    Analyze(analysis::AnalyzeArgs),
    #[command(subcommand)]
    Runs(analysis::RunsCommand),
    Intent(intent::IntentArgs),
    Log(crate::commands::log::LogArgs),
    #[command(subcommand)]
    Evidence(evidence::EvidenceCommand),
    Ci(Box<ci::CiArgs>),
    #[command(subcommand)]
    Contract(contract::ContractCommand),
    #[command(subcommand)]
    Claims(contract::ClaimsCommand),
    #[command(subcommand)]
    Receipt(receipt::ReceiptCommand),
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    #[command(subcommand)]
    Ledger(ledger::LedgerCommand),
    Commits(commits::CommitsArgs),
    Merge(merge::MergeArgs),
    #[command(subcommand)]
    Team(team::TeamCommand),
    Explain(explain::ExplainArgs),
    Why(why::WhyArgs),
    Ui(ui::UiArgs),
    #[command(subcommand)]
    Review(ui::ReviewCommand),
    Init(init::InitArgs),
    Uninstall(uninstall::UninstallArgs),
    Mcp(mcp::McpArgs),
    Lsp(lsp::LspArgs),
    Hook(hook::HookArgs),
    Conformance(conformance::ConformanceArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
