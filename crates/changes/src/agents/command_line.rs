//! The command line that lets an agent work on one task without a person at its terminal.

use probity_api::govern::setup::CodingAgent;
use std::ffi::OsString;
use std::path::Path;

/// What an agent may do without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentPermissions {
    /// What it does by itself. Without a person most agents then refuse to edit.
    AgentDefault,
    /// Edits in the working directory; other commands as the agent sees fit.
    EditsAccepted,
    /// Everything. Only where something else confines the agent.
    Bypassed,
}

/// Returns the command line of an agent for a task; `None` if Probity does not know one.
pub fn task_command(
    agent: CodingAgent,
    program: &Path,
    task: &str,
    permissions: AgentPermissions,
) -> Option<Vec<OsString>> {
    use AgentPermissions::{AgentDefault, Bypassed, EditsAccepted};
    let (before, flags): (&[&str], &[&str]) = match (agent, permissions) {
        (CodingAgent::Cursor, _) => return None,
        (
            CodingAgent::Claude | CodingAgent::Gemini | CodingAgent::Qwen | CodingAgent::Copilot,
            AgentDefault,
        ) => (&["-p"], &[]),
        (CodingAgent::Claude, EditsAccepted) => (&["-p"], &["--permission-mode", "acceptEdits"]),
        (CodingAgent::Claude, Bypassed) => (&["-p"], &["--dangerously-skip-permissions"]),
        (CodingAgent::Gemini | CodingAgent::Qwen, EditsAccepted) => {
            (&["-p"], &["--approval-mode", "auto_edit"])
        }
        (CodingAgent::Gemini | CodingAgent::Qwen, Bypassed) => (&["-p"], &["--yolo"]),
        (CodingAgent::Copilot, EditsAccepted) => (&["-p"], &["--allow-tool", "write"]),
        (CodingAgent::Copilot, Bypassed) => (&["-p"], &["--allow-all", "--trust-folder"]),
        (CodingAgent::Codex, AgentDefault) => (&["exec", "--skip-git-repo-check"], &[]),
        (CodingAgent::Codex, EditsAccepted) => {
            (&["exec", "--skip-git-repo-check", "--sandbox", "workspace-write"], &[])
        }
        (CodingAgent::Codex, Bypassed) => (
            &[
                "exec",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
                // Codex skips a hook that nobody reviewed, also in a view, where it can do no harm.
                "--dangerously-bypass-hook-trust",
            ],
            &[],
        ),
        (CodingAgent::OpenCode, _) => (&["run"], &[]),
    };
    let words = before.iter().copied().chain([task]).chain(flags.iter().copied());
    Some(std::iter::once(program.as_os_str().to_owned()).chain(words.map(Into::into)).collect())
}

/// Returns the variables that an agent needs besides, if it works as `root`.
pub const fn task_variables(
    agent: CodingAgent,
    permissions: AgentPermissions,
    is_root: bool,
) -> &'static [(&'static str, &'static str)] {
    match (agent, permissions, is_root) {
        // Claude Code refuses to run as root without prompts unless it is told that something confines it.
        (CodingAgent::Claude, AgentPermissions::Bypassed, true) => &[("IS_SANDBOX", "1")],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_that_can_be_started_gets_the_task_as_one_word() {
        let task = "fix 'the' login; rm -rf /";
        for &agent in CodingAgent::ALL {
            for permissions in
                [AgentPermissions::AgentDefault, AgentPermissions::EditsAccepted, AgentPermissions::Bypassed]
            {
                let words = task_command(agent, Path::new("/bin/agent"), task, permissions);
                assert_eq!(words.is_none(), agent == CodingAgent::Cursor);
                let n_tasks = words.iter().flatten().filter(|word| *word == task).count();
                assert_eq!(n_tasks, usize::from(words.is_some()), "{agent}");
            }
        }
    }
}
