//! Reads what an agent sends to its hook. Every agent has its own names; behind this module there is one form.

use serde_json::{Map, Value};

/// The largest payload that is read.
pub const MAX_PAYLOAD_BYTES: usize = 8 * 1024 * 1024;

probity_core::word_enum! {
    /// The agent that calls the hook, and with it the form of payload and answer.
    pub enum AgentDialect {
        Claude = "claude",
        Codex = "codex",
        Gemini = "gemini",
        Copilot = "copilot",
        Qwen = "qwen",
        OpenCode = "opencode",
        Cursor = "cursor",
    }
}

probity_core::word_enum! {
    /// The moment at which the hook is called. It is an argument of the hook, because not every agent sends it, and
    /// because a payload that cannot be read must still be refused where it guards something.
    pub enum HookEvent {
        /// Before a tool runs: the only event that can refuse.
        BeforeTool = "before",
        /// After a tool ran.
        AfterTool = "after",
        /// The agent wants to end its turn.
        Stop = "stop",
        /// A session begins.
        SessionStart = "session",
    }
}

impl HookEvent {
    /// Returns the name that an agent gives the event; `None` if it has no such event.
    pub const fn name_in(self, dialect: AgentDialect) -> Option<&'static str> {
        use AgentDialect::{Claude, Codex, Copilot, Cursor, Gemini, OpenCode, Qwen};
        match (self, dialect) {
            (Self::BeforeTool, Claude | Codex | Qwen) => Some("PreToolUse"),
            (Self::AfterTool, Claude | Codex | Qwen) => Some("PostToolUse"),
            (Self::Stop, Claude | Codex | Qwen) => Some("Stop"),
            (Self::SessionStart, Claude | Codex | Qwen | Gemini) => Some("SessionStart"),
            (Self::BeforeTool, Gemini) => Some("BeforeTool"),
            (Self::AfterTool, Gemini) => Some("AfterTool"),
            (Self::Stop, Gemini) => Some("AfterAgent"),
            (Self::BeforeTool, Copilot | Cursor) => Some("preToolUse"),
            (Self::AfterTool, Copilot | Cursor) => Some("postToolUse"),
            (Self::BeforeTool, OpenCode) => Some("tool.execute.before"),
            (Self::AfterTool, OpenCode) => Some("tool.execute.after"),
            (Self::Stop, Copilot) => Some("agentStop"),
            (Self::SessionStart, Copilot) => Some("sessionStart"),
            (Self::SessionStart, OpenCode) => Some("experimental.chat.system.transform"),
            (Self::Stop, OpenCode | Cursor) | (Self::SessionStart, Cursor) => None,
        }
    }
}

/// A payload in the one form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookPayload {
    /// Empty if the agent sent none.
    pub session: String,
    /// The sub-agent that makes the call.
    pub subagent: Option<String>,
    /// The working directory of the session, absolute; empty if the agent sent none.
    pub cwd: String,
    pub tool: String,
    pub input: Map<String, Value>,
    /// What the tool answered.
    pub response: Option<Value>,
    /// Whether the agent goes on because a hook asked it to.
    pub is_continued_stop: bool,
}

/// Reads a payload.
///
/// # Errors
///
/// Returns why it cannot be read. Before a tool, that refuses the call.
pub fn parse(dialect: AgentDialect, event: HookEvent, bytes: &[u8]) -> Result<HookPayload, String> {
    if bytes.len() > MAX_PAYLOAD_BYTES {
        return Err(format!("the payload is larger than {MAX_PAYLOAD_BYTES} bytes"));
    }
    let value: Value = serde_json::from_slice(bytes).map_err(|_| "the payload is not JSON".to_owned())?;
    let Value::Object(members) = value else { return Err("the payload is not an object".into()) };
    check_event(dialect, event, &members)?;
    let payload = match dialect {
        AgentDialect::Copilot => copilot(&members)?,
        AgentDialect::OpenCode => opencode(&members)?,
        AgentDialect::Cursor => cursor(&members)?,
        _ => common(&members)?,
    };
    if matches!(event, HookEvent::BeforeTool | HookEvent::AfterTool) && payload.tool.is_empty() {
        return Err("the payload names no tool".into());
    }
    Ok(payload)
}

