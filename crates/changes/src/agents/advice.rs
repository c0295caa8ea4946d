//! What a person must still do, and which agents are installed.

use probity_api::govern::setup::CodingAgent;
use std::path::Path;

/// Returns the steps that no configuration file can take for the user.
pub(super) fn manual_steps(agent: CodingAgent) -> Vec<&'static str> {
    match agent {
        CodingAgent::Claude => vec![
            "start `claude` here once, trust the directory and approve the server `probity`: without trust its \
             permissions are ignored",
            "Claude Code reads its settings again while it works, so a program that the agent runs can disarm a project \
             hook; `--managed` (as root) cannot be disarmed",
        ],
        CodingAgent::Codex => vec![
            "mark this project as trusted in Codex, then review the hooks with `/hooks`: until then Codex skips them \
             without a word",
        ],
        CodingAgent::Copilot => vec![
            "trust this directory (`copilot --trust-folder`): otherwise Copilot CLI skips the hook without a word",
            "add the MCP server with `/mcp add` or in ~/.copilot/mcp-config.json: command `probity`, argument `mcp`",
        ],
        CodingAgent::Cursor => vec![
            "approve the server `probity` in Cursor's settings; the hook follows Cursor's documentation and was not \
             tried on the program",
        ],
        CodingAgent::Gemini => {
            vec!["trust this directory when Gemini CLI asks: otherwise it ignores the settings"]
        }
        CodingAgent::OpenCode => vec![
            "OpenCode skips a plugin that it cannot load without a word; `probity doctor --agent opencode --prove` shows \
             whether it stands",
        ],
        CodingAgent::Qwen => {
            vec!["trust this directory if Qwen Code asks: otherwise it ignores the settings"]
        }
    }
}

const fn program(agent: CodingAgent) -> &'static str {
    match agent {
        CodingAgent::Cursor => "cursor-agent",
        agent => agent.as_str(),
    }
}

/// Returns the agents whose programs are on `path`, the value of `PATH`.
pub fn installed_agents(path: &std::ffi::OsStr) -> Vec<CodingAgent> {
    let dirs: Vec<_> = std::env::split_paths(path).collect();
    let is_there =
        |agent: &CodingAgent| dirs.iter().any(|dir: &std::path::PathBuf| is_file(&dir.join(program(*agent))));
    CodingAgent::ALL.iter().copied().filter(is_there).collect()
}

fn is_file(path: &Path) -> bool {
    path.metadata().is_ok_and(|facts| facts.is_file())
}
