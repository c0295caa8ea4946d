//! `probity lsp` marks files for an editor, which is played here over the real program.

use crate::repo::Repo;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Editor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Editor {
    fn open(repo: &Repo) -> Self {
        let mut command = repo.probity(&["lsp"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("probity starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut editor = Self { child, input, output };
        let root = format!("file://{}", repo.path().display());
        editor.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"rootUri": root}}));
        assert_eq!(editor.receive()["id"], 1);
        editor.send(&json!({"jsonrpc": "2.0", "method": "initialized", "params": {}}));
        editor
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{text}", text.len()).expect("the server reads");
        self.input.flush().expect("the server reads");
    }

    fn receive(&mut self) -> Value {
        let mut n_bytes = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).expect("text"), 0, "the server ended");
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(length) => n_bytes = length.parse().expect("a number"),
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        let mut text = vec![0; n_bytes];
        self.output.read_exact(&mut text).expect("a whole message");
        serde_json::from_slice(&text).expect("JSON")
    }

    fn open_document(&mut self, repo: &Repo, name: &str) {
        let uri = format!("file://{}", repo.path().join(name).display());
        let document = json!({"uri": uri, "languageId": "python", "version": 1, "text": ""});
        self.send(&json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}));
    }

    /// Waits for the next marks and returns file name, codes and messages.
    fn marks(&mut self) -> (String, Vec<String>, String) {
        let message = self.receive();
        assert_eq!(message["method"], "textDocument/publishDiagnostics", "{message:#}");
        let uri = message["params"]["uri"].as_str().expect("text");
        let found = message["params"]["diagnostics"].as_array().expect("a list");
        let codes = found.iter().map(|it| it["code"].as_str().expect("text").to_owned()).collect();
        let words = found.iter().map(|it| it["message"].as_str().expect("text")).collect();
        (uri.rsplit('/').next().expect("a name").to_owned(), codes, words)
    }

    fn close(mut self) {
        self.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown", "params": null}));
        while self.receive()["id"] != 2 {}
        self.send(&json!({"jsonrpc": "2.0", "method": "exit", "params": null}));
        assert!(self.child.wait().expect("ends").success());
    }
}

#[test]
fn files_outside_the_declared_change_are_marked_until_it_is_finished() {
    let repo = Repo::new();
    let started = repo.ask(&["start", "src/a.py", "--intent", "one line", "--agent", "ann"]);
    assert_eq!(started.exit_code, Some(0), "{:#}", started.json);
    let mut editor = Editor::open(&repo);
    editor.open_document(&repo, "src/a.py");
    editor.open_document(&repo, "src/b.py");
    // Nothing is said about the declared file.
    let (name, codes, words) = editor.marks();
    assert_eq!((name.as_str(), codes.len()), ("b.py", 1), "{words}");
    assert!(words.contains("src/b.py"), "{words}");
    let cleared = repo.ask(&["intent", "clear", started.json["intent_id"].as_str().expect("an id")]);
    assert_eq!(cleared.exit_code, Some(0), "{:#}", cleared.json);
    // The server notices by itself that the claim is gone.
    let (name, codes, _) = editor.marks();
    assert_eq!((name.as_str(), codes.len()), ("b.py", 0));
    editor.close();
}

#[test]
fn without_a_declared_change_nothing_is_marked() {
    let repo = Repo::new();
    let mut editor = Editor::open(&repo);
    editor.open_document(&repo, "src/b.py");
    editor.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "textDocument/hover", "params": {}}));
    // The next message answers the question: no mark came before it.
    assert_eq!(editor.receive()["error"]["code"], -32601);
    editor.close();
}
