//! An MCP client over the pipes of any server, which measures each call.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

pub struct ServerProcess {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    next_id: u64,
}

impl ServerProcess {
    /// Starts a server in a directory and opens a session.
    pub fn start(program: &Path, arguments: &[&str], directory: &Path) -> Result<Self, String> {
        let mut process = Command::new(program)
            .args(arguments)
            .current_dir(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let (Some(to), Some(from)) = (process.stdin.take(), process.stdout.take()) else {
            return Err("a server without pipes".into());
        };
        let mut server = Self { process, to, from: BufReader::new(from), next_id: 0 };
        server.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": { "name": "bench", "version": "1" },
            }),
        )?;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(server)
    }

    /// Calls a tool; returns its document and how long the call took.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Result<(Value, Duration), String> {
        let began = Instant::now();
        let answer = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        let took = began.elapsed();
        let result = &answer["result"];
        if result["isError"] == true || !result.is_object() {
            return Err(format!("{tool} failed: {answer}"));
        }
        Ok((result["structuredContent"].clone(), took))
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            let read = self.from.read_line(&mut line).map_err(|error| error.to_string())?;
            if read == 0 {
                return Err(format!("the server ended during {method}"));
            }
            let message: Value = serde_json::from_str(&line).map_err(|error| format!("{error}: {line}"))?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        writeln!(self.to, "{message}").map_err(|error| error.to_string())
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
