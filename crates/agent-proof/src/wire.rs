//! The four wire formats in which agents talk to their models: reads a request, writes a turn.

use crate::script::ScriptStep;
use serde_json::{Map, Value};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelApi {
    Messages,
    Responses,
    ChatCompletions,
    Gemini,
}

impl ModelApi {
    /// Returns the format of a request by its path, and whether the path asks for a stream.
    pub(crate) fn of_path(path: &str) -> Option<(Self, bool)> {
        let path = path.split('?').next().unwrap_or_default();
        if path.ends_with("/messages") {
            Some((Self::Messages, false))
        } else if path.ends_with("/responses") {
            Some((Self::Responses, false))
        } else if path.ends_with("/chat/completions") {
            Some((Self::ChatCompletions, false))
        } else if path.ends_with("enerateContent") {
            Some((Self::Gemini, path.contains(":stream")))
        } else {
            None
        }
    }
}

/// A tool that the agent offers to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OfferedTool {
    name: String,
    /// Codex groups the tools of a server.
    namespace: Option<String>,
    /// Takes a text instead of arguments.
    is_free_text: bool,
    parameters: Vec<String>,
}

/// What matters in a request.
#[derive(Debug)]
pub(crate) struct ModelRequest {
    pub(crate) tools: Vec<OfferedTool>,
    /// The answers of tools so far, in order.
    pub(crate) results: Vec<String>,
    pub(crate) is_stream: bool,
    /// A side question of the agent that expects JSON.
    wants_json: bool,
}

/// A call of a tool, as the model makes it.
#[derive(Debug, Clone)]
pub(crate) struct ModelCall {
    tool: OfferedTool,
    arguments: Map<String, Value>,
    /// For a tool that takes a text.
    text: String,
}

fn items<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn text_member<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns all text inside a value.
fn flat_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(flat_text).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => members.values().map(flat_text).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

impl ModelRequest {
    pub(crate) fn read(api: ModelApi, is_stream_path: bool, value: &Value) -> Self {
        let wants_json = value
            .get("generationConfig")
            .is_some_and(|config| text_member(config, "responseMimeType") == "application/json");
        Self {
            tools: offered_tools(api, value),
            results: tool_results(api, value),
            is_stream: is_stream_path || value.get("stream") == Some(&Value::Bool(true)),
            wants_json,
        }
    }
}

fn tool_results(api: ModelApi, value: &Value) -> Vec<String> {
    match api {
        ModelApi::Messages => items(value, "messages")
            .iter()
            .flat_map(|message| items(message, "content"))
            .filter(|block| text_member(block, "type") == "tool_result")
            .map(|block| flat_text(block.get("content").unwrap_or(&Value::Null)))
            .collect(),
        ModelApi::Responses => items(value, "input")
            .iter()
            .filter(|item| text_member(item, "type").ends_with("_call_output"))
            .map(|item| flat_text(item.get("output").unwrap_or(&Value::Null)))
            .collect(),
        ModelApi::ChatCompletions => items(value, "messages")
            .iter()
            .filter(|message| text_member(message, "role") == "tool")
            .map(|message| flat_text(message.get("content").unwrap_or(&Value::Null)))
            .collect(),
        ModelApi::Gemini => items(value, "contents")
            .iter()
            .flat_map(|content| items(content, "parts"))
            .filter_map(|part| part.get("functionResponse"))
            .map(|response| flat_text(response.get("response").unwrap_or(&Value::Null)))
            .collect(),
    }
}

fn parameters(schema: Option<&Value>) -> Vec<String> {
    let properties = schema.and_then(|schema| schema.get("properties")).and_then(Value::as_object);
    properties.map(|properties| properties.keys().cloned().collect()).unwrap_or_default()
}

fn offered_tools(api: ModelApi, value: &Value) -> Vec<OfferedTool> {
    let tool = |name: &str, namespace: Option<&str>, kind: &str, schema: Option<&Value>| OfferedTool {
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        is_free_text: kind == "custom",
        parameters: parameters(schema),
    };
    let mut tools = Vec::new();
    let later = items(value, "input")
        .iter()
        .filter(|item| text_member(item, "type") == "additional_tools")
        .flat_map(|item| items(item, "tools"));
    for offered in items(value, "tools").iter().chain(later) {
        match api {
            ModelApi::Messages => {
                tools.push(tool(text_member(offered, "name"), None, "function", offered.get("input_schema")));
            }
            ModelApi::Responses if text_member(offered, "type") == "namespace" => {
                let namespace = text_member(offered, "name");
                tools.extend(items(offered, "tools").iter().map(|inner| {
                    tool(
                        text_member(inner, "name"),
                        Some(namespace),
                        text_member(inner, "type"),
                        inner.get("parameters"),
                    )
                }));
            }
            ModelApi::Responses => {
                let kind = text_member(offered, "type");
                let name = Some(text_member(offered, "name")).filter(|name| !name.is_empty()).unwrap_or(kind);
                tools.push(tool(name, None, kind, offered.get("parameters")));
            }
            ModelApi::ChatCompletions => {
                let function = offered.get("function").unwrap_or(&Value::Null);
                tools.push(tool(text_member(function, "name"), None, "function", function.get("parameters")));
            }
            ModelApi::Gemini => tools.extend(items(offered, "functionDeclarations").iter().map(|function| {
                let schema = function.get("parametersJsonSchema").or_else(|| function.get("parameters"));
                tool(text_member(function, "name"), None, "function", schema)
            })),
        }
    }
    tools
}

