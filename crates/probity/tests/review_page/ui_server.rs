//! `probity ui` for a test.

use crate::repo::Repo;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, ChildStdin, Stdio};

pub(crate) struct UiServer {
    child: Child,
    words: BufReader<ChildStderr>,
    stdin: ChildStdin,
    pub(crate) port: u16,
    /// The link that was printed at the start.
    pub(crate) link: String,
}

/// An answer of the server.
pub(crate) struct RawAnswer {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl UiServer {
    pub(crate) fn start(repo: &Repo, options: &[&str]) -> Self {
        let mut arguments = vec!["ui", "--no-open", "--by", "Ines Marten"];
        arguments.extend(options);
        let mut command = repo.probity(&arguments);
        command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().expect("the server starts");
        let mut words = BufReader::new(child.stderr.take().expect("a pipe"));
        let stdin = child.stdin.take().expect("a pipe");
        let link = next_link(&mut words);
        let port = link.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
        let port = port.and_then(|port| port.parse().ok()).expect("a port");
        Self { child, words, stdin, port, link }
    }

    /// Asks for another link, as a person does with the Enter key.
    pub(crate) fn another_link(&mut self) -> String {
        self.stdin.write_all(b"\n").expect("listens");
        next_link(&mut self.words)
    }

    pub(crate) fn address(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn stop(&mut self) {
        self.child.kill().expect("ends");
        self.child.wait().expect("ends");
    }

    /// Sends the head of a request as it is, and a body.
    pub(crate) fn send(&self, head: &str, body: &str) -> RawAnswer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        let request = format!("{head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).expect("is sent");
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap_or_default();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        RawAnswer { status, text }
    }

    /// Sends a request of a browser with a session.
    pub(crate) fn get(&self, path: &str, cookie: &str) -> RawAnswer {
        let port = self.port;
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}"), "")
    }

    /// Enters through a link; returns the cookie.
    pub(crate) fn enter(&self, link: &str) -> String {
        let path = link.split(&self.port.to_string()).nth(1).expect("a path");
        let answer = self.get(path, "");
        assert_eq!(answer.status, 200, "{}", answer.text);
        let header = answer.text.lines().find(|header| header.to_lowercase().starts_with("set-cookie:"));
        let cookie = header.and_then(|header| header.split([' ', ';']).nth(1)).expect("a cookie");
        cookie.to_owned()
    }
}

impl Drop for UiServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn next_link(words: &mut BufReader<ChildStderr>) -> String {
    loop {
        let mut line = String::new();
        assert!(words.read_line(&mut line).expect("says where") > 0, "the server ended without a link");
        if let Some(at) = line.find("http://") {
            return line[at..].trim().to_owned();
        }
    }
}
