//! The MCP server as an agent uses it: a real process, real pipes, real HTTP.

pub(crate) mod client;
mod same_answers;
mod tools;

use crate::repo::Repo;
use client::Client;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

/// Maximum cost of all schemas together, at four characters per token.
const MAX_SCHEMA_TOKENS: usize = 6_000;

/// In the order of the list.
const TOOLS: [&str; 16] = [
    "analyze_repository",
    "compare_runs",
    "get_blast_radius",
    "start_controlled_change",
    "finish_controlled_change",
    "manage_change_intent",
    "check_patch_contract",
    "validate_review_claims",
    "create_review_receipt",
    "ledger_propose",
    "ledger_query",
    "ledger_export",
    "analyze_merge",
    "reconcile_merge",
    "audit_merge",
    "why_line",
];

#[test]
fn a_session_opens_lists_its_tools_and_closes() {
    let repo = Repo::new();
    let mut client = Client::start(&repo);
    assert_eq!(client.info["serverInfo"]["name"], "probity");
    assert!(client.info["instructions"].as_str().is_some_and(|words| words.contains("edit_allowed")));
    let listed = client.request("tools/list", &json!({}));
    let tools = &listed["result"]["tools"];
    let size = tools.to_string().len() / 4;
    assert!(size <= MAX_SCHEMA_TOKENS, "{size} tokens");
    let names: Vec<&str> =
        tools.as_array().expect("tools").iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, TOOLS);
    for tool in tools.as_array().expect("tools") {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool:#}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool:#}");
        assert!(tool["description"].as_str().is_some_and(|words| words.len() > 20), "{tool:#}");
    }
    client.close();
}

#[test]
fn a_wrong_argument_is_named_and_nothing_is_done() {
    let repo = Repo::new();
    let mut client = Client::start(&repo);
    for tool in TOOLS {
        let answer = client.call(tool, &json!({ "no_such_argument": 1 }));
        assert!(answer.is_error, "{tool}: {answer:#?}");
        assert_eq!(answer.json["reason"], "USAGE.INVALID", "{tool}: {answer:#?}");
        assert!(answer.json["message"].as_str().is_some_and(|words| words.contains("no_such_argument")));
    }
    let unknown = client.request("tools/call", &json!({ "name": "no_such_tool", "arguments": {} }));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown:#}");
    assert!(!repo.path().join(".git/probity").exists(), "a refused call leaves nothing behind");
}

#[test]
fn resources_are_the_documents_of_the_repository() {
    let repo = Repo::new();
    let run = repo.run("echo x >> src/a.py");
    let mut client = Client::start(&repo);
    let listed = client.request("resources/list", &json!({}));
    let uri = listed["result"]["resources"][0]["uri"].as_str().expect("a resource").to_owned();
    assert_eq!(uri, format!("probity://evidence/{}", run.json["run_id"].as_str().expect("an id")));
    let read = client.request("resources/read", &json!({ "uri": uri }));
    let text = read["result"]["contents"][0]["text"].as_str().expect("text");
    let manifest: Value = serde_json::from_str(text).expect("a manifest");
    assert_eq!(manifest["run_id"], run.json["run_id"]);
    let missing = client.request("resources/read", &json!({ "uri": "probity://evidence/nothing" }));
    assert!(missing["error"]["data"]["next_step"].is_string(), "{missing:#}");
}

#[test]
fn runs_and_receipts_are_resources_that_the_command_line_shows_alike() {
    let repo = Repo::new();
    let mut client = Client::start(&repo);
    let analyzed = client.call("analyze_repository", &json!({})).json;
    let receipt = client.call("create_review_receipt", &json!({})).json;
    let mut read = |uri: String| -> Value {
        let answer = client.request("resources/read", &json!({ "uri": uri }));
        let text = answer["result"]["contents"][0]["text"].as_str().expect("text");
        serde_json::from_str(text).expect("a document")
    };
    let run = read(format!("probity://run/{}", analyzed["run_id"].as_str().expect("an id")));
    assert_eq!(run["schema"], "probity/analysis-run/v1");
    assert_eq!(run, repo.ask(&["runs", "show", "last", "--limit", "1000"]).json);
    let kept = read("probity://receipt/1".into());
    assert_eq!(kept["schema"], "probity/receipt/v1", "{kept:#}");
    assert_eq!(kept["digest"], receipt["receipt"]["digest"], "{receipt:#}");
}

/// Sends a request to a server on this machine; returns the status and the body.
fn post(port: u16, headers: &[(&str, &str)]) -> (u16, String) {
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } },
    })
    .to_string();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connects");
    stream.set_read_timeout(Some(probity_testkit::STUCK_TIMEOUT)).expect("sets");
    let mut request = format!(
        "POST /mcp HTTP/1.1\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    write!(stream, "{request}\r\n{body}").expect("writes");
    let mut answer = String::new();
    let mut buffer = [0; 4096];
    // An event stream stays open: read up to the end of the event with the result.
    while !answer.split_once("\"result\"").is_some_and(|(_, rest)| rest.contains("\n\n")) {
        match stream.read(&mut buffer).expect("an answer") {
            0 => break,
            n => answer.push_str(&String::from_utf8_lossy(&buffer[..n])),
        }
    }
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
    (status, answer)
}