/// Turns a step into a call of a tool that the agent offers.
pub(crate) fn concrete_call(api: ModelApi, tools: &[OfferedTool], step: &ScriptStep) -> ModelCall {
    let find =
        |names: &[&str]| names.iter().find_map(|name| tools.iter().find(|tool| tool.name == *name)).cloned();
    let first_of = |tool: &OfferedTool, names: &[&'static str]| {
        names.iter().copied().find(|name| tool.parameters.iter().any(|it| it == name)).unwrap_or(names[0])
    };
    let unknown = |name: &str, namespace: Option<&str>| OfferedTool {
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        is_free_text: false,
        parameters: Vec::new(),
    };
    match step {
        ScriptStep::Write { path, content } => {
            let patch = format!(
                "*** Begin Patch\n*** Add File: {path}\n+{}\n*** End Patch\n",
                content.trim_end().replace('\n', "\n+")
            );
            let Some(tool) = find(&["Write", "write_file", "write", "create", "create_file"]) else {
                let tool = find(&["apply_patch"]).unwrap_or_else(|| unknown("apply_patch", None));
                let arguments = [("input".to_owned(), Value::from(patch.as_str()))].into_iter().collect();
                return ModelCall { tool, arguments, text: patch };
            };
            let path_name = first_of(&tool, &["file_path", "filePath", "path", "absolute_path"]);
            let content_name = first_of(&tool, &["content", "file_text", "contents", "text"]);
            let arguments = [(path_name, path.as_str()), (content_name, content)];
            let arguments =
                arguments.map(|(name, value)| (name.to_owned(), Value::from(value))).into_iter().collect();
            ModelCall { tool, arguments, text: String::new() }
        }
        ScriptStep::Shell { command } => {
            let names = ["Bash", "run_shell_command", "bash", "exec_command", "shell_command", "shell"];
            let tool = find(&names).unwrap_or_else(|| unknown("Bash", None));
            let name = first_of(&tool, &["command", "cmd"]);
            let mut arguments: Map<String, Value> =
                [(name.to_owned(), Value::from(command.as_str()))].into_iter().collect();
            if tool.parameters.iter().any(|it| it == "description") {
                arguments.insert("description".into(), "scripted".into());
            }
            ModelCall { tool, arguments, text: String::new() }
        }
        ScriptStep::Tool { name, arguments } => {
            let tool = tools.iter().find(|tool| tool.name.ends_with(name)).cloned();
            // An agent may offer the tools of a server only after a search, and still takes a call by name.
            let tool = tool.unwrap_or_else(|| match api {
                ModelApi::Responses => unknown(name, Some("mcp__probity")),
                _ => unknown(&format!("mcp__probity__{name}"), None),
            });
            ModelCall { tool, arguments: arguments.clone(), text: String::new() }
        }
    }
}

fn json_text(text: &str) -> String {
    Value::from(text).to_string()
}

