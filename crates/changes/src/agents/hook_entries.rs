//! Adds or removes the hook in the configuration of an agent.
//!
//! Before a tool the program runs in a small shell script that refuses unless the program passes in silence: when it is missing,
//! crashes, is killed, prints something else than an answer, or is frozen. Almost every agent lets a call pass if its
//! hook fails. Commands at other events end in silence instead.

use super::RegistrationWish;
use super::json_members::{OrderedMembers, json_text};
use probity_api::govern::setup::CodingAgent;
use std::path::{Path, PathBuf};

/// How long an agent waits for the hook. The hook itself and the script around it answer sooner.
const HOOK_TIMEOUT_SECONDS: u64 = 30;

/// Runs the program in its parameters. Silence and exit code 0 pass; exit code 2 refuses in the program's words; everything
/// else refuses. A frozen program is ended after ten seconds where there is `timeout`: its own deadline is shorter, the
/// agent's longer. `/bin/sh` is named because some agents take the user's shell, which may not understand this.
const REFUSING_SCRIPT: &str = "if command -v timeout >/dev/null; then o=$(timeout 10 \"$@\"); else o=$(\"$@\"); fi; \
case $?$o in 0) ;; 2*) printf %s \"$o\"; exit 2;; *) echo \"probity did not answer; refused\" >&2; exit 2;; esac";

/// The start of the name of the program, by which our entries are found again.
const HOOK_NAMES: [&str; 2] = ["probity-hook", "probity' hook "];

/// The command that starts the hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookProgram {
    /// The quoted program, with its first argument if it is the main program.
    start: String,
}

impl HookProgram {
    /// The small program at `path`.
    pub fn small(path: &Path) -> Self {
        Self { start: quoted(&path.to_string_lossy()) }
    }

    /// The small program beside this one; the main program itself where there is none.
    pub fn beside_this_program() -> Self {
        let own = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("probity"));
        let small = own.with_file_name("probity-hook");
        if small.is_file() {
            return Self::small(&small);
        }
        let main = own.with_file_name("probity");
        let main = if main.is_file() { main } else { own };
        Self { start: format!("{} hook", quoted(&main.to_string_lossy())) }
    }

    /// Returns the command line for an event.
    pub(super) fn command(&self, agent: CodingAgent, event: HookMoment) -> String {
        let call = format!("{} {agent} {}", self.start, event.word());
        match event {
            HookMoment::BeforeTool => format!("/bin/sh -c '{REFUSING_SCRIPT}' sh {call}"),
            _ => format!("{call} || true"),
        }
    }

    /// Returns the program and its arguments for a plugin, without the fallback.
    pub(super) fn shell_start(&self) -> &str {
        &self.start
    }
}

fn quoted(path: &str) -> String {
    format!("'{}'", path.replace('\'', "'\\''"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMoment {
    BeforeTool,
    AfterTool,
    Stop,
    SessionStart,
}

impl HookMoment {
    /// Returns the argument of the hook.
    pub const fn word(self) -> &'static str {
        match self {
            Self::BeforeTool => "before",
            Self::AfterTool => "after",
            Self::Stop => "stop",
            Self::SessionStart => "session",
        }
    }
}

/// Returns the events of an agent at which the hook is installed, by the agent's names.
pub const fn hook_events(agent: CodingAgent) -> &'static [(&'static str, HookMoment)] {
    use HookMoment::{AfterTool, BeforeTool, SessionStart, Stop};
    match agent {
        CodingAgent::Claude | CodingAgent::Codex | CodingAgent::Qwen => &[
            ("PreToolUse", BeforeTool),
            ("PostToolUse", AfterTool),
            ("Stop", Stop),
            ("SessionStart", SessionStart),
        ],
        CodingAgent::Gemini => &[
            ("BeforeTool", BeforeTool),
            ("AfterTool", AfterTool),
            ("AfterAgent", Stop),
            ("SessionStart", SessionStart),
        ],
        CodingAgent::Copilot => &[
            ("preToolUse", BeforeTool),
            ("postToolUse", AfterTool),
            ("agentStop", Stop),
            ("sessionStart", SessionStart),
        ],
        CodingAgent::Cursor => &[
            ("preToolUse", BeforeTool),
            ("beforeShellExecution", BeforeTool),
            ("beforeMCPExecution", BeforeTool),
        ],
        CodingAgent::OpenCode => &[
            ("tool.execute.before", BeforeTool),
            ("tool.execute.after", AfterTool),
            ("experimental.chat.system.transform", SessionStart),
        ],
    }
}

/// Renders the entry of one event.
fn entry(agent: CodingAgent, program: &HookProgram, moment: HookMoment) -> String {
    let command = json_text(&program.command(agent, moment));
    let timeout = match agent {
        CodingAgent::Gemini | CodingAgent::Qwen => HOOK_TIMEOUT_SECONDS * 1_000,
        _ => HOOK_TIMEOUT_SECONDS,
    };
    match agent {
        CodingAgent::Copilot => {
            format!("{{\"type\": \"command\", \"bash\": {command}, \"timeoutSec\": {timeout}}}")
        }
        CodingAgent::Cursor => {
            format!("{{\"command\": {command}, \"failClosed\": true, \"timeout\": {timeout}}}")
        }
        _ => {
            let name = if agent == CodingAgent::Gemini { "\"name\": \"probity\", " } else { "" };
            // Claude Code refuses on a failure of the hook itself if told to; Codex drops entries with unknown keys.
            let failure = match (agent, moment) {
                (CodingAgent::Claude, HookMoment::BeforeTool) => ", \"onFailure\": \"block\"",
                _ => "",
            };
            let hook = format!(
                "{{{name}\"type\": \"command\", \"command\": {command}, \"timeout\": {timeout}{failure}}}"
            );
            let matcher = match moment {
                HookMoment::BeforeTool | HookMoment::AfterTool => "\"matcher\": \"*\", ",
                _ => "",
            };
            format!("{{{matcher}\"hooks\": [{hook}]}}")
        }
    }
}

