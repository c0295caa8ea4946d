//! How each agent is started against the scripted model.

use probity_api::govern::setup::CodingAgent;
use probity_changes::agents::{AgentPermissions, task_command};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::Path;

/// A prompt that every agent accepts; the model does not read it.
const PROMPT: &str = "Follow the script.";

pub(crate) struct AgentLaunch {
    pub(crate) argv: Vec<OsString>,
    pub(crate) variables: Vec<(&'static str, String)>,
}

/// What one start of an agent needs.
pub(crate) struct AgentInvocation<'a> {
    pub(crate) program: &'a Path,
    pub(crate) repository: &'a str,
    /// The address of the model.
    pub(crate) url: &'a str,
    /// The main program, which serves MCP.
    pub(crate) server: &'a str,
    pub(crate) permissions: AgentPermissions,
}

/// Returns the file whose content the script tries to replace, relative to the repository.
pub(crate) const fn settings_file(agent: CodingAgent) -> &'static str {
    match agent {
        CodingAgent::Claude => ".claude/settings.json",
        CodingAgent::Codex => ".codex/hooks.json",
        CodingAgent::Copilot => ".github/hooks/probity.json",
        CodingAgent::Cursor => ".cursor/hooks.json",
        CodingAgent::Gemini => ".gemini/settings.json",
        CodingAgent::OpenCode => "opencode.json",
        CodingAgent::Qwen => ".qwen/settings.json",
    }
}

/// Returns the command line of an agent; `None` if Probity cannot drive it.
pub(crate) fn launch(agent: CodingAgent, start: &AgentInvocation<'_>) -> Option<AgentLaunch> {
    let mut argv = task_command(agent, start.program, PROMPT, start.permissions)?;
    argv.extend(model_words(agent, start).into_iter().map(Into::into));
    let mut variables = model_variables(agent, start.url);
    // As root, Claude Code wants to know that something confines it.
    if agent == CodingAgent::Claude && start.permissions == AgentPermissions::Bypassed {
        variables.push(("IS_SANDBOX", "1".into()));
    }
    Some(AgentLaunch { argv, variables })
}

/// Returns the arguments that lead an agent to the scripted model, and make it trust the throw-away repository.
fn model_words(agent: CodingAgent, start: &AgentInvocation<'_>) -> Vec<String> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    match agent {
        CodingAgent::Claude if start.permissions == AgentPermissions::AgentDefault => {
            // Permissions of a project count once a person trusts the directory; these stand for that.
            let settings = r#"{"permissions":{"allow":["mcp__probity"]}}"#;
            words(&["--output-format", "json", "--settings", settings])
        }
        CodingAgent::Claude | CodingAgent::Gemini | CodingAgent::Qwen => words(&["--output-format", "json"]),
        CodingAgent::Codex => {
            let provider = format!(
                "model_providers.stub={{name=\"stub\",base_url=\"{}/v1\",wire_api=\"responses\",env_key=\"PROBITY_STUB_KEY\"}}",
                start.url
            );
            // As a table: a dotted key would end at the first dot of the path.
            let trust = format!("projects={{\"{}\"={{trust_level=\"trusted\"}}}}", start.repository);
            let mut given = words(&["--json"]);
            if start.permissions != AgentPermissions::Bypassed {
                given.push("--dangerously-bypass-hook-trust".into());
            }
            for setting in ["model=\"gpt-5.5\"", "model_provider=\"stub\"", &provider, &trust] {
                given.extend(["-c".to_owned(), setting.to_owned()]);
            }
            given
        }
        CodingAgent::Copilot => {
            let config = format!(
                "{{\"mcpServers\":{{\"probity\":{{\"type\":\"local\",\"command\":{},\"args\":[\"mcp\"],\"tools\":[\"*\"]}}}}}}",
                Value::from(start.server)
            );
            let mut given = words(&["--no-color", "--additional-mcp-config"]);
            given.push(config);
            if start.permissions != AgentPermissions::Bypassed {
                given.push("--trust-folder".into());
            }
            given
        }
        CodingAgent::OpenCode | CodingAgent::Cursor => Vec::new(),
    }
}

/// Returns the settings of Codex that lead it to a model at `url` and make it trust a repository.
pub(crate) fn codex_settings(url: &str, repository: &str) -> String {
    format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"stub\"\n\n[model_providers.stub]\nname = \"stub\"\nbase_url = \"{url}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"PROBITY_STUB_KEY\"\n\n[projects.\"{repository}\"]\ntrust_level = \"trusted\"\n"
    )
}

/// Returns the variables that lead an agent to a model at `url`.
pub fn model_variables(agent: CodingAgent, url: &str) -> Vec<(&'static str, String)> {
    match agent {
        CodingAgent::Claude => vec![
            ("ANTHROPIC_BASE_URL", url.to_owned()),
            ("ANTHROPIC_API_KEY", "stub".into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
        ],
        CodingAgent::Codex => vec![("PROBITY_STUB_KEY", "stub".into())],
        CodingAgent::Gemini => vec![
            ("GEMINI_API_KEY", "stub".into()),
            ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
        ],
        CodingAgent::Copilot => vec![
            ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
            ("COPILOT_PROVIDER_API_KEY", "stub".into()),
            ("COPILOT_PROVIDER_TYPE", "openai".into()),
            ("COPILOT_MODEL", "stub".into()),
            ("COPILOT_OFFLINE", "true".into()),
            ("COPILOT_AUTO_UPDATE", "false".into()),
        ],
        CodingAgent::Qwen => vec![
            ("OPENAI_API_KEY", "stub".into()),
            ("OPENAI_BASE_URL", format!("{url}/v1")),
            ("OPENAI_MODEL", "stub".into()),
        ],
        CodingAgent::OpenCode => vec![
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".into()),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".into()),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".into()),
        ],
        CodingAgent::Cursor => Vec::new(),
    }
}

/// Returns what the project settings of the throw-away repository need besides Probity, so that the agent takes the
/// scripted model; `None` if nothing.
pub(crate) fn project_settings(agent: CodingAgent, url: &str) -> Option<Map<String, Value>> {
    let text = match agent {
        CodingAgent::Gemini => r#"{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"telemetry":{"enabled":false}}"#.to_owned(),
        // Without a version Qwen Code rewrites the file at its first start.
        CodingAgent::Qwen => r#"{"$version":4,"security":{"auth":{"selectedType":"openai"},"folderTrust":{"enabled":false}},"telemetry":{"enabled":false}}"#.to_owned(),
        CodingAgent::OpenCode => format!(
            r#"{{"model":"stub/stub","small_model":"stub/stub","autoupdate":false,"share":"disabled","provider":{{"stub":{{"npm":"@ai-sdk/openai-compatible","name":"stub","options":{{"baseURL":"{url}/v1","apiKey":"stub"}},"models":{{"stub":{{"name":"stub","tool_call":true,"limit":{{"context":100000,"output":8000}}}}}}}}}}}}"#
        ),
        _ => return None,
    };
    serde_json::from_str(&text).ok()
}
