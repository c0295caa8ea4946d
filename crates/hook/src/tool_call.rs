//! Finds out what a tool does: the paths of an editing tool, the command line of a shell tool, the edits of other MCP
//! servers.

use crate::payload::{AgentDialect, HookPayload};
use probity_guard::patch_paths;
use serde_json::{Map, Value};

/// What a tool call does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolAction {
    /// Writes nothing.
    Harmless,
    /// Reads these files.
    Reads(Vec<String>),
    /// Writes these paths, relative to the working directory or absolute.
    Writes(Vec<String>),
    Shell {
        command: String,
        directory: Option<String>,
    },
    /// Calls a tool of Probity.
    Probity(String),
    /// Cannot be understood, and may write.
    Unknown(String),
}

const SHELL_TOOLS: [&str; 14] = [
    "Bash",
    "bash",
    "run_shell_command",
    "shell",
    "exec_command",
    "shell_command",
    "local_shell",
    "Shell",
    "unified_exec",
    "execute_command",
    "run_command",
    "PowerShell",
    "powershell",
    "terminal",
];

const EDIT_TOOLS: [&str; 26] = [
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "write_file",
    "replace",
    "edit",
    "write",
    "create",
    "create_file",
    "edit_file",
    "str_replace",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "insert",
    "delete_file",
    "Delete",
    "multiedit",
    "write_to_file",
    "replace_in_file",
    "delete",
    "move_file",
    "rename_file",
    "StrReplace",
    "EditNotebook",
    "smart_edit",
];

const PATCH_TOOLS: [&str; 4] = ["apply_patch", "patch", "ApplyPatch", "applypatch"];

const READ_TOOLS: [&str; 8] =
    ["Read", "read_file", "read", "view", "read_many_files", "NotebookRead", "ReadFile", "cat"];

/// Members that name files.
const PATH_MEMBERS: [&str; 22] = [
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "notebook_path",
    "filepath",
    "file",
    "filename",
    "fileName",
    "relative_path",
    "relativePath",
    "target_file",
    "targetFile",
    "destination",
    "new_path",
    "newPath",
    "old_path",
    "source",
    "target",
    "uri",
    "to",
    "from",
];

/// Members that list files, or objects that name them.
const PATH_LISTS: [&str; 6] = ["paths", "files", "file_paths", "edits", "changes", "operations"];

/// Verbs of tools that change something.
const WRITE_VERBS: [&str; 24] = [
    "write",
    "edit",
    "create",
    "delete",
    "remove",
    "move",
    "rename",
    "patch",
    "replace",
    "insert",
    "append",
    "save",
    "apply",
    "update",
    "put",
    "copy",
    "mkdir",
    "touch",
    "modify",
    "refactor",
    "set",
    "add",
    "overwrite",
    "generate",
];

/// Members that have a new content: with a path beside it, the tool writes.
const CONTENT_MEMBERS: [&str; 12] = [
    "content",
    "contents",
    "new_string",
    "newString",
    "new_str",
    "file_text",
    "text",
    "new_source",
    "newText",
    "diff",
    "patch",
    "old_string",
];

/// Classifies a call.
pub fn tool_action(dialect: AgentDialect, payload: &HookPayload) -> ToolAction {
    let tool = payload.tool.as_str();
    let input = &payload.input;
    if let Some(name) = probity_tool(tool) {
        return ToolAction::Probity(name.to_owned());
    }
    let is_mcp = is_mcp_tool(dialect, tool);
    if SHELL_TOOLS.contains(&tool) {
        return shell(input)
            .unwrap_or_else(|| ToolAction::Unknown(format!("the tool {tool} names no command")));
    }
    if PATCH_TOOLS.contains(&tool) {
        return patch(input);
    }
    if EDIT_TOOLS.contains(&tool) {
        let paths = named_paths(input);
        return if paths.is_empty() {
            ToolAction::Unknown(format!("the tool {tool} names no path"))
        } else if tool.starts_with("str_replace")
            && input.get("command").and_then(Value::as_str) == Some("view")
        {
            ToolAction::Reads(paths)
        } else {
            ToolAction::Writes(paths)
        };
    }
    if READ_TOOLS.contains(&tool) {
        return ToolAction::Reads(named_paths(input));
    }
    by_arguments(tool, input, is_mcp)
}

