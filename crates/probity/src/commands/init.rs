//! `probity init`, and `probity init --agent`.

use super::change::word_parser;
use crate::answer::CommandAnswer;
use crate::ui;
use clap::Args;
use probity_api::ExitCode;
use probity_api::govern::setup::{
    AgentFileChange, AgentFileChangeKind, AgentRegistration, AgentRegistrations, CodingAgent,
};
use probity_changes::agents::{
    CLAUDE_MANAGED_SETTINGS, HookProgram, RegistrationWish, installed_agents, register, register_managed,
};
use probity_core::ReasonCode;
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

    /// Add Probity's hook and MCP server to this agent's project configuration, and a short block of
    /// instructions to the file that the agent reads; `auto` means every agent that is installed
    #[arg(long, value_name = "AGENT", value_parser = word_parser::<AgentChoice>(AgentChoice::WORDS))]
    agent: Option<AgentChoice>,

    /// Write the hook to the managed settings instead, which no agent can change; needs the right to write them
    #[arg(long, requires = "agent")]
    managed: bool,

    /// Remove Probity from that configuration
    #[arg(long, requires = "agent")]
    uninstall: bool,
}

pub(crate) fn init(workspace: &Workspace, args: &InitArgs) -> Result<CommandAnswer, ServiceError> {
    match args.agent {
        Some(AgentChoice::Auto) => register_installed(workspace, args),
        Some(choice) => {
            let agent = choice.agent().expect("every other choice names an agent");
            let answer = register_with(workspace, agent, args)?;
            Ok(CommandAnswer::of(ExitCode::Ok, &answer))
        }
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

probity_core::word_enum! {
    /// An agent, or every installed one.
    enum AgentChoice {
        Claude = "claude",
        Codex = "codex",
        Copilot = "copilot",
        Cursor = "cursor",
        Gemini = "gemini",
        OpenCode = "opencode",
        Qwen = "qwen",
        Auto = "auto",
    }
}

impl AgentChoice {
    fn agent(self) -> Option<CodingAgent> {
        self.as_str().parse().ok()
    }
}

/// Registers Probity with every agent on `PATH`.
fn register_installed(workspace: &Workspace, args: &InitArgs) -> Result<CommandAnswer, ServiceError> {
    let agents = installed_agents(&std::env::var_os("PATH").unwrap_or_default());
    if agents.is_empty() {
        let detail = format!("no agent is on PATH; name one of {}", CodingAgent::WORDS.join(", "));
        return Err(ServiceError::refused(ReasonCode::UsageInvalid, detail));
    }
    let mut registrations = Vec::new();
    for agent in agents {
        registrations.push(register_with(workspace, agent, args)?);
    }
    let answer = AgentRegistrations { root: workspace.root.clone().into(), registrations };
    Ok(CommandAnswer::of(ExitCode::Ok, &answer))
}

/// Registers Probity with an agent, or removes it again.
fn register_with(
    workspace: &Workspace,
    agent: CodingAgent,
    args: &InitArgs,
) -> Result<AgentRegistration, ServiceError> {
    let InitArgs { dry_run, uninstall, managed, .. } = *args;
    let wish = if uninstall { RegistrationWish::Unregister } else { RegistrationWish::Register };
    let program = HookProgram::beside_this_program();
    let answer = if managed {
        let settings = std::path::Path::new(CLAUDE_MANAGED_SETTINGS);
        register_managed(workspace, agent, &program, wish, dry_run, settings)?
    } else {
        register(workspace, agent, &program, wish, dry_run)?
    };
    for change in &answer.files {
        show(change, dry_run);
    }
    for step in &answer.manual_steps {
        ui::print_row("you", step);
    }
    if !uninstall && !dry_run {
        ui::print_row("next", format_args!("restart {agent}; it starts {}", ui::code("probity mcp")));
    }
    Ok(answer)
}

pub(super) fn show(change: &AgentFileChange, dry_run: bool) {
    let word = match (change.change, dry_run) {
        (AgentFileChangeKind::Created, false) => "created",
        (AgentFileChangeKind::Created, true) => "creates",
        (AgentFileChangeKind::Changed, false) => "changed",
        (AgentFileChangeKind::Changed, true) => "changes",
        (AgentFileChangeKind::Removed, false) => "removed",
        (AgentFileChangeKind::Removed, true) => "removes",
        (AgentFileChangeKind::Unchanged, _) => "unchanged",
    };
    ui::print_row(word, change.path.0.display());
    if dry_run && change.change != AgentFileChangeKind::Unchanged {
        ui::print_document(change.text.trim_end());
    }
}
