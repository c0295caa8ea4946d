//! How each agent is started against the scripted model, without permission prompts: what is proven is the hook, not the
//! agent's own questions.

use probity_api::govern::setup::CodingAgent;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::path::Path;

/// A prompt that every agent accepts; the model does not read it.
const PROMPT: &str = "Follow the script.";

pub(crate) struct AgentLaunch {
    pub(crate) argv: Vec<OsString>,
    pub(crate) variables: Vec<(&'static str, String)>,
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
pub(crate) fn launch(
    agent: CodingAgent,
    program: &Path,
    repository: &str,
    url: &str,
    server: &str,
) -> Option<AgentLaunch> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let (words, variables) = match agent {
        CodingAgent::Claude => (
            words(&["-p", PROMPT, "--output-format", "json", "--dangerously-skip-permissions"]),
            vec![
                ("ANTHROPIC_BASE_URL", url.to_owned()),
                ("ANTHROPIC_API_KEY", "stub".into()),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
                ("DISABLE_AUTOUPDATER", "1".into()),
                ("IS_SANDBOX", "1".into()),
            ],
        ),
        CodingAgent::Codex => {
            let provider = format!(
                "model_providers.stub={{name=\"stub\",base_url=\"{url}/v1\",wire_api=\"responses\",env_key=\"PROBITY_STUB_KEY\"}}"
            );
            let trust = format!("projects.\"{repository}\".trust_level=\"trusted\"");
            let mut words = words(&["exec", "--json", "--skip-git-repo-check"]);
            words.extend(
                ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"]
                    .map(Into::into),
            );
            for setting in ["model=\"gpt-5.5\"", "model_provider=\"stub\"", &provider, &trust] {
                words.extend(["-c".to_owned(), setting.to_owned()]);
            }
            words.push(PROMPT.into());
            (words, vec![("PROBITY_STUB_KEY", "stub".into())])
        }
        CodingAgent::Gemini => (
            words(&["-p", PROMPT, "--output-format", "json", "--yolo"]),
            vec![
                ("GEMINI_API_KEY", "stub".into()),
                ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
            ],
        ),
        CodingAgent::Copilot => {
            let config = format!(
                "{{\"mcpServers\":{{\"probity\":{{\"type\":\"local\",\"command\":{},\"args\":[\"mcp\"],\"tools\":[\"*\"]}}}}}}",
                Value::from(server)
            );
            let mut words = words(&["-p", PROMPT, "--no-color", "--trust-folder", "--allow-all"]);
            words.extend(["--additional-mcp-config".to_owned(), config]);
            let variables = vec![
                ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
                ("COPILOT_PROVIDER_API_KEY", "stub".into()),
                ("COPILOT_PROVIDER_TYPE", "openai".into()),
                ("COPILOT_MODEL", "stub".into()),
                ("COPILOT_OFFLINE", "true".into()),
                ("COPILOT_AUTO_UPDATE", "false".into()),
            ];
            (words, variables)
        }
        CodingAgent::Qwen => (
            words(&["-p", PROMPT, "--output-format", "json", "--yolo"]),
            vec![
                ("OPENAI_API_KEY", "stub".into()),
                ("OPENAI_BASE_URL", format!("{url}/v1")),
                ("OPENAI_MODEL", "stub".into()),
            ],
        ),
        CodingAgent::OpenCode => (
            words(&["run", PROMPT]),
            vec![
                ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1".into()),
                ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1".into()),
                ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1".into()),
            ],
        ),
        CodingAgent::Cursor => return None,
    };
    let argv =
        std::iter::once(program.as_os_str().to_owned()).chain(words.into_iter().map(Into::into)).collect();
    Some(AgentLaunch { argv, variables })
}

/// Returns what the project settings of the throw-away repository need besides Probity, so that the agent takes the
/// scripted model; `None` if nothing.
pub(crate) fn project_settings(agent: CodingAgent, url: &str) -> Option<Map<String, Value>> {
    let text = match agent {
        CodingAgent::Gemini => r#"{"security":{"auth":{"selectedType":"gemini-api-key"},"folderTrust":{"enabled":false}},"telemetry":{"enabled":false}}"#.to_owned(),
        CodingAgent::Qwen => r#"{"security":{"auth":{"selectedType":"openai"},"folderTrust":{"enabled":false}},"telemetry":{"enabled":false}}"#.to_owned(),
        CodingAgent::OpenCode => format!(
            r#"{{"model":"stub/stub","small_model":"stub/stub","autoupdate":false,"share":"disabled","provider":{{"stub":{{"npm":"@ai-sdk/openai-compatible","name":"stub","options":{{"baseURL":"{url}/v1","apiKey":"stub"}},"models":{{"stub":{{"name":"stub","tool_call":true,"limit":{{"context":100000,"output":8000}}}}}}}}}}}}"#
        ),
        _ => return None,
    };
    serde_json::from_str(&text).ok()
}
