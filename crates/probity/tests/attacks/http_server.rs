//! Attacks on the MCP server over HTTP.

use crate::repo::Repo;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

const TOKEN: &str = "a-token-of-enough-bytes";

/// More half-open connections than a process with the usual limit has files.
const N_IDLE: u64 = 1_100;

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(repo: &Repo) -> Self {
        let mut child = repo
            .probity(&["mcp", "--http", "0"])
            .env("PROBITY_MCP_TOKEN", TOKEN)
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("the server starts");
        let mut line = String::new();
        BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line).expect("says where");
        let port = line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
        let port = port.and_then(|port| port.parse().ok()).expect("a port");
        Self { child, port }
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).expect("connects")
    }

    /// Sends the first request of a session and returns the answer's first line.
    fn initialize(&self) -> String {
        self.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#)
    }

    /// Sends a request and returns the answer's first line.
    fn send(&self, body: &str) -> String {
        let mut stream = self.connect();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap_or_default();
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).unwrap_or_default();
        line
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn connections_without_a_token_do_not_keep_a_client_out() {
    let repo = Repo::new();
    let server = Server::start(&repo);
    // Raised for the attacker only: the server was started with the limit as it was.
    let limit = getrlimit(Resource::Nofile);
    let wanted = N_IDLE * 2;
    if limit.maximum.is_some_and(|maximum| maximum < wanted) {
        probity_testkit::skip!("this process may not open {wanted} files");
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum: limit.maximum }).expect("raises");
    let idle: Vec<TcpStream> = (0..N_IDLE)
        .map(|n| {
            let mut stream = server.connect();
            if n % 2 == 0 {
                let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ");
            }
            stream
        })
        .collect();
    for _ in 0..3 {
        let line = server.initialize();
        assert!(line.starts_with("HTTP/1.1 200"), "{line}");
    }
    // The server closes the oldest ones; their end is an end of file or a reset.
    let mut oldest = &idle[0];
    let mut rest = Vec::new();
    let _ = oldest.read_to_end(&mut rest);
    assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"), "{rest:?}");
}

#[test]
fn a_connection_that_never_shows_a_token_is_closed() {
    let repo = Repo::new();
    let server = Server::start(&repo);
    let mut stream = server.connect();
    stream.write_all(b"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ").expect("sends");
    let mut rest = Vec::new();
    // Ends only because the server gives up.
    let _ = stream.read_to_end(&mut rest);
    assert!(!rest.starts_with(b"HTTP/1.1 2"), "{rest:?}");
    assert!(server.initialize().starts_with("HTTP/1.1 200"));
}

#[test]
fn a_token_that_can_be_guessed_is_refused() {
    let repo = Repo::new();
    for token in ["Q", "fifteen-bytes-x"] {
        let mut command = repo.probity(&["mcp", "--http", "0", "--json"]);
        let output = command.env("PROBITY_MCP_TOKEN", token).output().expect("probity starts");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("USAGE.INVALID"), "{output:?}");
        assert!(!String::from_utf8_lossy(&output.stderr).contains(token), "{output:?}");
    }
}

#[test]
fn a_request_that_is_too_large_is_refused() {
    let repo = Repo::new();
    let server = Server::start(&repo);
    let line = server.send(&format!("[{}]", "0,".repeat(4 << 20)));
    // The server answers before it has read everything, and may close while the rest is on its way.
    assert!(line.starts_with("HTTP/1.1 413") || line.is_empty(), "{line}");
    assert!(server.initialize().starts_with("HTTP/1.1 200"));
}
