//! `probity init`, and `probity init --agent`.

use super::change::word_parser;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::govern::setup::{AgentFileChange, AgentFileChangeKind, CodingAgent};
use probity_changes::agents::{RegistrationWish, register};
use probity_runner::init::{ProposedPolicy, propose, write};
use probity_workspace::{ServiceError, Workspace};

/// Write a policy that fits this tree, or set up an agent
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  probity init --dry-run\n  probity init --agent claude\n  probity init --agent claude --uninstall"
)]
pub(crate) struct InitArgs {
    /// Print what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Add Probity's MCP server to this agent's configuration of the project, and a short block of instructions to
    /// the file that the agent reads: CLAUDE.md, GEMINI.md or AGENTS.md
    #[arg(long, value_name = "AGENT", value_parser = word_parser::<CodingAgent>(CodingAgent::WORDS))]
    agent: Option<CodingAgent>,

    /// Take Probity out of that configuration again
    #[arg(long, requires = "agent")]
    uninstall: bool,
}

pub(crate) fn init(workspace: &Workspace, args: &InitArgs) -> Result<CommandAnswer, ServiceError> {
    match args.agent {
        Some(agent) => register_with(workspace, agent, args),
        None => write_policy(workspace, args.dry_run),
    }
}

fn write_policy(workspace: &Workspace, dry_run: bool) -> Result<CommandAnswer, ServiceError> {
    let phase = workspace.progress.begin("reading the tree");
    let proposed = propose(workspace)?;
    drop(phase);
    let path = if dry_run { None } else { Some(write(workspace, &proposed)?) };
    let answer = proposed.answer(workspace, path.is_some());
    let Some(path) = path else {
        ui::print_document(answer.text.trim_end());
        return Ok(CommandAnswer::of(ExitCode::Ok, &answer));
    };
    ui::print(format_args!("{} {}", ui::good("written"), crate::relative_to_cwd(&path).display()));
    show_exempt(&proposed);
    if let Some(command) = &answer.commit_command {
        ui::print_row("next", format_args!("keep the policy in git: {}", ui::code(command)));
    }
    let scope = answer.example_scope.as_deref().unwrap_or("PATTERN");
    ui::print_row("next", ui::code(format_args!("probity run --scope '{scope}' -- COMMAND")));
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

/// Shows how many patterns are exempt, and what the file leaves commented out for the user to decide.
fn show_exempt(proposed: &ProposedPolicy) {
    let counts: Vec<String> =
        proposed.counts().iter().map(|count| format!("{} {}", count.ecosystem, count.patterns)).collect();
    if counts.is_empty() {
        ui::print_row("exempt", ui::dim("nothing: no build tool was recognized"));
    } else {
        let total = proposed.counts().iter().map(|count| count.patterns).sum();
        ui::print_row("exempt", format_args!("{}: {}", ui::count_of(total, "pattern"), counts.join(", ")));
    }
    if !proposed.ignored.is_empty() {
        let patterns = ui::count_of(proposed.ignored.len(), "more pattern");
        ui::print_row("ignored", format_args!("{patterns} of your .gitignore, commented out"));
    }
    if proposed.n_deceptive_rules > 0 {
        let rules = ui::count_of(proposed.n_deceptive_rules, "rule");
        let why = "with characters that are not shown as they are written";
        ui::print_row("left out", format_args!("{rules} of your .gitignore {why}"));
    }
    for gate in &proposed.gates {
        ui::print_row("gate", format_args!("{}  {}", gate.run.join(" "), ui::dim("commented out")));
    }
}

/// Registers Probity with an agent, or removes it again.
fn register_with(
    workspace: &Workspace,
    agent: CodingAgent,
    args: &InitArgs,
) -> Result<CommandAnswer, ServiceError> {
    let InitArgs { dry_run, uninstall, .. } = *args;
    let wish = if uninstall { RegistrationWish::Unregister } else { RegistrationWish::Register };
    let answer = register(workspace, agent, wish, dry_run)?;
    for change in &answer.files {
        show(change, dry_run);
    }
    if !uninstall && !dry_run {
        ui::print_row("next", format_args!("restart {agent}; it starts {}", ui::code("probity mcp")));
    }
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

fn show(change: &AgentFileChange, dry_run: bool) {
    let word = match change.change {
        AgentFileChangeKind::Created => "created",
        AgentFileChangeKind::Changed => "changed",
        AgentFileChangeKind::Removed => "removed",
        AgentFileChangeKind::Unchanged => "as it was",
    };
    ui::print_row(word, change.path.0.display());
    if dry_run && change.change != AgentFileChangeKind::Unchanged {
        ui::print_document(change.text.trim_end());
    }
}