/// Returns whether an entry starts our hook.
fn is_own(entry: &str) -> bool {
    let commands = |value: &serde_json::Value| {
        let text = |name: &str| value.get(name).and_then(|it| it.as_str()).unwrap_or_default().to_owned();
        [text("command"), text("bash")]
    };
    let Ok(value) = serde_json::from_str::<serde_json::Value>(entry) else { return false };
    let inner = value.get("hooks").and_then(|hooks| hooks.as_array()).cloned().unwrap_or_default();
    let all = std::iter::once(&value).chain(&inner).flat_map(commands);
    all.into_iter().any(|command| HOOK_NAMES.iter().any(|name| command.contains(name)))
}

/// Returns whether settings start our hook before every tool.
pub(crate) fn starts_hook(settings: &str) -> bool {
    let value: serde_json::Value = serde_json::from_str(settings).unwrap_or_default();
    let entries = value["hooks"]["PreToolUse"].as_array();
    value["disableAllHooks"] != true && entries.into_iter().flatten().any(|it| is_own(&it.to_string()))
}

/// Edits the hooks in the member `hooks` of a configuration.
pub(super) fn edit_hooks(
    config: &mut OrderedMembers,
    agent: CodingAgent,
    program: &HookProgram,
    wish: RegistrationWish,
) -> Result<(), String> {
    let events = hook_events(agent);
    config.edit_object("hooks", 1, |hooks| {
        // Entries of ours at events of an older version go, too.
        let mut names = hooks.names();
        names.extend(
            events.iter().map(|(name, _)| (*name).to_owned()).filter(|name| hooks.get(name).is_none()),
        );
        for name in names {
            let moment = events.iter().find(|(event, _)| *event == name).map(|(_, moment)| *moment);
            let wished = moment
                .filter(|_| wish == RegistrationWish::Register)
                .map(|moment| entry(agent, program, moment));
            let has_list = hooks.get(&name).is_none_or(|text| text.trim_start().starts_with('['));
            if !has_list {
                continue;
            }
            hooks.edit_list(&name, 2, |entries| {
                if wished.as_ref().is_some_and(|wished| entries.iter().filter(|it| is_own(it)).eq([wished])) {
                    return;
                }
                entries.retain(|it| !is_own(it));
                entries.extend(wished);
            })?;
        }
        Ok(())
    })
}

/// The plugin for OpenCode, which has no hook commands. An exception refuses the call, whatever its cause.
pub(super) fn opencode_plugin(program: &HookProgram) -> String {
    let start = json_text(program.shell_start());
    format!(
        r#"// Written by `probity init --agent opencode`. Refuses tool calls that the session did not declare.
import {{ spawnSync }} from "node:child_process"

const hook = (event, payload) =>
  spawnSync("/bin/sh", ["-c", {start} + " opencode " + event], {{
    input: JSON.stringify(payload),
    encoding: "utf8",
    timeout: {timeout},
  }})

// Sub-agents have sessions of their own: those with the session that they began in, and what each session was told at its start.
const parents = new Map()
const contexts = new Map()
const parentOf = (session) => {{
  let parent = session
  while (parents.has(parent)) parent = parents.get(parent)
  return parent === session ? undefined : parent
}}

export const Probity = async ({{ directory }}) => ({{
  event: async ({{ event }}) => {{
    const session = event?.type === "session.created" ? event.properties?.info : undefined
    if (session?.parentID && session.parentID !== session.id) parents.set(session.id, session.parentID)
  }},
  "experimental.chat.system.transform": async (input, output) => {{
    const session = input?.sessionID
    if (!session || !Array.isArray(output?.system)) return
    if (!contexts.has(session)) {{
      const payload = {{ hook_event_name: "experimental.chat.system.transform", cwd: directory, parent_session: parentOf(session), input: {{ sessionID: session }} }}
      try {{
        contexts.set(session, JSON.parse(hook("session", payload).stdout).additionalContext)
      }} catch {{
        contexts.set(session, undefined)
      }}
    }}
    if (contexts.get(session)) output.system.push(contexts.get(session))
  }},
  "tool.execute.before": async (input, output) => {{
    const payload = {{ hook_event_name: "tool.execute.before", cwd: directory, tool_name: input.tool, parent_session: parentOf(input.sessionID), input, output }}
    const done = hook("before", payload)
    if (done.status === 0 && !done.stdout) return
    throw new Error((done.stderr || "").trim() || "probity did not answer; refused")
  }},
  "tool.execute.after": async (input, output) => {{
    // Tools of MCP servers answer with a list of parts.
    const shown = {{ args: input.args, output: output?.output ?? output?.content }}
    const payload = {{ hook_event_name: "tool.execute.after", cwd: directory, tool_name: input.tool, parent_session: parentOf(input.sessionID), input, output: shown }}
    const done = hook("after", payload)
    if (done.status !== 0 || !done.stdout) return
    try {{
      const line = JSON.parse(done.stdout).additionalContext
      if (!line || !output) return
      if (Array.isArray(output.content)) output.content.push({{ type: "text", text: line }})
      else output.output = (output.output ?? "") + "\n" + line
    }} catch {{}}
  }},
}})
"#,
        timeout = HOOK_TIMEOUT_SECONDS * 1_000,
    )
}