/// What the model says.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ModelTurn<'a> {
    Call(&'a ModelCall),
    /// The last words.
    Words(&'a str),
}

impl<'a> ModelTurn<'a> {
    /// Returns the call, and the words as JSON.
    fn parts(self) -> (Option<&'a ModelCall>, String) {
        match self {
            Self::Call(call) => (Some(call), json_text("")),
            Self::Words(words) => (None, json_text(words)),
        }
    }
}

/// Renders a turn for an agent.
pub(crate) fn render_turn(
    api: ModelApi,
    request: &ModelRequest,
    index: usize,
    turn: ModelTurn<'_>,
) -> String {
    match api {
        ModelApi::Messages => messages(request, index, turn),
        ModelApi::Responses => responses(request, index, turn),
        ModelApi::ChatCompletions => chat(request, index, turn),
        ModelApi::Gemini => gemini(request, index, turn),
    }
}

/// Renders server-sent events with their names.
fn events(events: &[(&str, String)]) -> String {
    let one = |(name, data): &(&str, String)| {
        if name.is_empty() { format!("data: {data}\n\n") } else { format!("event: {name}\ndata: {data}\n\n") }
    };
    events.iter().map(one).collect()
}

fn arguments_json(call: &ModelCall) -> String {
    Value::Object(call.arguments.clone()).to_string()
}

fn messages(request: &ModelRequest, index: usize, turn: ModelTurn<'_>) -> String {
    let (call, words) = turn.parts();
    let usage = r#"{"input_tokens":10,"output_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}"#;
    let stop = if call.is_some() { "tool_use" } else { "end_turn" };
    let head = format!(r#""id":"msg_{index}","type":"message","role":"assistant","model":"stub""#);
    let block = |input: &str| match call {
        Some(call) => format!(
            r#"{{"type":"tool_use","id":"toolu_stub_{index}","name":{},"input":{input}}}"#,
            json_text(&call.tool.name)
        ),
        None => r#"{"type":"text","text":""}"#.to_owned(),
    };
    if !request.is_stream {
        let content = match call {
            Some(call) => block(&arguments_json(call)),
            None => format!(r#"{{"type":"text","text":{words}}}"#),
        };
        return format!(
            r#"{{{head},"content":[{content}],"stop_reason":"{stop}","stop_sequence":null,"usage":{usage}}}"#
        );
    }
    let delta = match call {
        Some(call) => {
            format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, json_text(&arguments_json(call)))
        }
        None => format!(r#"{{"type":"text_delta","text":{words}}}"#),
    };
    events(&[
        (
            "message_start",
            format!(
                r#"{{"type":"message_start","message":{{{head},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{usage}}}}}"#
            ),
        ),
        (
            "content_block_start",
            format!(r#"{{"type":"content_block_start","index":0,"content_block":{}}}"#, block("{}")),
        ),
        ("content_block_delta", format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#)),
        ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#.to_owned()),
        (
            "message_delta",
            format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":"{stop}","stop_sequence":null}},"usage":{{"output_tokens":10}}}}"#
            ),
        ),
        ("message_stop", r#"{"type":"message_stop"}"#.to_owned()),
    ])
}

fn responses(request: &ModelRequest, index: usize, turn: ModelTurn<'_>) -> String {
    let (call, words) = turn.parts();
    let item = match call {
        Some(call) => {
            let name = json_text(&call.tool.name);
            let namespace = match call.tool.namespace.as_deref() {
                Some(namespace) if namespace != "functions" => {
                    format!(r#","namespace":{}"#, json_text(namespace))
                }
                _ => String::new(),
            };
            if call.tool.is_free_text {
                format!(
                    r#"{{"type":"custom_tool_call","id":"ctc_{index}","call_id":"call_stub_{index}","name":{name},"status":"completed","input":{}{namespace}}}"#,
                    json_text(&call.text)
                )
            } else {
                format!(
                    r#"{{"type":"function_call","id":"fc_{index}","call_id":"call_stub_{index}","name":{name},"status":"completed","arguments":{}{namespace}}}"#,
                    json_text(&arguments_json(call))
                )
            }
        }
        None => format!(
            r#"{{"type":"message","id":"msg_{index}","role":"assistant","status":"completed","content":[{{"type":"output_text","text":{words},"annotations":[]}}]}}"#
        ),
    };
    let usage = r#"{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":10,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":20}"#;
    let done = format!(
        r#"{{"id":"resp_{index}","object":"response","status":"completed","model":"stub","output":[{item}],"usage":{usage}}}"#
    );
    if !request.is_stream {
        return done;
    }
    let created = format!(
        r#"{{"type":"response.created","response":{{"id":"resp_{index}","status":"in_progress","output":[]}}}}"#
    );
    events(&[
        ("response.created", created),
        (
            "response.output_item.added",
            format!(r#"{{"type":"response.output_item.added","output_index":0,"item":{item}}}"#),
        ),
        (
            "response.output_item.done",
            format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
        ),
        ("response.completed", format!(r#"{{"type":"response.completed","response":{done}}}"#)),
    ])
}

fn chat(request: &ModelRequest, index: usize, turn: ModelTurn<'_>) -> String {
    let (call, words) = turn.parts();
    let finish = if call.is_some() { "tool_calls" } else { "stop" };
    let calls = call.map_or_else(String::new, |call| {
        format!(
            r#","tool_calls":[{{"index":0,"id":"call_stub_{index}","type":"function","function":{{"name":{},"arguments":{}}}}}]"#,
            json_text(&call.tool.name),
            json_text(&arguments_json(call))
        )
    });
    let content = if call.is_some() { r#""""# } else { words.as_str() };
    let message = format!(r#"{{"role":"assistant","content":{content}{calls}}}"#);
    let usage = r#"{"prompt_tokens":10,"completion_tokens":10,"total_tokens":20}"#;
    let head = format!(r#""id":"chatcmpl-{index}","created":1,"model":"stub""#);
    if !request.is_stream {
        return format!(
            r#"{{{head},"object":"chat.completion","usage":{usage},"choices":[{{"index":0,"message":{message},"finish_reason":"{finish}"}}]}}"#
        );
    }
    let chunk = |choices: &str, more: &str| {
        format!(r#"{{{head},"object":"chat.completion.chunk","choices":[{choices}]{more}}}"#)
    };
    events(&[
        ("", chunk(&format!(r#"{{"index":0,"delta":{message},"finish_reason":null}}"#), "")),
        ("", chunk(&format!(r#"{{"index":0,"delta":{{}},"finish_reason":"{finish}"}}"#), "")),
        ("", chunk("", &format!(r#","usage":{usage}"#))),
        ("", "[DONE]".to_owned()),
    ])
}

fn gemini(request: &ModelRequest, index: usize, turn: ModelTurn<'_>) -> String {
    let (call, words) = turn.parts();
    let part = match call {
        // Questions about the model to use or the next speaker want JSON.
        _ if request.wants_json => {
            let answer = r#"{"reasoning":"scripted","model_choice":"flash","next_speaker":"user"}"#;
            format!(r#"{{"text":{}}}"#, json_text(answer))
        }
        Some(call) => format!(
            r#"{{"functionCall":{{"id":"stub_{index}","name":{},"args":{}}}}}"#,
            json_text(&call.tool.name),
            arguments_json(call)
        ),
        None => format!(r#"{{"text":{words}}}"#),
    };
    let usage = r#"{"promptTokenCount":10,"candidatesTokenCount":10,"totalTokenCount":20}"#;
    let answer = format!(
        r#"{{"candidates":[{{"index":0,"content":{{"role":"model","parts":[{part}]}},"finishReason":"STOP"}}],"usageMetadata":{usage},"modelVersion":"stub"}}"#
    );
    if request.is_stream { events(&[("", answer)]) } else { answer }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step() -> ScriptStep {
        ScriptStep::Shell { command: "echo \"x\" > a".into() }
    }

    #[test]
    fn every_format_carries_a_call_and_its_results() {
        for (api, offered) in [
            (
                ModelApi::Messages,
                r#"{"tools":[{"name":"Bash","input_schema":{"properties":{"command":{}}}}]}"#,
            ),
            (
                ModelApi::Responses,
                r#"{"tools":[{"type":"function","name":"exec_command","parameters":{"properties":{"cmd":{}}}}]}"#,
            ),
            (
                ModelApi::ChatCompletions,
                r#"{"tools":[{"function":{"name":"bash","parameters":{"properties":{"command":{}}}}}]}"#,
            ),
            (
                ModelApi::Gemini,
                r#"{"tools":[{"functionDeclarations":[{"name":"run_shell_command","parameters":{"properties":{"command":{}}}}]}]}"#,
            ),
        ] {
            for is_stream in [false, true] {
                let value: Value = serde_json::from_str(offered).expect("JSON");
                let request = ModelRequest::read(api, is_stream, &value);
                assert_eq!(request.tools.len(), 1, "{api:?}");
                let call = concrete_call(api, &request.tools, &step());
                for turn in [ModelTurn::Call(&call), ModelTurn::Words("Done \"now\".")] {
                    let text = render_turn(api, &request, 1, turn);
                    let documents: Vec<&str> = if is_stream {
                        text.lines().filter_map(|line| line.strip_prefix("data: ")).collect()
                    } else {
                        vec![&text]
                    };
                    assert!(!documents.is_empty());
                    for document in documents.into_iter().filter(|it| *it != "[DONE]") {
                        assert!(serde_json::from_str::<Value>(document).is_ok(), "{api:?}: {document}");
                    }
                }
            }
        }
    }

    #[test]
    fn results_are_counted_in_every_format() {
        for (api, text) in [
            (
                ModelApi::Messages,
                r#"{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"text":"r"}]}]}]}"#,
            ),
            (ModelApi::Responses, r#"{"input":[{"type":"function_call_output","output":"r"}]}"#),
            (ModelApi::ChatCompletions, r#"{"messages":[{"role":"tool","content":"r"}]}"#),
            (
                ModelApi::Gemini,
                r#"{"contents":[{"parts":[{"functionResponse":{"response":{"output":"r"}}}]}]}"#,
            ),
        ] {
            let value: Value = serde_json::from_str(text).expect("JSON");
            assert_eq!(ModelRequest::read(api, false, &value).results, ["r"], "{api:?}");
        }
    }
}