/// Classifies a tool that is not known by its name.
fn by_arguments(tool: &str, input: &Map<String, Value>, is_mcp: bool) -> ToolAction {
    let own_name = tool.rsplit("__").next().unwrap_or(tool).to_lowercase();
    let words: Vec<&str> = own_name.split(|it: char| !it.is_ascii_alphanumeric()).collect();
    let has_write_verb = words.iter().any(|word| WRITE_VERBS.contains(word))
        || WRITE_VERBS.iter().take(10).any(|verb| own_name.starts_with(verb) || own_name.ends_with(verb));
    let runs_commands = words.iter().any(|word| {
        matches!(*word, "shell" | "bash" | "exec" | "execute" | "terminal" | "command" | "run" | "process")
    });
    let is_patch =
        input.values().any(|value| value.as_str().is_some_and(|text| text.contains("*** Begin Patch")));
    if is_patch {
        return patch(input);
    }
    if runs_commands && let Some(shell) = shell(input) {
        return shell;
    }
    let paths = named_paths(input);
    let has_content = CONTENT_MEMBERS.iter().any(|name| input.contains_key(*name));
    if !paths.is_empty() && (has_write_verb || has_content && !is_mcp) {
        return ToolAction::Writes(paths);
    }
    ToolAction::Harmless
}

/// Returns the name of a tool of Probity's own server. Agents join server and tool in three ways.
fn probity_tool(tool: &str) -> Option<&str> {
    ["mcp__probity__", "mcp_probity_", "probity-", "probity_", "probity__", "MCP:probity:"]
        .iter()
        .find_map(|prefix| tool.strip_prefix(prefix))
        .filter(|name| PROBITY_TOOLS.contains(name))
}

/// The tools of Probity's server. A tool of another server that only begins like one of them is not taken for it.
const PROBITY_TOOLS: [&str; 14] = [
    "analyze_repository",
    "start_controlled_change",
    "finish_controlled_change",
    "manage_change_intent",
    "check_patch_contract",
    "compare_runs",
    "validate_review_claims",
    "create_review_receipt",
    "get_blast_radius",
    "ledger_propose",
    "ledger_query",
    "ledger_export",
    "analyze_merge",
    "reconcile_merge",
];

fn is_mcp_tool(dialect: AgentDialect, tool: &str) -> bool {
    match dialect {
        AgentDialect::Gemini | AgentDialect::Qwen => tool.starts_with("mcp_"),
        AgentDialect::Copilot => tool.contains('-'),
        AgentDialect::OpenCode => tool.contains('_'),
        AgentDialect::Claude | AgentDialect::Codex => tool.starts_with("mcp__"),
        AgentDialect::Cursor => tool.starts_with("MCP"),
    }
}