#[test]
fn http_serves_only_this_machine_and_only_with_the_token() {
    let repo = Repo::new();
    let mut server = repo
        .probity(&["mcp", "--http", "0"])
        .env("PROBITY_MCP_TOKEN", "secret-word-of-ann")
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .expect("the server starts");
    let mut line = String::new();
    BufReader::new(server.stderr.take().expect("a pipe")).read_line(&mut line).expect("says where");
    let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next()).expect("a port");
    let port: u16 = port.parse().expect("a number");
    let good = ("Authorization", "Bearer secret-word-of-ann");
    let here = ("Host", "127.0.0.1");
    let (status, answer) = post(port, &[here, good]);
    assert!(status == 200 && answer.contains("\"probity\""), "{answer}");
    assert_eq!(post(port, &[here]).0, 401);
    assert_eq!(post(port, &[here, ("Authorization", "Bearer secret-worx")]).0, 401);
    assert_eq!(post(port, &[here, good, ("Origin", "https://example.org")]).0, 403);
    assert_eq!(post(port, &[("Host", "example.org"), good]).0, 403);
    server.kill().expect("ends");
    server.wait().expect("ended");
}

/// Starts a change with these further arguments; returns the answer.
fn start(client: &mut Client, agent: &str, more: &Value) -> Value {
    let mut arguments = json!({ "intent": format!("what {agent} wants"), "agent": agent });
    for (name, value) in more.as_object().expect("an object") {
        arguments[name] = value.clone();
    }
    client.call("start_controlled_change", &arguments).json
}

#[test]
fn two_agents_share_a_tree_through_servers_of_their_own() {
    let repo = Repo::new();
    let (mut ann, mut bo) = (Client::start(&repo), Client::start(&repo));
    let wish = json!({ "allowed_files": ["src/a.py"] });
    let unanalyzed = json!({ "allowed_files": ["src/a.py"], "analyze": false });
    assert_eq!(start(&mut ann, "ann", &unanalyzed)["status"], "needs_analysis");
    ann.call("analyze_repository", &json!({}));

    let granted = start(&mut ann, "ann", &wish);
    assert_eq!(
        (&granted["status"], &granted["edit_allowed"]),
        (&json!("active"), &json!(true)),
        "{granted:#}"
    );
    let refused = start(&mut bo, "bo", &wish);
    assert_eq!(
        (&refused["status"], &refused["edit_allowed"]),
        (&json!("blocked"), &json!(false)),
        "{refused:#}"
    );
    let queued = start(&mut bo, "bo", &json!({ "allowed_files": ["src/a.py"], "on_conflict": "queue" }));
    assert_eq!((&queued["status"], &queued["queue_position"]), (&json!("queued"), &json!(1)), "{queued:#}");

    repo.write("src/a.py", "print('better')\n");
    let finish = json!({ "intent_id": granted["intent_id"], "owner": granted["owner"], "analyze": true });
    let stolen = json!({ "intent_id": granted["intent_id"], "owner": queued["owner"], "analyze": true });
    assert!(bo.call("finish_controlled_change", &stolen).is_error, "a handle is needed, not a connection");
    let finished = ann.call("finish_controlled_change", &finish).json;
    assert_eq!(
        (&finished["status"], &finished["intent_cleared"]),
        (&json!("accepted"), &json!(true)),
        "{finished:#}"
    );

    repo.sh("git commit -qam better");
    let promote = json!({
        "action": "promote", "intent_id": queued["intent_id"], "owner": queued["owner"], "analyze": true,
    });
    let promoted = bo.call("manage_change_intent", &promote).json;
    assert_eq!(
        (&promoted["status"], &promoted["edit_allowed"]),
        (&json!("active"), &json!(true)),
        "{promoted:#}"
    );
    for answer in [&granted, &refused, &queued, &finished, &promoted] {
        assert!(answer.to_string().len() / 4 <= 2_000, "a summary is short: {answer:#}");
    }
}

#[test]
fn a_long_call_tells_how_far_it_is() {
    let repo = Repo::new();
    let mut client = Client::start(&repo);
    let call = json!({ "name": "analyze_repository", "arguments": {}, "_meta": { "progressToken": "p" } });
    let answer = client.request("tools/call", &call);
    assert!(answer["result"]["structuredContent"]["run_id"].is_string(), "{answer:#}");
    let steps: Vec<f64> = client
        .notes
        .iter()
        .filter(|note| note["method"] == "notifications/progress" && note["params"]["progressToken"] == "p")
        .filter_map(|note| note["params"]["progress"].as_f64())
        .collect();
    assert!(steps.len() >= 2, "{:#?}", client.notes);
    assert!(steps.is_sorted() && steps.iter().all(|step| *step >= 0.0), "{steps:?}");
}
