//! An MCP client like an agent's: lines of JSON through the pipes of a process that it started.

use crate::repo::Repo;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct Client {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    next_id: u64,
    /// Every notification received so far.
    pub(crate) notes: Vec<Value>,
    pub(crate) info: Value,
}

#[derive(Debug)]
pub(crate) struct ToolAnswer {
    pub(crate) json: Value,
    pub(crate) is_error: bool,
}

impl Client {
    /// Starts `probity mcp` in a repository and opens a session.
    pub(crate) fn start(repo: &Repo) -> Self {
        Self::connect(repo.probity(&["mcp"]))
    }

    /// Starts a server and opens a session with it.
    pub(crate) fn connect(mut server: Command) -> Self {
        let mut process = server
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let to = process.stdin.take();
        let from = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut client = Self { process, to, from, next_id: 0, notes: Vec::new(), info: Value::Null };
        client.info = client.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }),
        )["result"]
            .clone();
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let to = self.to.as_mut().expect("the session is open");
        writeln!(to, "{message}").expect("the server reads");
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.post(method, params);
        self.answer(id)
    }

    /// Sends a request without waiting; returns its id.
    pub(crate) fn post(&mut self, method: &str, params: &Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn answer(&mut self, id: u64) -> Value {
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).expect("the server writes"), 0, "the server is gone");
            let message: Value = serde_json::from_str(&line).expect("a message a line");
            if message["id"] == id {
                return message;
            }
            self.notes.push(message);
        }
    }

    /// Waits for the first notification of a method.
    pub(crate) fn wait_for_note(&mut self, method: &str) {
        while !self.notes.iter().any(|note| note["method"] == method) {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).expect("the server writes"), 0, "the server is gone");
            self.notes.push(serde_json::from_str(&line).expect("a message a line"));
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> ToolAnswer {
        let answer = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        assert!(result.is_object(), "{answer:#}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().expect("text"))
            .expect("the text is the same document");
        assert_eq!(text, result["structuredContent"], "both forms say the same");
        ToolAnswer { json: text, is_error: result["isError"] == true }
    }

    /// Closes the session and waits for the server to end.
    pub(crate) fn close(mut self) {
        drop(self.to.take());
        assert!(self.process.wait().expect("the server ends").success());
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