/// Refuses a payload of another event: the installation and the agent disagree.
fn check_event(dialect: AgentDialect, event: HookEvent, members: &Map<String, Value>) -> Result<(), String> {
    let sent = members.get("hook_event_name").or_else(|| members.get("hookEventName"));
    let Some(sent) = sent else {
        // Copilot does not name the event.
        return if dialect == AgentDialect::Copilot {
            Ok(())
        } else {
            Err("the payload names no event".into())
        };
    };
    let sent = sent.as_str().unwrap_or_default();
    let is_cursor_gate = dialect == AgentDialect::Cursor
        && event == HookEvent::BeforeTool
        && matches!(sent, "beforeShellExecution" | "beforeMCPExecution" | "preToolUse");
    if event.name_in(dialect) == Some(sent) || is_cursor_gate {
        Ok(())
    } else {
        Err(format!("the event `{}` is unknown", sent.chars().take(40).collect::<String>()))
    }
}

fn text(members: &Map<String, Value>, name: &str) -> Result<String, String> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("the member `{name}` is not text")),
    }
}

/// Returns the arguments of a tool. Some versions send them as JSON in a text, and Codex sends patches as plain text.
fn arguments(value: Option<&Value>) -> Result<Map<String, Value>, String> {
    match value {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(members)) => Ok(members.clone()),
        Some(Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Object(members)) => Ok(members),
            _ => Ok([("input".to_owned(), Value::String(text.clone()))].into_iter().collect()),
        },
        Some(_) => Err("the arguments of the tool are no object".into()),
    }
}

/// Claude Code, Codex, Qwen Code and Gemini CLI.
fn common(members: &Map<String, Value>) -> Result<HookPayload, String> {
    Ok(HookPayload {
        session: text(members, "session_id")?,
        subagent: Some(text(members, "agent_id")?).filter(|agent| !agent.is_empty()),
        cwd: text(members, "cwd")?,
        tool: text(members, "tool_name")?,
        input: arguments(members.get("tool_input"))?,
        response: members.get("tool_response").or_else(|| members.get("tool_result")).cloned(),
        is_continued_stop: members.get("stop_hook_active") == Some(&Value::Bool(true)),
    })
}

fn copilot(members: &Map<String, Value>) -> Result<HookPayload, String> {
    // A sub-agent has a session of its own and names its parent.
    let parent = text(members, "parentAgentId")?;
    let session = text(members, "sessionId")?;
    let agent = text(members, "agentId")?;
    let is_subagent = !parent.is_empty();
    Ok(HookPayload {
        session: if is_subagent { parent } else { session.clone() },
        subagent: is_subagent.then_some(if agent.is_empty() { session } else { agent }),
        cwd: text(members, "cwd")?,
        tool: text(members, "toolName")?,
        input: arguments(members.get("toolArgs"))?,
        response: members.get("toolResult").cloned(),
        is_continued_stop: members.get("stop_hook_active") == Some(&Value::Bool(true)),
    })
}

/// The form that our own plugin sends: the two arguments of the agent's callback.
fn opencode(members: &Map<String, Value>) -> Result<HookPayload, String> {
    let object = |name: &str| match members.get(name) {
        Some(Value::Object(members)) => members.clone(),
        _ => Map::new(),
    };
    let (input, output) = (object("input"), object("output"));
    let arguments = arguments(output.get("args").or_else(|| input.get("args")))?;
    let tool = text(members, "tool_name")?;
    // A sub-agent has a session of its own; the plugin knows the one that it began in.
    let (session, parent) = (text(&input, "sessionID")?, text(members, "parent_session")?);
    let is_subagent = !parent.is_empty() && parent != session;
    Ok(HookPayload {
        session: if is_subagent { parent } else { session.clone() },
        subagent: is_subagent.then_some(session),
        cwd: text(members, "cwd")?,
        tool: if tool.is_empty() { text(&input, "tool")? } else { tool },
        input: arguments,
        response: output.get("output").cloned(),
        is_continued_stop: false,
    })
}

fn cursor(members: &Map<String, Value>) -> Result<HookPayload, String> {
    let mut payload = common(members)?;
    if payload.session.is_empty() {
        payload.session = text(members, "conversation_id")?;
    }
    if payload.cwd.is_empty()
        && let Some(root) =
            members.get("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str)
    {
        root.clone_into(&mut payload.cwd);
    }
    // Before a shell command the payload has the command itself.
    if let Some(Value::String(command)) = members.get("command")
        && payload.tool.is_empty()
    {
        payload.tool = "Shell".into();
        payload.input.insert("command".into(), Value::String(command.clone()));
    }
    Ok(payload)
}
