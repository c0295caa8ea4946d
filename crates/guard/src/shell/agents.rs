//! Commands that configure agents or remove the guard: `probity init --uninstall`, `claude mcp remove`. They name no file, but which
//! one they write is known.

use super::WriteKind;
use super::arguments::Arguments;
use super::expansion::Value;
use super::interpreter::{Interpreter, ShellState};

/// Agents with a file of theirs that configures hooks, relative to a project or a home directory.
const AGENT_PROGRAMS: [(&str, &str); 7] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/config.toml"),
    ("gemini", ".gemini/settings.json"),
    ("qwen", ".qwen/settings.json"),
    ("copilot", ".copilot/config.json"),
    ("opencode", "opencode.json"),
    ("cursor-agent", ".cursor/mcp.json"),
];

/// Commands of agents that change servers, hooks, permissions or plugins.
const CONFIGURING_COMMANDS: [&str; 12] = [
    "mcp",
    "config",
    "plugin",
    "plugins",
    "hooks",
    "hook",
    "extensions",
    "extension",
    "features",
    "settings",
    "trust",
    "permissions",
];

/// What those commands do without changing anything.
const READING_COMMANDS: [&str; 7] = ["list", "ls", "get", "show", "help", "status", "debug"];

impl Interpreter<'_> {
    /// Runs the program of an agent; `false` if `program` is none. A second agent below the first is not known to be guarded.
    pub(super) fn agent_command(&mut self, program: &str, args: &[Value], state: &ShellState) -> bool {
        let Some((_, file)) = AGENT_PROGRAMS.iter().find(|(name, _)| *name == program) else { return false };
        let read = Arguments::read(args, "", &[]);
        let word = |index: usize| read.operands.get(index).and_then(Value::known).unwrap_or_default();
        if CONFIGURING_COMMANDS.contains(&word(0)) {
            // Without an action the program shows its help.
            if read.operands.len() > 1 && !READING_COMMANDS.contains(&word(1)) {
                let path = format!("{}/{file}", self.world.home());
                self.write(state, &Value::Known(path), WriteKind::Entry);
            }
        } else if !args.iter().all(|arg| matches!(arg.known(), Some("-v" | "-V" | "-h"))) {
            self.note_unproven();
        }
        true
    }

    /// `probity start`, which binds the session to an intent, and `probity init`, which installs and removes the guard.
    pub(super) fn probity(&mut self, args: &[Value], state: &ShellState) {
        let long = ["root", "agent"];
        let read = Arguments::read(args, "C", &long);
        let command = read.operands.first().and_then(Value::known);
        self.effects.starts_change |= args.iter().any(|arg| arg.known() == Some("start"));
        if command != Some("init") || read.has(&["dry-run", "help", "h"]) {
            return;
        }
        let file = match read.value(&["agent"]).map(Value::known) {
            None => "probity.toml",
            Some(agent) => match agent {
                Some("codex") => ".codex/hooks.json",
                Some("copilot") => ".github/hooks/probity.json",
                Some("cursor") => ".cursor/hooks.json",
                Some(agent) => AGENT_PROGRAMS
                    .iter()
                    .find(|(name, _)| *name == agent)
                    .map_or(AGENT_PROGRAMS[0].1, |(_, file)| file),
                None => AGENT_PROGRAMS[0].1,
            },
        };
        let root = read.value(&["root", "C"]).cloned().unwrap_or_else(|| Value::Known(".".into()));
        self.write(state, &root.join(&Value::Known(file.to_owned())), WriteKind::Entry);
    }
}
