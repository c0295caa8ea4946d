//! `probity init`, and `probity init --agent`.

use crate::answer::Answer;
use crate::ui;
use api::ExitCode;
use control::agents::{Agent, ChangeKind, FileChange, Wish, register};
use control::init::{Proposed, commit_command, propose, write};
use control::{Fault, Workspace};
use serde_json::json;

/// Writes a policy that fits the tree.
pub(crate) fn init(workspace: &Workspace, dry_run: bool) -> Result<Answer, Fault> {
    let phase = workspace.progress.begin("reading the tree");
    let proposed = propose(workspace)?;
    drop(phase);
    if dry_run {
        ui::print(proposed.text.trim_end());
    } else {
        let path = write(workspace, &proposed)?;
        ui::print(format_args!("{} {}", ui::good("written"), crate::shown(&path).display()));
        show_exempt(&proposed);
        if let Some(command) = commit_command(workspace) {
            ui::print_row(
                "next",
                format_args!("{}  {}", ui::code(command), ui::dim("keep the policy in git")),
            );
        }
        let scope = proposed.example_scope.as_deref().unwrap_or("PATTERN");
        ui::print_row("next", ui::code(format_args!("probity run --scope '{scope}' -- COMMAND")));
    }
    let exempt: Vec<_> = proposed
        .counts()
        .iter()
        .map(|(ecosystem, count)| json!({ "ecosystem": ecosystem, "patterns": count }))
        .collect();
    let document = json!({
        "text": proposed.text,
        "written": !dry_run,
        "exempt": exempt,
        "example_scope": proposed.example_scope,
        "ignore_rules_left_out": proposed.n_deceptive_rules,
        "commit_command": commit_command(workspace).filter(|_| !dry_run),
    });
    Ok(Answer::new("init", ExitCode::Ok, document).about(workspace))
}

/// How much is exempt, and what a person may want to look at in the file.
fn show_exempt(proposed: &Proposed) {
    let counts: Vec<String> =
        proposed.counts().iter().map(|(ecosystem, count)| format!("{ecosystem} {count}")).collect();
    if counts.is_empty() {
        ui::print_row("exempt", ui::dim("nothing: no build tool was recognized"));
    } else {
        let total = proposed.counts().iter().map(|(_, count)| count).sum();
        ui::print_row("exempt", format_args!("{}: {}", ui::count(total, "pattern"), counts.join(", ")));
    }
    if !proposed.ignored.is_empty() {
        let patterns = ui::count(proposed.ignored.len(), "more pattern");
        ui::print_row("ignored", format_args!("{patterns} of your .gitignore, commented out"));
    }
    if proposed.n_deceptive_rules > 0 {
        let rules = ui::count(proposed.n_deceptive_rules, "rule");
        let why = "with characters that are not shown as they are written";
        ui::print_row("left out", format_args!("{rules} of your .gitignore {why}"));
    }
    for gate in &proposed.gates {
        ui::print_row("gate", format_args!("{}  {}", gate.run.join(" "), ui::dim("commented out")));
    }
}

/// The agents that can be registered with.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum AgentName {
    Claude,
    Codex,
    Cursor,
    Gemini,
}

impl From<AgentName> for Agent {
    fn from(name: AgentName) -> Self {
        match name {
            AgentName::Claude => Self::Claude,
            AgentName::Codex => Self::Codex,
            AgentName::Cursor => Self::Cursor,
            AgentName::Gemini => Self::Gemini,
        }
    }
}

/// Registers Probity with an agent, or takes it out again.
pub(crate) fn agent(
    workspace: &Workspace,
    agent: AgentName,
    uninstall: bool,
    dry_run: bool,
) -> Result<Answer, Fault> {
    let agent = Agent::from(agent);
    let wish = if uninstall { Wish::Unregister } else { Wish::Register };
    let changes = register(workspace, agent, wish, dry_run)?;
    for change in &changes {
        show(change, dry_run);
    }
    if !uninstall && !dry_run {
        ui::print_row(
            "next",
            format_args!("restart {}; it starts {}", agent.name(), ui::code("probity mcp")),
        );
    }
    let files: Vec<_> = changes
        .iter()
        .map(|change| {
            json!({ "path": crate::answer::path_json(&change.path), "change": change.kind, "text": change.text })
        })
        .collect();
    let document = json!({ "agent": agent.name(), "files": files, "written": !dry_run });
    Ok(Answer::new("init-agent", ExitCode::Ok, document).about(workspace))
}

fn show(change: &FileChange, dry_run: bool) {
    let word = match change.kind {
        ChangeKind::Created => "created",
        ChangeKind::Changed => "changed",
        ChangeKind::Removed => "removed",
        ChangeKind::Unchanged => "as it was",
    };
    ui::print_row(word, change.path.display());
    if dry_run && change.kind != ChangeKind::Unchanged {
        ui::print(change.text.trim_end());
    }
}