fn shell(input: &Map<String, Value>) -> Option<ToolAction> {
    let value = ["command", "cmd", "script", "input"].iter().find_map(|name| input.get(*name))?;
    let command = match value {
        Value::String(text) => text.clone(),
        // `["bash", "-lc", "…"]`: quoted, so that the analysis sees the same words.
        Value::Array(words) => {
            let words: Option<Vec<String>> = words.iter().map(|word| word.as_str().map(quoted)).collect();
            words?.join(" ")
        }
        _ => return None,
    };
    let directory = ["workdir", "cwd", "dir_path", "directory", "working_directory"]
        .iter()
        .find_map(|name| input.get(*name).and_then(Value::as_str))
        .filter(|text| !text.is_empty())
        .map(str::to_owned);
    Some(ToolAction::Shell { command, directory })
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn patch(input: &Map<String, Value>) -> ToolAction {
    let texts = ["command", "input", "patch", "patchText", "patch_text", "diff"];
    let text = texts.iter().find_map(|name| input.get(*name).and_then(Value::as_str));
    let text = text.or_else(|| input.values().find_map(Value::as_str));
    match text.map(patch_paths) {
        Some(Ok(paths)) => ToolAction::Writes(paths),
        Some(Err(why)) => ToolAction::Unknown(why),
        None => ToolAction::Unknown("the patch tool has no patch".into()),
    }
}

/// Returns every path that the arguments name.
fn named_paths(input: &Map<String, Value>) -> Vec<String> {
    let mut paths = Vec::new();
    collect_paths(input, 0, &mut paths);
    paths.dedup();
    paths
}

fn collect_paths(input: &Map<String, Value>, depth: usize, paths: &mut Vec<String>) {
    for name in PATH_MEMBERS {
        if let Some(Value::String(path)) = input.get(name)
            && !path.is_empty()
        {
            paths.push(path.strip_prefix("file://").unwrap_or(path).to_owned());
        }
    }
    for list in PATH_LISTS.iter().filter_map(|name| input.get(*name)) {
        let Value::Array(items) = list else { continue };
        for item in items {
            match item {
                Value::String(path) => paths.push(path.clone()),
                Value::Object(members) if depth < 3 => collect_paths(members, depth + 1, paths),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(dialect: AgentDialect, tool: &str, input: &str) -> ToolAction {
        let input = serde_json::from_str(input).expect("JSON");
        tool_action(dialect, &HookPayload { tool: tool.into(), input, ..HookPayload::default() })
    }

    fn writes(paths: &[&str]) -> ToolAction {
        ToolAction::Writes(paths.iter().map(|path| (*path).to_owned()).collect())
    }

    #[test]
    fn edits_through_other_servers_are_writes() {
        use AgentDialect::{Claude, Copilot, Gemini};
        let write = r#"{"path":"/repo/a","content":"x"}"#;
        assert_eq!(action(Claude, "mcp__filesystem__write_file", write), writes(&["/repo/a"]));
        assert_eq!(action(Gemini, "mcp_fs_edit_file", r#"{"path":"a","edits":[]}"#), writes(&["a"]));
        let moved = r#"{"source":"a","destination":"b"}"#;
        assert_eq!(action(Copilot, "fs-move_file", moved), writes(&["b", "a"]));
        assert_eq!(action(Claude, "mcp__fs__read_text_file", r#"{"path":"a"}"#), ToolAction::Harmless);
        let shell = ToolAction::Shell { command: "rm a".into(), directory: None };
        assert_eq!(action(Claude, "mcp__term__run_command", r#"{"command":"rm a"}"#), shell);
    }

    #[test]
    fn our_own_tools_are_known_by_server_and_name() {
        use AgentDialect::{Claude, Copilot, Gemini};
        let start = ToolAction::Probity("start_controlled_change".into());
        assert_eq!(action(Claude, "mcp__probity__start_controlled_change", "{}"), start);
        assert_eq!(action(Gemini, "mcp_probity_start_controlled_change", "{}"), start);
        assert_eq!(action(Copilot, "probity-start_controlled_change", "{}"), start);
        let foreign = action(Claude, "mcp__probity__write_file", r#"{"path":"a","content":""}"#);
        assert_eq!(foreign, writes(&["a"]));
    }

    #[test]
    fn a_list_of_words_is_the_same_command() {
        let input = r#"{"command":["bash","-lc","echo 'x' > a.txt"]}"#;
        let command = r"'bash' '-lc' 'echo '\''x'\'' > a.txt'".to_owned();
        let expected = ToolAction::Shell { command, directory: None };
        assert_eq!(action(AgentDialect::Codex, "shell", input), expected);
    }

    #[test]
    fn an_editing_tool_without_a_path_is_not_understood() {
        for (tool, input) in [("Write", "{}"), ("apply_patch", r#"{"command":"no patch"}"#), ("Bash", "{}")] {
            assert!(matches!(action(AgentDialect::Claude, tool, input), ToolAction::Unknown(_)), "{tool}");
        }
    }
}
